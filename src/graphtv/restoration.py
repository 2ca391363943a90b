"""The functions of `skimage.restoration` for total variation, with the same signatures.

Change ``from skimage.restoration import denoise_tv_chambolle`` to ``from graphtv.restoration import
denoise_tv_chambolle``, and the same calls return the minimiser to a certified tolerance. New code
should call `graphtv.denoise_tv`, which has more options.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from graphtv._validate import as_count, as_real
from graphtv.applications.imaging.denoising import denoise_tv

__all__ = ["denoise_tv_bregman", "denoise_tv_chambolle"]


def denoise_tv_chambolle(
    image: Any,
    weight: Any = 0.1,
    eps: float = 0.0002,
    max_num_iter: int = 200,
    *,
    channel_axis: int | None = None,
) -> NDArray[Any]:
    """Minimise ½‖u - f‖² + weight · isotropic total variation.

    Parameters
    ----------
    image : array_like
        An image of any dimension, as in `graphtv.denoise_tv`.
    weight : float, optional
        Larger values give a smoother image.
    eps : float, optional
        The relative gap to certify. scikit-image ends where the objective changes by less than
        this in one iteration, usually earlier.
    max_num_iter : int, optional
        Not used: the run ends when the gap is certified.
    channel_axis : int or None, optional
        The axis of channels, which are denoised independently.

    Returns
    -------
    ndarray
        The denoised image. Integers other than uint8 and uint16 keep their values, which
        scikit-image divides by the largest number of their type.

    Examples
    --------
    >>> import numpy as np
    >>> denoise_tv_chambolle(np.array([0.0, 0.0, 3.0, 3.0]), weight=1.0)
    array([0.5, 0.5, 2.5, 2.5])
    """
    return _denoised(image, weight, eps, max_num_iter, isotropic=True, channel_axis=channel_axis)


def denoise_tv_bregman(
    image: Any,
    weight: float = 5.0,
    max_num_iter: int = 100,
    eps: float = 0.001,
    isotropic: bool = True,
    *,
    channel_axis: int | None = None,
) -> NDArray[Any]:
    """Minimise weight/2 ‖u - f‖² + total variation.

    Parameters
    ----------
    image : array_like
        An image of any dimension, as in `graphtv.denoise_tv`.
    weight : float, optional
        Smaller values give a smoother image; it is 1 / weight of `denoise_tv_chambolle`.
    max_num_iter : int, optional
        Not used: the run ends when the gap is certified.
    eps : float, optional
        The relative gap to certify.
    isotropic : bool, optional
        Whether the total variation is isotropic.
    channel_axis : int or None, optional
        The axis of channels, which are denoised independently.

    Returns
    -------
    ndarray
        The denoised image. scikit-image solves another problem along the border of the image, and
        uses another discretisation of isotropic total variation.

    Examples
    --------
    >>> import numpy as np
    >>> denoise_tv_bregman(np.array([0.0, 0.0, 3.0, 3.0]), weight=1.0)
    array([0.5, 0.5, 2.5, 2.5])
    """
    fidelity = as_real(weight, "weight", minimum=0.0, strict=True)
    return _denoised(
        image, 1.0 / fidelity, eps, max_num_iter, isotropic=isotropic, channel_axis=channel_axis
    )


def _denoised(image: Any, weight: Any, eps: Any, max_num_iter: Any, **options: Any) -> NDArray[Any]:
    """Return the denoised image to a tolerance."""
    as_count(max_num_iter, "max_num_iter")
    tol = as_real(eps, "eps", minimum=0.0)
    denoised: NDArray[Any] = denoise_tv(image, weight, tol=tol, **options)
    return denoised
