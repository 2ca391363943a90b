"""Every decision after the first stage has begun, as pure functions of the plan and the history.

After each step, `Strategy.decide` returns what comes next: `Continue`, `SwitchTo` another stage, or
`Stop`. The other methods decide when to evaluate the gap, when to certify and when to polish.
Nothing here runs a solver or reads a clock. `plan.py` decides how a run begins, in the same way.
All thresholds are in `tuning.py`. docs/theory/solver.md describes the decisions in words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from graphtv.result import Record
from graphtv.solver.decision import Continue, Decision, Moment, Stop, SwitchTo
from graphtv.solver.plan import Plan
from graphtv.solver.progress import (
    DualForecast,
    Progress,
    dual_error,
    forecast_dual,
    iterations_ahead,
)
from graphtv.solver.termination import EXACT_GAP, ending
from graphtv.solver.tuning import Costs, Tuning

EDGE_KERNELS = ("edges", "stencil", "lattice", "grid", "volume")


@dataclass(frozen=True)
class Strategy:
    """The decisions of a run, given its plan and limits. The tolerance is above 0 here."""

    plan: Plan
    tolerance: float
    max_iterations: int
    tuning: Tuning

    # What comes next

    def decide(self, progress: Progress, now: Moment) -> Decision:
        """Return what comes next."""
        decision = self._next_stage(progress, now)
        # A switch to max-flow counts as an iteration. Other switches are also made at the iteration
        # limit, so that a higher limit never gives a worse point.
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
        """Return the stage that continues, if the run does not end."""
        if now.is_exhausted:
            return self._after_failure(progress, now)
        if progress.is_flowing or not progress.is_fresh(now.iteration):
            return Continue(progress.waits, progress.ready_since)
        if self._edges_are_slow(progress, now):
            # On whole grids chains need no search, so trying them is cheaper. Where the dual
            # objective is known to be slow, the flow is far from optimal.
            is_searched = progress.kernel in ("edges", "stencil", "lattice")
            is_near = is_searched and not self._may_reduce(progress)
            tries_flows = self.plan.prefers_flows and not progress.failures and is_near
            return self._to_flows(progress) if tries_flows else self._to_forests(progress)
        if self._groups_are_slow(progress, now):
            return SwitchTo("pdhg", preconditioner="diagonal")
        if self._trial_has_failed(progress, now) or self._pdhg_over_edges_is_slow(progress, now):
            name = self.plan.next_preconditioner
            return SwitchTo("pdhg", keeps_point=False, preconditioner=name)
        return self._flows_or_not(progress, now) if self.plan.flows else Continue()

    def is_over(self, progress: Progress, is_final: bool) -> bool:
        """Whether no other stage can follow a stage that has finished."""
        return is_final and (not self.plan.flows or progress.kernels[-1] in ("flows", "tree"))

    def patience(self, progress: Progress) -> int:
        """Return how many iterations without progress are allowed, at least half of all."""
        t, last = self.tuning, progress.last_progress
        return max(t.stall if last.gap <= t.near_rounding else t.stall_far, last.iteration)

    def _edges_are_slow(self, progress: Progress, now: Moment) -> bool:
        """Whether edges need so many more iterations that forests are faster."""
        kernel, t = progress.kernel, self.tuning
        if kernel not in EDGE_KERNELS or now.own < t.first_doubt:
            return False
        goal = max(t.flows_gap, self.tolerance) if self.heads_for_flows else self.tolerance
        ahead = iterations_ahead(progress.gaps_over(kernel), goal)
        is_slow = ahead is not None and ahead > t.costs[kernel].patience
        if self._may_reduce(progress):
            is_slow = is_slow and self._dual_is_slow(progress, now)
        return (is_slow or self.plan.is_blind) and self._has_time_for_forests(now)

    def _dual_is_slow(self, progress: Progress, now: Moment) -> bool:
        """Whether the dual objective converges so slowly over edges that forests are faster.

        The primal point lags behind, but reduced problems give a better one.
        """
        t, forecast = self.tuning, self._forecast(progress)
        if forecast is None or now.own < t.reduced_doubt:
            return False
        is_slow = forecast.power < t.slow_power
        return is_slow or self._until_reduced(progress) > t.reduced_patience

    def _groups_are_slow(self, progress: Progress, now: Moment) -> bool:
        """Whether descent over groups needs so many more iterations that PDHG is faster."""
        kernel, t = progress.kernel, self.tuning
        if self.plan.stage != "groups" or kernel == "pdhg" or now.own < t.second_doubt:
            return False
        ahead = iterations_ahead(progress.gaps_over(kernel), self.tolerance)
        return ahead is not None and ahead > t.costs[kernel].patience

    def _trial_has_failed(self, progress: Progress, now: Moment) -> bool:
        """Whether the trial needs more further iterations than it was given."""
        trial = self.tuning.trial
        if not self.plan.is_trial or progress.kernel != "forests" or now.own < trial:
            return False
        ahead = iterations_ahead(progress.gaps_over("forests"), self.tolerance)
        return ahead is None or ahead > trial

    def _pdhg_over_edges_is_slow(self, progress: Progress, now: Moment) -> bool:
        """Whether PDHG over edges is so slow that forests need less time."""
        trial = self.plan.edge_trial
        if not trial or progress.kernels != ["pdhg"] or now.own < trial:
            return False
        ahead = iterations_ahead(progress.gaps_over("pdhg"), self.tolerance)
        return ahead is not None and ahead > self.tuning.pdhg_patience

    @property
    def heads_for_flows(self) -> bool:
        """Whether the plan is to finish by max-flow, and not only to use it if descent is slow."""
        return self.plan.flows and self.plan.method == "exact"

    def _to_flows(self, progress: Progress, *, is_last: bool = False) -> SwitchTo:
        """Switch to max-flow, with an allowance unless no other stage can continue."""
        growth = self.tuning.allowance_growth ** len(progress.failures)
        allowance = math.inf if is_last else growth * self._costs(progress).allowance
        return SwitchTo("flows", allowance=allowance, ready_since=progress.ready_since)

    def _to_forests(self, progress: Progress) -> SwitchTo:
        """Switch from edges to forests, or to PDHG if descent cannot solve the problem."""
        t, gap = self.tuning, progress.looks[-1].record.relative_gap
        is_near = gap <= {"volume": 0.0, "grid": t.flows_gap}.get(progress.kernel, t.worth_keeping)
        stage = "pdhg" if self.plan.is_blind else "forests"
        return SwitchTo(stage, keeps_point=is_near, ready_since=progress.ready_since)

    def _has_time_for_forests(self, now: Moment) -> bool:
        per_iteration = now.elapsed / max(now.own, 1)
        return now.remaining > self.tuning.decomposition * per_iteration

    def _flows_or_not(self, progress: Progress, now: Moment) -> Continue | SwitchTo:
        """Switch to max-flow when the point is good enough, unless the stage is about to finish."""
        waits, ready_since = progress.waits, progress.ready_since
        if not self._flows_are_due(progress, now):
            return Continue(waits, ready_since)
        if self.tolerance > EXACT_GAP and not now.is_final:
            ready_since = ready_since or now.own
            if self._is_almost_there(progress, now, ready_since):
                return Continue(True, ready_since)
        if progress.kernel == "volume" and self._has_time_for_forests(now):
            return self._to_forests(progress)  # in three dimensions flow has to travel far
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
        if costs.is_cheap and now.own >= t.reduced_doubt:
            is_good = is_good or self._until_reduced(progress) == 0.0
        return now.own >= longest or (is_good and now.own >= least)

    def _is_almost_there(self, progress: Progress, now: Moment, ready_since: int) -> bool:
        """Whether the stage will reach the tolerance before max-flow would.

        The gap of a level set jumps, so it cannot be predicted.
        """
        t, costs = self.tuning, self._costs(progress)
        if self.plan.is_level_set:
            return False
        gaps = progress.iterate_gaps if costs.is_cheap else progress.iterate_pace
        ahead = iterations_ahead(gaps, self.tolerance)
        price = self._flows_price(progress)
        if ahead is None or now.own >= ready_since + t.longest_wait * price:
            return False
        if costs.is_cheap:  # polishes end a run earlier than the gaps of the iterates predict
            polished = iterations_ahead(progress.gaps_over(progress.kernel), self.tolerance)
            ahead = min(ahead / t.polish_speedup, math.inf if polished is None else polished)
        return ahead <= price

    def _forests_lag(self, progress: Progress) -> bool:
        """Whether forests would take more iterations than they have done to halve the gap."""
        done = progress.pace_iterations
        if progress.kernel != "forests" or done < self.tuning.second_doubt:
            return False
        half = 0.5 * progress.looks[-1].record.relative_gap
        ahead = iterations_ahead(progress.iterate_pace, half)
        return ahead is None or ahead > done

    def _flows_price(self, progress: Progress) -> float:
        """Return the number of iterations that cost as much as the next max-flow at best."""
        t = self.tuning
        growth = t.allowance_growth ** len(progress.failures)
        far = t.volume_price if "volume" in progress.kernels else 1.0
        if self.plan.is_blind and progress.kernel == "pdhg":
            far *= t.blind_price
        return far * growth * self._costs(progress).flows

    def _after_failure(self, progress: Progress, now: Moment) -> SwitchTo:
        """Return to the previous stage, or switch to forests.

        A failure shows that flow has to travel far. On grids chains need no search. They reach the
        tolerance, or a point from which max-flow is cheap, in less time than edges and max-flow.
        """
        kernel = progress.kernel
        if kernel == "trivial":  # max-flow was the first stage
            return SwitchTo(self.plan.after_flows, keeps_point=False)
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
            if self._has_newton(progress):
                stride = min(stride, self._newton_stride(progress))
            least = self.plan.shortest_stride
            if self._may_reduce(progress):
                further = self._until_reduced(progress)
                if last.iteration >= t.reduced_doubt // 2:
                    further = min(further, t.reduced_stride * last.iteration)
                least = max(least, int(t.overshoot * last.iteration))
                stride = math.ceil(min(stride, further))
            return last.iteration + max(least, stride)
        done = progress.pace_iterations
        further = t.blind_stride * done
        if self._may_reduce(progress):
            ahead = min(ahead, self._until_reduced(progress))
        if ahead < math.inf:
            further = min(t.stride_of_forecast * ahead, t.stride_of_past * done)
        stride = max(1, int(t.overshoot * done), int(min(further, t.longest_stride)))
        return last.iteration + stride

    def _newton_stride(self, progress: Progress) -> int:
        """Return the number of iterations until p is probably accurate enough for Newton's method.

        The dual error is assumed to decrease like the squared number of iterations.
        """
        done, lag = progress.looks[-1].record.iteration, self._dual_lag(progress)
        growth = min(math.sqrt(lag), 2.0) - 1.0
        return math.ceil(done * max(growth, self.tuning.overshoot))

    def _target(self, progress: Progress) -> float:
        """Return the gap at which the next decision is due before the end, or 0."""
        if not self.heads_for_flows:
            return 0.0
        return self.tolerance if progress.waits else self._flows_gap(progress)

    def _flows_gap(self, progress: Progress) -> float:
        return self.tuning.far_flows_gap if progress.was_far else self.tuning.flows_gap

    def _ahead(self, progress: Progress, target: float) -> float:
        """Return the predicted number of remaining iterations, or infinity."""
        found = iterations_ahead(progress.pace, target)
        return math.inf if found is None else found

    # When to certify, and when to polish

    def certifies(self, record: Record, best_gap: float) -> bool:
        """Whether to certify the iterate: it may be the solution, or the best of a long run.

        The stages before max-flow do not give the exact pieces that an exact solution needs.
        """
        if record.relative_gap <= self.tolerance and self.may_end:
            return True
        is_better = record.primal - record.dual < self.tuning.keep_better * best_gap
        return record.iteration >= self.tuning.keep_from and is_better

    @property
    def may_end(self) -> bool:
        """Whether a stage before max-flow may end the run without a polish.

        A level set has no pieces, so its certificate is sufficient.
        """
        is_exact = self.tolerance <= EXACT_GAP and self.heads_for_flows
        return not is_exact or self.plan.is_level_set

    @property
    def polish_goal(self) -> float:
        """The gap at which a polished point may end the run.

        Before max-flow, an exact solution must be exact up to rounding.
        """
        return max(self.tolerance, EXACT_GAP) if self.may_end else self.tuning.rounding

    def polishes(self, progress: Progress, remaining: float) -> bool:
        """Whether to polish the iterate of the last look."""
        t, record, costs = self.tuning, progress.looks[-1].record, self._costs(progress)
        within = t.polish_within * max(self.tolerance, self._target(progress))
        last = progress.polish
        is_due = record.iteration >= max(self._next_polish(progress), costs.polish)
        is_refined = self.refines(progress)
        is_far = self._ahead(progress, self.tolerance) >= costs.polish
        return (
            self.plan.can_polish
            and (is_refined or (is_due and is_far))
            and record.relative_gap <= min(costs.pattern_gap, within)
            and remaining > (0.0 if last is None else last.seconds)
        )

    def reduces(self, progress: Progress, remaining: float) -> bool:
        """Whether to polish the iterate from reduced problems: its p seems to be accurate enough.

        It must also cost less than the iterations that are predicted without it.
        """
        t, record, last = self.tuning, progress.looks[-1].record, progress.reduction
        return (
            self._may_reduce(progress)
            and t.reduced_above <= self.tolerance < record.relative_gap
            and self._until_reduced(progress) == 0.0
            and self._ahead(progress, self.tolerance) >= self._costs(progress).reduction
            and (last is None or record.iteration >= t.reduced_again * last.iteration)
            and remaining > (0.0 if last is None else last.seconds)
        )

    def _may_reduce(self, progress: Progress) -> bool:
        """Whether reduced problems may give a better primal point."""
        return self.plan.can_reduce and self._costs(progress).reduction > 0

    def _until_reduced(self, progress: Progress) -> float:
        """Return the number of iterations until p is probably accurate enough for max-flow.

        If max-flow is not planned, p must be accurate enough for the polish from reduced problems.
        """
        t, forecast = self.tuning, self._forecast(progress)
        if forecast is None:
            return math.inf
        gap = self.tolerance
        if self.heads_for_flows:
            gap = max(gap, t.reduced_flows_gap)
        done, dual = progress.duals_over(progress.kernel)[-1]
        return forecast.iterations_ahead(done, t.reduced_share * gap * abs(dual))

    def _forecast(self, progress: Progress) -> DualForecast | None:
        """Return the forecast of the dual objective, where reduced problems may follow it."""
        if not self._may_reduce(progress):
            return None
        return forecast_dual(progress.duals_over(progress.kernel))

    def refines(self, progress: Progress) -> bool:
        """Whether Newton's method continues the polish: p seems to be accurate enough, but not u.

        The first time it must also cost less than the iterations that are predicted without it.
        """
        t, record, costs = self.tuning, progress.looks[-1].record, self._costs(progress)
        if not self._has_newton(progress) or not self._dual_lag(progress) <= 1.0:
            return False
        last = progress.polish
        if last is None or not last.is_refined:
            return self._ahead(progress, self.tolerance) >= t.newton_steps * costs.newton
        return record.iteration >= last.iteration + t.overshoot * last.iteration

    def _has_newton(self, progress: Progress) -> bool:
        return self.plan.can_polish and self._costs(progress).newton > 0

    def _dual_lag(self, progress: Progress) -> float:
        """Return the predicted error of the dual objective, divided by the permitted one."""
        scale = abs(progress.looks[-1].record.dual)
        permitted = self.tuning.dual_share * self.tolerance * scale
        error = dual_error([(look.own, look.record.dual) for look in progress.looks])
        return math.inf if error is None or permitted == 0.0 else error / permitted

    def _next_polish(self, progress: Progress) -> int:
        """Return the iteration of the next polish. Intervals grow, and faster after a failure.

        Before max-flow, the first cheap iterations are better used to improve the start.
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
