"""The incumbent: the best points of a run so far.

It consists of up to four parts: the best certificate; a polished primal point, which waits for a
better dual point; a point held in little memory, to be returned after Ctrl-C if certifying the last
iterate would take too long; and the point of an earlier stage, as long as that point is better.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from graphtv import _core
from graphtv._memory import give_back
from graphtv._validate import Floats, Rounded
from graphtv.objective.proof import Proof, relative_gap
from graphtv.problem import Problem
from graphtv.result import Record
from graphtv.solver.certificate import Certificate, Proved
from graphtv.solver.level_set import LevelSet
from graphtv.solver.polish import GroupPolish, Polished, polish, reduced_polish
from graphtv.solver.reserve import Reserve
from graphtv.solver.stage import Points, Stage, rounded
from graphtv.solver.trivial import trivial_certificate
from graphtv.solver.tuning import Tuning

FINEST = 32767
"""p is held in multiples of 1/FINEST."""


@dataclass(frozen=True, eq=False)
class Held(Proved):
    """A certificate whose dual point takes a quarter of the memory."""

    problem: Problem
    u: Floats
    p: Floats | Rounded
    proof: Proof

    @classmethod
    def of(cls, problem: Problem, u: Floats, p: Floats | Rounded, n_threads: int) -> Held:
        """Certify a pair of points."""
        return cls(problem, u, p, problem.objective.prove(u, p, n_threads))

    def unpack(self) -> Certificate:
        """Return the certificate."""
        return Certificate(self.problem, self.u, self.dual_point(), self.proof)

    def primal_point(self) -> Floats:
        """Return u."""
        return self.u

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1. The dual point of a problem with an operator is not rounded."""
        return np.asarray(self.p if self.p.dtype == np.float64 else self.p / FINEST)

    def rounded_dual_point(self) -> Floats | Rounded:
        """Return p in multiples of 1/32767."""
        return self.p


