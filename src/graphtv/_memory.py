"""An estimate before allocating: MemoryError, where the system would end the process instead.

Linux promises more memory than there is, and kills who takes it at its word. So what is large is
compared with what is free first. Estimates are lower bounds of what a call needs: what they refuse
could not have worked.
"""

from __future__ import annotations

from pathlib import Path

from graphtv import _core

EDGE_BYTES = 16
"""What a graph holds of an edge: two indices and a weight."""

DOUBLES_PER_VERTEX, DOUBLES_PER_EDGE = 4, 2
"""What every method has at once beyond the problem, the answer included."""

WORTH_A_LOOK = 1 << 30
"""Bytes below which nobody asks."""


WORTH_GIVING_BACK = 1 << 20
"""Entries of u and p from which on what was freed is given back to the system."""


def give_back(n_entries: int) -> None:
    """Give freed memory back, which may be in pieces too small for the large arrays to come."""
    if n_entries >= WORTH_GIVING_BACK:
        _core.give_back_freed_memory()


def check_memory(n_bytes: int, what: str) -> None:
    """Raise MemoryError if something needs more than there is."""
    if n_bytes < WORTH_A_LOOK:
        return
    free = available_memory()
    if free is not None and n_bytes > free:
        raise MemoryError(
            f"{what} needs at least {n_bytes / 2**30:.1f} GB of memory,"
            f" {free / 2**30:.1f} GB are free"
        )


def available_memory() -> int | None:
    """Return the bytes that can be had without swapping others out, and swap; None if unknown."""
    found = [size for size in (_of_system(), _of_group()) if size is not None]
    return min(found) if found else None


def _of_system() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        sizes = {
            name: int(rest.split()[0]) << 10 for name, _, rest in (x.partition(":") for x in lines)
        }
        return sizes["MemAvailable"] + sizes.get("SwapFree", 0)
    except (OSError, KeyError, ValueError, IndexError):
        return None


def _of_group() -> int | None:
    """Return what is left of the limit of a container."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = int((folder / "memory.max").read_text())  # "max" is no number: there is none
        used = int((folder / "memory.current").read_text())
        for line in (folder / "memory.stat").read_text().splitlines():
            name, _, size = line.partition(" ")
            if name in ("inactive_file", "active_file"):  # given back when asked for
                used -= int(size)
        return max(limit - used, 0)
    except (OSError, ValueError):
        return None
