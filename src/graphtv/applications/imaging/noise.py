"""Estimate the noise level of data, and suggest a weight for denoising.

The noise level is the median absolute deviation of high-pass filtered data, which Donoho and
Johnstone [1] compute from the finest wavelets. The filter here is the second difference along all
axes, which Immerkær [2] uses in 2-D. Texture would increase the median, so only the quarter of the
pixels with the smallest gradient is used. The filter of the gradient is odd and the other filter is
even. For white noise their outputs are independent, so this selection does not bias the median.

The weight minimises an estimate of the error (`risk`).

[1] D. L. Donoho, I. M. Johnstone, "Ideal spatial adaptation by wavelet shrinkage", Biometrika 81,
    1994.
[2] J. Immerkær, "Fast noise variance estimation", Computer Vision and Image Understanding 64, 1996.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import (
    Floats,
    as_array,
    as_callable,
    as_choice,
    as_flag,
    as_floats,
    as_real,
    describe,
    first_index,
    moderate,
)
from graphtv.applications.imaging.image import Image, as_image, columns
from graphtv.applications.imaging.pixel_graph import pixel_graph
from graphtv.applications.imaging.risk import Part, weight_for, weight_of_image
from graphtv.graph.graph import Graph, as_graph

__all__ = ["estimate_noise", "suggest_weight"]

RULES = ("risk", "noise")

MAD_OF_NORMAL = 0.6744897501960817
"""Median of |x| for a standard normal x."""

FLAT_PART = 0.25
"""Fraction of the pixels, those with the smallest gradient, that the median uses."""

QUANTILE_WINDOWS = 2**15
"""About this many windows, at equal distances, decide which gradients count as small."""

FEWEST_WINDOWS = 100
"""If there are fewer windows, the median uses all of them."""

CLIPPED_PART = 0.01
"""Pixels with the smallest or largest value count as clipped above this fraction."""

LEAST_WHOLE = 0.25
"""Fraction of the windows that must have no unknown pixels for the filters to be used."""

LEAST_UNCLIPPED = 0.02
"""The same for clipped pixels. It is lower, since few windows are better than biased ones."""


def estimate_noise(
    data: Any, graph: Graph | None = None, *, mask: Any = None, channel_axis: int | None = None
) -> float | Floats:
    """Estimate the standard deviation of white Gaussian noise in an image or on a graph.

    Parameters
    ----------
    data : array_like
        An image or volume of any dimension, interpreted as in `denoise_tv`: uint8 and uint16 are
        divided by 255 and 65535, NaN is unknown. With a graph, a signal of shape (n,) or (n, C).
    graph : Graph, optional
        The graph of the signal.
    mask : array_like of bool, optional
        True for known data.
    channel_axis : int, optional
        The axis of the channels of an image. Not allowed for signals on a graph.

    Returns
    -------
    float or ndarray, shape (C,)
        The noise level σ, or one per channel if there are channels.

    Notes
    -----
    For images, the estimate is the median of the absolute second differences along all axes, over
    the quarter of the pixels with the smallest gradient. For graphs, it is the median of the
    differences between a vertex and the weighted mean of its neighbours, scaled by their variance.
    Texture in the whole image, or a signal that jumps along most edges, cannot be distinguished
    from noise. Noise that was smoothed or compressed is underestimated. Clipped pixels (many pixels
    with exactly the smallest or largest value) are ignored if enough others remain.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(0.0, 0.1, (200, 200))
    >>> round(estimate_noise(np.eye(200) + noise), 2)
    0.1
    """
    image, known_graph = _as_data(data, graph, mask, channel_axis)
    levels = _noise_levels(image, known_graph)
    return levels if image.signal.ndim == 2 else float(levels[0])


def suggest_weight(
    data: Any,
    graph: Graph | None = None,
    *,
    sigma: Any = None,
    rule: str = "risk",
    mask: Any = None,
    spacing: Any = None,
    channel_axis: int | None = None,
    connectivity: int = 1,
    tol: float = 1e-6,
    time_limit: float | None = None,
    verbose: bool = False,
    n_threads: int | None = None,
    stop: Callable[[], Any] | None = None,
) -> float:
    """Suggest the `weight` of `denoise_tv`, or a factor for the weights of a graph.

    Parameters
    ----------
    data : array_like
        An image or volume, or with a graph a signal of shape (n,) or (n, C).
    graph : Graph, optional
        The graph of the signal. The result is a factor for its weights:
        ``Graph(n, edges, factor * weights)``.
    sigma : float or array_like, optional
        Standard deviation of the noise, one for all channels or one per channel. By default
        `estimate_noise` computes it.
    rule : {'risk', 'noise'}
        ``risk`` minimises Stein's unbiased estimate of the squared error. This takes three to six
        exact solutions, on small parts if an image has more than 90² pixels. ``noise`` is a rule of
        thumb without a solution: 0.6 sigma on an unweighted 2-D grid, and in general 0.6 sigma
        divided by a quarter of the mean weighted degree.
    mask, spacing, channel_axis, connectivity
        As in `denoise_tv`.
    tol : float
        The tolerance to which the image will be denoised. From 1e-4 on, a solution takes so little
        time that the weight is chosen on smaller parts.
    time_limit : float, optional
        Seconds after which the best weight so far is returned.
    verbose : bool
        Print a line for each weight that is tried.
    n_threads : int, optional
        Number of threads. The result does not depend on it.
    stop : callable, optional
        Called periodically, as in `solve`. If it returns True, the best weight so far is returned.

    Returns
    -------
    float
        The weight; 0 if there is no noise or if denoising does not reduce the error.

    Notes
    -----
    The risk estimate is valid for white Gaussian noise and the squared loss. On photographs of 512²
    pixels the suggested weight is within 0.05 dB of the best weight on average. An error in σ
    changes it. The noise level is always estimated from the whole image. Each part is a mosaic of
    regions at equal distances along every axis.

    Examples
    --------
    >>> from graphtv import gallery
    >>> noisy, _ = gallery.piecewise_constant_image((64, 64), noise=0.1)
    >>> round(suggest_weight(noisy, sigma=0.1), 2)
    0.08
    """
    chosen = as_choice(rule, "rule", RULES)
    is_verbose = as_flag(verbose, "verbose")
    seconds = math.inf if time_limit is None else as_real(time_limit, "time_limit", minimum=0.0)
    tolerance = as_real(tol, "tol", minimum=0.0)
    image, unit = _as_data(data, graph, mask, channel_axis)
    if unit is not None:
        if spacing is not None:
            raise ValueError(f"spacing must be None for a signal on a graph, got {spacing!r}")
        if connectivity != 1:
            raise ValueError(
                f"connectivity must be 1 for a signal on a graph, got {connectivity!r}"
            )
    levels = _noise_levels(image, unit) if sigma is None else _as_sigma(sigma, image)
    search: dict[str, Any] = {
        "rule": chosen,
        "time_limit": seconds,
        "verbose": is_verbose,
        "n_threads": n_threads,
        "stop": as_callable(stop, "stop"),
    }
    if unit is None:
        return weight_of_image(image, levels, spacing, connectivity, tolerance=tolerance, **search)
    return weight_for([Part(image, unit)], levels, **search)


def _as_data(
    data: Any, graph: Graph | None, mask: Any, channel_axis: Any
) -> tuple[Image, Graph | None]:
    """Return an image, or a signal as an image with one axis, together with its graph."""
    if graph is None:
        return as_image(data, "data", mask, channel_axis), None
    n = as_graph(graph).n_vertices
    if channel_axis is not None:
        raise ValueError(f"channel_axis must be None for a signal on a graph, got {channel_axis!r}")
    # Values on a graph are measurements and not grey values, so integers are not scaled.
    signal = data if isinstance(data, np.ma.MaskedArray) else as_array(data, "data")
    if signal.dtype.kind in "bui":
        signal = signal.astype(np.float64)
    shape = signal.shape
    if len(shape) not in (1, 2) or shape[0] != n:
        raise ValueError(f"data must have shape ({n},) or ({n}, C), got {shape}")
    return as_image(signal, "data", mask, 1 if len(shape) == 2 else None), graph


def _as_sigma(sigma: Any, image: Image) -> Floats:
    levels = moderate(as_floats(sigma, "sigma"), "sigma")
    n_channels = 1 if image.signal.ndim == 1 else image.signal.shape[1]
    if levels.shape not in ((), (n_channels,)):
        raise ValueError(
            f"sigma must be a number or have shape ({n_channels},), got shape {levels.shape}"
        )
    if (levels < 0).any():
        where = first_index(levels < 0)
        raise ValueError(f"sigma must not be negative, got {levels[where]} at {describe(where)}")
    return np.broadcast_to(levels, (n_channels,))


def _noise_levels(image: Image, graph: Graph | None) -> Floats:
    """Return σ of each channel."""
    signal = columns(image.signal)
    known = None if image.known is None else columns(image.known)
    levels = []
    for channel in range(signal.shape[1]):
        column, is_known = signal[:, channel], None if known is None else known[:, channel]
        level = None
        if graph is None:
            inside = _not_clipped(column, is_known)
            if inside is not None:
                level = _noise_of_pixels(column, inside, image.shape, LEAST_UNCLIPPED)
            if level is None:
                level = _noise_of_pixels(column, is_known, image.shape)
        if level is None:
            plain = pixel_graph(image.shape, 1.0, None, 1) if graph is None else graph
            level = _noise_on_graph(column, is_known, plain)
        levels.append(level)
    return np.array(levels)


def noise_levels(image: Image) -> Floats:
    """Return σ of each channel of an image."""
    return _noise_levels(image, None)


def _not_clipped(signal: Floats, known: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """Return a mask of the pixels that are known and not clipped, or None if none is clipped.

    A camera or an 8-bit file clips values below black or above white, which reduces the noise
    there. Clipping is detected by many pixels with exactly the smallest or largest value.
    """
    values = signal if known is None else signal[known]
    ends = [end for end in (values.min(), values.max()) if np.mean(values == end) > CLIPPED_PART]
    if not ends:
        return None
    inside = ~np.isin(signal, ends)
    return inside if known is None else inside & known


def _noise_of_pixels(
    signal: Floats,
    known: NDArray[np.bool_] | None,
    shape: tuple[int, ...],
    least_whole: float = LEAST_WHOLE,
) -> float | None:
    """Return σ from the filters, or None if too many windows contain unknown pixels."""
    from scipy import ndimage  # slow to import, and only needed here

    lengths = tuple(n for n in shape if n > 1)
    if not lengths or min(lengths) < 3:
        return None
    pixels = signal.reshape(lengths)
    if known is not None:
        pixels = np.where(known.reshape(lengths), pixels, np.nan)
    details, slope = pixels, np.zeros(lengths)
    for axis in range(pixels.ndim):
        details = np.diff(details, 2, axis=axis)
        order = tuple(int(k == axis) for k in range(pixels.ndim))
        along = ndimage.gaussian_filter(pixels, 1.0, order, mode="nearest", truncate=3.0)
        slope += np.square(along, out=along)
    slope = np.ascontiguousarray(slope[(slice(1, -1),) * pixels.ndim])
    whole = ~np.isnan(slope)  # its window contains that of the second difference
    n_whole = int(whole.sum())
    if n_whole < least_whole * whole.size:
        return None
    if n_whole < FEWEST_WINDOWS:
        chosen = details[whole]
    else:
        flattest = slope.ravel() if n_whole == slope.size else slope[whole]
        some = flattest[:: max(n_whole // QUANTILE_WINDOWS, 1)]
        rank = int(FLAT_PART * (some.size - 1))
        chosen = details[slope <= np.partition(some, rank)[rank]]
    gain = math.sqrt(6.0) ** pixels.ndim  # that of second differences of white noise
    return float(np.median(np.abs(chosen))) / gain / MAD_OF_NORMAL


def _noise_on_graph(signal: Floats, known: NDArray[np.bool_] | None, graph: Graph) -> float:
    """Return σ from the differences between the vertices and the means of their neighbours.

    With weights ω_ij of sum W_i and sum of squares V_i, that difference has the variance
    σ²(1 + V_i/W_i²).
    """
    matrix = graph.to_sparse()
    here = np.ones(signal.size) if known is None else known.astype(np.float64)
    total = matrix @ here
    usable = (here > 0) & (total > 0)
    if not usable.any():
        raise ValueError("data must have known neighbours to estimate the noise from, got none")
    mean = (matrix @ (here * signal))[usable] / total[usable]
    spread = (matrix.multiply(matrix) @ here)[usable] / total[usable] ** 2
    details = (signal[usable] - mean) / np.sqrt(1.0 + spread)
    return float(np.median(np.abs(details))) / MAD_OF_NORMAL
