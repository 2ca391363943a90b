"""Nearest neighbours with a deterministic choice among equal distances.

Searches by trees or by matrix products round distances differently, possibly depending on the
processor, and return equal distances in any order. Their results are therefore candidates only.
This module recomputes the distances of the candidates, and repeats the search with more candidates
where a point that was left out could be equally near.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphtv._validate import Floats

Places = np.ndarray[Any, np.dtype[np.int64]]
Search = Callable[[Floats, int], tuple[Any, Any]]

SPARES = (1, 8, 64)
"""Numbers of additional candidates, in the first search and in the repeated one.

If more distances are equal, as with hundreds of coinciding points, the search decides.
"""

CHUNK = 2**20
"""Number of array entries processed at a time."""


def nearest(
    search: Search,
    points: Floats,
    queries: Floats,
    k: int,
    own: Any = None,
    slack: float = 0.0,
    *,
    numbers: Any = None,
    modulus: int | None = None,
) -> tuple[Floats, Places]:
    """Return distances and indices of the k nearest points of each query, nearest first.

    Points at the same distance are ordered by index.

    Parameters
    ----------
    search : callable
        Function (queries, k) that returns the distances and indices of k points, nearest first.
    own : array_like of int, optional
        The index of each query among the points. A point is not its own neighbour. With `own`,
        ties are broken by (index - own) mod n, so that coinciding points become neighbours of the
        next few points and not all of the same first few.
    slack : float
        Upper bound of the absolute error of the search's distances. A relative error of 1e-12
        is always allowed.
    numbers, modulus : array_like of int and int, optional
        The index of each point in a larger set of `modulus` points, in which ties are broken.
    """
    n = len(points)
    total = n if modulus is None else modulus
    start = np.zeros(len(queries), dtype=np.int64) if own is None else np.asarray(own)
    distances = np.empty((len(queries), k))
    indices = np.empty((len(queries), k), dtype=np.int64)
    pending = np.arange(len(queries))
    for spare in SPARES:
        count = min(k + (own is not None) + spare, n)
        reach, found = (np.reshape(x, (-1, count)) for x in search(queries[pending], count))
        measured = measure(points, queries[pending], found)
        named = found if numbers is None else numbers[found]
        later = (named - start[pending, None]) % total
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
    """Return the distances of each query to the points `indices`, computed from differences."""
    distances = np.empty(indices.shape)
    for part in chunks(len(queries), indices.shape[1] * points.shape[1]):
        differences = points[indices[part]] - queries[part, None, :]
        distances[part] = np.sqrt(np.square(differences).sum(axis=2))
    return distances


def chunks(n: int, numbers_per_row: int) -> list[slice]:
    """Return slices of rows with about CHUNK entries each."""
    step = max(CHUNK // max(numbers_per_row, 1), 1)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def nearest_point(points: Floats, queries: Floats) -> Places:
    """Return the number of the point nearest to each query."""
    from scipy.spatial import cKDTree  # slow to import

    # Scaled by a power of two near the largest coordinate, squared distances cannot overflow.
    _, exponent = np.frexp(max(np.abs(points).max(initial=0.0), np.abs(queries).max(initial=0.0)))
    places, asked = np.ldexp(points, -exponent), np.ldexp(queries, -exponent)
    return nearest(cKDTree(places).query, places, asked, 1)[1][:, 0]
