"""Reference for cpp/decomposition/grid_recognition: coordinates from all pairwise distances. …"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path

from graphtv.graph.graph import Graph
from graphtv.graph.grid import grid_graph


def recognize_grid(graph: Graph) -> tuple[tuple[int, ...], NDArray[np.int64]] | None:
    """Return the shape and the coordinates of the grid that `graph` is, or None.

    Axis i leaves the corner through its i-th neighbour. It consists of the vertices that are nearer
    to this neighbour than to the corner, and not nearer to any other neighbour of the corner. The
    i-th coordinate of a vertex is that of the nearest vertex of axis i.
    """
    n = graph.n_vertices
    if n <= 1:
        return ((1,), np.zeros((1, 1), dtype=np.int64)) if n == 1 else None
    degrees = np.bincount(graph.edges.ravel(), minlength=n)
    corner = int(np.argmin(degrees))
    distances = shortest_path(graph.to_sparse(), unweighted=True)
    neighbours = np.flatnonzero(distances[corner] == 1)[::-1]
    if np.isinf(distances).any() or 2 ** len(neighbours) > n:
        return None
    nearer = distances[neighbours] < distances[corner]
    columns = []
    for i in range(len(neighbours)):
        others = np.delete(nearer, i, axis=0).any(axis=0)
        axis = np.flatnonzero(~others)
        nearest = axis[np.argmin(distances[axis], axis=0)]
        columns.append(distances[corner, nearest].astype(np.int64))
    coordinates = np.stack(columns, axis=1)

    shape = tuple(int(length) for length in coordinates.max(axis=0) + 1)
    if int(np.prod(shape)) != n:
        return None
    place = np.ravel_multi_index(tuple(coordinates.T), shape)
    placed = {frozenset(edge) for edge in place[graph.edges].tolist()}
    wanted = {frozenset(edge) for edge in grid_graph(shape).edges.tolist()}
    if len(set(place.tolist())) != n or len(graph.edges) != len(wanted) or placed != wanted:
        return None
    return shape, coordinates
