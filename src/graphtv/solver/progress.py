"""The history of a run: iterations, gaps and stages. It makes no decisions."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from graphtv._validate import Floats
from graphtv.objective.proof import relative_gap
from graphtv.result import Record
from graphtv.result import Stage as StageReport
from graphtv.solver.termination import LastProgress


@dataclass(frozen=True)
class Info:
    """The state of a run that is passed to callbacks.

    Attributes
    ----------
    iteration, sweeps, time, primal, dual, relative_gap
        As in the history of a `Result`.
    step : float
        The step size of PDHG, or the momentum of descent.
    restarts : int
        Restarts so far.
    settled : float or None
        During max-flow, the share of the vertices whose values are final so far. The objectives are
        those of the last evaluation, which was before the flow. None if the gap was evaluated.
    u : ndarray
        The current primal point, computed on access.
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
    settled: float | None = None

    @property
    def u(self) -> Floats:
        """The current primal point."""
        return self._point()


class Count(NamedTuple):
    """The work of a run so far."""

    iterations: int  # all iterations, including attempts at max-flow
    own: int  # without attempts at max-flow
    sweeps: int


class Look(NamedTuple):
    """An evaluation of the gap."""

    record: Record
    own: int  # iterations without attempts at max-flow
    iterate_gap: float  # of the iterate itself, which may be behind a polish or an earlier point
    kernel: str
    was_cheap: bool  # whether the kernel that continued from here has cheap iterations


class PolishAttempt(NamedTuple):
    """A polish."""

    iteration: int
    is_success: bool
    seconds: float
    is_refined: bool = False  # by Newton's method


class Failure(NamedTuple):
    """A max-flow attempt whose allowance was exhausted."""

    own: int  # previous iterations, without attempts at max-flow
    kernel: str  # the kernel of the stage that it started from


class Progress:
    """The history of a run.

    Attributes
    ----------
    looks : list of Look
        The evaluations of the gap.
    kernels : list of str
        The kernels of the stages that have begun, in order.
    kernel : str
        The kernel of the stage that iterates, or that continues if max-flow fails.
    stages : list of Stage
        The stages that have ended.
    polish : PolishAttempt or None
        The last polish from the pattern of p, or by Newton's method.
    reduction : PolishAttempt or None
        The last polish from reduced problems.
    failures : list of Failure
        The attempts at max-flow that failed.
    waits, ready_since : bool, int
        Whether max-flow waits because the current stage has almost reached the tolerance, and the
        iteration from which max-flow could have started (0 if not yet).
    last_progress : LastProgress
        When the gap last decreased.
    """

    def __init__(self, progress_factor: float = 0.99) -> None:
        self.looks: list[Look] = []
        self.kernels: list[str] = []
        self.kernel = "trivial"
        self.stages: list[StageReport] = []
        self.polish: PolishAttempt | None = None
        self.reduction: PolishAttempt | None = None
        self.failures: list[Failure] = []
        self.waits, self.ready_since = False, 0
        self.last_progress = LastProgress()
        self._factor = progress_factor
        self._start = self._began = time.perf_counter()
        self._method, self._preconditioner, self._iterations = "none", "none", 0

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    @property
    def records(self) -> list[Record]:
        """The history for the result."""
        return [look.record for look in self.looks]

    @property
    def is_flowing(self) -> bool:
        """Whether max-flow is the current stage."""
        return self.kernels[-1] == "flows"

    @property
    def was_far(self) -> bool:
        """Whether forests replaced edges on a whole grid, where information has to travel far."""
        iterating = [kernel for kernel in self.kernels if kernel != "flows"]
        return bool({("grid", "forests"), ("volume", "forests")} & set(pairwise(iterating)))

    def begin(self, method: str, preconditioner: str, kernel: str, count: Count) -> None:
        """Record that another stage starts."""
        self.end(count, self.looks[-1].record.relative_gap if self.looks else math.inf)
        self.kernels.append(kernel)
        self.kernel = self.kernel if kernel == "flows" else kernel
        self._method, self._preconditioner = method, preconditioner
        self._iterations, self._began = count.iterations, time.perf_counter()

    def end(self, count: Count, gap: float) -> None:
        """Record the work of the current stage, if it has done any."""
        iterations, now = count.iterations - self._iterations, time.perf_counter()
        if iterations > 0:
            seconds = now - self._began
            self.stages.append(
                StageReport(self._method, self._preconditioner, iterations, seconds, gap)
            )

    def is_fresh(self, iteration: int) -> bool:
        """Whether the gap of this iteration is known."""
        return bool(self.looks) and self.looks[-1].record.iteration == iteration

    def record(
        self, count: Count, primal: float, dual: float, iterate_gap: float | None = None
    ) -> Record:
        """Record the current gap, and that of the iterate if an earlier point is better."""
        gap = relative_gap(primal, dual)
        record = Record(count.iterations, count.sweeps, self.elapsed, primal, dual, gap)
        iterate_gap = gap if iterate_gap is None else iterate_gap
        if self.is_fresh(count.iterations):
            iterate_gap = self.looks.pop().iterate_gap
        was_cheap = bool(self.looks) and self.looks[-1].was_cheap
        self.looks.append(Look(record, count.own, iterate_gap, self.kernel, was_cheap))
        self.last_progress = self.last_progress.after(count.iterations, gap, self._factor)
        return record

    def improve(self, primal: float, dual: float) -> Record:
        """Replace the values of the last record by better ones from the same iterate."""
        look = self.looks[-1]
        gap = relative_gap(primal, dual)
        if gap <= look.record.relative_gap:
            record = look.record._replace(primal=primal, dual=dual, relative_gap=gap)
            self.looks[-1] = look._replace(record=record)
        return self.looks[-1].record

    def follow(self, waits: bool, ready_since: int) -> None:
        """Record a decision about max-flow."""
        self.waits, self.ready_since = waits, ready_since

    def goes_on(self, is_cheap: bool) -> None:
        """Record whether the iterations after the last look are cheap."""
        self.looks[-1] = self.looks[-1]._replace(was_cheap=is_cheap)

    def fail(self, count: Count) -> None:
        """Record that max-flow has failed."""
        self.failures.append(Failure(count.own, self.kernel))

    @property
    def iterate_gaps(self) -> list[tuple[int, float]]:
        """Pairs of iterations and gaps of the iterates, without max-flow and polishes."""
        return [(look.own, look.iterate_gap) for look in self.looks]

    def gaps_over(self, kernel: str) -> list[tuple[int, float]]:
        """Return the pairs of iterations and gaps of one kernel."""
        return [(x.own, x.record.relative_gap) for x in self.looks if x.kernel == kernel]

    @property
    def pace(self) -> list[tuple[int, float]]:
        """Pairs of iterations and gaps since the cost of an iteration last changed."""
        return [(iterations, look.record.relative_gap) for iterations, look in self._pace()]

    @property
    def iterate_pace(self) -> list[tuple[int, float]]:
        """The same with the gaps of the iterates."""
        return [(iterations, look.iterate_gap) for iterations, look in self._pace()]

    def _pace(self) -> list[tuple[int, Look]]:
        first, origin = 0, 0
        was_cheap = [False, *(look.was_cheap for look in self.looks)]
        for index in range(len(self.looks), 0, -1):
            if was_cheap[index] != was_cheap[index - 1]:
                first, origin = index, self.looks[index - 1].record.iteration
                break
        return [(look.record.iteration - origin, look) for look in self.looks[first:]]

    @property
    def pace_iterations(self) -> int:
        """Number of iterations from the last change of their cost to the last look."""
        pace = self.pace
        return pace[-1][0] if pace else 0

    def duals_over(self, kernel: str) -> list[tuple[int, float]]:
        """Return the pairs of iterations and dual objectives of one kernel, since it began."""
        looks = [look for look in self.looks if look.kernel == kernel]
        first = next((x.own for x in reversed(self.looks) if x.kernel != kernel), 0)
        return [(look.own - first, look.record.dual) for look in looks]


