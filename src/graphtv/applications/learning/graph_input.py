"""The graphs that applications take: a `Graph`, or what people have in its place."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from graphtv._validate import as_count, brief
from graphtv.graph.graph import Graph

FORMS = "a Graph, a sparse adjacency, an (m, 2) array of edges or a pair (edges, weights)"


def to_graph(graph: Any, n_vertices: int | None = None) -> Graph:
    """Return what a user calls a graph as a `Graph`.

    Parameters
    ----------
    graph : Graph, sparse matrix, array_like, tuple, networkx.Graph or igraph.Graph
        A scipy sparse array or matrix holds the weights, symmetrically (see `Graph.from_sparse`
        and its ``symmetrize`` for others). An array holds the edges,
        one per row, and weighs them 1; a tuple is (edges, weights). A dense matrix of weights is
        not taken, since small ones could be either: ``Graph.from_sparse`` makes graphs of them.
    n_vertices : int, optional
        How many vertices it must have; needed for edges without a graph, which do not say.

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
    """Return the graph with all weights times a positive factor; edges keep their places."""
    if factor == 1.0:
        return graph
    weights = graph.weights * factor
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError(f"lam must leave the weights of graph positive and finite, got {factor}")
    return Graph._from_simple(graph.n_vertices, graph.edges, weights, graph._grid)


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
