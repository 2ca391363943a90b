"""Reference for cpp/graph/simplify: a dictionary of the edges seen so far."""

from __future__ import annotations

from collections.abc import Iterable


def simplify(
    edges: Iterable[tuple[int, int]], weights: Iterable[float]
) -> tuple[list[tuple[int, int]], list[float]]:
    """Return the edges without loops, parallels and zeros, in order of first occurrence."""
    first: dict[frozenset[int], tuple[int, int]] = {}
    total: dict[frozenset[int], float] = {}
    for (i, j), weight in zip(edges, weights, strict=True):
        if i == j:
            continue
        ends = frozenset((i, j))
        first.setdefault(ends, (i, j))
        total[ends] = total.get(ends, 0.0) + weight
    kept = [ends for ends in first if total[ends] > 0]
    return [first[ends] for ends in kept], [total[ends] for ends in kept]
