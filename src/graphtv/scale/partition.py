"""Partitions of the vertices of a graph into parts of equal size with short borders.

The default is recursive bisection. If the vertices are points, each half is one side of a plane
across the longest axis (J. Bentley's k-d tree). Otherwise it is one half of a breadth-first order
that begins at a vertex far from the others (as in A. George's level structures). METIS finds
shorter borders, and is used through pymetis if asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from graphtv._validate import Floats, as_choice, as_floats
from graphtv.graph.graph import Graph

METHODS = ("auto", "points", "breadth-first", "metis")

Labels = NDArray[np.int32]


def partition(graph: Graph, n_parts: int, method: str = "auto", points: Any = None) -> Labels:
    """Return the part of each vertex, 0, …, n_parts - 1."""
    name = as_choice(method, "method", METHODS)
    if name == "auto":
        name = "breadth-first" if points is None else "points"
    if name == "points":
        if points is None:
            raise ValueError("points must be given if method is 'points', got None")
        return by_points(as_positions(points, graph.n_vertices), n_parts)
    return metis(graph, n_parts) if name == "metis" else breadth_first(graph, n_parts)


def as_positions(points: Any, n_vertices: int) -> Floats:
    """Return points as an array with one row per vertex."""
    positions = as_floats(points, "points")
    if positions.ndim != 2 or len(positions) != n_vertices or positions.shape[1] == 0:
        raise ValueError(
            f"points must have shape ({n_vertices}, dimension), got shape {positions.shape}"
        )
    return positions


def by_points(points: Floats, n_parts: int) -> Labels:
    """Return the parts of points: boxes with equal numbers of points."""

    def order(vertices: NDArray[np.int64]) -> NDArray[np.int64]:
        positions = points[vertices]
        axis = int(np.argmax(np.ptp(positions, axis=0))) if len(vertices) else 0
        return vertices[np.argsort(positions[:, axis], kind="stable")]

    return _bisected(len(points), n_parts, order)


def breadth_first(graph: Graph, n_parts: int) -> Labels:
    """Return parts that are halves of breadth-first orders, recursively."""
    ends = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    ones = np.ones(len(ends), dtype=np.int8)
    shape = (graph.n_vertices, graph.n_vertices)
    adjacency = sparse.coo_array((ones, (ends[:, 0], ends[:, 1])), shape=shape).tocsr()

    def order(vertices: NDArray[np.int64]) -> NDArray[np.int64]:
        whole = len(vertices) == graph.n_vertices
        inner = adjacency if whole else adjacency[vertices][:, vertices]
        return vertices[_from_afar(inner)]

    return _bisected(graph.n_vertices, n_parts, order)


def metis(graph: Graph, n_parts: int) -> Labels:
    """Return the parts that METIS finds."""
    try:
        import pymetis
    except ImportError:
        raise ImportError("method='metis' needs pymetis: pip install 'graphtv[metis]'") from None
    ends = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    ones = np.ones(len(ends), dtype=np.int8)
    shape = (graph.n_vertices, graph.n_vertices)
    rows = sparse.coo_array((ones, (ends[:, 0], ends[:, 1])), shape=shape).tocsr()
    adjacency = pymetis.CSRAdjacency(adj_starts=rows.indptr, adjacent=rows.indices)
    _, labels = pymetis.part_graph(n_parts, adjacency)
    return np.asarray(labels, dtype=np.int32)


def _bisected(
    n: int, n_parts: int, order: Callable[[NDArray[np.int64]], NDArray[np.int64]]
) -> Labels:
    """Return parts of equal size: order the vertices, cut them in half, and repeat."""
    labels = np.zeros(n, dtype=np.int32)
    pending = [(np.arange(n), 0, n_parts)]
    while pending:
        vertices, first, count = pending.pop()
        labels[vertices] = first
        if count == 1 or len(vertices) == 0:
            continue
        lower = count // 2
        cut = len(vertices) * lower // count
        ordered = order(vertices)
        pending.append((np.sort(ordered[:cut]), first, lower))
        pending.append((np.sort(ordered[cut:]), first + lower, count - lower))
    return labels


def _from_afar(adjacency: Any) -> NDArray[np.int64]:
    """Return the vertices in breadth-first order, each component from a vertex at its end."""
    n = adjacency.shape[0]
    is_new, found = np.ones(n, dtype=bool), []
    count, component = csgraph.connected_components(adjacency, directed=False)
    _, first = np.unique(component, return_index=True)
    alone = np.bincount(component, minlength=count) == 1
    for start in first[~alone]:
        last = csgraph.breadth_first_order(adjacency, start, return_predecessors=False)[-1]
        ordered = csgraph.breadth_first_order(adjacency, last, return_predecessors=False)
        is_new[ordered] = False
        found.append(ordered)
    return np.concatenate([*found, np.flatnonzero(is_new)]).astype(np.int64)
