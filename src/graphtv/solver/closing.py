"""The end of a run: what it takes, and what is held in case there is no time for it.

The points of the last iterate, and their certificate, take several passes over the edges. A time
limit keeps that time in reserve. Ctrl-C must be answered at once: where the passes would take too
long, the answer is the point held for that purpose, or what is known without any work.
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
from graphtv.problem import Problem
from graphtv.result import Certified, Status
from graphtv.solver.certificate import Certificate
from graphtv.solver.engine import Engine
from graphtv.solver.idle import without_work

GRACE = 0.06
"""Seconds that the end may take in any case."""

FIRST_HOLD = 4.0
"""The first point is held after so many times the seconds that this takes."""

HOLDS = 25.0
"""The others are held at such distances."""

MARGIN = 1.25
"""What the end takes is expected to vary so much."""

SLACK = 0.5
"""Part of what a time limit may be exceeded by, max(5 %, 50 ms), that the end may count on."""

PER_ENTRY = 40e-9
"""Seconds per entry of u and p for the last certificate, before anything was measured."""

WITHOUT_WORK_PER_ENTRY = 6e-9
"""The same for a result that takes no certificate, or has it."""

LEAST_PER_ENTRY = 30e-9
"""The least of it to be expected after a look at the gap, which may be much cheaper."""

LOOKS = 2.0
"""A certificate, with the dual point, costs so many looks at the gap."""

NEARLY = 1.1
"""A point may be worse by this factor to take the place of another that needs memory."""

FINEST = 32767
"""p is held in multiples of 1/FINEST."""


@dataclass(frozen=True, eq=False)
class Held(Certified):
    """A certificate in a quarter of the memory, as good as it says of itself."""

    u: Floats
    p: Rounded
    primal: float
    dual: float

    @classmethod
    def of(cls, problem: Problem, u: Floats, p: Rounded, primal: float, n_threads: int) -> Held:
        """Certify u, whose objective is known, with p."""
        return cls(u, p, primal, problem._dual(p, n_threads))

    def unpack(self) -> Certificate:
        """Return the certificate."""
        return Certificate(self.u, self.p / FINEST, self.primal, self.dual)


class Closing:
    """Judges whether the last iterate can still be certified, and holds an earlier one if not."""

    def __init__(self, problem: Problem, watch: _core.Watch, time_limit: float, n_threads: int):
        self._problem, self._watch, self._n_threads = problem, watch, n_threads
        self._time_limit = time_limit
        self._size = math.prod(problem.shape) + math.prod(problem.dual_shape)
        self._certificate = math.inf  # seconds that it takes, if measured
        self._iteration = self._look = math.inf  # seconds that the shortest ones took
        self._held: Held | None = None
        self._held_at = 0.0  # on the clock, or the first iteration if nothing is held
        self.has_time = False  # whether nobody is waiting, although the run was interrupted
        self._reserve(WITHOUT_WORK_PER_ENTRY * self._size)

    @property
    def seconds(self) -> float:
        """What is left to do once an iteration was ended early: settle the state, and certify."""
        if self._certificate < math.inf:
            settling = self._iteration if self._iteration < math.inf else 0.0
            return self._certificate + settling
        return PER_ENTRY * self._size

    @property
    def is_quick(self) -> bool:
        """Whether nobody would wait too long for it: then no point need be held."""
        return self.seconds <= GRACE

    def advance(self, engine: Engine, at_most: int) -> None:
        """Do one or a few iterations."""
        start = time.perf_counter()
        self._held_at = self._held_at or start
        engine.advance(at_most)
        self._iteration = min(self._iteration, time.perf_counter() - start)

    def evaluate(self, engine: Engine) -> tuple[float, float]:
        """Return the two objectives; from the time that takes follows what the end will.

        Raises `_core.Expired` with the watch.
        """
        if self._watch.expired:  # maybe in the midst of an iteration, and points have to be made
            raise _core.Expired
        start = time.perf_counter()
        with self._watch:
            values = engine.evaluate()
        if self._held is None:
            self._look = min(self._look, time.perf_counter() - start)
            self._expect(max(LOOKS * self._look, LEAST_PER_ENTRY * self._size))
        return values

    def certify(self, engine: Engine, is_last: bool = True) -> Certificate:
        """Certify the current point, whatever the watch says; as a rule it is the last one.

        Where numbers of very different scales have made it no number, it is what is known without.
        """
        if is_last:
            engine.conclude()
            give_back(self._size)
        p = engine.dual_point()
        dual = self._problem._dual(p, self._n_threads)  # which takes most memory: u comes after
        u = engine.primal_point()
        found = Certificate(u, p, self._problem._primal(u, self._n_threads), dual)
        if math.isfinite(found.primal) and math.isfinite(found.dual):
            return found
        is_point = np.isfinite(found.u).all() and np.isfinite(found.p).all()
        return found if is_point else self.fall_back(None)

    def hold(self, engine: Engine) -> None:
        """Keep the current point, now and then, if the end would take too long after Ctrl-C."""
        start = time.perf_counter()
        distance = FIRST_HOLD if self._held is None else HOLDS
        if self.is_quick or start - self._held_at < distance * self._certificate:
            return
        try:
            with self._watch:
                p = engine.rounded_dual_point()
                dual = self._problem._dual(p, self._n_threads)
                u = engine.primal_point()
                primal = self._problem._primal(u, self._n_threads)
                self._keep(Held(u, p, primal, dual))
        except _core.Expired:
            return
        self._held_at = time.perf_counter()
        self._expect(self._held_at - start)

    def take(self, u: Floats, p: Rounded, primal: float) -> None:
        """Hold a point whose primal objective is known, if the end would take too long.

        Should the watch expire meanwhile, what was held before has to do.
        """
        if self.is_quick:
            return
        with suppress(_core.Expired), self._watch:
            self._keep(Held.of(self._problem, u, p, primal, self._n_threads))

    def take_start(self, u: Floats, p: Rounded) -> None:
        """Hold the start of a long computation that goes back to it, if need be.

        This p is in memory anyway, and as a rule better than the one held: then there is but one.
        """
        if self.is_quick:
            return
        with suppress(_core.Expired), self._watch:
            primal = self._problem._primal(u, self._n_threads)
            if self._held is not None and self._held.primal <= primal:
                u, primal = self._held.u, self._held.primal
            else:
                u = u.copy()  # that becomes the answer
            found = Held.of(self._problem, u, p, primal, self._n_threads)
            if self._held is None or found.gap <= NEARLY * self._held.gap:
                self._held = found

    def _keep(self, found: Held) -> None:
        if self._held is None or found.gap < self._held.gap:
            self._held = found

    def fits(self, status: Status) -> bool:
        """Whether there is time to certify the last iterate, and reason to, if that takes long."""
        if status not in ("interrupted", "time_limit"):
            return True
        if self.has_time or self._watch.stopped or self.is_quick:
            return True
        if status == "interrupted" or self._certificate == math.inf:
            return False
        excess = SLACK * max(0.05 * self._time_limit, 0.05)
        return self.seconds <= self._watch.remaining + self._reserved + excess

    def fall_back(self, best: Certificate | None) -> Certificate:
        """Return the best that is known without the last iterate."""
        if self._held is not None and (best is None or self._held.gap < best.gap):
            return self._held.unpack()
        return best or without_work(self._problem, self._n_threads)

    def _expect(self, seconds: float) -> None:
        self._certificate = seconds
        self._reserve(WITHOUT_WORK_PER_ENTRY * self._size + MARGIN * self.seconds)

    def _reserve(self, seconds: float) -> None:
        # At most half of all: what was measured may have waited for somebody else.
        self._reserved = min(seconds, 0.5 * self._time_limit)
        self._watch.reserve(self._reserved)
