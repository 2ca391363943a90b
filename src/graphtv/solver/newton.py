"""Newton's method for the primal objective of isotropic and coupled total variation.

At the same iteration of a descent, the primal point is 10 to 100 times farther from the optimum
than the dual one: in flat regions u = f - C⁻¹Kᵀp has small differences, which total variation adds
up. A few steps of Newton's method from there bring the primal point to the accuracy of the dual
one. The matrix uses p (cpp/solver/newton/primal_newton.hpp), so the steps are good from the start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphtv import _core
from graphtv._validate import Floats
from graphtv.problem import Problem
from graphtv.terms._arrays import from_core, rows_of, to_core
from graphtv.terms.weighted_loss import WeightedLoss

SMOOTHING = 0.3
"""The smoothing of the norms may change the objective by this share of the gap."""

ACCURACY, CONJUGATE_GRADIENTS = 0.03, 4
"""The accuracy of a step, and the most iterations that it may take: more gain little."""

STEPS = 8
"""The most steps at a time."""

GAIN = 0.6
"""The steps end when one leaves more than this share of the gap: the rest is due to p."""

MARGIN = 0.9
"""The gap is reduced to this share of the goal, since certificates add bounds of rounding."""

SHORTEST = 0.1
"""The shortest step that is tried."""


class Improved(NamedTuple):
    """A primal point and its objective."""

    u: Floats
    primal: float


class PrimalNewton:
    """Newton's method for a problem with a penalty of groups and a smooth, curved loss."""

    def __init__(self, problem: Problem, n_threads: int) -> None:
        graph, penalty = problem.graph, problem.core_penalty
        assert isinstance(penalty, _core.GroupNorms)
        assert isinstance(problem.data, WeightedLoss)
        self._problem, self._data, self._n_threads = problem, problem.data, n_threads
        self._core = _core.PrimalNewton(graph.n_vertices, graph.edges, graph.weights, penalty)
        self._n_norms = penalty.n_groups * (1 if penalty.couples else problem.term.n_channels)

    def improve(self, start: Improved, p: Floats, dual: float, goal: float) -> Improved:
        """Return a better u, given a dual point and its objective.

        The steps end when the gap is at most `goal`, or when they no longer reduce it much. Raise
        `_core.Expired` if the thread's watch expires.
        """
        best = start
        for _ in range(STEPS):
            gap = best.primal - dual
            if not gap > MARGIN * goal:
                break
            found = self._step(best, p, SMOOTHING * gap / self._n_norms)
            is_slow = found.primal - dual > GAIN * gap
            best = min(best, found, key=lambda point: point.primal)
            if is_slow:
                break
        return best

    def _step(self, start: Improved, p: Floats, smoothing: float) -> Improved:
        """Return the end of a step, or of a part of it if the objective increases."""
        u, d = start.u, np.empty_like(start.u)
        rows = from_core(u, rows_of(self._problem.shape))
        slope = to_core(self._data.derivative(rows)).ravel()
        curvature = to_core(self._data.second_derivative(rows)).ravel()
        self._core.step(u, p, slope, curvature, smoothing, ACCURACY, CONJUGATE_GRADIENTS, d)
        length = 1.0
        while True:
            moved = u + length * d
            found = Improved(moved, self._problem.objective.primal(moved, self._n_threads))
            if found.primal < start.primal or length <= SHORTEST:
                return found
            length *= 0.5
