"""The loop: step, evaluate, keep, decide, report."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from graphtv import _core
from graphtv._validate import Floats
from graphtv.normal_form import NormalForm
from graphtv.objective.proof import relative_gap
from graphtv.problem import Problem
from graphtv.result import Record, Status
from graphtv.solver.certificate import Certificate
from graphtv.solver.decision import Continue, Decision, Moment, Stop, SwitchTo
from graphtv.solver.incumbent import Incumbent
from graphtv.solver.log import Log
from graphtv.solver.polish import Polished
from graphtv.solver.progress import Info, PolishAttempt, Progress
from graphtv.solver.reserve import Reserve
from graphtv.solver.stages import Stages
from graphtv.solver.strategy import Strategy
from graphtv.solver.ticker import Ticker
from graphtv.terms._arrays import from_core

Callback = Callable[[Info], Any]

NOTES = {
    "edges": "edges",
    "stencil": "edges",
    "lattice": "edges",
    "grid": "edges",
    "volume": "edges",
    "flows": "max-flow",
}
"""The word that the log prints for a kernel."""


class Run:
    """One run of the solver, from the first iteration to the last certificate."""

    def __init__(
        self,
        problem: Problem,
        form: NormalForm,
        strategy: Strategy,
        stages: Stages,
        incumbent: Incumbent,
        reserve: Reserve,
        watch: _core.Watch,
        log: Log,
        callback: Callback | None,
        ticker: Ticker,
    ) -> None:
        self._problem, self._form = problem, form
        self._strategy, self.stages = strategy, stages
        self._incumbent, self._reserve, self._watch = incumbent, reserve, watch
        self._log, self._callback, self._ticker = log, callback, ticker
        self._next_look = 1
        self._has_failed = False  # whether max-flow has failed since the last report
        self._count = stages.count
        self.progress = Progress(strategy.tuning.progress)
        self._begin_stage()

    @property
    def tolerance(self) -> float:
        """The relative gap that ends the run."""
        return self._strategy.tolerance

    def __call__(self) -> tuple[Status, Certificate]:
        """Run until the tolerance or a limit is reached."""
        while not isinstance(decision := self._decide(), Stop):
            if isinstance(decision, SwitchTo):
                self._switch(decision)
                self._plan_look()
            else:
                self._plan_look()
                self._step()
            if self._is_due():
                self._look()
        return self._conclude(decision.status)

    def _decide(self) -> Decision:
        """Ask the strategy what comes next."""
        count, stage, watch = self._count, self.stages.current, self._watch
        is_over = watch.expired  # also checks for interrupts
        now = Moment(
            count.iterations,
            count.own,
            self._incumbent.relative_gap,
            stage.is_final,
            stage.is_exhausted,
            watch.interrupted,
            is_over,
            self.progress.elapsed,
            watch.remaining,
        )
        decision = self._strategy.decide(self.progress, now)
        if not isinstance(decision, Stop):
            waits = isinstance(decision, Continue) and decision.waits
            self.progress.follow(waits, decision.ready_since)
        return decision

    def _switch(self, decision: SwitchTo) -> None:
        """Switch to another stage, unless there is no time for it."""
        before = self.stages.current
        if before.is_exhausted:
            self.progress.fail(self._count)
            self._has_failed = True
        self.stages.switch(decision, self._incumbent)
        self._count = self.stages.count
        if self.stages.current is not before:
            self._begin_stage()

    def _begin_stage(self) -> None:
        stage, name = self.stages.current, self.stages.preconditioner_name
        self.progress.begin(stage.method, name, stage.kernel, self._count)

    def _plan_look(self) -> None:
        """Plan the next evaluation; called right after an evaluation."""
        if self.progress.is_fresh(self._count.iterations):
            self.progress.goes_on(self._strategy.is_cheap(self.progress))
            self._next_look = self._strategy.next_look(self.progress)

    def _step(self) -> None:
        """Iterate until a decision is due."""
        stage, strategy, limit = self.stages.current, self._strategy, self._strategy.max_iterations
        before = self._count.iterations - stage.iterations
        last = self.progress.last_progress.iteration + strategy.patience(self.progress) + 1
        last = min(last, self._next_look, limit)
        is_over = False
        while not is_over:
            start = time.perf_counter()
            self._advance(limit - before - stage.iterations)
            self._reserve.saw_iteration(time.perf_counter() - start)
            is_over = before + stage.iterations >= last or stage.is_final or stage.is_exhausted
            is_over = is_over or self._watch.expired
        self._count = self.stages.count

    def _advance(self, at_most: int) -> None:
        """Let the stage advance. Max-flow takes long, so it reports in between."""
        stage = self.stages.current
        if stage.settled is None:
            stage.advance(at_most)
        else:
            with self._ticker.reporting(self._report_flow):
                stage.advance(at_most)

    def _is_due(self) -> bool:
        """Whether to evaluate the gap."""
        stage, limit = self.stages.current, self._strategy.max_iterations
        if stage.is_exhausted:
            return False  # its point is still that of the previous stage
        return stage.is_final or self._count.iterations >= min(self._next_look, limit)

    def _look(self, is_last: bool = False) -> None:
        """Evaluate the gap, keep better points, and report."""
        stage, progress = self.stages.current, self.progress
        is_last = is_last or self._strategy.is_over(progress, stage.is_final)
        is_news = not progress.is_fresh(self._count.iterations)
        record = self._certify_last() if is_last else self._evaluate()
        if record is not None and is_news:
            self._report(record)

    def _certify_last(self) -> Record:
        """Certify the last iterate, which need not have been evaluated."""
        tolerance = self._strategy.tolerance
        found = self._incumbent.certify(self.stages.current, tolerance, is_last=True)
        record = self.progress.record(self._count, found.primal, found.dual)
        return self._offer(found, record, is_last=True)

    def _evaluate(self) -> Record | None:
        """Evaluate the gap, and certify or polish if useful; return None if the watch expires."""
        strategy, incumbent, progress = self._strategy, self._incumbent, self.progress
        stage, count = self.stages.current, self._count
        try:
            primal, dual = incumbent.evaluate(stage)
        except _core.Expired:
            return None
        if not strategy.heads_for_flows:
            # If the gap increased again after a polish, the method would seem to have stalled.
            primal = min(primal, incumbent.polished_value)
        record = progress.record(count, primal, dual, incumbent.led_gap)
        best_gap = np.inf if incumbent.best is None else incumbent.best.gap
        if strategy.certifies(record, best_gap):
            is_last = record.relative_gap <= strategy.tolerance
            found = incumbent.certify(stage, strategy.tolerance, is_last=is_last)
            # The certified gap may be larger than that of the stage, whose precision is limited.
            record = self._offer(found, progress.record(count, found.primal, found.dual))
            if incumbent.relative_gap <= strategy.tolerance:
                return record
        if strategy.reduces(progress, self._watch.remaining):
            record = self._reduce(record)
            if incumbent.relative_gap <= strategy.tolerance:
                return record
        if strategy.polishes(progress, self._watch.remaining):
            return self._polish(record)
        incumbent.hold(stage)
        return record

    def _polish(self, record: Record) -> Record:
        """Polish the iterate from the pattern of p, or by Newton's method."""
        strategy, incumbent, stage = self._strategy, self._incumbent, self.stages.current
        start = time.perf_counter()
        refines = strategy.refines(self.progress)
        polished = incumbent.polish(stage, record, strategy.polish_goal if refines else None)
        seconds = time.perf_counter() - start
        is_success = polished is not None
        self.progress.polish = PolishAttempt(record.iteration, is_success, seconds, refines)
        return self._take(polished, record)

    def _reduce(self, record: Record) -> Record:
        """Polish the iterate from reduced problems."""
        start = time.perf_counter()
        polished = self._incumbent.reduce(self.stages.current, record)
        seconds = time.perf_counter() - start
        is_success = polished is not None
        self.progress.reduction = PolishAttempt(record.iteration, is_success, seconds)
        return self._take(polished, record)

    def _take(self, polished: Polished | None, record: Record) -> Record:
        """Keep a polished point, and certify it if it may reach the tolerance."""
        strategy, incumbent, stage = self._strategy, self._incumbent, self.stages.current
        if polished is None:
            incumbent.hold(stage)
            return record
        ascends, gap = strategy.plan.ascends, relative_gap(polished.primal, record.dual)
        if ascends and gap > strategy.polish_goal:
            incumbent.take_polished(polished)
            return self.progress.improve(polished.primal, record.dual)
        with suppress(_core.Expired), self._watch:
            found = incumbent.certify(stage, np.inf, is_last=ascends)
            return self._offer(found.with_better(polished.u, polished.primal), record)
        return record

    def _offer(self, found: Certificate, record: Record, is_last: bool = False) -> Record:
        """Keep a certificate if it is the best so far, and return the record with its values."""
        strategy, incumbent = self._strategy, self._incumbent
        if not incumbent.offer(found, strategy.tolerance):
            return record
        record = self.progress.improve(found.primal, found.dual)
        if strategy.plan.flows and not is_last and found.relative_gap > strategy.tolerance:
            incumbent.release_dual()  # later dual points are better, and flows need the memory
        return record

    def _report(self, record: Record) -> None:
        """Print a row and call the callback, which may end the run."""
        stages, record = self.stages, self._form.record(record)
        note = NOTES.get(stages.current.kernel, "")
        if self._has_failed:
            note, self._has_failed = "max-flow: budget exhausted", False
        self._log.row(record, stages.step_size, stages.restarts, note)
        self._tell(record)

    def _report_flow(self) -> None:
        """Report how far max-flow is, with the objectives of the last evaluation."""
        seconds, records = self.progress.elapsed, self.progress.records
        settled = self.stages.current.settled or 0.0
        self._log.flow(seconds, settled)
        if records:
            self._tell(self._form.record(records[-1])._replace(time=seconds), settled)

    def _tell(self, record: Record, settled: float | None = None) -> None:
        """Call the callback, which may end the run."""
        stages = self.stages
        if self._callback is None:
            return

        def point() -> Floats:
            u = self._incumbent.primal_point(stages.current)
            whole: Floats = self._problem.labelled(
                from_core(self._form.restore(u), self._problem.shape)
            )
            return whole

        info = Info(*record, stages.step_size, stages.restarts, point, settled)
        answer = self._callback(info)
        if isinstance(answer, bool | np.bool_) and answer:
            self._reserve.is_unhurried = True
            self._watch.interrupt()

    def _conclude(self, status: Status) -> tuple[Status, Certificate]:
        """Certify the last iterate, or use an earlier point if there is no time for it."""
        incumbent, is_final = self._incumbent, self.stages.current.is_final
        if status != "optimal" and not self._strategy.is_over(self.progress, is_final):
            if self._reserve.fits(status):
                self._look(is_last=True)
            else:
                best = incumbent.fall_back()
                if not self.progress.looks:
                    self.progress.record(self._count, best.primal, best.dual)
            if incumbent.relative_gap <= self._strategy.tolerance:
                status = "optimal"
        assert incumbent.best is not None
        self.progress.end(self._count, incumbent.best.proof.relative_gap)
        return status, incumbent.best
