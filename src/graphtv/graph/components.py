"""Connected components of a graph, or of some of its edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtv import _core
from graphtv._validate import Floats, Indices
from graphtv.graph.graph import Graph


def connected_components(
    graph: Graph, kept: NDArray[np.bool_] | None = None
) -> tuple[int, Indices]:
    """Return the number of components and the component of each vertex.

    If `kept` is given, only the edges that it selects count. Components are numbered by their first
    vertices.
    """
    count, labels = _core.connected_components(graph.n_vertices, graph.edges, kept)
    return count, labels


def count_pieces(graph: Graph, u: Floats) -> int:
    """Return the number of connected pieces of vertices with equal values."""
    return _core.count_pieces(graph.n_vertices, graph.edges, np.ascontiguousarray(u))
