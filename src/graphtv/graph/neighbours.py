"""Nearest-neighbour graphs of points."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from graphtv._elementary import exp
from graphtv._memory import check_memory
from graphtv._nearest import Places, nearest
from graphtv._shares import run_shares
from graphtv._validate import INDEX_LIMIT, Floats, as_count, as_floats, as_real, is_dask
from graphtv.graph.graph import Graph

SHARE = 1 << 13
"""Number of points per share of the parallel search."""

PAIR_BYTES = 32
"""Bytes per pair of a point and a neighbour: two copies of distance and index."""

TINY = float(np.finfo(np.float64).tiny)


def knn_graph(points: Any, n_neighbors: int = 10, bandwidth: float | None = None) -> Graph:
    """Return the k-nearest-neighbour graph of points.

    Two points are joined if one is among the `n_neighbors` nearest neighbours of the other. The
    weight of the edge is exp(-d² / h²), where d is the Euclidean distance and h the bandwidth.

    Parameters
    ----------
    points : array_like or dask array, shape (n, dimension)
        Finite coordinates. Points may coincide. A point is never its own neighbour, but it can be
        a neighbour of another point at distance 0.
    n_neighbors : int
        Number of neighbours of a point, below n.
    bandwidth : float, optional
        The length h for all edges; ``math.inf`` gives unit weights. By default h adapts to the
        density of the points: h = max(σ_i, σ_j), where σ_i is the distance of point i to the
        farthest of its neighbours.

    Returns
    -------
    Graph or PartitionedGraph
        Its edges are (i, j) with i < j in lexicographic order. Weights that would underflow are
        raised to the smallest normal number, so that a small bandwidth does not remove edges. For a
        dask array, it is the same graph in as many parts as the array has chunks. Chunks need not
        be compact: parts are boxes in space. The points are never in memory as a whole. Signals and
        solutions have the order of the points.

    Notes
    -----
    A single length does not fit both dense and sparse regions: with the median distance, weights
    in the tails of a normal distribution fall below 1e-25. The default is a local scale, as in
    self-tuning spectral clustering [1]_. It uses the larger of the two scales instead of their
    geometric mean √(σ_i σ_j), so that every weight is between exp(-1) and 1.

    References
    ----------
    .. [1] L. Zelnik-Manor, P. Perona, "Self-tuning spectral clustering", NIPS 17, 2004.

    Examples
    --------
    >>> knn_graph([[0.0], [1.0], [1.1], [5.0]], n_neighbors=1, bandwidth=1.0).edges.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    if is_dask(points):
        parts: Graph = _in_parts(points, n_neighbors, bandwidth)
        return parts
    positions = as_floats(points, "points")
    if positions.ndim != 2 or positions.shape[1] == 0:
        raise ValueError(f"points must have shape (n, dimension), got {positions.shape}")
    n = as_count(len(positions), "the number of points")
    k = as_count(n_neighbors, "n_neighbors", minimum=1)
    if k >= n:
        raise ValueError(f"n_neighbors must be below the number of points {n}, got {k}")
    if n * k > INDEX_LIMIT:
        raise ValueError(
            f"n_neighbors must give at most {INDEX_LIMIT} pairs, got {k} for {n} points;"
            " knn_graph of a dask array has no such limit"
        )
    length = _as_bandwidth(bandwidth)
    check_memory(PAIR_BYTES * n * k, "knn_graph")

    # Scaled by a power of two near the largest coordinate, squared distances cannot overflow.
    _, exponent = np.frexp(np.abs(positions).max(initial=0))
    edges, between, farthest = neighbour_pairs(np.ldexp(positions, -exponent), k)
    if length is None:
        scales = farthest[edges].max(axis=1)
        relative = np.divide(between, scales, out=np.zeros_like(between), where=scales > 0)
    else:
        with np.errstate(over="ignore"):
            relative = between / max(float(np.ldexp(length, -exponent)), TINY)
    with np.errstate(over="ignore"):
        weights = exp(-np.square(relative))
    return Graph(n, edges, np.maximum(weights, TINY))


def _in_parts(points: Any, n_neighbors: Any, bandwidth: Any) -> Any:
    """Return the graph of a dask array of points."""
    from graphtv.scale.point_cloud import knn_graph_in_parts

    if points.ndim != 2 or points.shape[1] == 0 or np.isnan(points.size):
        raise ValueError(f"points must have shape (n, dimension), got {points.shape}")
    if points.dtype.kind not in "buif":
        raise ValueError(f"points must hold real numbers, got dtype {points.dtype}")
    k = as_count(n_neighbors, "n_neighbors", minimum=1)
    if k >= len(points):
        raise ValueError(f"n_neighbors must be below the number of points {len(points)}, got {k}")
    return knn_graph_in_parts(points, k, _as_bandwidth(bandwidth))


def neighbour_pairs(points: Floats, k: int) -> tuple[Places, Floats, Floats]:
    """Return the edges of the k-nearest-neighbour graph, their lengths, and the farthest distances.

    Edges (i, j) have i < j and are in lexicographic order. The farthest distance of a point is that
    to the last of its own k neighbours.
    """
    n = len(points)
    distances, neighbours = _nearest(points, k)
    # d(i, j) and d(j, i) are the same float, so it does not matter which of the two is kept.
    low, high = np.sort([np.repeat(np.arange(n), k), neighbours.ravel()], axis=0)
    pairs, kept = np.unique(low * n + high, return_index=True)
    return np.stack(np.divmod(pairs, n), axis=1), distances.ravel()[kept], distances[:, -1]


def _as_bandwidth(bandwidth: Any) -> float | None:
    if bandwidth is None:
        return None
    if isinstance(bandwidth, float | np.floating) and bandwidth == math.inf:
        return math.inf
    return as_real(bandwidth, "bandwidth", minimum=0, strict=True)


def _nearest(points: Floats, k: int) -> tuple[Floats, Places]:
    """Return distances and indices of the k nearest neighbours of each point, nearest first."""
    from scipy.spatial import cKDTree

    tree = cKDTree(points)
    distances = np.empty((len(points), k))
    indices = np.empty((len(points), k), dtype=np.int64)

    def search(share: int) -> None:
        own = np.arange(share * SHARE, min((share + 1) * SHARE, len(points)))
        distances[own], indices[own] = nearest(tree.query, points, points[own], k, own)

    run_shares(search, -(-len(points) // SHARE), (os.cpu_count() or 1) - 1)
    return distances, indices
