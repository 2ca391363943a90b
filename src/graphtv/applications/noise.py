"""How noisy data are, and how much total variation they need.

The noise level is a median of absolute deviations of high-pass filtered data, as Donoho and
Johnstone [1] take it from the finest wavelets. The filter here is the second difference along
every axis at once, which Immerkær [2] uses in the plane. Texture would raise the median, so it is
taken over the quarter of the pixels with the smallest gradient. The gradient's filter is odd and
the other is even: for white noise both are independent, and the choice does not bias the median.

The weight minimises Stein's unbiased estimate of the squared error [3],

    ‖u - f‖² - nσ² + 2σ² df(u),

where the degrees of freedom df of total variation denoising are the number of connected pieces on
which u is constant [4]. The solver's answer is exact, so they can be counted.

[1] D. L. Donoho, I. M. Johnstone, "Ideal spatial adaptation by wavelet shrinkage", Biometrika 81,
    1994.
[2] J. Immerkær, "Fast noise variance estimation", Computer Vision and Image Understanding 64, 1996.
[3] C. M. Stein, "Estimation of the mean of a multivariate normal distribution", Annals of
    Statistics 9, 1981.
[4] R. J. Tibshirani, J. Taylor, "The solution path of the generalized lasso", Annals of Statistics
    39, 2011.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, sparse
from scipy.sparse.csgraph import connected_components

from graphtv._validate import (
    Floats,
    as_array,
    as_choice,
    as_flag,
    as_floats,
    as_real,
    describe,
    first_index,
)
from graphtv.applications._image import Image, as_image
from graphtv.applications._pixel_graph import pixel_graph
from graphtv.graph import Graph, as_graph
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.terms import SquaredLoss

__all__ = ["estimate_noise", "suggest_weight"]

RULES = ("risk", "noise")

MAD_OF_NORMAL = 0.6744897501960817
"""Median of |x| for a standard normal x."""

FLAT_PART = 0.25
"""Part of the pixels, those of the smallest gradient, over which the median is taken."""

FEWEST_WINDOWS = 100
"""Below so many pixels all are taken."""

LEAST_WHOLE = 0.25
"""Part of the windows that must be free of unknown pixels for the filters to be used."""

WEIGHT_PER_NOISE = 0.6
"""Weight over σ that is good for photographs, on a grid in the plane."""

LARGEST_RATIO = 2.0**30
"""How far from the first guess to look for a weight."""

REFINEMENTS = 2
"""Parabolas through the three best weights at the end of the search."""


def estimate_noise(
    data: Any, graph: Graph | None = None, *, mask: Any = None, channel_axis: int | None = None
) -> float | Floats:
    """Estimate the standard deviation of white Gaussian noise in an image or on a graph.

    Parameters
    ----------
    data : array_like
        An image or volume of any dimension, taken as in `denoise_tv`: integers are scaled, NaN
        is unknown. With a graph, a signal of shape (n,) or (n, C).
    graph : Graph, optional
        The graph whose vertices the signal lives on.
    mask : array_like of bool, optional
        True where the data are known.
    channel_axis : int, optional
        The axis of an image that holds channels. Not for signals on a graph.

    Returns
    -------
    float or ndarray, shape (C,)
        The noise level σ; one per channel if there are channels.

    Notes
    -----
    Images: the median of the absolute second differences along all axes, over the quarter of the
    pixels with the smallest gradient. Graphs: the median of the differences between a vertex and
    the weighted mean of its neighbours, scaled by their variance. Texture everywhere, or a signal
    that jumps along most edges, cannot be told from noise. Noise that was smoothed, clipped or
    compressed is underestimated.

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
    time_limit: float | None = None,
    verbose: bool = False,
    n_threads: int | None = None,
) -> float:
    """Suggest the `weight` of `denoise_tv`, or a factor for the weights of a graph.

    Parameters
    ----------
    data : array_like
        An image or volume, or with a graph a signal of shape (n,) or (n, C).
    graph : Graph, optional
        The graph of the signal. The number returned is for ``Graph(n, edges, number * weights)``.
    sigma : float or array_like, optional
        Standard deviation of the noise, one for all channels or one for each; by default that of
        `estimate_noise`.
    rule : {'risk', 'noise'}
        ``risk`` minimises Stein's unbiased estimate of the squared error, which takes six to ten
        solves. ``noise`` is 0.6 sigma on an image's plain grid, elsewhere divided by the mean
        weight of a vertex over 4: a guess that costs nothing.
    mask, spacing, channel_axis, connectivity
        As for `denoise_tv`.
    time_limit : float, optional
        Seconds after which the best weight so far is returned.
    verbose : bool
        Print a line for each weight that is tried.
    n_threads : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    float
        The weight; 0 if there is no noise.

    Notes
    -----
    The estimate of the risk holds for white Gaussian noise and the squared loss. With σ known its
    minimum is as a rule within 0.1 dB of the best weight; an error of σ shifts it.

    Examples
    --------
    >>> from graphtv import gallery
    >>> noisy, _ = gallery.piecewise_constant_image((64, 64), noise=0.1)
    >>> round(suggest_weight(noisy, sigma=0.1), 2)
    0.07
    """
    chosen = as_choice(rule, "rule", RULES)
    is_verbose = as_flag(verbose, "verbose")
    seconds = math.inf if time_limit is None else as_real(time_limit, "time_limit", minimum=0.0)
    image, unit = _as_data(data, graph, mask, channel_axis)
    if unit is None:
        unit = pixel_graph(image.shape, 1.0, spacing, connectivity)
        known_graph = None
    else:
        if spacing is not None:
            raise ValueError(f"spacing must be None for a signal on a graph, got {spacing!r}")
        if connectivity != 1:
            raise ValueError(
                f"connectivity must be 1 for a signal on a graph, got {connectivity!r}"
            )
        known_graph = unit
    levels = _noise_levels(image, known_graph) if sigma is None else _as_sigma(sigma, image)
    return weight_for(
        image,
        unit,
        levels,
        rule=chosen,
        time_limit=seconds,
        verbose=is_verbose,
        n_threads=n_threads,
    )[0]


