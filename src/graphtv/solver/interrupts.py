"""Ctrl-C during a solve.

The module `signal` turns every handler into an enumeration, if it can. That takes longer than the
solution of a small problem, so its core `_signal` is used.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from signal import SIGINT, default_int_handler

from graphtv import _core


@contextmanager
def interrupting(watch: _core.Watch) -> Iterator[None]:
    """Let Ctrl-C end the watch, in the main thread and if no other handler is installed."""
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and _signal.getsignal(SIGINT) is default_int_handler
    )
    if is_ours:
        _signal.signal(SIGINT, lambda *_: watch.interrupt())
    try:
        yield
    finally:
        if is_ours:
            _signal.signal(SIGINT, default_int_handler)
