"""Threads that work for all sessions in turn.

A session with work waits in line; a thread takes the first and lets it work. As long as nobody
waits it may go on until it is done. Otherwise it must stop after a slice of time, and stands in
line again, at the end. So memory for solving is needed once per thread, not once per session, and
nobody waits for ever.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from graphtv import _core

SLICE = 0.5
"""Seconds of a processor that a session may use while others wait.

Not of the clock: on a busy machine a turn would end before anything is done, and what a turn begins
with would have to be done again and again.
"""

logger = logging.getLogger(__name__)


class Client(Protocol):
    """Who has work."""

    def work(self, is_over: Callable[[], bool]) -> bool:
        """Work until done, or until told that time is over; return whether there is more to do."""

    def fail(self, error: Exception) -> None:
        """Be told that `work` raised."""


class Pool:
    """A few threads, and the line in front of them.

    Parameters
    ----------
    n_threads : int, optional
        By default one per processor that the process may use.
    """

    def __init__(self, n_threads: int | None = None) -> None:
        self._n_threads = n_threads or _core.n_processors()
        self._line: deque[Client] = deque()
        self._busy: set[Client] = set()
        self._again: set[Client] = set()
        self._changed = threading.Condition()
        self._is_open = True
        self._threads = [
            threading.Thread(target=self._run, name=f"graphtv-app-{k}", daemon=True)
            for k in range(self._n_threads)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, client: Client) -> None:
        """Let a client work as soon as there is a thread; never in two at once."""
        with self._changed:
            if client in self._busy:
                self._again.add(client)
            elif client not in self._line:
                self._line.append(client)
                self._changed.notify()

    def forget(self, client: Client) -> None:
        """Strike a client off the line; if it works just now, it must end that itself."""
        with self._changed:
            self._again.discard(client)
            if client in self._line:
                self._line.remove(client)

    def close(self, timeout: float = 5.0) -> None:
        """End the threads, after their clients' present slice."""
        with self._changed:
            self._is_open = False
            self._line.clear()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout)

    @property
    def share(self) -> int:
        """How many processors a client may use just now."""
        with self._changed:
            return max(1, self._n_threads // max(1, len(self._busy) + len(self._line)))

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._line or not self._is_open)
                if not self._is_open:
                    return
                client = self._line.popleft()
                self._busy.add(client)
            has_more = False
            try:
                has_more = client.work(self._slice())
            except Exception as error:  # a client's failure must not end the thread
                logger.exception("a session failed")
                client.fail(error)
            with self._changed:
                self._busy.discard(client)
                if (has_more or client in self._again) and self._is_open:
                    self._line.append(client)
                    self._changed.notify()
                self._again.discard(client)
            del client  # or a dead session would be kept until the next one comes

    def _slice(self) -> Callable[[], bool]:
        """Return a function that says when a slice of this thread's time from now is over."""
        end = time.thread_time() + SLICE

        def is_over() -> bool:
            return not self._is_open or (bool(self._line) and time.thread_time() > end)

        return is_over