def weight_for(
    image: Image,
    unit: Graph,
    levels: Floats,
    *,
    rule: str = "risk",
    time_limit: float = math.inf,
    verbose: bool = False,
    n_threads: int | None = None,
) -> tuple[float, Result | None]:
    """Return a factor for the weights of the graph `unit`, and the result found there if any.

    `levels` are the noise levels of the channels.
    """
    sigma = math.sqrt(float(np.mean(levels**2)))
    degree = 2.0 * float(unit.weights.sum()) / unit.n_vertices
    if sigma == 0.0 or degree == 0.0:
        return 0.0, None
    guess = WEIGHT_PER_NOISE * sigma * 4.0 / degree
    if rule == "noise":
        return guess, None
    risk = _Risk(image, unit, levels, time_limit, verbose, n_threads)
    weight = _descend(risk, guess)
    return weight, risk.best


class _Risk:
    """Stein's estimate of the mean squared error as a function of the weight.

    Infinite once the time is up.
    """

    def __init__(
        self,
        image: Image,
        unit: Graph,
        levels: Floats,
        time_limit: float,
        verbose: bool,
        n_threads: int | None,
    ) -> None:
        self._unit, self._levels, self._n_threads = unit, levels, n_threads
        self._verbose = verbose
        self._end = time.perf_counter() + time_limit
        self._known = _columns(image.known) if image.known is not None else None
        self._signal = _columns(image.signal)
        self._loss = SquaredLoss(image.signal, image.known)
        self._least = math.inf
        self.best: Result | None = None
        if verbose:
            print("    weight          risk   degrees of freedom")

    def __call__(self, weight: float) -> float:
        left = self._end - time.perf_counter()
        if left <= 0.0:
            return math.inf
        unit = self._unit
        graph = Graph._from_simple(unit.n_vertices, unit.edges, weight * unit.weights, unit._grid)
        result = solve(
            Problem(graph, self._loss),
            method="exact",
            time_limit=None if left == math.inf else left,
            warm_start=self.best,
            n_threads=self._n_threads,
        )
        if result.status == "interrupted":
            raise KeyboardInterrupt
        if result.status == "time_limit":
            return math.inf
        value, freedom = self._value(_columns(result.u))
        if self._verbose:
            print(f"{weight:10.4g}  {value:12.5g}   {freedom}")
        if value < self._least:
            self._least, self.best = value, result
        return value

    def _value(self, u: Floats) -> tuple[float, int]:
        """Return the estimated mean squared error, and the degrees of freedom of all channels."""
        total, count, freedom = 0.0, 0, 0
        for channel, variance in enumerate(self._levels**2):
            known = None if self._known is None else self._known[:, channel]
            residual = u[:, channel] - self._signal[:, channel]
            if known is not None:
                residual = residual[known]
            pieces = _n_pieces(self._unit, u[:, channel], known)
            total += float(residual @ residual) + float(variance) * (2 * pieces - residual.size)
            count += residual.size
            freedom += pieces
        return total / count, freedom


def _n_pieces(graph: Graph, u: Floats, known: NDArray[np.bool_] | None) -> int:
    """Return the number of connected pieces of equal values that hold data."""
    tails, heads = graph.edges.T
    same = u[tails] == u[heads]
    n = graph.n_vertices
    joined = sparse.coo_array(
        (np.ones(int(same.sum()), dtype=np.int8), (tails[same], heads[same])), shape=(n, n)
    )
    count, labels = connected_components(joined, directed=False)
    return int(count) if known is None else len(np.unique(labels[known]))


