"""The paper's primal-dual hybrid gradient method, for every data term and preconditioner."""

from __future__ import annotations

import math

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.decomposition.preconditioner import Preconditioner
from graphtv.problem import Problem, width
from graphtv.solver.options import PDHG, exponent_of_primal_step, exponent_of_weight
from graphtv.solver.tuning import TUNING
from graphtv.terms._units import NO_UNITS, Units
from graphtv.terms.core_term import CoreTerm

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
        units: Units = NO_UNITS,
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
        degrees = _degrees(preconditioner)
        options = options.in_units(units, *degrees)
        gamma = problem.term.strong_convexity if options.gamma is None else options.gamma
        scheme = options.scheme
        if scheme == "auto" and gamma == 0.0:
            scheme = "restarted"
        unit = _unit_weight(problem, *degrees)
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
        # Only the reported step uses it: beyond the range of floats it is the largest power.
        exponent = exponent_of_primal_step(units, degrees[0])
        self._unit_of_steps = 2.0 ** min(max(exponent, -1022.0), 1023.0)

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
            self.step_size = self._unit_of_steps / step.primal_step

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


def _degrees(preconditioner: Preconditioner) -> tuple[float, float]:
    """Return the degrees of S and T as functions of ω."""
    if preconditioner.partition is not None:
        return 0.0, 2.0
    alpha = preconditioner.alpha
    return (0.0, 0.0) if alpha is None else (2.0 - alpha, alpha)


def _unit_weight(problem: Problem, degree_of_S: float, degree_of_T: float) -> float:
    """Return what √(s/t) = 1 is in the units of the problem (docs/theory/pdhg.md)."""
    if not isinstance(problem.data, CoreTerm):
        return 1.0
    units = problem.data.units(problem.graph, None, 1)
    return math.ldexp(1.0, -round(exponent_of_weight(units, degree_of_S, degree_of_T)))


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
