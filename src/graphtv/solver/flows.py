"""Maximum flows that turn a good point into the exact answer (docs/theory/exact-finish.md).

Their cost is not known in advance. It is small in two dimensions, and large where excess has to
travel far (volumes, long networks). Therefore the work is limited by an allowance. It is counted in
arcs per vertex and not in seconds, so that runs are reproducible bit by bit.
"""

from __future__ import annotations

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.problem import Problem
from graphtv.solver.stage import rounded


class Flows:
    """One attempt at the exact answer.

    The arrays u and p are changed in place. If the allowance is exhausted, u is unchanged and p is
    the start again, rounded to multiples of 1/32767 where flow has moved.
    """

    method = "flows"
    kernel = "flows"
    sweeps = 0
    step_size = 0.0
    restarts = 0

    def __init__(
        self,
        problem: Problem,
        u: Floats,
        p: Floats,
        start: Rounded,
        allowance: float,
        watch: _core.Watch,
        n_threads: int,
    ) -> None:
        self._problem, self._watch, self._n_threads = problem, watch, n_threads
        self._u, self._p, self._allowance = u, p, allowance
        self._start: Rounded | None = start  # until the flows start
        self._finish: _core.ExactFinish | None = None  # during the flows
        self._channel = 0
        self.iterations = 0
        self.is_final = self.is_exhausted = False

    def advance(self, at_most: int) -> None:
        """Run the flows on every channel until the allowance is exhausted."""
        ends = self._run()
        self.iterations += 1
        self.is_exhausted = "exhausted" in ends
        self.is_final = not self.is_exhausted and "expired" not in ends

    @property
    def settled(self) -> float:
        """During the flows, the share of the values that are final so far."""
        if self._finish is None:
            return 0.0
        return (self._channel + self._finish.settled) / self._problem.term.n_channels

    def _run(self) -> list[str]:
        """Run the flows channel by channel and return how they ended."""
        graph, term = self._problem.graph, self._problem.term
        assert isinstance(term, _core.SlopedTerm)
        try:
            finish = _core.ExactFinish(graph.n_vertices, graph.edges, graph.weights, self._watch)
        except _core.Expired:
            return ["expired"]
        self._finish = finish
        start, self._start = self._start, None
        assert start is not None
        rows = (values.reshape(term.n_channels, -1) for values in (self._p, self._u, start))
        ends = []
        try:
            for self._channel, (p, u, rounded_p) in enumerate(zip(*rows, strict=True)):
                end = finish.solve(
                    term,
                    self._channel,
                    p,
                    u,
                    self._watch,
                    self._n_threads,
                    self._allowance,
                    rounded_p,
                )
                ends.append(end)
        finally:
            self._finish = None  # frees its memory
        return ends

    def evaluate(self) -> tuple[float, float]:
        """Return the primal and the dual objective of the current point, up to rounding."""
        problem, threads = self._problem, self._n_threads
        return problem.objective.primal(self._u, threads), problem.objective.dual(self._p, threads)

    def primal_point(self) -> Floats:
        """Return u."""
        return self._u

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""
        return self._p

    def rounded_dual_point(self) -> Rounded:
        """Return p in multiples of 1/32767."""
        return rounded(self._p, self._n_threads)

    def conclude(self) -> None:
        """No-op: there is nothing to free."""
