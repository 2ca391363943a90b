"""Every decision of a run, as pure functions of facts and history.

`plan` chooses the method and the first stage. `Strategy.decide` says after each step what comes
next: `Continue`, `SwitchTo` another stage, or `Stop`. The other methods of `Strategy` say when to
evaluate the gap, when to certify and when to polish. Nothing here runs a solver or reads a clock.
All thresholds are in `tuning.py`; docs/theory/solver.md tells the same in words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from graphtv.result import Record, Status
from graphtv.solver.facts import Facts
from graphtv.solver.progress import Progress, iterations_ahead
from graphtv.solver.termination import EXACT_GAP, ending
from graphtv.solver.tuning import Costs, Tuning

EDGE_KERNELS = ("edges", "lattice", "grid", "volume")


@dataclass(frozen=True)
class Plan:
    """How a run begins.

    Attributes
    ----------
    method, reason : str
        The method, and why it was chosen.
    stage : str
        The first stage: ``edges``, ``forests`` (or a tree at once) or ``pdhg``.
    preconditioner : str
        The name of the preconditioner to make, or ``custom`` for the user's.
    flows : bool
        Whether max-flow may finish the run.
    is_blind : bool
        Whether descent solves a problem with substitute weights, as some vertices have no data.
    is_level_set : bool
        Whether the answer is a level set of the problem that the stages solve.
    can_polish : bool
        Whether the polish applies.
    is_trial : bool
        Whether the first stage only tries if a few iterations are enough, before PDHG.
    """

    method: str
    reason: str
    stage: str
    preconditioner: str
    flows: bool = False
    is_blind: bool = False
    is_level_set: bool = False
    can_polish: bool = False
    is_trial: bool = False

    @property
    def ascends(self) -> bool:
        """Whether older dual points are worse ones, which need not be kept."""
        return self.flows or (self.stage in ("edges", "forests") and not self.is_trial)


def plan(facts: Facts, tuning: Tuning) -> Plan:
    """Return how to begin; raise where the mathematics does not allow what is asked for."""
    method, reason = facts.method, "requested"
    if method == "auto":
        method, reason = _choose_method(facts, tuning)
    _check_method(facts, method)
    is_stiff = _is_stiff(facts, tuning)
    stage = _first_stage(facts, method)
    if stage == "pdhg" and facts.method == "auto" and is_stiff and facts.is_grid:
        stage = "forests"
    preconditioner = facts.preconditioner
    if stage == "pdhg" and preconditioner == "auto" and not facts.is_tv and not is_stiff:
        # Both sides are curved: steps over edges converge as fast, and cost far less than Huber's
        # penalty on forests.
        preconditioner = "diagonal" if facts.is_vertexwise else "none"
    _check_preconditioner(facts, preconditioner)
    return Plan(
        method,
        reason,
        stage,
        preconditioner,
        flows=method == "exact" or (facts.method == "auto" and _may_flow(facts, method)),
        is_blind=facts.is_squared and not facts.is_complete,
        is_level_set=method == "exact" and facts.is_box,
        can_polish=facts.is_separable and facts.is_tv and facts.n_edges > 0,
        is_trial=method == "pdhg" and stage == "forests",
    )


def _check_method(facts: Facts, method: str) -> None:
    """Raise if the method does not apply to the problem, or to the preconditioner."""
    obstacle = {"descent": no_descent, "exact": no_flows}.get(method, lambda _: None)(facts)
    if obstacle:
        raise ValueError(f"method must not be {method!r}: {obstacle}")
    if method != "pdhg" and facts.preconditioner in ("none", "diagonal"):
        raise ValueError(
            f"preconditioner must be made of forests for method {facts.method!r},"
            f" got {facts.preconditioner!r}"
        )


def _check_preconditioner(facts: Facts, name: str) -> None:
    if not facts.is_edgewise and name not in ("none", "diagonal"):
        raise ValueError(
            "preconditioner must be 'none' or 'diagonal' for a penalty that is no sum over edges,"
            f" got {name!r}"
        )
    if not facts.is_vertexwise and name == "diagonal":
        raise ValueError("preconditioner must not be 'diagonal': data is not separable")


def _choose_method(facts: Facts, tuning: Tuning) -> tuple[str, str]:
    if facts.preconditioner in ("none", "diagonal"):
        return "pdhg", f"preconditioner {facts.preconditioner} is for PDHG alone"
    not_descent = no_descent(facts)
    if no_flows(facts) is None and (facts.tolerance < tuning.exact_below or not_descent):
        return "exact", "max-flow finishes where that is faster"
    is_curved = facts.is_edgewise and not facts.is_tv
    if is_curved and facts.preconditioner == "auto" and not facts.is_tree:
        return "pdhg", "the penalty is curved"
    if not_descent is None:
        return "descent", "the data term is quadratic"
    return "pdhg", not_descent


def _first_stage(facts: Facts, method: str) -> str:
    """Return the first stage: edges where a decomposition may not pay; a tree is a forest."""
    if method == "pdhg" or not (facts.is_squared or facts.is_box):
        return "pdhg"
    is_free = facts.preconditioner == "auto" and facts.method != "descent"
    return "edges" if is_free and facts.is_tv and not facts.is_tree else "forests"


def _is_stiff(facts: Facts, tuning: Tuning) -> bool:
    """Whether a curved penalty is so strong that edges take too many steps, and forests do not."""
    if facts.is_tv or not facts.is_edgewise or facts.preconditioner != "auto":
        return False
    if facts.is_tree:
        return facts.stiffness >= tuning.stiff_tree
    is_strong = facts.stiffness >= tuning.stiff_grid and facts.condition >= tuning.stiff_condition
    return facts.is_grid and facts.is_complete and is_strong


def _may_flow(facts: Facts, method: str) -> bool:
    """Whether max-flow may help descent out where that lags."""
    return method == "descent" and facts.preconditioner == "auto" and no_flows(facts) is None


def no_descent(facts: Facts) -> str | None:
    """Return why block descent cannot solve the problem, or None."""
    if not facts.is_edgewise:
        return f"block descent needs TotalVariation or HuberTV, got {facts.penalty}"
    if not facts.is_squared:
        return f"block descent needs a SquaredLoss, got {facts.data}"
    if not facts.is_complete:
        return "block descent needs positive weights, and some vertices have no data"
    return None


def no_flows(facts: Facts) -> str | None:
    """Return why max-flow cannot solve the problem, or None."""
    if not facts.is_tv:
        return f"flows need TotalVariation, got {facts.penalty}"
    if facts.is_box:
        return None if facts.has_even_box else "flows need the same bounds at all vertices"
    if not facts.is_smooth:
        return f"flows need a smooth separable data term, got {facts.data}"
    return None


def is_solved_directly(facts: Facts, n_forests: int, tuning: Tuning) -> bool:
    """Whether one exact solve of a forest is the answer."""
    return n_forests <= 1 and facts.has_one_weight and facts.n_entries <= tuning.largest_tree


def edge_kernel(lattice: tuple[int, ...], n_edges: int, n_grid_edges: int, tuning: Tuning) -> str:
    """Return the kernel of edge descent, for vertices numbered like a lattice, () if they are not.

    `n_grid_edges` is what the whole lattice has.
    """
    if len(lattice) < 2 or lattice[-1] < tuning.shortest_line:
        return "edges"
    if n_edges < tuning.whole_grid * n_grid_edges:
        return "lattice"
    return "grid" if len(lattice) == 2 else "volume"


class Continue(NamedTuple):
    """The stage at work goes on."""

    waits: bool = False  # max-flow waits for it, as it is almost there
    ready_since: int = 0  # iterations from which max-flow was ready to begin


class SwitchTo(NamedTuple):
    """Another stage takes over."""

    stage: str  # edges, forests, pdhg or flows
    keeps_point: bool = True  # whether it starts from the point reached, or else from scratch
    allowance: float = math.inf  # arcs per vertex, for flows
    ready_since: int = 0


class Stop(NamedTuple):
    """The run ends."""

    status: Status


Decision = Continue | SwitchTo | Stop


class Moment(NamedTuple):
    """The state of a run when a decision is due."""

    iteration: int
    own: int  # iterations without attempts at max-flow
    relative_gap: float = math.inf  # of the best certificate
    is_final: bool = False  # whether the stage has nothing left to do
    is_exhausted: bool = False  # whether it has used up its allowance
    is_interrupted: bool = False
    is_late: bool = False
    elapsed: float = 0.0
    remaining: float = math.inf  # seconds


@dataclass(frozen=True)
class Strategy:
    """What to do next, given a plan and limits; the tolerance is above 0 here."""

    plan: Plan
    tolerance: float
    max_iterations: int
    tuning: Tuning

    # What comes next

    def decide(self, progress: Progress, now: Moment) -> Decision:
        """Return what comes next."""
        decision = self._next_stage(progress, now)
        # Only max-flow counts as an iteration. Other switches are made at the iteration limit too,
        # so that a higher limit never gives a worse point.
        is_free = isinstance(decision, SwitchTo) and decision.stage != "flows"
        status = ending(
            relative_gap=now.relative_gap,
            tolerance=self.tolerance,
            iteration=now.iteration,
            max_iterations=self.max_iterations + is_free,
            last_progress=progress.last_progress.iteration,
            patience=self.patience(progress),
            is_final=self.is_over(progress, now.is_final),
            is_interrupted=now.is_interrupted,
            is_late=now.is_late,
        )
        return decision if status is None else Stop(status)

    def _next_stage(self, progress: Progress, now: Moment) -> Continue | SwitchTo:
        """Return which stage goes on if the run does."""
        if now.is_exhausted:
            return self._after_failure(progress, now)
        if progress.is_flowing or not progress.is_fresh(now.iteration):
            return Continue(progress.waits, progress.ready_since)
        if self._edges_are_slow(progress, now):
            # On whole grids chains need no search, and are the cheaper thing to try.
            is_searched = progress.kernel in ("edges", "lattice")
            tries_flows = self.plan.flows and not progress.failures and is_searched
            return self._to_flows(progress) if tries_flows else self._to_forests(progress)
        if self.plan.is_trial and progress.kernel == "forests" and now.own >= self.tuning.trial:
            ahead = iterations_ahead(progress.gaps_over("forests"), self.tolerance)
            if ahead is None or ahead > self.tuning.trial:
                return SwitchTo("pdhg", keeps_point=False)
        return self._flows_or_not(progress, now) if self.plan.flows else Continue()

    def is_over(self, progress: Progress, is_final: bool) -> bool:
        """Whether a stage that has nothing left to do is the last one."""
        return is_final and (not self.plan.flows or progress.kernels[-1] in ("flows", "tree"))

    def patience(self, progress: Progress) -> int:
        """Return how many iterations may pass without progress: at least half of all."""
        t, last = self.tuning, progress.last_progress
        return max(t.stall if last.gap <= t.near_rounding else t.stall_far, last.iteration)

    def _edges_are_slow(self, progress: Progress, now: Moment) -> bool:
        """Whether edges need so many further iterations that forests are the faster way."""
        kernel, t = progress.kernel, self.tuning
        if kernel not in EDGE_KERNELS or now.own < t.first_doubt:
            return False
        goal = max(t.flows_gap, self.tolerance) if self.heads_for_flows else self.tolerance
        ahead = iterations_ahead(progress.gaps_over(kernel), goal)
        is_slow = ahead is not None and ahead > t.costs[kernel].patience
        return (is_slow or self.plan.is_blind) and self._has_time_for_forests(now)

    @property
    def heads_for_flows(self) -> bool:
        """Whether max-flow is the way to the tolerance, and not only a way out."""
        return self.plan.flows and self.plan.method == "exact"

    def _to_flows(self, progress: Progress, *, is_last: bool = False) -> SwitchTo:
        """Switch to max-flow, with an allowance unless there is nothing else left."""
        growth = self.tuning.allowance_growth ** len(progress.failures)
        allowance = math.inf if is_last else growth * self._costs(progress).allowance
        return SwitchTo("flows", allowance=allowance, ready_since=progress.ready_since)

    def _to_forests(self, progress: Progress) -> SwitchTo:
        """Switch from edges to forests, or to PDHG where descent cannot solve the problem."""
        t, gap = self.tuning, progress.looks[-1].record.relative_gap
        is_near = gap <= {"volume": 0.0, "grid": t.flows_gap}.get(progress.kernel, t.worth_keeping)
        stage = "pdhg" if self.plan.is_blind else "forests"
        return SwitchTo(stage, keeps_point=is_near, ready_since=progress.ready_since)

    def _has_time_for_forests(self, now: Moment) -> bool:
        per_iteration = now.elapsed / max(now.own, 1)
        return now.remaining > self.tuning.decomposition * per_iteration

    def _flows_or_not(self, progress: Progress, now: Moment) -> Continue | SwitchTo:
        """Switch to max-flow when the point is good enough, unless the stage is almost there."""
        waits, ready_since = progress.waits, progress.ready_since
        if not self._flows_are_due(progress, now):
            return Continue(waits, ready_since)
        if self.tolerance > EXACT_GAP and not now.is_final:
            ready_since = ready_since or now.own
            if self._is_almost_there(progress, now, ready_since):
                return Continue(True, ready_since)
        if progress.kernel == "volume" and self._has_time_for_forests(now):
            return self._to_forests(progress)  # in three dimensions flow has far to go
        return self._to_flows(progress, is_last=now.is_final)._replace(ready_since=ready_since)

    def _flows_are_due(self, progress: Progress, now: Moment) -> bool:
        t, costs = self.tuning, self._costs(progress)
        if now.is_final:
            return True
        if progress.failures:
            last = progress.failures[-1]
            if last.kernel != progress.kernel:
                return now.own >= last.own + self._flows_price(progress)
            growth = t.cheap_retry if t.costs[last.kernel].is_cheap else t.retry
            return now.own >= growth * last.own
        if self._forests_lag(progress):
            return True
        if not self.heads_for_flows:
            return False
        is_blind = self.plan.is_blind and progress.kernel != "pdhg"
        longest = t.longest_blind_start if is_blind else t.longest_start
        least = t.shortest_cheap_start if costs.is_cheap else 0
        is_good = progress.looks[-1].record.relative_gap <= self._flows_gap(progress)
        return now.own >= longest or (is_good and now.own >= least)

    def _is_almost_there(self, progress: Progress, now: Moment, ready_since: int) -> bool:
        """Whether the stage will reach the tolerance before max-flow would.

        The gap of a level set jumps, so that there is no prediction for it.
        """
        t, costs = self.tuning, self._costs(progress)
        if self.plan.is_level_set:
            return False
        ahead = iterations_ahead(progress.iterate_gaps, self.tolerance)
        price = self._flows_price(progress)
        if ahead is None or now.own >= ready_since + t.longest_wait * price:
            return False
        if costs.is_cheap:  # polishes end a run sooner than the gaps of iterates predict
            polished = iterations_ahead(progress.gaps_over(progress.kernel), self.tolerance)
            ahead = min(ahead / t.polish_speedup, math.inf if polished is None else polished)
        return ahead <= price

    def _forests_lag(self, progress: Progress) -> bool:
        """Whether forests would take more iterations than they have done to halve the gap."""
        done = progress.pace_iterations
        if progress.kernel != "forests" or done < self.tuning.second_doubt:
            return False
        half = 0.5 * progress.looks[-1].record.relative_gap
        return self._ahead(progress, half) > done

    def _flows_price(self, progress: Progress) -> float:
        """Return the iterations that cost as little as the next max-flow may."""
        t = self.tuning
        growth = t.allowance_growth ** len(progress.failures)
        far = t.volume_price if "volume" in progress.kernels else 1.0
        return far * growth * self._costs(progress).flows

    def _after_failure(self, progress: Progress, now: Moment) -> SwitchTo:
        """Return to the stage before, or to forests.

        A failure shows that there is far to go. On grids chains need no search, and get to the
        tolerance, or to where max-flow is cheap, in less time than edges and max-flow would.
        """
        kernel = progress.kernel
        is_over = kernel == "grid" or self._edges_are_slow(progress, now)
        if is_over and self._has_time_for_forests(now):
            return self._to_forests(progress)
        stage = "edges" if kernel in EDGE_KERNELS else kernel
        return SwitchTo(stage, ready_since=progress.ready_since)

    # When to evaluate the gap

    def next_look(self, progress: Progress) -> int:
        """Return the iteration at which to evaluate the gap again."""
        t, last = self.tuning, progress.looks[-1].record
        target = max(self.tolerance, self._target(progress))
        ahead = self._ahead(progress, target)
        if self._costs(progress).is_cheap:
            stride = math.ceil(min(last.iteration, t.cheap_margin * ahead))
            return last.iteration + max(t.shortest_cheap_stride, stride)
        done = progress.pace_iterations
        further = t.blind_stride * done
        if ahead < math.inf:
            further = min(t.stride_of_forecast * ahead, t.stride_of_past * done)
        stride = max(1, int(t.overshoot * done), int(min(further, t.longest_stride)))
        return last.iteration + stride

    def _target(self, progress: Progress) -> float:
        """Return the gap at which something changes before the end, or 0."""
        if not self.heads_for_flows:
            return 0.0
        return self.tolerance if progress.waits else self._flows_gap(progress)

    def _flows_gap(self, progress: Progress) -> float:
        return self.tuning.far_flows_gap if progress.was_far else self.tuning.flows_gap

    def _ahead(self, progress: Progress, target: float) -> float:
        """Return the iterations still to do, infinite if they cannot be predicted."""
        found = iterations_ahead(progress.pace, target)
        return math.inf if found is None else found

    # When to certify, and when to polish

    def certifies(self, record: Record, best_gap: float) -> bool:
        """Whether to certify the iterate: it may be the answer, or the best of a long run.

        An exact answer has exact pieces, which the stages before max-flow do not give.
        """
        if record.relative_gap <= self.tolerance and self.may_end:
            return True
        is_better = record.primal - record.dual < self.tuning.keep_better * best_gap
        return record.iteration >= self.tuning.keep_from and is_better

    @property
    def may_end(self) -> bool:
        """Whether a stage before max-flow may end the run without a polish."""
        return self.tolerance > EXACT_GAP or not self.heads_for_flows

    def polishes(self, progress: Progress, remaining: float) -> bool:
        """Whether to polish the iterate of the last look."""
        t, record, costs = self.tuning, progress.looks[-1].record, self._costs(progress)
        within = t.polish_within * max(self.tolerance, self._target(progress))
        last = progress.polish
        return (
            self.plan.can_polish
            and record.iteration >= max(self._next_polish(progress), costs.polish)
            and record.relative_gap <= min(costs.pattern_gap, within)
            and self._ahead(progress, self.tolerance) >= costs.polish
            and remaining > (0.0 if last is None else last.seconds)
        )

    def _next_polish(self, progress: Progress) -> int:
        """Return the iteration of the next polish: rarer and rarer, and much rarer where it fails.

        On the way to max-flow, the first cheap iterations are better spent on a better start.
        """
        t, last = self.tuning, progress.polish
        if last is not None:
            growth = t.polish_after_success if last.is_success else t.polish_after_failure
            return max(last.iteration + 2, int(last.iteration * growth))
        starts_cheap = self.heads_for_flows and t.costs[progress.kernels[0]].is_cheap
        return t.shortest_cheap_start if starts_cheap else 0

    def is_cheap(self, progress: Progress) -> bool:
        """Whether an iteration costs less than evaluating the gap."""
        return self._costs(progress).is_cheap

    def _costs(self, progress: Progress) -> Costs:
        return self.tuning.costs[progress.kernel]
