"""Distribute work over threads, also if a thread fails to start.

SciPy's ``cKDTree.query(workers=2)`` would be simpler, but it hung in 3 of 480 calls when memory was
nearly exhausted. The reason is that `threading.Thread.start` waits until its thread reports that it
runs, and a thread without memory for its first step never does. Here the caller waits only for
shares that a thread has taken, and processes the others itself.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable


def run_shares(work: Callable[[int], None], n_shares: int, n_helpers: int) -> None:
    """Call work(0) … work(n_shares - 1), each once, on this thread and up to `n_helpers` others.

    After an exception no further calls start. The exception with the lowest number is raised.
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
                share = todo.pop()  # atomic: assigns the share to one thread
            except IndexError:  # another thread took the last share in between
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
        except (RuntimeError, MemoryError):  # no more threads: continue with those that started
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
