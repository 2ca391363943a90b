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
from graphtv.solver.tuning import TUNING
from graphtv.terms._arrays import from_core, rows_of, to_core
from graphtv.terms.weighted_loss import WeightedLoss


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
        for _ in range(TUNING.most_newton_steps):
            gap = best.primal - dual
            if not gap > TUNING.newton_margin * goal:
                break
            found = self._step(best, p, TUNING.newton_smoothing * gap / self._n_norms)
            is_slow = found.primal - dual > TUNING.newton_gain * gap
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
        accuracy, most = TUNING.newton_accuracy, TUNING.conjugate_gradients
        self._core.step(u, p, slope, curvature, smoothing, accuracy, most, d)
        length = 1.0
        while True:
            moved = u + length * d
            found = Improved(moved, self._problem.objective.primal(moved, self._n_threads))
            if found.primal < start.primal or length <= TUNING.shortest_newton_step:
                return found
            length *= 0.5
