"""Work in shares, among threads that need not start.

SciPy's ``cKDTree.query(workers=2)`` would be simpler, but it hung in 3 of 480 calls near the end of
memory: `threading.Thread.start` waits for its thread to report that it runs, and a thread without
memory for its first step never does. Here the caller waits only for shares that a thread has taken,
and does the rest itself.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable


def run_shares(work: Callable[[int], None], n_shares: int, n_helpers: int) -> None:
    """Call work(0) … work(n_shares - 1), each once, on this thread and up to `n_helpers` others.

    After an exception no more are begun; the first one, by number, is raised.
    """
    todo = list(reversed(range(n_shares)))
    failures: list[BaseException | None] = [None] * n_shares
    ended = [_thread.allocate_lock() for _ in range(n_shares)]
    for lock in ended:
        lock.acquire()
    is_over = False

    def take() -> None:
        nonlocal is_over
        while todo:
            try:
                share = todo.pop()  # which thread gets it is decided here
            except IndexError:  # between the two lines somebody else did
                return
            try:
                if not is_over:
                    work(share)
            except BaseException as error:
                is_over = True
                failures[share] = error
            finally:
                ended[share].release()

    for _ in range(min(n_helpers, n_shares - 1)):
        try:
            _thread.start_new_thread(take, ())
        except (RuntimeError, MemoryError):  # the system refuses more: do with those there are
            break
    try:
        take()
        for lock in ended:
            lock.acquire()
    finally:  # Ctrl-C
        is_over = True
    for failure in failures:
        if failure is not None:
            raise failure
