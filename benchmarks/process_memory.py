"""Peak memory of a task, measured in a separate process (Linux)."""

from __future__ import annotations

import ctypes
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from queue import Empty
from typing import Any


def reset_peak() -> int:
    """Reset the peak memory and return the current use, in bytes."""
    ctypes.CDLL(None).malloc_trim(0)  # freed memory must not hide later allocations
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> int:
    """Return the peak memory since the last reset, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("no VmHWM in /proc/self/status")


def in_child(target: Callable[..., None], *arguments: Any) -> Any:
    """Return what `target(*arguments, queue)` puts into the queue, in a new process."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=target, args=(*arguments, queue))
    child.start()
    while True:
        try:
            result = queue.get(timeout=0.2)
            break
        except Empty:
            if not child.is_alive() and queue.empty():
                raise RuntimeError("the measured process ended without an answer") from None
    child.join()
    return result
