"""Convert graph-like arguments of applications to a `Graph`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from graphtv._validate import as_count, brief
from graphtv.graph.graph import Graph

FORMS = "a Graph, a sparse adjacency, an (m, 2) array of edges or a pair (edges, weights)"


def to_graph(graph: Any, n_vertices: int | None = None) -> Graph:
    """Return a graph-like argument as a `Graph`.

    Parameters
    ----------
    graph : Graph, sparse matrix, array_like, tuple, networkx.Graph or igraph.Graph
        A scipy sparse array or matrix is a symmetric matrix of weights; for others use
        `Graph.from_sparse` with ``symmetrize``. An array contains one edge of weight 1 per row. A
        tuple is (edges, weights). A dense matrix of weights is not accepted, since a small one is
        ambiguous; use ``Graph.from_sparse`` for it.
    n_vertices : int, optional
        The required number of vertices. It is needed if the graph is given as edges.

    Returns
    -------
    Graph
    """
    made = _convert(graph, n_vertices)
    if n_vertices is not None and made.n_vertices != n_vertices:
        raise ValueError(
            f"graph must have {n_vertices} vertices, one per entry of the data,"
            f" got {made.n_vertices}"
        )
    return made


def scaled(graph: Graph, factor: float) -> Graph:
    """Return the graph with all weights multiplied by a positive factor."""
    if factor == 1.0:
        return graph
    weights = graph.weights * factor
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError(f"lam must leave the weights of graph positive and finite, got {factor}")
    return Graph._from_simple(graph.n_vertices, graph.edges, weights, graph._grid, graph._labels)


def _convert(graph: Any, n_vertices: int | None) -> Graph:
    if isinstance(graph, Graph):
        return graph
    if sparse.issparse(graph):
        return Graph.from_sparse(graph)
    package = type(graph).__module__.partition(".")[0]
    if package == "networkx":
        return Graph.from_networkx(graph)
    if package == "igraph":
        return Graph.from_igraph(graph)
    edges, weights = graph if isinstance(graph, tuple) and len(graph) == 2 else (graph, 1.0)
    if isinstance(edges, np.ndarray | list | tuple) and n_vertices is not None:
        return Graph(as_count(n_vertices, "n_vertices"), edges, weights)
    raise ValueError(f"graph must be {FORMS}, got {brief(graph)}")
