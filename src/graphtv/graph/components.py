"""Connected components of a graph, or of some of its edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from graphtv._validate import Indices
from graphtv.graph.graph import Graph


def connected_components(graph: Graph, kept: Any = None) -> tuple[int, Indices]:
    """Return the number of components and the component of each vertex.

    If `kept` is given, only the edges that it selects count.
    """
    edges = graph.edges if kept is None else graph.edges[kept]
    links = sparse.coo_array(
        (np.ones(len(edges), dtype=np.int8), (edges[:, 0], edges[:, 1])),
        shape=(graph.n_vertices, graph.n_vertices),
    )
    count, labels = csgraph.connected_components(links, directed=False)
    return int(count), labels
