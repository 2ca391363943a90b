"""Reports from inside the core, during a call that takes long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

INTERVAL = 0.1
"""Seconds between two reports."""


class Ticker:
    """The function that the core calls every 20 ms to ask whether to stop.

    Inside `reporting` it also reports from time to time. It does not change the result of a run.

    Parameters
    ----------
    stop : callable or None
        The user's function, which ends the run by returning True.
    clock : callable, optional
        Returns the time in seconds.
    """

    def __init__(
        self, stop: Callable[[], Any] | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stop, self._clock = stop, clock
        self._report: Callable[[], None] | None = None
        self._next = 0.0

    def __call__(self) -> Any:
        """Report if it is time, and return whether the run should stop."""
        if self._report is not None and self._clock() >= self._next:
            self._report()
            self._next = self._clock() + INTERVAL
        return self._stop is not None and self._stop()

    @contextmanager
    def reporting(self, report: Callable[[], None]) -> Iterator[None]:
        """Call `report` every INTERVAL seconds inside the block, the first time after one."""
        self._report, self._next = report, self._clock() + INTERVAL
        try:
            yield
        finally:
            self._report = None
