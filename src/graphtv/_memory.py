"""Check memory before large allocations, and raise MemoryError if there is too little.

Linux overcommits memory and kills a process that uses more than there is. To avoid this, large
allocations are first compared with the available memory. The estimates are lower bounds of what a
call needs, so a call that is refused could not have succeeded.
"""

from __future__ import annotations

from pathlib import Path

from graphtv import _core

EDGE_BYTES = 16
"""Bytes that a graph stores per edge: two indices and a weight."""

DOUBLES_PER_VERTEX, DOUBLES_PER_EDGE = 4, 2
"""Bytes that every method needs in addition to the problem, including the result."""

WORTH_A_LOOK = 1 << 30
"""Smaller allocations, in bytes, are not checked."""


WORTH_GIVING_BACK = 1 << 20
"""Number of entries of u and p from which freed memory is returned to the system."""


def give_back(n_entries: int) -> None:
    """Return freed memory to the system; its pieces may be too small for later large arrays."""
    if n_entries >= WORTH_GIVING_BACK:
        _core.give_back_freed_memory()


def check_memory(n_bytes: int, what: str) -> None:
    """Raise MemoryError if `what` needs more than the available memory."""
    if n_bytes < WORTH_A_LOOK:
        return
    free = available_memory()
    if free is not None and n_bytes > free:
        raise MemoryError(
            f"{what} needs at least {n_bytes / 2**30:.1f} GB of memory,"
            f" {free / 2**30:.1f} GB are free"
        )


def available_memory() -> int | None:
    """Return the available memory in bytes, including free swap space; None if unknown."""
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
    """Return the memory left under the limit of a container (control group)."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = int((folder / "memory.max").read_text())  # "max" means no limit
        used = int((folder / "memory.current").read_text())
        for line in (folder / "memory.stat").read_text().splitlines():
            name, _, size = line.partition(" ")
            if name in ("inactive_file", "active_file"):  # reclaimable cache
                used -= int(size)
        return max(limit - used, 0)
    except (OSError, ValueError):
        return None
