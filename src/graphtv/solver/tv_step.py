"""Proximal steps of a penalty: argmin_v L/2 ‖v - w‖² + F(Kv), inexact and with warm starts.

L is one number, or a diagonal matrix if each entry has a step of its own. The stages for the
squared loss solve them. A step ends when its duality gap is small compared with L/2 ‖u - y‖², the
progress from the point y of the outer method (Monteiro and Svaiter, "An accelerated hybrid proximal
extragradient method", SIAM J. Optim. 23, 2013). Here u is v after a clip and a soft threshold, if
there are bounds or sparsity. So steps are cheap at the beginning and become as accurate as the
outer method needs.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from graphtv import _core
from graphtv._validate import Floats
from graphtv.decomposition.partition import ForestPartition
from graphtv.decomposition.preconditioner import as_preconditioner
from graphtv.graph.grid import row_major_shape
from graphtv.operators.inner import inner
from graphtv.problem import Problem
from graphtv.solver.descent import Descent, EdgeDescent, ForestDescent
from graphtv.solver.group_descent import GroupDescent, group_kernel
from graphtv.solver.tuning import Tuning
from graphtv.terms import SquaredLoss
from graphtv.terms._arrays import from_core


class Step(NamedTuple):
    """A proximal step: the point, its dual point |p| ≤ 1, and the number of inner iterations."""

    v: Floats
    p: Floats
    iterations: int


def can_scale(problem: Problem) -> bool:
    """Whether entries of u may have steps of different length.

    The soft threshold of sparsity would then differ from vertex to vertex, so that it could not
    follow the proximal map of total variation. A clip can.
    """
    return problem.delta is not None and not problem.constraint.has_sparsity


def has_steps(problem: Problem) -> bool:
    """Whether the proximal map of penalty and constraint can be computed.

    A clip or a soft threshold with the same ends at all vertices may follow the proximal map of
    total variation (Friedman et al., "Pathwise coordinate optimization", 2007): it is
    nondecreasing, so p keeps its signs. This is not true for other penalties.
    """
    if problem.delta is None:
        is_group = isinstance(problem.core_penalty, _core.GroupNorms)
        if not is_group or not group_kernel(_step_problem(problem, np.zeros(_size(problem)), 1.0)):
            return False
    constraint = problem.constraint
    return constraint.is_free or (problem.delta == 0.0 and constraint.is_uniform)


class TvStep:
    """Computes proximal steps for a problem with an operator."""

    def __init__(
        self, problem: Problem, kernel: str, watch: _core.Watch, n_threads: int, tuning: Tuning
    ) -> None:
        self._problem, self._watch, self._n_threads = problem, watch, n_threads
        self._tuning = tuning
        self._partition: ForestPartition | None = None
        self._lattice = row_major_shape(problem.graph)
        self._kernel = kernel if problem.delta == 0.0 and kernel != "edges" else "forests"
        if problem.delta is None:
            self._kernel = group_kernel(_step_problem(problem, np.zeros(_size(problem)), 1.0))
        self.iterations = self._last = 0

    def __call__(self, w: Floats, curvature: float | Floats, p: Floats, y: Floats) -> Step:
        """Return the proximal step from w; raise `_core.Expired` if the watch expires.

        The kernels of grids need a curvature that is one number.
        """
        step = _step_problem(self._problem, w, curvature)
        descent = self._descent(step, p)
        t, stride, done = self._tuning, max(1, self._last // 2), 0
        constraint = self._problem.constraint
        while True:
            before = descent.iterations
            descent.advance(stride)
            if descent.iterations == before:
                raise _core.Expired
            done = descent.iterations
            primal, dual = descent.evaluate()
            v = descent.primal_point()
            move = constraint.prox(v, 1.0 / curvature) - y
            progress = 0.5 * inner(curvature * move, move)
            gap = primal - dual
            floor = self._resolution * abs(primal)
            if gap <= t.step_gap * progress or descent.is_final or done >= t.longest_inner:
                break
            if gap <= floor:
                if self._kernel == "forests" or self._problem.delta is None:
                    break
                self._kernel = "forests"  # single precision is not enough any more
                p = descent.dual_point()
                descent = self._descent(step, p)
            stride = max(1, done // 2)
        self.iterations, self._last = self.iterations + done, done
        return Step(v, descent.dual_point(), done)

    @property
    def _resolution(self) -> float:
        """The relative gap below which rounding dominates."""
        return 1e-14 if self._kernel in ("forests", "stars", "coupled") else 1e-6

    def _descent(self, step: Problem, p: Floats) -> Descent:
        watch, threads = self._watch, self._n_threads
        if self._problem.delta is None:
            return GroupDescent(step, self._kernel, False, watch, threads, p)
        if self._kernel != "forests":
            return EdgeDescent(step, self._kernel, self._lattice, watch, threads, p)
        if self._partition is None:
            self._partition = as_preconditioner("auto", step.graph, watch=watch).partition
            assert self._partition is not None
        return ForestDescent(step, self._partition, watch, threads, p, rests=False)


def _step_problem(problem: Problem, w: Floats, curvature: float | Floats) -> Problem:
    assert problem.misfit is not None
    shape = problem.misfit.shape
    weights = from_core(curvature, shape) if isinstance(curvature, np.ndarray) else curvature
    return Problem(problem.graph, SquaredLoss(from_core(w, shape), weights), problem.penalty)


def _size(problem: Problem) -> int:
    return math.prod(problem.shape)
