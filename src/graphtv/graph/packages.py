"""Read graphs of NetworkX and igraph with their names and attributes, and write them."""

from __future__ import annotations

from typing import Any, NamedTuple

from graphtv._validate import brief
from graphtv.graph.labels import Attributes, Labels, Name, as_names


class ForeignGraph(NamedTuple):
    """A graph of another package: pairs of numbers, one value per edge, and labels.

    `values` contains the requested edge attribute, with None for edges that lack it. It is None if
    no attribute was requested or no edge has it.
    """

    n_vertices: int
    edges: list[tuple[int, int]]
    values: list[Any] | None
    labels: Labels
    is_directed: bool


def read_networkx(G: Any, attribute: str | None) -> ForeignGraph:
    """Return a NetworkX graph; its nodes are the names."""
    networkx = import_package("networkx")
    if not isinstance(G, networkx.Graph):
        raise ValueError(f"G must be a networkx graph, got {type(G).__name__}")
    numbers = {node: k for k, node in enumerate(G.nodes)}
    edges = [(numbers[i], numbers[j]) for i, j in G.edges()]
    columns = _columns([row for _, _, row in G.edges(data=True)])
    values = columns.pop(attribute, None)
    labels = Labels(tuple(numbers), _columns([row for _, row in G.nodes(data=True)]), columns)
    listed = None if values is None else list(values)
    return ForeignGraph(len(numbers), edges, listed, labels, G.is_directed())


def read_igraph(G: Any, attribute: str | None) -> ForeignGraph:
    """Return an igraph graph; the vertex attribute ``name``, if there is one, holds the names."""
    igraph = import_package("igraph")
    if not isinstance(G, igraph.Graph):
        raise ValueError(f"G must be an igraph graph, got {type(G).__name__}")
    edges = G.get_edgelist()
    of_edges = {key: tuple(G.es[key]) for key in G.es.attributes()}
    of_vertices = {key: tuple(G.vs[key]) for key in G.vs.attributes()}
    values = of_edges.pop(attribute, None) if edges else None
    names = as_names(of_vertices.pop("name", None), G.vcount())
    labels = Labels(names, of_vertices, of_edges)
    listed = None if values is None else list(values)
    return ForeignGraph(G.vcount(), edges, listed, labels, G.is_directed())


def write_networkx(n_vertices: int, edges: Any, values: Any, attribute: str, labels: Labels) -> Any:
    """Return a ``networkx.Graph``; its nodes are the names, or numbers if there are none."""
    G = import_package("networkx").Graph()
    nodes = labels.names or range(n_vertices)
    G.add_nodes_from(zip(nodes, _rows(labels.vertices, n_vertices), strict=True))
    rows = _rows({**labels.edges, attribute: tuple(values.tolist())}, len(edges))
    ends = ((nodes[i], nodes[j]) for i, j in edges.tolist())
    G.add_edges_from((*pair, row) for pair, row in zip(ends, rows, strict=True))
    return G


def write_igraph(n_vertices: int, edges: Any, values: Any, attribute: str, labels: Labels) -> Any:
    """Return an ``igraph.Graph``; the vertex attribute ``name`` holds the names."""
    of_vertices = {key: list(column) for key, column in labels.vertices.items()}
    if labels.names is not None:
        of_vertices["name"] = list(labels.names)
    of_edges = {key: list(column) for key, column in labels.edges.items()}
    return import_package("igraph").Graph(
        n=n_vertices,
        edges=edges.tolist(),
        vertex_attrs=of_vertices,
        edge_attrs={**of_edges, attribute: values.tolist()},
    )


def check_attribute(attribute: Any, argument: str, *, is_needed: bool = False) -> None:
    """Raise if an argument is not the name of an edge attribute; None may be allowed."""
    if not isinstance(attribute, str) and (is_needed or attribute is not None):
        raise ValueError(
            f"{argument} must name an edge attribute{'' if is_needed else ' or be None'},"
            f" got {brief(attribute)}"
        )


def import_package(module: str) -> Any:
    """Import an optional graph package."""
    try:
        return __import__(module)
    except ImportError as error:
        message = f'{module} is not installed: pip install "graphtv[graphs]"'
        raise ImportError(message) from error


def _columns(rows: list[dict[Any, Any]]) -> dict[Any, tuple[Any, ...]]:
    """Return attributes by name, from one dictionary per vertex or edge."""
    keys = dict.fromkeys(key for row in rows for key in row)
    return {key: tuple(row.get(key) for row in rows) for key in keys}


def _rows(columns: Attributes, count: int) -> list[dict[Name, Any]]:
    """Return one dictionary per vertex or edge, without the attributes that are missing."""
    return [
        {key: column[k] for key, column in columns.items() if column[k] is not None}
        for k in range(count)
    ]
