"""Weighted undirected graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from graphtv import _core
from graphtv._validate import (
    INDEX_LIMIT,
    Floats,
    Indices,
    as_array,
    as_choice,
    as_count,
    as_edges,
    as_weights,
    describe,
    first_index,
    frozen,
)

if TYPE_CHECKING:
    from graphtv.graph.grid import GridStructure

SYMMETRY_TOLERANCE = 8 * float(np.finfo(np.float64).eps)
"""Largest difference of a_ij and a_ji, relative to the larger, in a symmetric matrix."""


SYMMETRIZE = ("mean", "max", "min")


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

    def __init__(self, n_vertices: int, edges: Any, weights: Any = 1.0) -> None:
        n = as_count(n_vertices, "n_vertices")
        given = as_edges(edges, "edges", n)
        simple, sums = _core.simplify(n, given, as_weights(weights, "weights", (len(given),)))
        if np.isinf(sums).any():
            i, j = simple[int(np.argmax(sums))]
            raise ValueError(f"weights must have a finite sum, got inf over the edges ({i}, {j})")
        self._assign(n, simple, sums, None)

    @classmethod
    def _from_simple(
        cls, n_vertices: int, edges: Indices, weights: Floats, grid: GridStructure | None = None
    ) -> Self:
        """Return a graph that uses the given arrays without a check or a copy.

        The caller guarantees that they describe a simple graph.
        """
        graph = cls.__new__(cls)
        graph._assign(n_vertices, edges, weights, grid)
        return graph

    def _assign(
        self, n_vertices: int, edges: Indices, weights: Floats, grid: GridStructure | None
    ) -> None:
        self._n_vertices, self._edges, self._weights = n_vertices, frozen(edges), frozen(weights)
        # Lattice coordinates of the vertices, or None if unknown. Every edge joins lattice
        # neighbours, but not all lattice neighbours need be joined. Edges are ordered by axis.
        self._grid = grid

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
    def from_sparse(cls, matrix: Any, symmetrize: str | None = None) -> Self:
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
        rule = None if symmetrize is None else as_choice(symmetrize, "symmetrize", SYMMETRIZE)
        given = matrix if sparse.issparse(matrix) else as_array(matrix, "matrix")
        if given.ndim != 2 or given.shape[0] != given.shape[1]:
            raise ValueError(f"matrix must be square, got shape {given.shape}")
        if given.dtype.kind not in "buif":
            raise ValueError(f"matrix must hold real numbers, got dtype {given.dtype}")
        n = as_count(given.shape[0], "the number of rows of matrix")
        entries = sparse.csr_array(given, dtype=np.float64, copy=True)
        entries.sum_duplicates()
        entries.data[_rows(entries) == entries.indices] = 0
        entries.eliminate_zeros()
        values = entries.data
        for bad, what in ((~np.isfinite(values), "finite"), (values < 0, "nonnegative")):
            if bad.any():
                (k,) = first_index(bad)
                where = describe((int(_rows(entries)[k]), int(entries.indices[k])))
                raise ValueError(f"matrix must be {what}, got {values[k]} at {where}")
        if rule is None:
            _check_symmetric(entries)
        else:
            entries = _symmetric(entries, rule)
            values = entries.data
        rows = _rows(entries)
        upper = rows < entries.indices
        edges = np.stack([rows[upper], entries.indices[upper]], axis=1)
        return cls(n, edges, values[upper])

    @classmethod
    def from_networkx(cls, G: Any, weight: str | None = "weight") -> Self:
        """Make a graph from an undirected NetworkX graph.

        Parameters
        ----------
        G : networkx.Graph or networkx.MultiGraph
            Vertex k is the k-th node of ``G.nodes``. Parallel edges are summed.
        weight : str or None
            Name of the edge attribute that holds the weight; an edge without it weighs 1, and so do
            all edges if `weight` is None.
        """
        networkx = _import("networkx")
        _check_attribute(weight)
        if not isinstance(G, networkx.Graph):
            raise ValueError(f"G must be a networkx graph, got {type(G).__name__}")
        if G.is_directed():
            raise ValueError("G must be undirected, got a directed graph")
        number = {node: k for k, node in enumerate(G.nodes)}
        edges = [(number[i], number[j]) for i, j in G.edges()]
        weights: Any = 1.0
        if weight is not None and edges:
            values = [value for _, _, value in G.edges(data=weight, default=1.0)]
            weights = as_weights(values, f"the edge attribute {weight!r} of G", (len(edges),))
        return cls(len(number), edges, weights)

    @classmethod
    def from_igraph(cls, G: Any, weight: str | None = "weight") -> Self:
        """Make a graph from an undirected igraph graph.

        Parameters
        ----------
        G : igraph.Graph
            Vertices keep their numbers, and so do edges if none is summed or dropped. The
            orientation of an edge may change, since igraph does not store it.
        weight : str or None
            Name of the edge attribute that holds the weight; an edge without it weighs 1, and so do
            all edges if `weight` is None.
        """
        igraph = _import("igraph")
        _check_attribute(weight)
        if not isinstance(G, igraph.Graph):
            raise ValueError(f"G must be an igraph graph, got {type(G).__name__}")
        if G.is_directed():
            raise ValueError("G must be undirected, got a directed graph")
        edges = G.get_edgelist()
        weights: Any = 1.0
        if weight is not None and edges and weight in G.es.attributes():
            values = [1.0 if value is None else value for value in G.es[weight]]
            weights = as_weights(values, f"the edge attribute {weight!r} of G", (len(edges),))
        return cls(G.vcount(), edges, weights)

    def to_sparse(self) -> sparse.csr_array:
        """Return the symmetric matrix of weights."""
        half = sparse.coo_array(
            (self._weights, (self._edges[:, 0], self._edges[:, 1])),
            shape=(self._n_vertices, self._n_vertices),
        ).tocsr()
        return half + half.T

    def to_networkx(self) -> Any:
        """Return a ``networkx.Graph`` with nodes 0, …, n - 1 and the edge attribute ``weight``."""
        G = _import("networkx").Graph()
        G.add_nodes_from(range(self._n_vertices))
        tails, heads = self._edges.T
        triples = zip(tails.tolist(), heads.tolist(), self._weights.tolist(), strict=True)
        G.add_weighted_edges_from(triples)
        return G

    def to_igraph(self) -> Any:
        """Return an ``igraph.Graph`` with the edge attribute ``weight``."""
        return _import("igraph").Graph(
            n=self._n_vertices,
            edges=self._edges.tolist(),
            edge_attrs={"weight": self._weights.tolist()},
        )

    def __repr__(self) -> str:
        return f"Graph({self.n_vertices} vertices, {self.n_edges} edges)"

    def __eq__(self, other: object) -> bool:
        """Return whether both graphs have the same edges and weights in the same order."""
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            self._n_vertices == other._n_vertices
            and np.array_equal(self._edges, other._edges)
            and np.array_equal(self._weights, other._weights)
        )

    def __hash__(self) -> int:
        return hash((self._n_vertices, self.n_edges))

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self._n_vertices, self._edges, self._weights, self._grid)
        return self._from_simple, state


def as_graph(value: Any) -> Graph:
    """Return `value` if it is a graph; errors call the argument ``graph``."""
    if not isinstance(value, Graph):
        raise ValueError(f"graph must be a graphtv.Graph, got {value!r}")
    return value


def _check_attribute(weight: Any) -> None:
    if weight is not None and not isinstance(weight, str):
        raise ValueError(f"weight must name an edge attribute or be None, got {weight!r}")


def _rows(matrix: sparse.csr_array) -> Indices:
    """Return the row of each entry."""
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))


def _check_symmetric(matrix: sparse.csr_array) -> None:
    """Raise if `matrix` is not symmetric up to rounding; it is canonical with positive entries."""
    transpose = matrix.T.tocsr()
    if np.array_equal(matrix.indptr, transpose.indptr) and np.array_equal(
        matrix.indices, transpose.indices
    ):
        difference = np.abs(matrix.data - transpose.data)
        if (difference <= SYMMETRY_TOLERANCE * np.maximum(matrix.data, transpose.data)).all():
            return
    excess = abs(matrix - transpose) - SYMMETRY_TOLERANCE * matrix.maximum(transpose)
    excess = excess.tocoo()
    (k,) = first_index(excess.data > 0)
    i, j = int(excess.row[k]), int(excess.col[k])
    raise ValueError(
        f"matrix must be symmetric, got {matrix[i, j]} at {describe((i, j))}"
        f" and {matrix[j, i]} at {describe((j, i))};"
        " pass symmetrize='mean', 'max' or 'min' to Graph.from_sparse to symmetrize it"
    )


def _symmetric(matrix: sparse.csr_array, rule: str) -> sparse.csr_array:
    """Return the mean, the maximum or the minimum of a matrix and its transpose."""
    transpose = sparse.csr_array(matrix.T)
    if rule == "mean":  # halve first, since the sum of two large numbers may overflow
        both = 0.5 * matrix + 0.5 * transpose
    else:
        both = matrix.maximum(transpose) if rule == "max" else matrix.minimum(transpose)
    both.sort_indices()
    both.eliminate_zeros()
    return both


def _import(module: str) -> Any:
    """Import an optional graph package."""
    try:
        return __import__(module)
    except ImportError as error:
        message = f'{module} is not installed: pip install "graphtv[graphs]"'
        raise ImportError(message) from error
