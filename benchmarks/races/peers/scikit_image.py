"""The total variation denoisers of scikit-image, for images and volumes.

`denoise_tv_bregman`, for images, minimises TV(u) + w/2 ‖u - f‖², so its weight is 1/λ. (Its
documentation omits the factor ½, but w = 1/λ gives the closest results.) `denoise_tv_chambolle`
minimises ½‖u - f‖² + λ TV(u) with the isotropic TV. This is a different problem. Its solution is
evaluated with the anisotropic objective here.
"""

from __future__ import annotations

from .task import Answer, DeclinedError, Entrant, Task, imported, iterations

PACKAGES = ("scikit-image",)
PEER = "scikit-image"


def enter(task: Task) -> list[Entrant]:
    """Return one entrant per denoiser."""
    restoration = imported("skimage.restoration")

    if len(task.shape) not in (2, 3):
        raise DeclinedError("images and volumes only")

    def chambolle(n: int) -> Answer:
        return Answer(
            restoration.denoise_tv_chambolle(
                task.image, weight=task.weight, eps=0.0, max_num_iter=n
            )
        )

    def bregman(n: int) -> Answer:
        options = {"eps": 0.0, "isotropic": False, "max_num_iter": n}
        return Answer(restoration.denoise_tv_bregman(task.image, weight=1 / task.weight, **options))

    isotropic = "solves the isotropic problem, judged by the anisotropic one"
    found = [Entrant(PEER, "chambolle", chambolle, iterations(300), note=isotropic)]
    if len(task.shape) == 2:
        found.append(Entrant(PEER, "bregman", bregman, iterations(2000)))
    return found
