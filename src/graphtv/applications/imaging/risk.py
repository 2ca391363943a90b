"""The weight of least risk, by Stein's unbiased estimate of the squared error [1].

The estimate is

    ‖u - f‖² - nσ² + 2σ² df(u),

where the degrees of freedom df of total variation denoising are the number of connected pieces on
which u is constant [2]. The solver's answer is exact, so they can be counted.

[1] C. M. Stein, "Estimation of the mean of a multivariate normal distribution", Annals of
    Statistics 9, 1981.
[2] R. J. Tibshirani, J. Taylor, "The solution path of the generalized lasso", Annals of Statistics
    39, 2011.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats
from graphtv.applications.imaging.image import Image, columns
from graphtv.applications.imaging.mosaic import sample
from graphtv.applications.imaging.pixel_graph import pixel_graph
from graphtv.graph.components import connected_components
from graphtv.graph.graph import Graph
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.terms import SquaredLoss

WEIGHT_PER_NOISE = 0.6
"""Weight over σ that is good for photographs, on a grid in the plane."""

LARGEST_RATIO = 2.0**30
"""How far from the first guess to look for a weight."""

REFINEMENTS = 2
"""Parabolas through the three best weights at the end of the search."""


def weight_of_image(
    image: Image,
    levels: Floats,
    spacing: Any,
    connectivity: Any,
    *,
    rule: str = "risk",
    **search: Any,
) -> tuple[float, Result | None]:
    """Return the weight for an image, and the result found there unless a sample was enough."""
    part = sample(image) if rule == "risk" else image
    unit = pixel_graph(part.shape, 1.0, spacing, connectivity)
    weight, found = weight_for(part, unit, levels, rule=rule, **search)
    return weight, found if part is image else None


def weight_for(
    image: Image,
    unit: Graph,
    levels: Floats,
    *,
    rule: str = "risk",
    time_limit: float = math.inf,
    verbose: bool = False,
    n_threads: int | None = None,
    stop: Callable[[], Any] | None = None,
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
    risk = Risk(image, unit, levels, time_limit, verbose, n_threads, stop)
    weight = _descend(risk, guess)
    return weight, risk.best


class Risk:
    """Stein's estimate of the mean squared error as a function of the weight.

    Infinite once the time is up, or `stop` has said so.
    """

    def __init__(
        self,
        image: Image,
        unit: Graph,
        levels: Floats,
        time_limit: float,
        verbose: bool,
        n_threads: int | None,
        stop: Callable[[], Any] | None = None,
    ) -> None:
        self._unit, self._levels, self._n_threads = unit, levels, n_threads
        self._stop = stop
        self._verbose = verbose
        self._end = time.perf_counter() + time_limit
        self._known = columns(image.known) if image.known is not None else None
        self._signal = columns(image.signal)
        self._loss = SquaredLoss(image.signal, image.known)
        self._least = math.inf
        self.best: Result | None = None
        if verbose:
            print("    weight          risk   degrees of freedom")

    def __call__(self, weight: float) -> float:
        """Return the estimated risk of a weight."""
        left = self._end - time.perf_counter()
        if left <= 0.0:
            return math.inf
        unit = self._unit
        graph = Graph._from_simple(unit.n_vertices, unit.edges, weight * unit.weights, unit._grid)
        result = solve(
            Problem(graph, self._loss),
            tol=0.0,
            time_limit=None if left == math.inf else left,
            warm_start=self.best,
            n_threads=self._n_threads,
            stop=self._stop,
        )
        if result.status == "interrupted":
            if self._stop is None or not self._stop():
                raise KeyboardInterrupt
            self._end = -math.inf
            return math.inf
        if result.status == "time_limit":
            return math.inf
        value, freedom = self._value(columns(result.u))
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
            pieces = n_pieces(self._unit, u[:, channel], known)
            misfit = float(np.square(residual).sum())
            total += misfit + float(variance) * (2 * pieces - residual.size)
            count += residual.size
            freedom += pieces
        return total / count, freedom


def n_pieces(graph: Graph, u: Floats, known: NDArray[np.bool_] | None) -> int:
    """Return the number of connected pieces of equal values that hold data."""
    tails, heads = graph.edges.T
    same = u[tails] == u[heads]
    count, labels = connected_components(graph, same)
    return count if known is None else len(np.unique(labels[known]))


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
