"""Ctrl-C during a solve."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from graphtv import _core


@contextmanager
def interrupting(watch: _core.Watch) -> Iterator[None]:
    """Let Ctrl-C end the watch, in the main thread and if no other handler is installed."""
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if is_ours:
        signal.signal(signal.SIGINT, lambda *_: watch.interrupt())
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
