"""The weight of least risk, by Stein's unbiased estimate of the squared error [1].

The estimate is

    ‖u - f‖² - nσ² + 2σ² df(u),

where the degrees of freedom df of total variation denoising are the number of connected pieces on
which u is constant [2]. The solution is exact, so the pieces can be counted.

[1] C. M. Stein, "Estimation of the mean of a multivariate normal distribution", Annals of
    Statistics 9, 1981.
[2] R. J. Tibshirani, J. Taylor, "The solution path of the generalized lasso", Annals of Statistics
    39, 2011.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats
from graphtv.applications.imaging.image import Image, columns
from graphtv.applications.imaging.mosaic import samples
from graphtv.applications.imaging.pixel_graph import pixel_graph
from graphtv.graph.components import connected_components, count_pieces
from graphtv.graph.graph import Graph
from graphtv.problem import Problem
from graphtv.solver import solve
from graphtv.terms import SquaredLoss

WEIGHT_PER_NOISE = 0.6
"""Ratio of weight and σ that works well for photographs on a 2-D grid."""

LARGEST_RATIO = 2.0**30
"""The search stays within this factor of the initial guess."""

MANY_PIECES = 0.15
"""Degrees of freedom per datum at the initial guess from which the best weight is not larger. On
photographs it is only larger below 0.125, and only smaller from 0.19 on."""

HALVINGS = 3
"""Number of halvings of the initial guess before 0 is considered."""


class Part(NamedTuple):
    """An image, or a signal as an image with one axis, and its graph."""

    image: Image
    unit: Graph


def weight_of_image(
    image: Image,
    levels: Floats,
    spacing: Any,
    connectivity: Any,
    *,
    rule: str = "risk",
    tolerance: float = 0.0,
    **search: Any,
) -> float:
    """Return the weight for an image that is denoised to a tolerance."""
    images = samples(image, tolerance) if rule == "risk" else [image]
    parts = [Part(each, pixel_graph(each.shape, 1.0, spacing, connectivity)) for each in images]
    return weight_for(parts, levels, rule=rule, **search)


def weight_for(
    parts: list[Part],
    levels: Floats,
    *,
    rule: str = "risk",
    time_limit: float = math.inf,
    verbose: bool = False,
    n_threads: int | None = None,
    stop: Callable[[], Any] | None = None,
) -> float:
    """Return a factor for the weights of the graphs; `levels` are the noise levels per channel."""
    sigma = math.sqrt(float(np.mean(levels**2)))
    weights = sum(float(part.unit.weights.sum()) for part in parts)
    degree = 2.0 * weights / sum(part.unit.n_vertices for part in parts)
    if sigma == 0.0 or degree == 0.0:
        return 0.0
    guess = WEIGHT_PER_NOISE * sigma * 4.0 / degree
    if rule == "noise":
        return guess
    risk = Risk(parts, levels, time_limit, verbose, n_threads, stop)
    return _descend(risk, guess)


class Risk:
    """Stein's estimate of the mean squared error as a function of the weight.

    It is infinite after the time limit, or after `stop` has returned True. `freedom` are the
    degrees of freedom per datum at the last weight.
    """

    def __init__(
        self,
        parts: list[Part],
        levels: Floats,
        time_limit: float,
        verbose: bool,
        n_threads: int | None,
        stop: Callable[[], Any] | None = None,
    ) -> None:
        self._parts, self._levels, self._n_threads = parts, levels, n_threads
        self._stop = stop
        self._verbose = verbose
        self._end = time.perf_counter() + time_limit
        self._losses = [SquaredLoss(part.image.signal, part.image.known) for part in parts]
        self.freedom = 0.0
        self._constant: tuple[float, float] = math.inf, math.inf
        if verbose:
            print("    weight          risk   degrees of freedom")

    def __call__(self, weight: float) -> float:
        """Return the risk of a weight."""
        if weight >= self._constant[0]:  # the solution does not change any more
            return self._constant[1]
        solutions = []
        for part, loss in zip(self._parts, self._losses, strict=True):
            u = self._solution(part.unit, loss, weight)
            if u is None:
                return math.inf
            solutions.append(columns(u))
        value, freedom, count = self._value(solutions)
        self.freedom = freedom / count
        if self._verbose:
            print(f"{weight:10.4g}  {value:12.5g}   {freedom}")
        if freedom == len(self._parts) * len(self._levels):
            self._constant = weight, value
        return value

    def of_data(self) -> float:
        """Return the risk of the unchanged data, which is the risk for weight 0."""
        return self._value([columns(part.image.signal) for part in self._parts])[0]

    def _solution(self, unit: Graph, loss: SquaredLoss, weight: float) -> Floats | None:
        """Return the exact solution, or None if the time limit was reached."""
        left = self._end - time.perf_counter()
        if left <= 0.0:
            return None
        graph = Graph._from_simple(unit.n_vertices, unit.edges, weight * unit.weights, unit._grid)
        result = solve(
            Problem(graph, loss),
            tol=0.0,
            time_limit=None if left == math.inf else left,
            n_threads=self._n_threads,
            stop=self._stop,
        )
        if result.status == "interrupted":
            if self._stop is None or not self._stop():
                raise KeyboardInterrupt
            self._end = -math.inf
        return None if result.status in ("interrupted", "time_limit") else result.u

    def _value(self, solutions: list[Floats]) -> tuple[float, int, int]:
        """Return the estimated error, and the numbers of degrees of freedom and of data."""
        total, count, freedom = 0.0, 0, 0
        for part, u in zip(self._parts, solutions, strict=True):
            signal = columns(part.image.signal)
            all_known = None if part.image.known is None else columns(part.image.known)
            for channel, variance in enumerate(self._levels**2):
                known = None if all_known is None else all_known[:, channel]
                residual = u[:, channel] - signal[:, channel]
                if known is not None:
                    residual = residual[known]
                pieces = n_pieces(part.unit, u[:, channel], known)
                misfit = float(np.square(residual).sum())
                total += misfit + float(variance) * (2 * pieces - residual.size)
                count += residual.size
                freedom += pieces
        return total / count, freedom, count


def n_pieces(graph: Graph, u: Floats, known: NDArray[np.bool_] | None) -> int:
    """Return the number of connected pieces of equal value that contain data."""
    if known is None:
        return count_pieces(graph, u)
    tails, heads = graph.edges.T
    _, labels = connected_components(graph, u[tails] == u[heads])
    return int(np.count_nonzero(np.bincount(labels[known])))


def _descend(risk: Risk, start: float) -> float:
    """Return a minimiser of the risk, which is roughly unimodal.

    Doubling or halving brackets the minimum, and a parabola in the logarithm locates it. If the
    value keeps decreasing under halving and is lower still at 0, the minimiser is 0.
    """
    values = {0.0: risk(start)}
    first = -1.0 if risk.freedom > MANY_PIECES else 1.0
    step = first if _at(values, risk, start, first) < values[0.0] else -first
    best = step if step == first else 0.0
    while _at(values, risk, start, best + step) < values[best]:
        best += step
        if abs(best) >= math.log2(LARGEST_RATIO):
            break
        if best <= -HALVINGS and risk.of_data() <= values[best]:
            return 0.0
    vertex = _vertex(values)
    least = min(values, key=lambda x: values[x])
    return float(start * 2.0 ** (least if vertex is None else vertex))


def _at(values: dict[float, float], risk: Risk, start: float, x: float) -> float:
    if x not in values:
        values[x] = risk(start * 2.0**x)
    return values[x]


def _vertex(values: dict[float, float]) -> float | None:
    """Return the vertex of the parabola through the best point and its neighbours."""
    xs = sorted(x for x, value in values.items() if value < math.inf)
    k = min(range(len(xs)), key=lambda k: values[xs[k]], default=0)
    if not 0 < k < len(xs) - 1:
        return None
    (a, b, c), (fa, fb, fc) = xs[k - 1 : k + 2], (values[x] for x in xs[k - 1 : k + 2])
    left, right = (b - a) * (fb - fc), (b - c) * (fb - fa)
    if left == right:
        return None
    return b - 0.5 * ((b - a) * left - (b - c) * right) / (left - right)
