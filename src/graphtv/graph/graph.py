"""Weighted undirected graphs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from graphtv import _core
from graphtv._validate import (
    INDEX_LIMIT,
    Floats,
    Indices,
    as_count,
    as_edges,
    as_weights,
    brief,
    frozen,
)
from graphtv.graph.contiguity import contiguous_pairs
from graphtv.graph.labels import Attributes, Labels, as_names, first_places
from graphtv.graph.packages import (
    ForeignGraph,
    check_attribute,
    read_igraph,
    read_networkx,
    write_igraph,
    write_networkx,
)
from graphtv.graph.weight_matrix import edges_of_matrix, names_of_frame

if TYPE_CHECKING:
    from graphtv.graph.grid import GridStructure

_NO_LABELS = Labels()


class Graph:
    """An undirected graph 𝒢 = (𝒱, ℰ, ω) with positive edge weights.

    The graph is simple after construction: self-loops and edges of weight zero are dropped, and the
    weights of parallel edges (in either orientation) are summed. Edges keep the position and the
    orientation of their first occurrence. If the input is simple, the graph has exactly the given
    edges in the given order. Graphs are immutable.

    Parameters
    ----------
    n_vertices : int
        Number of vertices, below 2³¹. Vertices are 0, …, n_vertices - 1.
    edges : array_like of int, shape (m, 2)
        The end vertices of each edge; fewer than 2³¹ rows.
    weights : float or array_like of float, shape (m,)
        Finite nonnegative weights ω: one number for all edges, or one per edge.
    names : sequence, optional
        Distinct names of the vertices, such as strings. Labelled data are matched with them.

    Examples
    --------
    >>> graph = Graph(3, [[0, 1], [1, 2], [1, 0]], [1.0, 2.0, 3.0])
    >>> graph.edges.tolist(), graph.weights.tolist()
    ([[0, 1], [1, 2]], [4.0, 2.0])
    """

    _n_vertices: int
    _edges: Indices
    _weights: Floats
    _grid: GridStructure | None
    _labels: Labels

    def __init__(self, n_vertices: int, edges: Any, weights: Any = 1.0, names: Any = None) -> None:
        n = as_count(n_vertices, "n_vertices")
        given = as_edges(edges, "edges", n)
        simple, sums = _core.simplify(n, given, as_weights(weights, "weights", (len(given),)))
        if np.isinf(sums).any():
            i, j = simple[int(np.argmax(sums))]
            raise ValueError(f"weights must have a finite sum, got inf over the edges ({i}, {j})")
        self._assign(n, simple, sums, None, Labels(as_names(names, n)))

    @classmethod
    def _from_simple(
        cls,
        n_vertices: int,
        edges: Indices,
        weights: Floats,
        grid: GridStructure | None = None,
        labels: Labels = _NO_LABELS,
    ) -> Self:
        """Return a graph that uses the given arrays without a check or a copy.

        The caller guarantees that they describe a simple graph.
        """
        graph = cls.__new__(cls)
        graph._assign(n_vertices, edges, weights, grid, labels)
        return graph

    @classmethod
    def _from_foreign(cls, given: ForeignGraph, attribute: str | None) -> Self:
        """Return a graph of another package, with the weights of an edge attribute."""
        if given.is_directed:
            raise ValueError("G must be undirected, got a directed graph")
        weights: Any = 1.0
        if given.values is not None:
            values = [1.0 if value is None else value for value in given.values]
            name = f"the edge attribute {attribute!r} of G"
            weights = as_weights(values, name, (len(values),))
        graph = cls(given.n_vertices, given.edges, weights)
        graph._labels = given.labels
        if given.labels.edges:
            edges = as_edges(given.edges, "edges", given.n_vertices)
            kept = first_places(edges, graph._edges, given.n_vertices)
            graph._labels = given.labels.with_edges_at(kept)
        return graph

    def _assign(
        self,
        n_vertices: int,
        edges: Indices,
        weights: Floats,
        grid: GridStructure | None,
        labels: Labels,
    ) -> None:
        self._n_vertices, self._edges, self._weights = n_vertices, frozen(edges), frozen(weights)
        # Lattice coordinates of the vertices, or None if unknown. Every edge joins lattice
        # neighbours, but not all lattice neighbours need be joined. Edges are ordered by axis.
        self._grid = grid
        self._labels = labels

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self._n_vertices

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self._edges)

    @property
    def edges(self) -> Indices:
        """The end vertices of each edge, shape (n_edges, 2), read-only."""
        return self._edges

    @property
    def weights(self) -> Floats:
        """The positive weights ω of the edges, shape (n_edges,), read-only."""
        return self._weights

    @property
    def names(self) -> tuple[Hashable, ...] | None:
        """The names of the vertices, or None if they have none."""
        return self._labels.names

    @property
    def vertex_attributes(self) -> Attributes:
        """Attributes of the vertices by name, from NetworkX or igraph; None is a missing value."""
        return dict(self._labels.vertices)

    @property
    def edge_attributes(self) -> Attributes:
        """Attributes of the edges other than their weight; see `vertex_attributes`."""
        return dict(self._labels.edges)

    def vertex(self, name: Hashable) -> int:
        """Return the number of the vertex of a name.

        Examples
        --------
        >>> Graph(2, [[0, 1]], names=["Lyon", "Paris"]).vertex("Paris")
        1
        """
        if self.names is None:
            return as_count(name, "name", maximum=self._n_vertices - 1)
        try:
            return self._labels.numbers[name]
        except (KeyError, TypeError):
            raise ValueError(f"name must be a vertex of the graph, got {brief(name)}") from None

    def gradient(self) -> sparse.csr_array:
        """Return K = diag(ω)∇ as a sparse matrix.

        Row e is ω_e (u_i - u_j) for ``edges[e] = (i, j)``.
        """
        m = self.n_edges
        index = np.int32 if 2 * m <= INDEX_LIMIT else np.int64
        entries = np.stack([self._weights, -self._weights], axis=1).ravel()
        ends = self._edges.ravel().astype(index)
        rows = np.arange(0, 2 * m + 1, 2, dtype=index)
        gradient = sparse.csr_array((entries, ends, rows), shape=(m, self._n_vertices))
        gradient.sort_indices()
        return gradient

    @classmethod
    def from_sparse(cls, matrix: Any, symmetrize: str | None = None, names: Any = None) -> Self:
        """Make a graph from a square matrix of weights.

        Parameters
        ----------
        matrix : sparse array, sparse matrix or array_like, shape (n, n)
            The entry a_ij is the weight of the edge between i and j. The diagonal and explicit
            zeros are ignored.
        symmetrize : {'mean', 'max', 'min'}, optional
            How to combine a_ij and a_ji if they differ: their mean, the larger or the smaller.
            With 'min', i and j are joined only if both entries are positive. By default an
            asymmetric matrix is an error, except for rounding errors of up to 8 units in the last
            place; in this case the entry above the diagonal is used.
        names : sequence, optional
            Distinct names of the vertices. The default for a pandas DataFrame is its index, which
            must equal its columns.

        Returns
        -------
        Graph
            Its edges are (i, j) with i < j in lexicographic order.

        Examples
        --------
        The result of scikit-learn's ``kneighbors_graph`` need not be symmetric:

        >>> nearest = [[0, 1, 0], [1, 0, 0], [0, 1, 0]]
        >>> Graph.from_sparse(nearest, symmetrize="max").edges.tolist()
        [[0, 1], [1, 2]]
        >>> Graph.from_sparse(nearest, symmetrize="min").edges.tolist()
        [[0, 1]]
        """
        edges, weights, n = edges_of_matrix(matrix, symmetrize)
        return cls(n, edges, weights, names_of_frame(matrix) if names is None else names)

    @classmethod
    def from_networkx(cls, G: Any, weight: str | None = "weight") -> Self:
        """Make a graph from an undirected NetworkX graph.

        Parameters
        ----------
        G : networkx.Graph or networkx.MultiGraph
            Vertex k is the k-th node of ``G.nodes``, and the nodes are the names. Parallel edges
            are summed; the attributes of the first are kept.
        weight : str or None
            Name of the edge attribute that holds the weight; an edge without it weighs 1, and so do
            all edges if `weight` is None.

        Returns
        -------
        Graph
            With all other attributes of nodes and edges; `to_networkx` returns them.
        """
        check_attribute(weight, "weight")
        return cls._from_foreign(read_networkx(G, weight), weight)

    @classmethod
    def from_igraph(cls, G: Any, weight: str | None = "weight") -> Self:
        """Make a graph from an undirected igraph graph.

        Parameters
        ----------
        G : igraph.Graph
            Vertices keep their numbers, and so do edges if none is summed or dropped. The
            orientation of an edge may change, since igraph does not store it. The vertex attribute
            ``name``, if there is one, holds the names.
        weight : str or None
            Name of the edge attribute that holds the weight; an edge without it weighs 1, and so do
            all edges if `weight` is None.

        Returns
        -------
        Graph
            With all other attributes of vertices and edges; `to_igraph` returns them.
        """
        check_attribute(weight, "weight")
        return cls._from_foreign(read_igraph(G, weight), weight)

    @classmethod
    def from_geometries(cls, geometries: Any, rule: str = "queen") -> Self:
        """Make a graph of areas in which neighbours touch, with edges of weight 1.

        Parameters
        ----------
        geometries : GeoDataFrame, GeoSeries or sequence of shapely geometries
            The areas. The index of geopandas gives the names.
        rule : {'queen', 'rook'}
            Neighbours share a point, or a part of their boundary of positive length. Areas whose
            boundaries differ by rounding may not touch; clean them first, for example with
            ``shapely.set_precision``.

        Returns
        -------
        Graph
            Its edges are (i, j) with i < j in lexicographic order.

        Examples
        --------
        >>> import shapely
        >>> cells = [shapely.box(x, y, x + 1, y + 1) for x in range(2) for y in range(2)]
        >>> Graph.from_geometries(cells).n_edges, Graph.from_geometries(cells, "rook").n_edges
        (6, 4)
        """
        is_geopandas = hasattr(geometries, "geometry")
        pairs, n = contiguous_pairs(geometries.geometry if is_geopandas else geometries, rule)
        return cls(n, pairs, names=geometries.index if is_geopandas else None)

    def to_sparse(self) -> sparse.csr_array:
        """Return the symmetric matrix of weights."""
        half = sparse.coo_array(
            (self._weights, (self._edges[:, 0], self._edges[:, 1])),
            shape=(self._n_vertices, self._n_vertices),
        ).tocsr()
        return half + half.T

    def to_networkx(self, weight: str = "weight") -> Any:
        """Return a ``networkx.Graph`` with names and attributes.

        Parameters
        ----------
        weight : str
            Name of the edge attribute for the weights.

        Returns
        -------
        networkx.Graph
            Its nodes are the names, or 0, …, n - 1 if there are none.
        """
        check_attribute(weight, "weight", is_needed=True)
        return write_networkx(self._n_vertices, self._edges, self._weights, weight, self._labels)

    def to_igraph(self, weight: str = "weight") -> Any:
        """Return an ``igraph.Graph`` with names and attributes.

        Parameters
        ----------
        weight : str
            Name of the edge attribute for the weights.

        Returns
        -------
        igraph.Graph
            Names are in the vertex attribute ``name``.
        """
        check_attribute(weight, "weight", is_needed=True)
        return write_igraph(self._n_vertices, self._edges, self._weights, weight, self._labels)

    def __repr__(self) -> str:
        return f"Graph({self.n_vertices} vertices, {self.n_edges} edges)"

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same edges, weights and names in the same order.

        Vertices without names are named by their numbers.
        """
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            self._n_vertices == other._n_vertices
            and self._has_names_of(other)
            and np.array_equal(self._edges, other._edges)
            and np.array_equal(self._weights, other._weights)
        )

    def _has_names_of(self, other: Graph) -> bool:
        numbers = tuple(range(self._n_vertices)) if self.names != other.names else None
        return (self.names or numbers) == (other.names or numbers)

    def __hash__(self) -> int:
        return hash((self._n_vertices, self.n_edges))

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self._n_vertices, self._edges, self._weights, self._grid, self._labels)
        return self._from_simple, state


def as_graph(value: Any) -> Graph:
    """Return `value` if it is a graph; errors call the argument ``graph``."""
    if not isinstance(value, Graph):
        raise ValueError(f"graph must be a graphtv.Graph, got {value!r}")
    return value
