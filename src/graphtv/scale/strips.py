"""Strips across the borders of parts: their vertices, and which strips can be solved at once."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graphtv._validate import Indices
from graphtv.scale.tuning import TUNING


class Sides(NamedTuple):
    """The sides of the strips of a part, neighbour after neighbour, and where they begin.

    Attributes
    ----------
    side, sides : ndarray
        The vertices.
    inner, inners : ndarray
        The edges between vertices of a side.
    rim, rims : ndarray
        The edges of the part with one end in a side.
    """

    side: Indices
    sides: NDArray[np.int64]
    inner: Indices
    inners: NDArray[np.int64]
    rim: Indices
    rims: NDArray[np.int64]


def sides_of(n_vertices: int, edges: Indices, near: Indices, starts: NDArray[np.int64]) -> Sides:
    """Return the sides of the strips of a part.

    Their vertices are those within some number of steps of the edges to the neighbour. The number
    is the same for all neighbours of a part, and as large as `strip_share` (see `tuning`) allows.
    """
    reached = [np.unique(near[a:b]) for a, b in itertools.pairwise(starts)]
    if not reached:
        return Sides(*_joined([]), *_joined([]), *_joined([]))
    adjacency = _adjacency(n_vertices, edges)
    is_in = [_mask(n_vertices, vertices) for vertices in reached]
    rings = reached
    while True:
        rings = [_next_ring(adjacency, ring, mask) for ring, mask in zip(rings, is_in, strict=True)]
        added = sum(map(len, rings))
        total = added + sum(int(mask.sum()) for mask in is_in)
        if added == 0 or total > TUNING.strip_share * n_vertices:
            break
        for ring, mask in zip(rings, is_in, strict=True):
            mask[ring] = True
    inner, rim = [], []
    for mask in is_in:
        ends = mask[edges[:, 0]].view(np.int8) + mask[edges[:, 1]].view(np.int8)
        inner.append(np.flatnonzero(ends == 2))
        rim.append(np.flatnonzero(ends == 1))
    return Sides(*_joined([np.flatnonzero(m) for m in is_in]), *_joined(inner), *_joined(rim))


def matchings(pairs: Mapping[tuple[Any, Any], int]) -> list[list[tuple[Any, Any]]]:
    """Divide pairs of neighbouring parts into matchings, pairs with many edges first.

    Strips of the same matching share no part, so they can be solved at once. A greedy choice needs
    fewer than twice as many matchings as a part has neighbours.
    """
    used: dict[Any, set[int]] = {}
    found: list[list[tuple[Any, Any]]] = []
    for pair in sorted(pairs, key=lambda pair: (-pairs[pair], pair)):
        low, high = (used.setdefault(end, set()) for end in pair)
        number = next(k for k in range(len(found) + 1) if k not in low and k not in high)
        if number == len(found):
            found.append([])
        found[number].append(pair)
        low.add(number)
        high.add(number)
    return found


def _joined(lists: Sequence[NDArray[np.int64]]) -> tuple[Indices, NDArray[np.int64]]:
    """Return lists of numbers as one array, and where they begin."""
    whole = np.concatenate([np.empty(0, dtype=np.int32), *(x.astype(np.int32) for x in lists)])
    return whole, np.cumsum([0, *map(len, lists)], dtype=np.int64)


def _adjacency(n: int, edges: Indices) -> Any:
    ends = np.concatenate([edges, edges[:, ::-1]])
    values = np.ones(len(ends), dtype=np.int8)
    return sparse.coo_array((values, (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()


def _mask(n: int, vertices: Indices) -> NDArray[np.bool_]:
    mask = np.zeros(n, dtype=bool)
    mask[vertices] = True
    return mask


def _next_ring(adjacency: Any, ring: Indices, mask: NDArray[np.bool_]) -> Indices:
    """Return the neighbours of a ring that are not yet in the mask."""
    found = adjacency[ring].indices if len(ring) else np.empty(0, dtype=np.int32)
    return np.unique(found[~mask[found]])
