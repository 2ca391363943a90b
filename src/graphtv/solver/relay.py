"""Descent over edges as long as it gets ahead, then over forests.

Edges need no decomposition, which costs as much as some seventy iterations over them. Where the
pieces of the solution are small they are all it takes; where information has far to travel the gap
falls slowly, and forests take over: from the point reached, or from nothing while it is held, until
they are ahead of it.
"""

from __future__ import annotations

import time
from contextlib import suppress

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.decomposition.preconditioner import Preconditioner, as_preconditioner
from graphtv.problem import Problem, relative_gap
from graphtv.solver.closing import Held
from graphtv.solver.descent import Descent
from graphtv.solver.engine import rounded
from graphtv.solver.progress import iterations_ahead

DECOMPOSITION = 70
"""Iterations over edges that forests cost before they are ready."""

FIRST_DOUBT = 16
"""Iterations before the future is foretold from the past."""

WORTH_KEEPING = 1e-2
"""Relative gap above which forests do better from nothing than from where slow edges got to; on
grids they do at any gap."""

FAR_FLOWS_GAP = 2e-6
"""Relative gap from which on flows are cheap on a grid whose edges were slow."""


class Relay:
    """Two descents one after the other."""

    target = 0.0
    is_final = False

    def __init__(
        self,
        problem: Problem,
        goal: float,
        watch: _core.Watch,
        n_threads: int,
        start: Floats | None,
    ) -> None:
        self._problem, self._goal, self._watch, self._n_threads = problem, goal, watch, n_threads
        self._descent = Descent(problem, None, watch, n_threads, start)
        self._began = time.perf_counter()
        self._past: list[tuple[int, float]] = []  # iterations and gaps over edges
        self._edge_iterations = 0  # once forests have taken over
        self._edge_restarts = 0
        self._is_far = False  # whether values have far to travel over a grid
        self._held: Held | None = None  # where edges got to, while forests are behind
        self.preconditioner: Preconditioner | None = None
        self.phase = "edges"

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return self._edge_iterations + self._descent.iterations

    @property
    def sweeps(self) -> int:
        """Steps through a whole forest done."""
        return self._descent.sweeps

    @property
    def step_size(self) -> float:
        """The momentum β of the first channel."""
        return self._descent.step_size

    @property
    def restarts(self) -> int:
        """Restarts so far."""
        return self._edge_restarts + self._descent.restarts

    @property
    def pattern_gap(self) -> float:
        """The gap from which on a polish may pay, of the descent at work."""
        return self._descent.pattern_gap

    @property
    def polish_price(self) -> int:
        """Iterations that cost as much as a polish."""
        return self._descent.polish_price

    @property
    def flows_gap(self) -> float:
        """The relative gap from which on flows may be cheap, of the descent at work."""
        return FAR_FLOWS_GAP if self._is_far else self._descent.flows_gap

    @property
    def flows_price(self) -> int:
        """Iterations that cost as little as flows may, of the descent at work."""
        return self._descent.flows_price

    @property
    def is_cheap(self) -> bool:
        """Whether an iteration costs less than a look at the gap."""
        return self._descent.is_cheap

    def observe(self, gap: float) -> None:
        """Judge whether edges get ahead."""
        if self.preconditioner is None:
            self._past.append((self.iterations, gap))
            if self._edges_are_slow() and self._has_time():
                self._is_far = self._descent.is_lattice
                is_start = gap <= WORTH_KEEPING and not self._is_far
                u = None if is_start else self._descent.primal_point()
                p = self._descent.dual_point()
                self._descent.rest()
                self._take_forests(p, is_start=is_start)
                if self.preconditioner is not None and u is not None:
                    self._hold(u, p)

    def advance(self, at_most: int) -> None:
        """Do one or a few iterations."""
        self._descent.advance(at_most)

    def evaluate(self) -> tuple[float, float]:
        """Return primal and dual objective of the current point, to rounding."""
        values = self._descent.evaluate()
        if self._held is not None and relative_gap(*values) > self._held.relative_gap:
            return self._held.primal, self._held.dual
        self._held = None
        return values

    def primal_point(self) -> Floats:
        """Return u."""
        return self._descent.primal_point() if self._held is None else self._held.u

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""
        return self._descent.dual_point() if self._held is None else self._held.unpack().p

    def rounded_dual_point(self) -> Rounded:
        """Return p in multiples of 1/32767."""
        return self._descent.rounded_dual_point() if self._held is None else self._held.p

    def conclude(self) -> None:
        """Give back what only further iterations need."""
        self._descent.conclude()

    def rest(self) -> None:
        """Give back all memory."""
        self._descent.rest()

    def resume(self, p: Floats) -> None:
        """Go on from p, without momentum.

        Flows in vain show that there is far to go. On grids forests take over then: chains need no
        search, and get there, or to where flows are cheap, in less than edges and flows would.
        """
        self._held = None
        if self.preconditioner is None and self._descent.is_lattice and self._has_time():
            self._take_forests(p)
        else:
            self._descent.resume(p)

    def _edges_are_slow(self) -> bool:
        """Whether edges would need too many further iterations, as far as that can be told."""
        if self.iterations < FIRST_DOUBT:
            return False
        ahead = iterations_ahead(self._past, self._goal)
        return ahead is not None and ahead > self._descent.patience

    def _has_time(self) -> bool:
        """Whether forests would be ready before the deadline."""
        per_iteration = (time.perf_counter() - self._began) / self.iterations
        return self._watch.remaining > DECOMPOSITION * per_iteration

    def _hold(self, u: Floats, p: Floats) -> None:
        """Keep the point of the edges; if the watch expires, that of the forests has to do."""
        with suppress(_core.Expired), self._watch:
            start = rounded(p, self._n_threads)
            primal = self._problem._primal(u, self._n_threads)
            self._held = Held.of(self._problem, u, start, primal, self._n_threads)

    def _take_forests(self, p: Floats, is_start: bool = True) -> None:
        """Let forests take over from edges at rest, which have come to p."""
        edges = self._descent
        try:
            with self._watch:
                found = as_preconditioner("auto", self._problem.graph, watch=self._watch)
                self._descent = Descent(
                    self._problem,
                    found.partition,
                    self._watch,
                    self._n_threads,
                    p if is_start else None,
                )
        except _core.Expired:
            edges.resume(p)
            return
        self.preconditioner = found.without_forests()
        self._edge_iterations, self._edge_restarts = edges.iterations, edges.restarts
        self.phase = ""
