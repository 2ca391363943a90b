"""Nearest neighbours whose choice among equal distances does not depend on the search.

A search by trees or by matrix products rounds distances in its own way, which may depend on the
processor, and leaves the order of equal ones open. So it finds candidates only. Their distances are
computed here, and a search is repeated with more candidates where those left out could be as near.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphtv._validate import Floats

Places = np.ndarray[Any, np.dtype[np.int64]]
Search = Callable[[Floats, int], tuple[Any, Any]]

SPARES = (1, 8, 64)
"""Candidates beyond those that are needed, in the first search and where it did not suffice.

More equal distances than that, of hundreds of points in one place, are left to the search.
"""

CHUNK = 2**20
"""Numbers handled at a time."""


def nearest(
    search: Search, points: Floats, queries: Floats, k: int, own: Any = None, slack: float = 0.0
) -> tuple[Floats, Places]:
    """Return distances and indices of the k nearest points of each query, nearest first.

    Of points at the same distance, that with the smaller index is the nearer one.

    Parameters
    ----------
    search : callable
        From queries and a number to the distances and indices of as many points, nearest first.
    own : array_like of int, optional
        The index of each query among the points, which is not its own neighbour. Then indices are
        counted from there on, modulo n: points in one place become neighbours of the next few, and
        not all of the first few.
    slack : float
        What the distances of the search are off by at most, beside 1e-12 of themselves.
    """
    n = len(points)
    start = np.zeros(len(queries), dtype=np.int64) if own is None else np.asarray(own)
    distances = np.empty((len(queries), k))
    indices = np.empty((len(queries), k), dtype=np.int64)
    pending = np.arange(len(queries))
    for spare in SPARES:
        count = min(k + (own is not None) + spare, n)
        reach, found = (np.reshape(x, (-1, count)) for x in search(queries[pending], count))
        measured = measure(points, queries[pending], found)
        later = (found - start[pending, None]) % n
        if own is not None:
            measured[later == 0] = np.inf
        order = np.lexsort((later, measured), axis=-1)[:, :k]
        distances[pending] = np.take_along_axis(measured, order, axis=1)
        indices[pending] = np.take_along_axis(found, order, axis=1)
        farthest = distances[pending, -1] if k else np.zeros(len(pending))
        is_open = reach[:, -1] <= farthest * (1.0 + 1e-12) + slack
        pending = pending[is_open]
        if count == n or len(pending) == 0:
            break
    return distances, indices


def measure(points: Floats, queries: Floats, indices: Any) -> Floats:
    """Return the distances of each query to the points of its indices, by differences."""
    distances = np.empty(indices.shape)
    for part in chunks(len(queries), indices.shape[1] * points.shape[1]):
        differences = points[indices[part]] - queries[part, None, :]
        distances[part] = np.sqrt(np.square(differences).sum(axis=2))
    return distances


def chunks(n: int, numbers_per_row: int) -> list[slice]:
    """Return slices of rows that hold about CHUNK numbers."""
    step = max(CHUNK // max(numbers_per_row, 1), 1)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
