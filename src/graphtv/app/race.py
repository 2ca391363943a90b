"""A race of preconditioners: the same problem, the same method, side by side."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any

from graphtv.result import Result
from graphtv.solver.progress import Info

CONTESTANTS = ("none", "diagonal", "chains", "linear", "nested")
MOST_ITERATIONS = 20_000
MOST_SECONDS = 300.0
REPORT_SECONDS = 0.15

Run = Callable[..., Result]
"""Solves the problem with the options of `graphtv.solve`."""


class Race:
    """Runs all contestants at once, each in a thread. It is a client of a pool.

    Parameters
    ----------
    prepare : callable
        Sets up the problem and returns the function that solves it.
    report : callable
        Called with a dictionary: the contestant, new points (iteration, gap) of its curve, and its
        state, which is ``running`` or the status of the result.
    """

    def __init__(
        self, prepare: Callable[[], Run], report: Callable[[dict[str, Any]], None]
    ) -> None:
        self._prepare, self._report = prepare, report
        self._is_cancelled = False

    def cancel(self) -> None:
        """Stop the race as soon as possible."""
        self._is_cancelled = True

    def work(self, is_over: Callable[[], bool]) -> bool:
        """Run the race to its end."""
        if self._is_cancelled:
            return False
        run = self._prepare()
        threads = [
            threading.Thread(target=self._compete, args=(name, run), daemon=True)
            for name in CONTESTANTS
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if not self._is_cancelled:
            self._report({"name": None, "state": "over", "points": []})
        return False

    def fail(self, error: Exception) -> None:
        """Report an exception."""
        self._report({"name": None, "state": "failed", "points": []})

    def _compete(self, name: str, run: Run) -> None:
        points: list[tuple[int, float]] = []
        told_at = 0.0

        def tell(state: str, seconds: float) -> None:
            nonlocal told_at
            if not self._is_cancelled:
                message = {"name": name, "state": state, "points": points[:]}
                self._report(message | {"seconds": round(seconds, 2)})
            points.clear()
            told_at = time.monotonic()

        def show(info: Info) -> bool:
            if math.isfinite(info.relative_gap):
                points.append((info.iteration, info.relative_gap))
            if time.monotonic() - told_at > REPORT_SECONDS:
                tell("running", info.time)
            return self._is_cancelled

        try:
            result = run(
                preconditioner=name,
                method="pdhg",
                max_iterations=MOST_ITERATIONS,
                time_limit=MOST_SECONDS,
                callback=show,
                stop=lambda: self._is_cancelled,
                n_threads=1,
            )
        except Exception as error:  # a contestant that fails must not end the others
            points.clear()
            tell(f"failed: {type(error).__name__}", 0.0)
            return
        if math.isfinite(result.relative_gap):
            points.append((result.iterations, result.relative_gap))
        tell(result.status, result.setup_time + result.solve_time)
