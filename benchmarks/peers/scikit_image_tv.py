"""The total variation denoisers of scikit-image, for images and volumes.

`denoise_tv_bregman` minimises TV(u) + w/2 ‖u - f‖², so that its weight is 1/λ (its page says w
without the half, but w = 1/λ comes closest); it is for images. `denoise_tv_chambolle` minimises
½‖u - f‖² + λ TV(u), but with the isotropic TV alone: another problem, whose answer is judged here
by the anisotropic objective.
"""

from __future__ import annotations

from peer import Peer, Run, iterations
from problems import Instance

try:
    from skimage.restoration import denoise_tv_bregman, denoise_tv_chambolle
except ImportError:
    denoise_tv_bregman = None


def peers(instance: Instance) -> list[Peer]:
    """Return the contestants for this problem."""
    if instance.shape is None:
        return []
    if denoise_tv_bregman is None:
        return [Peer("scikit-image", None, missing="scikit-image is not installed")]
    image, weight = instance.image, instance.weight
    assert weight is not None

    def chambolle(n: int) -> Run:
        return Run(denoise_tv_chambolle(image, weight=weight, eps=0.0, max_num_iter=n))

    def bregman(n: int) -> Run:
        options = {"eps": 0.0, "isotropic": False, "max_num_iter": n}
        return Run(denoise_tv_bregman(image, weight=1 / weight, **options))

    found = [
        Peer(
            "scikit-image chambolle",
            chambolle,
            iterations(300),
            note="solves the isotropic problem, judged by the anisotropic one",
        )
    ]
    if image.ndim == 2:
        found.append(Peer("scikit-image bregman", bregman, iterations(2000)))
    return found