def _descend(function: Callable[[float], float], start: float) -> float:
    """Return a minimiser of a function of a positive number that has, by and large, one valley.

    Doubling or halving brackets the minimum, parabolas in the logarithm refine it.
    """
    values = {0.0: function(start)}
    step = 1.0 if _at(values, function, start, 1.0) < values[0.0] else -1.0
    best = step if step > 0 else 0.0
    while _at(values, function, start, best + step) < values[best]:
        best += step
        if abs(best) >= math.log2(LARGEST_RATIO):
            break
    for _ in range(REFINEMENTS):
        x = _vertex(values)
        if x is not None:
            _at(values, function, start, x)
    return float(start * 2.0 ** min(values, key=lambda x: values[x]))


def _at(
    values: dict[float, float], function: Callable[[float], float], start: float, x: float
) -> float:
    if x not in values:
        values[x] = function(start * 2.0**x)
    return values[x]


def _vertex(values: dict[float, float]) -> float | None:
    """Return where the parabola through the best point and its neighbours is lowest."""
    xs = sorted(x for x, value in values.items() if value < math.inf)
    k = min(range(len(xs)), key=lambda k: values[xs[k]], default=0)
    if not 0 < k < len(xs) - 1:
        return None
    (a, b, c), (fa, fb, fc) = xs[k - 1 : k + 2], (values[x] for x in xs[k - 1 : k + 2])
    left, right = (b - a) * (fb - fc), (b - c) * (fb - fa)
    if left == right:
        return None
    return b - 0.5 * ((b - a) * left - (b - c) * right) / (left - right)


def _as_data(
    data: Any, graph: Graph | None, mask: Any, channel_axis: Any
) -> tuple[Image, Graph | None]:
    """Return an image, or a signal as an image of one axis with the graph it lives on."""
    if graph is None:
        return as_image(data, "data", mask, channel_axis), None
    n = as_graph(graph).n_vertices
    if channel_axis is not None:
        raise ValueError(f"channel_axis must be None for a signal on a graph, got {channel_axis!r}")
    # Numbers on a graph are measurements, not grey values: integers are not scaled.
    signal = data if isinstance(data, np.ma.MaskedArray) else as_array(data, "data")
    if signal.dtype.kind in "bui":
        signal = signal.astype(np.float64)
    shape = signal.shape
    if len(shape) not in (1, 2) or shape[0] != n:
        raise ValueError(f"data must have shape ({n},) or ({n}, C), got {shape}")
    return as_image(signal, "data", mask, 1 if len(shape) == 2 else None), graph


def _as_sigma(sigma: Any, image: Image) -> Floats:
    levels = as_floats(sigma, "sigma")
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
    signal = _columns(image.signal)
    known = None if image.known is None else _columns(image.known)
    levels = []
    for channel in range(signal.shape[1]):
        column, is_known = signal[:, channel], None if known is None else known[:, channel]
        level = None if graph is not None else _noise_of_pixels(column, is_known, image.shape)
        if level is None:
            plain = pixel_graph(image.shape, 1.0, None, 1) if graph is None else graph
            level = _noise_on_graph(column, is_known, plain)
        levels.append(level)
    return np.array(levels)


def noise_levels(image: Image) -> Floats:
    """Return σ of each channel of an image."""
    return _noise_levels(image, None)


def _noise_of_pixels(
    signal: Floats, known: NDArray[np.bool_] | None, shape: tuple[int, ...]
) -> float | None:
    """Return σ by the filters, or None where too many windows meet unknown pixels."""
    lengths = tuple(n for n in shape if n > 1)
    if not lengths or min(lengths) < 3:
        return None
    pixels = signal.reshape(lengths)
    if known is not None:
        pixels = np.where(known.reshape(lengths), pixels, np.nan)
    details, slope = pixels, np.zeros(lengths)
    for axis in range(pixels.ndim):
        details = np.diff(details, 2, axis=axis) / math.sqrt(6.0)
        order = tuple(int(k == axis) for k in range(pixels.ndim))
        slope += ndimage.gaussian_filter(pixels, 1.0, order, mode="nearest", truncate=3.0) ** 2
    slope = slope[(slice(1, -1),) * pixels.ndim]
    whole = ~np.isnan(slope)  # its window holds that of the details
    n_whole = int(whole.sum())
    if n_whole < LEAST_WHOLE * whole.size:
        return None
    if n_whole < FEWEST_WINDOWS:
        chosen = details[whole]
    else:
        chosen = details[slope <= np.quantile(slope[whole], FLAT_PART)]
    return float(np.median(np.abs(chosen))) / MAD_OF_NORMAL


def _noise_on_graph(signal: Floats, known: NDArray[np.bool_] | None, graph: Graph) -> float:
    """Return σ by the differences between the vertices and the means of their neighbours.

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


def _columns(values: NDArray[Any]) -> NDArray[Any]:
    """Return (n,) as (n, 1)."""
    return values.reshape(len(values), -1)
