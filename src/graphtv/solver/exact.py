"""The exact answer: a start by descent, then maximum flows that begin where it ended.

How dear the flows are shows only when they are tried: in two dimensions little, where excess has
far to go (volumes, long networks) more than a better start would cost. So they have an allowance of
work. When it is exhausted the start goes on for several times as many iterations, and the next
allowance is larger; all of it is counted in arcs, not in seconds, and repeats bit by bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from graphtv import _core
from graphtv._memory import give_back
from graphtv._validate import Floats, Rounded
from graphtv.decomposition.preconditioner import Preconditioner
from graphtv.problem import Problem, relative_gap
from graphtv.solver.engine import Start, rounded
from graphtv.solver.progress import iterations_ahead
from graphtv.terms import SquaredLoss

EXACT_GAP = 1e-12
"""The relative gap that counts as exact: what tol=0 asks for."""

SHORTEST_CHEAP_START = 16
"""Iterations over edges, which cost next to nothing, before the flows are tried."""

LONGEST_START = 400
"""Iterations after which the start hands over in any case."""

LONGEST_BLIND_START = 30
"""The same where some vertices have no data: descent takes them for light ones, and ends beside."""

ALLOWANCE = 150.0
"""Arcs that the first attempt may look at, per vertex: some fifty iterations of the start."""

GROWTH = 4.0
"""Of the allowance, from attempt to attempt."""

POLISHED = 6
"""Over edges, polishes end a run in so many times fewer iterations than its gaps foretell."""

LONGEST_WAIT = 2
"""The start goes on for at most so many times what the flows cost, although it may be over soon."""


def _ignore(u: Floats, p: Rounded) -> None:
    """Take no notice of a start."""


class Exact:
    """A method that starts, and flows that finish.

    `on_start` is told with which u and rounded p the flows begin, which go back to them if they are
    in vain: somebody who holds this p takes no memory of its own.
    """

    def __init__(
        self,
        problem: Problem,
        start: Start,
        tolerance: float,
        watch: _core.Watch,
        n_threads: int,
    ) -> None:
        self._problem, self._start, self._tolerance = problem, start, tolerance
        self._watch, self._n_threads = watch, n_threads
        self._point: tuple[Floats, Floats] | None = None  # once the flows have run
        self._tries_flows = False
        data = problem.data
        is_blind = isinstance(data, SquaredLoss) and not data._is_complete
        self._longest_start = LONGEST_BLIND_START if is_blind else LONGEST_START
        self._allowance = ALLOWANCE
        self._next_attempt = 0  # in iterations of the start, after a failure
        self._attempts = 0
        self._past: list[tuple[int, float]] = []  # iterations of the start, and gaps without polish
        self._good_since = 0  # iterations, once the start is good enough for flows
        self._waits = False  # for the start, which is almost there
        self.is_final = False
        self.phase = start.phase
        self.on_start: Callable[[Floats, Rounded], None] = _ignore

    @property
    def iterations(self) -> int:
        """Iterations of the start, and attempts at flows."""
        return self._start.iterations + self._attempts

    @property
    def sweeps(self) -> int:
        """Steps through a whole forest done."""
        return self._start.sweeps

    @property
    def step_size(self) -> float:
        """The step of the start."""
        return self._start.step_size

    @property
    def restarts(self) -> int:
        """Restarts of the start."""
        return self._start.restarts

    @property
    def preconditioner(self) -> Preconditioner | None:
        """What the start has found for itself."""
        return self._start.preconditioner

    @property
    def target(self) -> float:
        """The gap at which the start hands over to the flows, or is done."""
        return self._tolerance if self._waits else self._start.flows_gap

    @property
    def pattern_gap(self) -> float:
        """The gap from which on a polish may pay, of the start."""
        return self._start.pattern_gap

    @property
    def polish_price(self) -> int:
        """Iterations that cost as much as a polish."""
        return self._start.polish_price

    @property
    def is_cheap(self) -> bool:
        """Whether an iteration costs less than a look at the gap."""
        return self._start.is_cheap

    def observe(self, relative_gap: float) -> None:
        """Try the flows when the start is good enough for the first time, or for the next."""
        if self._point is not None:
            return  # the start is at rest for good
        self._start.observe(relative_gap)
        if self._next_attempt == 0:
            done, least = self._start.iterations, SHORTEST_CHEAP_START if self.is_cheap else 0
            is_good = relative_gap <= self._start.flows_gap
            is_due = done >= self._longest_start or (is_good and done >= least)
        else:
            is_due = self._start.iterations >= self._next_attempt
        if is_due and not self.is_final:
            self._tries_flows = not self._start_is_almost_there()

    def _start_is_almost_there(self) -> bool:
        """Whether the start will reach the tolerance, and may, before flows would."""
        if self._tolerance <= EXACT_GAP or self._start.is_final:
            return False
        done, price = self._start.iterations, self._start.flows_price
        self._good_since = self._good_since or done
        ahead = iterations_ahead(self._past, self._tolerance) if self._past else None
        if ahead is not None and self.is_cheap:
            ahead /= POLISHED
        self._waits = (
            ahead is not None and ahead <= price and done < self._good_since + LONGEST_WAIT * price
        )
        return self._waits

    def advance(self, at_most: int) -> None:
        """Do some iterations of the start, or try the flows."""
        if self._tries_flows:
            self._flow()
            self._attempts += 1
        else:
            self._start.advance(at_most)
            self._tries_flows = self._start.is_final
            self.phase = self._start.phase

    def evaluate(self) -> tuple[float, float]:
        """Return primal and dual objective of the current point, to rounding."""
        if self._point is None:
            values = self._start.evaluate()
            self._past.append((self._start.iterations, relative_gap(*values)))
            return values
        u, p = self._point
        threads = self._n_threads
        return self._problem._primal(u, threads), self._problem._dual(p, threads)

    def primal_point(self) -> Floats:
        """Return u."""
        return self._start.primal_point() if self._point is None else self._point[0]

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""
        return self._start.dual_point() if self._point is None else self._point[1]

    def rounded_dual_point(self) -> Rounded:
        """Return p in multiples of 1/32767."""
        if self._point is None:
            return self._start.rounded_dual_point()
        return rounded(self._point[1], self._n_threads)

    def conclude(self) -> None:
        """Give back what only further iterations of the start need."""
        if self._point is None:
            self._start.conclude()

    def _flow(self) -> None:
        """Run the flows on every channel, as far as the allowance goes.

        The start rests meanwhile, and goes on from p if they were in vain: its memory and theirs
        are never taken at once.
        """
        try:
            with self._watch:
                point = self.primal_point(), self.dual_point()
        except _core.Expired:
            return
        self._start.rest()
        start = rounded(point[1], self._n_threads)
        self.on_start(point[0], start)
        give_back(len(start))
        ends = self._flow_from(*point, start)
        if "exhausted" in ends:
            self.phase = "flows, in vain"
            self._tries_flows = False
            self._allowance *= GROWTH
            self._next_attempt = (2 if self.is_cheap else 5) * self._start.iterations
            try:
                self._start.resume(point[1])
            except _core.Expired:
                self._point = point
        else:
            self.phase = "flows"
            self.is_final = "expired" not in ends
            self._point = point

    def _flow_from(self, u: Floats, p: Floats, start: Rounded) -> list[str]:
        """Turn a start into the answer, and return how it ended, channel by channel."""
        graph, term = self._problem.graph, self._problem.term
        assert isinstance(term, _core.SmoothTerm)
        try:
            finish = _core.ExactFinish(graph.n_vertices, graph.edges, graph.weights, self._watch)
        except _core.Expired:
            return ["expired"]
        allowance = math.inf if self._start.is_final else self._allowance
        rows = (values.reshape(term.n_channels, -1) for values in (p, u, start))
        return [
            finish.solve(
                term, channel, row_p, row_u, self._watch, self._n_threads, allowance, row_start
            )
            for channel, (row_p, row_u, row_start) in enumerate(zip(*rows, strict=True))
        ]
