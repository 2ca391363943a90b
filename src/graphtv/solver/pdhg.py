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

_NO_VERTEX_WEIGHTS = np.empty(0)


class Pdhg:
    """PDHG on a problem."""

    method = "pdhg"
    kernel = "pdhg"
    is_final = False
    is_exhausted = False

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
            options.primal_weight or _first_weight(problem, gamma),
            gamma,
            n_threads,
            reconditions=_reconditions(preconditioner, scheme),
        )
        if start is not None:
            self._core.start_from(*start)
        self.iterations = 0
        self.restarts = 0
        self.step_size = 0.0

    @property
    def sweeps(self) -> int:
        """Steps through a whole forest done."""
        return self._core.n_sweeps

    def advance(self, at_most: int) -> None:
        """Do one iteration."""
        step = self._core.step(self._watch)
        if step.completed:
            self.iterations += 1
            self.restarts += step.restarted
            self.step_size = 1.0 / step.primal_step

    def rest(self) -> None:
        """Keep all memory: primal point and step sizes do not follow from p."""

    def resume(self, p: Floats) -> None:
        """Go on from where it was."""

    def evaluate(self) -> tuple[float, float]:
        """Return primal and dual objective of the current point, to rounding."""
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
        """Keep all memory."""


def _first_weight(problem: Problem, gamma: float) -> float:
    """Return √(s/t) at the start, or 0 for what fits the range of u, see docs/theory/pdhg.md.

    The squared loss has the same curvature everywhere, which says more than its range.
    """
    return 1.0 if problem.traits.is_quadratic and gamma > 0.0 else 0.0


def _reconditions(preconditioner: Preconditioner, scheme: str) -> bool:
    """Whether other forests are worth the time it takes to build them, see docs/theory/pdhg.md.

    Linear forests, chains above all, are so much faster than trees that they win with more
    iterations. A user's own partition is left alone.
    """
    partition = preconditioner.partition
    if partition is None or partition.is_linear or partition.method == "custom":
        return False
    balances = scheme in ("auto", "balanced", "restarted")
    return balances and partition.graph.n_edges <= TUNING.recondition_edges
