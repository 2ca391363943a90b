"""Deblurring: the image whose convolution with a known kernel was recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import as_array, as_choice, as_flag, as_floats, as_intensities, unmasked
from graphtv.applications.early_end import warn_if_early
from graphtv.applications.imaging.convolution import BOUNDARIES, Convolution
from graphtv.applications.imaging.losses import Loss
from graphtv.applications.imaging.reconstruction import reconstruct_tv
from graphtv.applications.keywords import check_keywords
from graphtv.result import Result
from graphtv.terms import PoissonLoss

__all__ = ["deblur_tv"]


def deblur_tv(
    image: Any,
    kernel: Any,
    weight: Any,
    *,
    boundary: str = "reflect",
    channel_axis: int | None = None,
    loss: str | Loss = "squared",
    isotropic: bool = False,
    lower: Any = None,
    upper: Any = None,
    return_result: bool = False,
    **solve_options: Any,
) -> NDArray[Any] | tuple[NDArray[Any], Result]:
    """Deblur an image or a volume with a known kernel by total variation.

    As in scikit-image, uint8 and uint16 images are divided by 255 and 65535.

    Parameters
    ----------
    image : array_like
        The blurred image, of any dimension. NaN marks unknown pixels.
    kernel : array_like
        The kernel, with one axis per spatial axis of the image. Its centre is the entry
        ``kernel.shape // 2``. It usually sums to 1.
    weight : float, ndarray or list
        The weight of total variation, as in `denoise_tv`. A good start is the variance of the noise
        divided by the typical height of edges.
    boundary : {'reflect', 'periodic', 'nearest', 'zero', 'unknown'}
        What lies beyond the border of the sharp image: mirrored pixels, the other side, the pixel
        at the border, 0, or unknown pixels, which are reconstructed too and then cropped.
        ``unknown`` is the most accurate choice for photographs.
    channel_axis : int, optional
        The axis of colours. Channels are deblurred separately.
    loss : {'squared', 'huber', 'absolute', 'poisson'} or callable
        Squared for Gaussian noise, Huber or absolute for outliers, Poisson for counts.
    isotropic : bool
        Use `IsotropicTV`, so that edges cost nearly the same in all directions.
    lower, upper : float, optional
        Bounds of the sharp image.
    return_result : bool
        Also return the `Result` with the certificate.
    **solve_options
        Passed on to `solve`. The default of `tol` is 1e-3.

    Returns
    -------
    sharp : ndarray
        The deblurred image, float32 for float16 and float32 images, otherwise float64.
    result : Result
        Only if `return_result` is true. With ``boundary='unknown'`` it has all pixels.

    See Also
    --------
    reconstruct_tv : any linear operator

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.kron([[1.0, 0.0], [0.0, 0.5]], np.ones((8, 8)))
    >>> kernel = np.full((3, 3), 1 / 9)
    >>> blurred = np.pad(truth, 1, mode="symmetric")
    >>> blurred = sum(blurred[i : i + 16, j : j + 16] for i in range(3) for j in range(3)) / 9
    >>> sharp = deblur_tv(blurred, kernel, weight=1e-3)
    >>> bool(np.abs(sharp - truth).max() < 0.05)
    True
    """
    check_keywords(deblur_tv, solve_options, "spacing", "connectivity", "sparsity")
    is_result_wanted = as_flag(return_result, "return_result")
    as_choice(boundary, "boundary", BOUNDARIES)
    given = as_array(unmasked(image), "image")
    if given.dtype.kind not in "buif":
        raise ValueError(f"image must be real numbers, got dtype {given.dtype}")
    values = as_intensities(given, holds_counts=loss in ("poisson", PoissonLoss))
    if channel_axis is not None:
        values = _with_channels_last(values, channel_axis)
    shape = values.shape if channel_axis is None else values.shape[:-1]
    blur = Convolution(_as_kernel(kernel, shape), shape, boundary)
    found, result = reconstruct_tv(
        values if channel_axis is None else values.reshape(-1, values.shape[-1]),
        blur,
        blur.image_shape,
        weight,
        loss=loss,
        isotropic=isotropic,
        lower=lower,
        upper=upper,
        return_result=True,
        **solve_options,
    )
    sharp = found[blur.inside]
    if channel_axis is not None:
        sharp = np.moveaxis(sharp, -1, channel_axis)
    is_single = given.dtype in (np.float16, np.float32)
    sharp = np.ascontiguousarray(sharp, dtype=np.float32 if is_single else np.float64)
    if is_result_wanted:
        return sharp, result
    warn_if_early(result, "deblur_tv")
    return sharp


def _with_channels_last(values: NDArray[Any], channel_axis: Any) -> NDArray[Any]:
    if not isinstance(channel_axis, int | np.integer) or not (
        -values.ndim <= channel_axis < values.ndim
    ):
        raise ValueError(
            f"channel_axis must be an axis of an image with {values.ndim} axes,"
            f" got {channel_axis!r}"
        )
    return np.moveaxis(values, channel_axis, -1)


def _as_kernel(kernel: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    values = as_floats(kernel, "kernel")
    if values.ndim != len(shape) or values.size == 0:
        raise ValueError(
            f"kernel must have {len(shape)} axes as image has, got shape {values.shape}"
        )
    if not values.any():
        raise ValueError("kernel must not be zero, got zeros only")
    return values