class DualForecast(NamedTuple):
    """The predicted error of the dual objective: `error` now, falling like iterations^-power."""

    error: float
    power: float

    def iterations_ahead(self, now: int, target: float) -> float:
        """Return how many more iterations the error takes to fall to a target."""
        if self.error <= target:
            return 0.0
        if target <= 0.0:
            return math.inf
        power = max(self.power, 2.0)  # accelerated methods get faster after a while
        return now * math.expm1(min(math.log(self.error / target) / power, 50.0))


SLOWEST, FASTEST = 0.25, 8.0
"""The powers that a forecast may find."""


def forecast_dual(past: Sequence[tuple[int, float]]) -> DualForecast | None:
    """Predict the error of the last dual objective, from pairs of iterations and dual objectives.

    The error is modelled as a power of the iterations, through three pairs, each at no more than
    three quarters of the iterations of the next. Return None if there are no such pairs, or if the
    objective does not increase.
    """
    chosen: list[tuple[int, float]] = []
    for k, dual in reversed(past):
        if k > 0 and (not chosen or 4 * k <= 3 * chosen[-1][0]):
            chosen.append((k, dual))
        if len(chosen) == 3:
            break
    if len(chosen) < 3:
        return None
    (k2, d2), (k1, d1), (k0, d0) = chosen
    late, early = d2 - d1, d1 - d0
    if late <= 0.0:
        return None
    low, high = SLOWEST, FASTEST
    for _ in range(30):  # the larger the power, the smaller is the late increase
        power = 0.5 * (low + high)
        if late * (k0**-power - k1**-power) < early * (k1**-power - k2**-power):
            low = power
        else:
            high = power
    share = (k1 / k2) ** low
    return DualForecast(late * share / (1.0 - share), low)


def iterations_ahead(past: Sequence[tuple[int, float]], target: float) -> float | None:
    """Predict how many more iterations a gap takes, from pairs of iterations and gaps.

    The gap is modelled as a power of the iterations, fitted to the second half of the run. Return
    infinity if the gap does not decrease, and None if there is no pair from the first half.
    """
    if not past:
        return None
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


def dual_error(past: Sequence[tuple[int, float]]) -> float | None:
    """Predict the error of the last dual objective, from pairs of iterations and dual objectives.

    The error of a descent decreases at least like the squared number of iterations, so it follows
    from the last increase. Return None if there is no pair well before the last one.
    """
    if not past:
        return None
    now, dual = past[-1]
    earlier = next((pair for pair in reversed(past) if 0 < 1.2 * pair[0] <= now), None)
    if earlier is None:
        return None
    before, old_dual = earlier
    share = (before / now) ** 2
    return max(dual - old_dual, 0.0) * share / (1.0 - share)
