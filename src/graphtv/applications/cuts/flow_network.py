"""Directed networks with capacities and two terminals, for minimum cuts and maximum flows."""

from __future__ import annotations

from collections.abc import Hashable, Set
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graphtv._validate import Floats, Indices, as_array, as_capacities, as_count, as_edges, brief
from graphtv.applications.cuts.cut_path import CutPath, path_of
from graphtv.applications.cuts.cut_problem import CutProblem
from graphtv.applications.cuts.min_cut import Cut, cut_of
from graphtv.applications.cuts.sums import exact_sum, has_finite_sum
from graphtv.applications.keywords import check_keywords
from graphtv.graph.graph import Graph
from graphtv.graph.labels import Name, as_names
from graphtv.graph.packages import ForeignGraph, check_attribute, read_igraph, read_networkx
from graphtv.graph.weight_matrix import as_square, names_of_frame

__all__ = ["FlowNetwork"]


@dataclass(frozen=True, eq=False, repr=False)
class FlowNetwork:
    """A directed network with capacities, a source and a sink.

    Parallel arcs, self-loops, arcs into the source and arcs out of the sink are allowed.

    Parameters
    ----------
    n_vertices : int
        Number of vertices, including the terminals.
    arcs : array_like of int, shape (m, 2)
        Tail and head of each arc.
    capacities : int, float or array_like, shape (m,)
        Nonnegative finite capacities, one for all arcs or one per arc. Integers below 2⁶³ are kept
        exactly.
    source, sink : int
        The terminals, two different vertices.
    names : sequence, optional
        Distinct names of the vertices. `Cut.partition` and `Flow.to_dict` use them.

    Examples
    --------
    >>> network = FlowNetwork(4, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]], [3, 2, 1, 2, 4], 0, 3)
    >>> network.min_cut().value
    5
    """

    n_vertices: int
    arcs: Indices
    capacities: NDArray[Any]
    source: int
    sink: int
    names: tuple[Name, ...] | None = None

    def __post_init__(self) -> None:
        n = as_count(self.n_vertices, "n_vertices", minimum=2)
        arcs = np.array(as_edges(self.arcs, "arcs", n))
        capacities = as_capacities(self.capacities, "capacities", (len(arcs),))
        if not has_finite_sum(capacities):
            raise ValueError("capacities must have a finite sum, got inf")
        source = as_count(self.source, "source", maximum=n - 1)
        sink = as_count(self.sink, "sink", maximum=n - 1)
        if source == sink:
            name = source if self.names is None else list(self.names)[source]
            raise ValueError(f"sink must not be the source, got {brief(name)} for both")
        arcs.flags.writeable = capacities.flags.writeable = False
        values = (n, arcs, capacities, source, sink, as_names(self.names, n))
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def from_networkx(
        cls, G: Any, source: Name, sink: Name, capacity: str | None = "capacity"
    ) -> Self:
        """Make a network from a NetworkX graph.

        Parameters
        ----------
        G : networkx.DiGraph, networkx.Graph or a multigraph
            The nodes are the names. An edge of an undirected graph becomes two arcs, one in each
            direction, as in NetworkX.
        source, sink : node
            The terminals.
        capacity : str or None
            Name of the edge attribute that holds the capacity. All edges must have it: NetworkX
            regards edges without it as infinite, which is an error here. None gives all edges the
            capacity 1.

        Returns
        -------
        FlowNetwork

        Examples
        --------
        >>> import networkx
        >>> G = networkx.DiGraph()
        >>> G.add_weighted_edges_from([("s", "a", 3), ("a", "t", 2)], weight="capacity")
        >>> cut = FlowNetwork.from_networkx(G, "s", "t").min_cut()
        >>> cut.value, sorted(cut.partition[0]), cut.flow.to_dict()
        (2, ['a', 's'], {'s': {'a': 2}, 'a': {'t': 2}, 't': {}})
        """
        check_attribute(capacity, "capacity")
        return cls._from_foreign(read_networkx(G, capacity), source, sink, capacity)

    @classmethod
    def from_igraph(
        cls, G: Any, source: Name, sink: Name, capacity: str | None = "capacity"
    ) -> Self:
        """Make a network from an igraph graph.

        Parameters
        ----------
        G : igraph.Graph
            The vertex attribute ``name``, if there is one, holds the names. An edge of an
            undirected graph becomes two arcs, one in each direction.
        source, sink : name or int
            The terminals, by name if the vertices have names, else by number.
        capacity : str or None
            Name of the edge attribute that holds the capacity. None gives all edges the capacity 1.

        Returns
        -------
        FlowNetwork
        """
        check_attribute(capacity, "capacity")
        return cls._from_foreign(read_igraph(G, capacity), source, sink, capacity)

    @classmethod
    def from_sparse(cls, matrix: Any, source: Name, sink: Name, names: Any = None) -> Self:
        """Make a network from a square matrix of capacities.

        Parameters
        ----------
        matrix : sparse array, sparse matrix or array_like, shape (n, n)
            The entry a_ij is the capacity of the arc from i to j. Zeros are ignored.
        source, sink : name or int
            The terminals, by name if the vertices have names, else by number.
        names : sequence, optional
            Distinct names of the vertices. The default for a pandas DataFrame is its index, which
            must equal its columns.

        Returns
        -------
        FlowNetwork

        Examples
        --------
        >>> network = FlowNetwork.from_sparse([[0, 3, 0], [0, 0, 2], [0, 0, 0]], 0, 2)
        >>> network.min_cut().value
        2
        """
        entries = sparse.coo_array(as_square(matrix))
        entries.sum_duplicates()
        kept = entries.data != 0
        arcs = np.stack([entries.row[kept], entries.col[kept]], axis=1)
        named = as_names(names_of_frame(matrix) if names is None else names, entries.shape[0])
        order = np.lexsort((arcs[:, 1], arcs[:, 0]))
        capacities = entries.data[kept][order]
        s, t = _number(source, "source", named), _number(sink, "sink", named)
        return cls(entries.shape[0], arcs[order], capacities, s, t, named)

    @classmethod
    def _from_foreign(
        cls, given: ForeignGraph, source: Name, sink: Name, capacity: str | None
    ) -> Self:
        edges, values = given.edges, given.values
        if capacity is None or not edges:
            values = [1] * len(edges)
        elif values is None or None in values:
            where = edges[0 if values is None else values.index(None)]
            names = given.labels.names or range(given.n_vertices)
            ends = ", ".join(brief(names[k]) for k in where)
            raise ValueError(
                f"capacity must be an attribute of all edges, got {capacity!r},"
                f" which the edge ({ends}) does not have"
            )
        capacities = as_capacities(values, f"the edge attribute {capacity!r} of G", (len(edges),))
        arcs = as_edges(edges, "edges", given.n_vertices)
        if not given.is_directed:
            arcs = np.concatenate([arcs, arcs[:, ::-1]])
            capacities = np.concatenate([capacities, capacities])
        named = given.labels.names
        s, t = _number(source, "source", named), _number(sink, "sink", named)
        return cls(given.n_vertices, arcs, capacities, s, t, named)

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return len(self.arcs)

    def min_cut(self, **solve_options: Any) -> Cut:
        """Return a minimum cut between source and sink, with a certificate.

        This is `graphtv.min_cut` for directed networks. The options are those of `graphtv.solve`.
        The source side includes the source, and the flow has one entry per arc.
        """
        check_keywords(self.min_cut, solve_options)
        return cut_of(CutProblem.of_network(self), solve_options)

    def cut_path(self, **solve_options: Any) -> CutPath:
        """Return the minimum cuts for all shifts of the terminal capacities at once.

        See `graphtv.cut_path`. The shift applies to all vertices except the terminals.
        """
        check_keywords(self.cut_path, solve_options)
        return path_of(CutProblem.of_network(self), solve_options)

    def cut_value(self, source_side: Any) -> int | float:
        """Return the capacity of all arcs that leave a set of vertices.

        Parameters
        ----------
        source_side : array_like of bool of shape (n_vertices,), or set
            The set, as a mask or by names, such as ``cut.partition[0]``.

        Returns
        -------
        int or float
            An exact sum for integer capacities, a correctly rounded one for others.
        """
        if isinstance(source_side, Set):
            source_side = self._mask(source_side)
        side = as_array(source_side, "source_side")
        if side.shape != (self.n_vertices,) or side.dtype != np.bool_:
            raise ValueError(
                f"source_side must be booleans of shape ({self.n_vertices},),"
                f" got {side.dtype} of shape {side.shape}"
            )
        tails, heads = self.arcs.T
        return exact_sum(self.capacities[side[tails] & ~side[heads]])

    def _mask(self, vertices: Set[Name]) -> NDArray[np.bool_]:
        """Return the mask of a set of vertices, given by their names, or by numbers."""
        side = np.zeros(self.n_vertices, dtype=np.bool_)
        numbers = {name: k for k, name in enumerate(self.names or range(self.n_vertices))}
        for vertex in vertices:
            if vertex not in numbers:
                raise ValueError(
                    f"source_side must hold vertices of the network, got {brief(vertex)}"
                )
            side[numbers[vertex]] = True
        return side

    def rof(self) -> tuple[Graph, Floats]:
        """Return the graph and the signal whose total variation denoising yields the minimum cut.

        Let x be the indicator of the source side. An arc of capacity c from i to j and an arc of
        capacity c' back cost (c + c')/2 |x_i - x_j| + (c - c')/2 (x_i - x_j) together. The first
        part is an edge weight. The second part belongs to the unary terms. An arc of capacity c
        from the source to i adds -c to the unary term of i, and one from i to the sink adds c. The
        signal is f = -unary. If u minimises ½‖u - f‖² plus the total variation, then {u > 0} is the
        source side of a minimum cut.

        Returns
        -------
        graph : Graph
            The vertices other than the terminals, in their order. Vertices without edges are left
            out, because the sign of their unary term determines their side.
        signal : ndarray, shape (graph.n_vertices,)
            The data f.
        """
        tails, heads = self.arcs.T
        n = self.n_vertices
        from_source = (tails == self.source) & (heads != self.sink)
        to_sink = (heads == self.sink) & (tails != self.source)
        inner = ~np.isin(self.arcs, [self.source, self.sink]).any(axis=1)
        half = 0.5 * self.capacities[inner]
        signal = np.zeros(n)
        np.add.at(signal, heads[from_source], self.capacities[from_source])
        np.add.at(signal, tails[to_sink], -self.capacities[to_sink])
        np.add.at(signal, tails[inner], -half)
        np.add.at(signal, heads[inner], half)
        graph = Graph(n, self.arcs[inner], half)
        kept = np.unique(graph.edges)
        edges = np.searchsorted(kept, graph.edges)
        return Graph(len(kept), edges, graph.weights), signal[kept]

    def __eq__(self, other: object) -> bool:
        """Return whether both networks have the same arcs and capacities in the same order."""
        if not isinstance(other, FlowNetwork):
            return NotImplemented
        return (
            (self.n_vertices, self.source, self.sink)
            == (other.n_vertices, other.source, other.sink)
            and self.names == other.names
            and np.array_equal(self.arcs, other.arcs)
            and self.capacities.dtype == other.capacities.dtype
            and np.array_equal(self.capacities, other.capacities)
        )

    def __hash__(self) -> int:
        return hash((self.n_vertices, self.n_arcs, self.source, self.sink))

    def __repr__(self) -> str:
        names = self.names or range(self.n_vertices)
        return (
            f"FlowNetwork({self.n_vertices} vertices, {self.n_arcs} arcs,"
            f" {names[self.source]} → {names[self.sink]})"
        )


def _number(name: Name, argument: str, names: tuple[Name, ...] | None) -> Any:
    """Return the number of a terminal; without names, what was given."""
    if names is None:
        return name
    if not isinstance(name, Hashable) or name not in names:
        raise ValueError(f"{argument} must be a vertex of the network, got {brief(name)}")
    return names.index(name)
