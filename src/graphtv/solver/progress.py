"""Statistics compute, termination judges: the one place where it is decided that a run ends."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from graphtv import _core
from graphtv._validate import Floats
from graphtv.problem import relative_gap
from graphtv.result import Record, Status

STALL_ITERATIONS = 2000
"""A run has stalled when the gap has not shrunk for so many iterations, or for half of all."""

NEAR_ROUNDING = 1e-10
"""A greater relative gap is not owed to rounding: a run is given five times as long to leave it."""

LONGEST_STRIDE = 32
"""At most so many iterations pass without a look at the gap."""


@dataclass(frozen=True)
class Limits:
    """What ends a run, besides a proof of optimality."""

    tolerance: float
    max_iterations: int
    watch: _core.Watch
    time_limit: float


@dataclass(frozen=True)
class Info:
    """What a callback is told.

    Attributes
    ----------
    iteration, sweeps, time, primal, dual, relative_gap
        As in the history of a `Result`.
    step : float
        The step size of PDHG, the momentum of descent.
    restarts : int
        Restarts so far.
    u : ndarray
        The current primal point, computed when asked for.
    """

    iteration: int
    sweeps: int
    time: float
    primal: float
    dual: float
    relative_gap: float
    step: float
    restarts: int
    _point: Callable[[], Floats] = field(repr=False)

    @property
    def u(self) -> Floats:
        """The current primal point."""
        return self._point()


class Progress:
    """The history of a run so far, and what follows from it."""

    def __init__(self, limits: Limits, start: float) -> None:
        self.limits = limits
        self.records: list[Record] = []
        self._start = start
        self._best = math.inf
        self._best_iteration = 0
        self._next = 1
        self._was_cheap = False
        self._origin = 0, 0  # records and iterations before the current method took over

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    def is_due(self, iteration: int) -> bool:
        """Whether it is time to look at the gap."""
        return iteration >= min(self._next, self.limits.max_iterations)

    def is_news(self, iteration: int) -> bool:
        """Whether no record is of this iteration yet; at the end one may be looked at again."""
        return not self.records or self.records[-1].iteration != iteration

    def record(self, iteration: int, sweeps: int, primal: float, dual: float) -> Record:
        """Take down what the gap is now."""
        record = Record(iteration, sweeps, self.elapsed, primal, dual, relative_gap(primal, dual))
        if not self.is_news(iteration):
            self.records.pop()
        self.records.append(record)
        if record.relative_gap < 0.99 * self._best:
            self._best, self._best_iteration = record.relative_gap, iteration
        return record

    def conclude(self, iteration: int, sweeps: int, primal: float, dual: float) -> None:
        """Take down what the run ends with, if nothing else is known about it."""
        if not self.records:
            self.record(iteration, sweeps, primal, dual)

    def plan_next(self, target: float, is_cheap: bool) -> None:
        """Plan when to look again, on the way to the gap `target`.

        When costs change, another method has taken over, and the past tells nothing any more.
        """
        iteration = self.records[-1].iteration
        if self._was_cheap != is_cheap:
            self._origin = len(self.records), iteration
        self._was_cheap = is_cheap
        cheap_stride = max(4, math.ceil(min(iteration, 1.1 * self.ahead(target))))
        self._next = iteration + (cheap_stride if is_cheap else self._stride(target))

    def improve(self, primal: float, dual: float) -> Record:
        """Put better values, found from the same iterate, into the last record."""
        last = self.records.pop()
        gap = relative_gap(primal, dual)
        if gap > last.relative_gap:
            primal, dual, gap = last[3:]
        self.records.append(last._replace(primal=primal, dual=dual, relative_gap=gap))
        return self.records[-1]

    def ahead(self, target: float) -> float:
        """Return the iterations still to do, infinite if that cannot be told."""
        n_records, iterations = self._origin
        past = [(r.iteration - iterations, r.relative_gap) for r in self.records[n_records:]]
        found = iterations_ahead(past, target) if past else None
        return math.inf if found is None else found

    def _stride(self, target: float) -> int:
        """Most of the way to the target, but never far beyond what is known.

        An overshoot by an eighth costs no more than looking all the time would.
        """
        done, ahead = self.records[-1].iteration - self._origin[1], self.ahead(target)
        further = done / 4 if ahead == math.inf else min(0.6 * ahead, 2 * done)
        return int(max(1, done // 8, min(further, LONGEST_STRIDE)))

    def ended_early(self, iteration: int) -> Status | None:
        """Return why the run must end now although nothing is proved, or None to go on."""
        is_over = self.limits.watch.expired  # asks, and may find that somebody interrupts
        if self.limits.watch.interrupted:
            return "interrupted"
        if is_over:
            return "time_limit"
        if iteration >= self.limits.max_iterations:
            return "iteration_limit"
        patience = STALL_ITERATIONS if self._best <= NEAR_ROUNDING else 5 * STALL_ITERATIONS
        if iteration - self._best_iteration > max(patience, iteration // 2):
            return "stalled"
        return None


def iterations_ahead(past: Sequence[tuple[int, float]], target: float) -> float | None:
    """Foretell how many iterations lead to a gap, from pairs of iterations and gaps.

    The gap is taken for a power of the iterations since half of them. Infinite if it does not
    fall; nothing if no pair is that old.
    """
    now, gap = past[-1]
    if gap <= target:
        return 0.0
    earlier = next((pair for pair in reversed(past) if 2 * pair[0] <= now), None)
    if earlier is None:
        return None
    before, old_gap = earlier
    if not 0 < gap < old_gap < math.inf:
        return math.inf
    exponent = math.log(old_gap / gap) / math.log(now / max(before, 0.5))
    growth = math.log(gap / max(target, 1e-16)) / exponent
    return now * math.expm1(min(growth, 50.0))
