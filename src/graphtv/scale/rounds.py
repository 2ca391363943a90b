"""Block descent over the windows of a problem until the gap is closed.

A round first solves every tile, given the flows across its border. Then it solves, for each axis,
every strip across a border, given the flows out of the strip. Every edge is inside one of these
windows, and solving a window never decreases the dual objective. This is block coordinate ascent
with overlapping blocks (an overlapping Schwarz method). Its limits are optimal, since the
constraints |p_e| ≤ 1 are separable and u is unique. Windows of one kind do not overlap and are
solved in parallel; only strips are sent between tiles. A warm start from a coarser grid transports
flow over distances larger than a tile.

A tile depends on the rest of the grid only through the flows across its border, so a round is a map
of these flows. They are accelerated with Nesterov's momentum, which restarts when the dual
objective decreases. If pieces of the solution are larger than tiles, this halves the number of
rounds.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from graphtv.objective.proof import Proof
from graphtv.result import Record, Status
from graphtv.scale.checkpoint import Checkpoint, State
from graphtv.scale.parts import Parts
from graphtv.scale.steps import Effort
from graphtv.scale.storage import Memory, Storage
from graphtv.scale.tuning import TUNING
from graphtv.solver.log import Log
from graphtv.solver.termination import CLOSER, LastProgress, ending


@dataclass(frozen=True)
class Options:
    """Options of a run.

    Attributes
    ----------
    tolerance : float
        Relative gap to certify.
    max_rounds : int
        Largest number of rounds.
    deadline : float or None
        Time (as in `time.time`) after which the run ends.
    n_threads : int or None
        Threads per window; by default one if there are several tiles.
    callback : callable or None
        Called after every round with its record. Returning True ends the run.
    stop : callable or None
        Called after every round. Returning True ends the run.
    log : Log
        Prints a row per round.
    checkpoint : Checkpoint or None
        Updated after every round.
    """

    tolerance: float
    max_rounds: int
    deadline: float | None = None
    n_threads: int | None = None
    callback: Callable[[Record], Any] | None = None
    stop: Callable[[], Any] | None = None
    log: Log = field(default_factory=lambda: Log(False))
    checkpoint: Checkpoint | None = None


class Rounds:
    """A run over the tiles of a problem.

    Attributes
    ----------
    records : list of Record
        One per round.
    proof, unrounded : Proof
        The proofs for the returned points of the last round, and for the points before the offset
        is added, in the coordinates of the tiles.
    """

    def __init__(self, parts: Parts, options: Options) -> None:
        self.parts, self.options = parts, options
        self.records: list[Record] = []
        self.proof = self.unrounded = Proof(math.inf, -math.inf, math.inf, math.inf, math.inf)
        self._start = time.perf_counter()

    def start_from_coarse(self) -> None:
        """Start from p of a coarser problem."""
        if self.parts.n_parts == 1:
            return
        coarse = self.parts.problem.coarser()
        tolerance = max(self.options.tolerance, TUNING.coarse_tolerance)
        if coarse is None:
            self.parts.start_from_clusters(tolerance, self.options.deadline)
            return
        storage: Storage = Memory()
        if self.options.checkpoint is not None:
            storage = self.options.checkpoint.folder.inner("coarse")
        parts = Parts(coarse, storage)
        parts.open()
        rounds = Rounds(parts, Options(tolerance, TUNING.coarse_rounds, self.options.deadline))
        rounds.start_from_coarse()
        rounds.run()
        self.parts.start_from(parts)
        storage.clear()

    def resume(self, state: State) -> None:
        """Continue after the rounds of a checkpoint."""
        self.records, self.proof, self.unrounded = state
        self._start -= self.records[-1].time

    def run(self) -> Status:
        """Run rounds until the tolerance or a limit is reached."""
        status = self._judge() if self.records else None
        while status is None:
            handles = self.parts.handles
            try:
                self._round()
                status = self._judge()
            except KeyboardInterrupt:
                if not self.records:
                    raise
                self.parts.handles = handles
                status = "interrupted"
        return status

    def _round(self) -> None:
        """Solve all windows once, certify, and store a record."""
        self.proof, self.unrounded = self.parts.relax(self._effort())
        number = len(self.records) + 1
        record = Record(
            number,
            number * self.parts.n_windows,
            time.perf_counter() - self._start,
            self.proof.primal,
            self.proof.dual,
            self.proof.relative_gap,
        )
        self.records.append(self.parts.coordinates.record(record))
        if self.options.checkpoint is not None:
            state = State(self.records, self.proof, self.unrounded)
            self.options.checkpoint.write(self.parts, state)
        self.options.log.row(self.records[-1], 0.0, 0)

    def _judge(self) -> Status | None:
        """Return the status with which the run ends now, or None to continue."""
        options, record = self.options, self.records[-1]
        best = LastProgress()
        for earlier in self.records:
            best = best.after(earlier.iteration, earlier.relative_gap, TUNING.stall_ratio)
        is_done = self.proof.proved_gap <= options.tolerance
        return ending(
            relative_gap=self.proof.proved_gap,
            tolerance=options.tolerance,
            iteration=record.iteration,
            max_iterations=options.max_rounds,
            last_progress=best.iteration,
            patience=TUNING.stall_rounds,
            is_interrupted=not is_done and self._is_told_to_end(record),
            is_late=options.deadline is not None and time.time() >= options.deadline,
        )

    def _is_told_to_end(self, record: Record) -> bool:
        callback, stop = self.options.callback, self.options.stop
        is_told = callback is not None and callback(record) is True
        return is_told or (stop is not None and bool(stop()))

    def _effort(self) -> Effort:
        options, is_first = self.options, not self.records
        n_threads = options.n_threads or (1 if self.parts.n_parts > 1 else None)
        allowed, relative = 0.0, TUNING.first_share * options.tolerance
        if self.parts.n_parts > 1:
            relative = max(relative, TUNING.first_tolerance)
        if not is_first:
            primal, dual, gap = self.unrounded[:3]
            wanted = TUNING.share * options.tolerance * max(abs(primal), abs(dual))
            if self.unrounded.proved_gap <= options.tolerance:
                wanted *= CLOSER  # rounding costs less where pieces are flat
            allowed, relative = max(wanted, TUNING.fall * gap), 0.0
        return Effort(
            allowed / self.parts.problem.n_entries,
            relative,
            is_first,
            self._momentum(),
            self.parts.unknown,
            options.tolerance,
            n_threads,
            options.deadline,
        )

    def _momentum(self) -> float:
        """Return (t - 1)/t' of Nesterov's sequence, computed from the records."""
        t = 1.0
        for before, after in itertools.pairwise(self.records):
            t = 1.0 if after.dual < before.dual else _next(t)
        return (t - 1.0) / _next(t)


def _next(t: float) -> float:
    return 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
