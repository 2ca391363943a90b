"""Contestants that take turns, and rows of a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from graphtv.gallery import piecewise_constant_image

NOISE = 0.2


class Best(NamedTuple):
    """The smallest processor and wall-clock times, and the result of the last turn."""

    processor: float
    wall: float
    outcome: Any


def race(contestants: Mapping[str, Callable[[], Any]], turns: int) -> dict[str, Best]:
    """Return the best of every contestant; they take turns, so that load affects all of them."""
    best: dict[str, Best] = {}
    for _ in range(turns):
        for name, run in contestants.items():
            wall, processor = time.perf_counter(), time.process_time()
            outcome = run()
            found = time.process_time() - processor, time.perf_counter() - wall
            old = best.get(name, Best(*found, None))
            best[name] = Best(min(old.processor, found[0]), min(old.wall, found[1]), outcome)
    return best


def make_image(shape: tuple[int, ...]) -> Any:
    """Return pieces with noise."""
    return piecewise_constant_image(shape, rng=0, noise=NOISE)[0]


def row(*cells: Any) -> None:
    """Print a row of a table, in Markdown."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def header(title: str, *columns: str) -> None:
    """Print the header of a table."""
    print(f"\n{title}\n")
    row(*columns)
    row(*["---"] * len(columns))