class Incumbent:
    """Keeps the best points of a run, and returns them if there is no time for the last iterate.

    Attributes
    ----------
    best : Certificate or None
        The best certified pair.
    led_gap : float or None
        The gap of the last iterate where an earlier point is better.
    """

    def __init__(
        self,
        problem: Problem,
        level_set: LevelSet | None,
        reserve: Reserve,
        watch: _core.Watch,
        n_threads: int,
        tuning: Tuning,
    ) -> None:
        self._problem, self._level_set, self._reserve = problem, level_set, reserve
        self._watch, self._n_threads, self._tuning = watch, n_threads, tuning
        self._size = math.prod(problem.shape) + problem.dual_size
        self.best: Certificate | None = None
        self.led_gap: float | None = None
        self._polished: tuple[Floats, float] | None = None  # a primal point and its value
        self._held: Held | None = None
        self._held_at = time.perf_counter()  # the start of the run, if nothing is held
        self._group_polish = GroupPolish(problem, n_threads)
        self._lead: Held | None = None  # with the primal point of the stages' problem

    @property
    def relative_gap(self) -> float:
        """The gap of the best certificate, infinite if there is none."""
        return math.inf if self.best is None else self.best.relative_gap

    @property
    def polished_value(self) -> float:
        """The objective of the polished point, infinite if there is none."""
        return math.inf if self._polished is None else self._polished[1]

    # The current point

    def points(self, stage: Points) -> Points:
        """Return the holder of the current point: the stage, or an earlier point that is better."""
        return stage if self._lead is None else self._lead

    def primal_point(self, stage: Points) -> Floats:
        """Return the current u of the problem that is solved."""
        return self._read(self.points(stage).primal_point())

    def evaluate(self, stage: Stage) -> tuple[float, float]:
        """Return both objectives of the current point; raise `_core.Expired` if the watch expires.

        A stage that started from scratch replaces the earlier point when its gap is smaller.
        """
        if self._watch.expired:  # maybe within an iteration: the points would be recomputed
            raise _core.Expired
        start = time.perf_counter()
        with self._watch:
            values = self._evaluate(stage)
        if self._held is None:
            self._reserve.saw_evaluation(time.perf_counter() - start)
        gap = relative_gap(*values)
        if self._lead is not None and gap > self._lead.relative_gap:
            self.led_gap = gap
            return self._lead.primal, self._lead.dual
        self._lead = self.led_gap = None
        return values

    def _evaluate(self, stage: Stage) -> tuple[float, float]:
        if self._level_set is None:
            return stage.evaluate()
        primal = self._problem.objective.primal(self._read(stage.primal_point()), self._n_threads)
        return primal, self._problem.objective.dual(stage.dual_point(), self._n_threads)

    def _read(self, u: Floats) -> Floats:
        """Return the primal point of the problem, given that of the problem of the stages."""
        return u if self._level_set is None else self._level_set.of(u)

    # The best points

    def certify(self, stage: Stage, tolerance: float, *, is_last: bool) -> Certificate:
        """Certify the current point, even if the watch has expired.

        If the gap exceeds the tolerance, the polished point replaces u. If overflow has made the
        iterate useless, the best earlier point is used instead.
        """
        if is_last:
            stage.conclude()
            self._held = None  # this certificate replaces it and uses its memory
            give_back(self._size)
        points = self.points(stage)
        p = points.dual_point()
        slope = self._problem.objective.slope(
            p, self._n_threads
        )  # needs the most memory: u comes later
        u = self._read(points.primal_point())
        proof = self._problem.objective.prove(u, p, self._n_threads, slope)
        found = Certificate(self._problem, u, p, proof)
        if not (math.isfinite(found.primal) and math.isfinite(found.dual)):
            is_point = np.isfinite(found.u).all() and np.isfinite(found.p).all()
            found = found if is_point else self._best_known(None)
        if self._polished is not None and found.relative_gap > tolerance:
            known = slope if found.p is p else None
            found = found.with_better(*self._polished, self._n_threads, known)
        return found

    def offer(self, found: Certificate, tolerance: float) -> bool:
        """Keep a certificate if it is the best so far, and return whether it is."""
        best = self.best
        if (
            best is None
            or found.gap < best.gap
            or found.relative_gap <= tolerance < best.relative_gap
        ):
            self.best = found
            return True
        return False

    def polish(self, stage: Stage, record: Record, goal: float | None = None) -> Polished | None:
        """Return a polished point if it is better than the record with the same dual point.

        If a relative gap is given as the goal, Newton's method tries to reach it.
        """
        try:
            with self._watch:
                found = self._polish(self.points(stage), record, goal)
        except _core.Expired:
            return None
        return self._if_better(found, record)

    def reduce(self, stage: Stage, record: Record) -> Polished | None:
        """Return a point from reduced problems if it is better, as `polish` does."""
        try:
            with self._watch:
                p = self.points(stage).dual_point()
                found = reduced_polish(self._problem, p, self._watch, self._n_threads)
        except _core.Expired:
            return None
        return self._if_better(found, record)

    def _polish(self, points: Points, record: Record, goal: float | None) -> Polished | None:
        if self._problem.delta is None:
            before = None if self._polished is None else self._polished[0]
            goal = None if goal is None else goal * abs(record.dual)
            return self._group_polish(points, before, record.dual, goal)
        p = points.rounded_dual_point()
        return polish(self._problem, p, self._watch, self._n_threads)

    def _if_better(self, found: Polished | None, record: Record) -> Polished | None:
        if found is None or relative_gap(found.primal, record.dual) >= record.relative_gap:
            return None
        return found

    def take_polished(self, found: Polished) -> None:
        """Keep a polished point until a better dual point certifies it."""
        if found.primal < self.polished_value:
            self._polished = found.u, found.primal
        self._hold_pair(found.u, found.p)

    def release_dual(self) -> None:
        """Free the dual point of the best certificate; a better one will replace it."""
        assert self.best is not None
        best, self.best = self.best, None
        self._polished = best.u, best.primal
        self._hold_pair(best.u, rounded(best.p, self._n_threads))

    # Points held for Ctrl-C, or because they are better than the current one

    def hold(self, stage: Stage) -> None:
        """Hold the current point from time to time, if the end would take too long after Ctrl-C."""
        start = time.perf_counter()
        distance = self._tuning.first_hold if self._held is None else self._tuning.holds
        reserve = self._reserve
        if reserve.is_quick or start - self._held_at < distance * reserve.certificate:
            return
        points = self.points(stage)
        try:
            with self._watch:
                p = points.rounded_dual_point()
                u = self._read(points.primal_point())
                self._hold_better(Held.of(self._problem, u, p, self._n_threads))
        except _core.Expired:
            return
        self._held_at = time.perf_counter()
        reserve.saw_certificate(self._held_at - start)

    def hold_start(self, u: Floats, p: Rounded) -> None:
        """Hold the start of flows, to which they return if they fail.

        This p is in memory anyway. If it is better than the point held so far, which is usual, it
        replaces that point.
        """
        if self._reserve.is_quick:
            return
        with suppress(_core.Expired), self._watch:
            read = self._read(u)
            primal = self._problem.objective.primal(read, self._n_threads)
            if self._held is not None and self._held.primal <= primal:
                read = self._held.u
            elif read is u:
                read = u.copy()  # flows work in u
            found = Held.of(self._problem, read, p, self._n_threads)
            if self._held is None or found.gap <= self._tuning.nearly * self._held.gap:
                self._held = found

    def lead(self, u: Floats, p: Floats) -> None:
        """Keep the point of an earlier stage as the current one until the next stage is better."""
        with suppress(_core.Expired), self._watch:
            start = rounded(p, self._n_threads)
            proof = self._problem.objective.prove(self._read(u), start, self._n_threads)
            self._lead = Held(self._problem, u, start, proof)

    def end_lead(self) -> None:
        """Discard the point of the earlier stage."""
        self._lead = None

    def fall_back(self) -> Certificate:
        """Set the best certificate without the last iterate."""
        self.best = self._best_known(self.best)
        return self.best

    def _best_known(self, best: Certificate | None) -> Certificate:
        if self._held is not None and (best is None or self._held.gap < best.gap):
            return self._held.unpack()
        return best or trivial_certificate(self._problem, self._n_threads)

    def _hold_pair(self, u: Floats, p: Floats | Rounded) -> None:
        """Hold a pair of points, unless certifying the last iterate is fast."""
        if self._reserve.is_quick:
            return
        with suppress(_core.Expired), self._watch:
            self._hold_better(Held.of(self._problem, u, p, self._n_threads))

    def _hold_better(self, found: Held) -> None:
        if self._held is None or found.gap < self._held.gap:
            self._held = found
