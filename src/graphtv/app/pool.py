"""Threads that work for all sessions in turn.

Sessions with work wait in a queue, and each thread takes the first one. If no other session waits,
it runs until it is done. Otherwise it stops after a time slice and returns to the end of the queue.
Thus solvers need memory once per thread, not once per session, and no session waits forever.
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
"""CPU seconds that a session may use while others wait.

CPU time and not wall time: on a busy machine a slice of wall time could end before the setup of a
run is complete, and the setup would be repeated in every slice.
"""

logger = logging.getLogger(__name__)


class Client(Protocol):
    """A client of the pool, such as a session."""

    def work(self, is_over: Callable[[], bool]) -> bool:
        """Work until done or until `is_over` returns true; return whether there is more to do."""

    def fail(self, error: Exception) -> None:
        """Handle an exception that `work` raised."""


class Pool:
    """Threads and a queue of clients.

    Parameters
    ----------
    n_threads : int, optional
        Number of threads, by default one per processor available to the process.
    """

    def __init__(self, n_threads: int | None = None) -> None:
        self._n_threads = n_threads or _core.n_processors()
        self._queue: deque[Client] = deque()
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
        """Queue a client for the next free thread; a client never runs on two threads at once."""
        with self._changed:
            if client in self._busy:
                self._again.add(client)
            elif client not in self._queue:
                self._queue.append(client)
                self._changed.notify()

    def forget(self, client: Client) -> None:
        """Remove a client from the queue; a running client must stop by itself."""
        with self._changed:
            self._again.discard(client)
            if client in self._queue:
                self._queue.remove(client)

    def close(self, timeout: float = 5.0) -> None:
        """Stop the threads after the current time slices."""
        with self._changed:
            self._is_open = False
            self._queue.clear()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout)

    @property
    def share(self) -> int:
        """Number of processors that a client may use at present."""
        with self._changed:
            return max(1, self._n_threads // max(1, len(self._busy) + len(self._queue)))

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or not self._is_open)
                if not self._is_open:
                    return
                client = self._queue.popleft()
                self._busy.add(client)
            has_more = False
            try:
                has_more = client.work(self._slice())
            except Exception as error:  # a client's failure must not end the thread
                logger.exception("session failed")
                client.fail(error)
            with self._changed:
                self._busy.discard(client)
                if (has_more or client in self._again) and self._is_open:
                    self._queue.append(client)
                    self._changed.notify()
                self._again.discard(client)
            del client  # do not keep a closed session alive until the next one arrives

    def _slice(self) -> Callable[[], bool]:
        """Return a function that tells whether the time slice that starts now is over."""
        end = time.thread_time() + SLICE

        def is_over() -> bool:
            return not self._is_open or (bool(self._queue) and time.thread_time() > end)

        return is_over
