"""The paper's primal-dual hybrid gradient method, for every data term and preconditioner."""

from __future__ import annotations

import math

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.decomposition.preconditioner import Preconditioner
from graphtv.problem import Problem, width
from graphtv.solver.options import PDHG
from graphtv.solver.tuning import TUNING
from graphtv.terms.base import CoreTerm

_NO_VERTEX_WEIGHTS = np.empty(0)


class Pdhg:
    """PDHG on a problem."""

    method = "pdhg"
    kernel = "pdhg"
    is_final = False
    is_exhausted = False
    settled = None

    def __init__(
        self,
        problem: Problem,
        preconditioner: Preconditioner,
        watch: _core.Watch,
        n_threads: int,
        start: tuple[Floats, Floats] | None,
        options: PDHG,
    ) -> None:
        graph, penalty, partition = problem.graph, problem.core_penalty, preconditioner.partition
        self._watch, self._n_threads, self._penalty = watch, n_threads, penalty
        self._n_primal = math.prod(problem.shape)
        self._n_dual = math.prod(problem.dual_shape)
        forests = None
        if partition is not None:
            forests = _core.Forests(
                graph.n_vertices,
                graph.edges,
                graph.weights,
                partition.labels,
                partition.n_forests,
                width(problem),
                _NO_VERTEX_WEIGHTS,
                watch,
            )
        gamma = problem.term.strong_convexity if options.gamma is None else options.gamma
        scheme = options.scheme
        if scheme == "auto" and gamma == 0.0:
            scheme = "restarted"
        unit = _unit_weight(problem, preconditioner)
        self._core = _core.Pdhg(
            graph.n_vertices,
            graph.edges,
            graph.weights,
            problem.term,
            penalty,
            forests,
            preconditioner.alpha,
            scheme,
            options.primal_step or 0.0,
            options.dual_step or 0.0,
            options.primal_weight or (unit if _has_one_curvature(problem, gamma) else 0.0),
            gamma,
            n_threads,
            reconditions=_reconditions(preconditioner, scheme),
            unit_weight=unit,
        )
        if start is not None:
            self._core.start_from(*start)
        self.iterations = 0
        self.restarts = 0
        self.step_size = 0.0

    @property
    def sweeps(self) -> int:
        """Number of solves of a whole forest so far."""
        return self._core.n_sweeps

    def advance(self, at_most: int) -> None:
        """Do one iteration."""
        step = self._core.step(self._watch)
        if step.completed:
            self.iterations += 1
            self.restarts += step.restarted
            self.step_size = 1.0 / step.primal_step

    def rest(self) -> None:
        """No-op: the primal point and the step sizes cannot be restored from p."""

    def resume(self, p: Floats) -> None:
        """Continue from the current point."""

    def evaluate(self) -> tuple[float, float]:
        """Return the primal and the dual objective of the current point, up to rounding."""
        return self._core.evaluate()

    def primal_point(self) -> Floats:
        """Return u."""
        u = np.empty(self._n_primal)
        self._core.u(u)
        return u

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""
        p = np.empty(self._n_dual)
        self._core.dual(p)
        return p

    def rounded_dual_point(self) -> Rounded:
        """Return p in multiples of 1/32767."""
        p = np.empty(self._n_dual, dtype=np.int16)
        self._penalty.round(self.dual_point(), p, self._n_threads)
        return p

    def conclude(self) -> None:
        """No-op: all memory is kept."""


def _has_one_curvature(problem: Problem, gamma: float) -> bool:
    """Whether the curvature is the same everywhere.

    Then it determines the first weight better than the range of u does (docs/theory/pdhg.md).
    """
    return problem.traits.is_quadratic and gamma > 0.0


def _unit_weight(problem: Problem, preconditioner: Preconditioner) -> float:
    """Return what √(s/t) = 1 is in the units of the problem (docs/theory/pdhg.md).

    2ᵃ is the unit of u and 2ᵇ that of the objective, so ω has the unit 2ᵇ⁻ᵃ.
    """
    if not isinstance(problem.data, CoreTerm):
        return 1.0
    a, b = problem.data.units(problem.graph, None, 1)
    if preconditioner.partition is not None:
        return math.ldexp(1.0, b - 2 * a)
    alpha = 1.0 if preconditioner.alpha is None else preconditioner.alpha
    return math.ldexp(1.0, -a - round((1.0 - alpha) * (b - a)))


def _reconditions(preconditioner: Preconditioner, scheme: str) -> bool:
    """Whether to rebuild the forests during the run (docs/theory/pdhg.md).

    Linear forests are not rebuilt. They are so much faster than trees that they take less time in
    spite of more iterations. A partition given by the user is not changed either.
    """
    partition = preconditioner.partition
    if partition is None or partition.is_linear or partition.method == "custom":
        return False
    balances = scheme in ("auto", "balanced", "restarted")
    return balances and partition.graph.n_edges <= TUNING.recondition_edges
