"""A graph without cycles is solved outright: one exact step, and no iterations."""

from __future__ import annotations

import numpy as np

from graphtv._validate import Floats, Rounded
from graphtv.decomposition.partition import ForestPartition
from graphtv.problem import Problem, width
from graphtv.solver.engine import rounded
from graphtv.terms import SquaredLoss
from graphtv.terms._arrays import to_core
from graphtv.tv.exact import solve_forest

MOST_ENTRIES = 1 << 21
"""Larger problems are left to methods that listen to Ctrl-C on the way."""


def is_solved_outright(problem: Problem, partition: ForestPartition | None) -> bool:
    """Whether the exact solvers of forests apply to the whole problem at once."""
    data = problem.data
    if partition is None or partition.n_forests > 1 or not isinstance(data, SquaredLoss):
        return False
    if not 0 < data.signal.size <= MOST_ENTRIES:
        return False
    first = data.weights.flat[0]
    return bool(first > 0.0 and (data.weights == first).all())


class Forest:
    """The exact solvers of forests as an engine."""

    phase = ""
    target = 0.0
    preconditioner = None
    step_size = 0.0
    restarts = 0
    is_cheap = False
    pattern_gap = 0.0
    polish_price = 1

    def __init__(self, problem: Problem, n_threads: int) -> None:
        self._problem, self._n_threads = problem, n_threads
        self._u = self._p = np.empty(0)
        self.iterations = 0
        self.is_final = False

    @property
    def sweeps(self) -> int:
        """Steps through a whole forest done."""
        return self.iterations * self._problem.term.n_channels

    def observe(self, relative_gap: float) -> None:
        """Hear it, and do nothing."""

    def advance(self, at_most: int) -> None:
        """Solve the problem."""
        problem = self._problem
        graph, data = problem.graph, problem.data
        assert isinstance(data, SquaredLoss)
        # With one weight c for all vertices the solution is that for the weights ω/c and δ/c.
        c = float(data.weights.flat[0])
        weights = graph.weights if c == 1.0 else graph.weights / c
        signals = to_core(data.signal).reshape(problem.term.n_channels, graph.n_vertices)
        u, p = solve_forest(
            graph, weights, signals, width(problem) / c, self._n_threads, wants_dual=True
        )
        self._u, self._p = u.reshape(-1), p.reshape(-1)
        self.iterations = 1
        self.is_final = True

    def evaluate(self) -> tuple[float, float]:
        """Return primal and dual objective."""
        problem, threads = self._problem, self._n_threads
        return problem._primal(self._u, threads), problem._dual(self._p, threads)

    def primal_point(self) -> Floats:
        """Return u."""
        return self._u

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""
        return self._p

    def rounded_dual_point(self) -> Rounded:
        """Return p in multiples of 1/32767."""
        return rounded(self.dual_point(), self._n_threads)

    def conclude(self) -> None:
        """Have nothing to give back."""
