"""Directed networks with capacities and two terminals, for minimum cuts and maximum flows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphtv import _core
from graphtv._validate import Floats, Indices, as_array, as_capacities, as_count, as_edges
from graphtv.graph.graph import Graph

if TYPE_CHECKING:
    from graphtv.applications.cuts.cut_path import CutPath
    from graphtv.applications.cuts.min_cut import Cut

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

    def __post_init__(self) -> None:
        n = as_count(self.n_vertices, "n_vertices", minimum=2)
        arcs = np.array(as_edges(self.arcs, "arcs", n))
        capacities = as_capacities(self.capacities, "capacities", (len(arcs),))
        if not has_finite_sum(capacities):
            raise ValueError("capacities must have a finite sum, got inf")
        source = as_count(self.source, "source", maximum=n - 1)
        sink = as_count(self.sink, "sink", maximum=n - 1)
        if source == sink:
            raise ValueError(f"sink must not be the source, got {sink} for both")
        arcs.flags.writeable = capacities.flags.writeable = False
        values = (n, arcs, capacities, source, sink)
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, name, value)

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return len(self.arcs)

    def min_cut(self, **solve_options: Any) -> Cut:
        """Return a minimum cut between source and sink, with a certificate.

        This is `graphtv.min_cut` for directed networks. The options are those of `graphtv.solve`.
        The source side includes the source, and the flow has one entry per arc.
        """
        from graphtv.applications.cuts.cut_problem import CutProblem
        from graphtv.applications.cuts.min_cut import cut_of
        from graphtv.applications.keywords import check_keywords

        check_keywords(self.min_cut, solve_options)
        return cut_of(CutProblem.of_network(self), solve_options)

    def cut_path(self, **solve_options: Any) -> CutPath:
        """Return the minimum cuts for all shifts of the terminal capacities at once.

        See `graphtv.cut_path`. The shift applies to all vertices except the terminals.
        """
        from graphtv.applications.cuts.cut_path import path_of
        from graphtv.applications.cuts.cut_problem import CutProblem
        from graphtv.applications.keywords import check_keywords

        check_keywords(self.cut_path, solve_options)
        return path_of(CutProblem.of_network(self), solve_options)

    def cut_value(self, source_side: Any) -> int | float:
        """Return the capacity of all arcs that leave a set of vertices.

        Parameters
        ----------
        source_side : array_like of bool, shape (n_vertices,)
            The set.

        Returns
        -------
        int or float
            An exact sum for integer capacities, a correctly rounded one for others.
        """
        side = as_array(source_side, "source_side")
        if side.shape != (self.n_vertices,) or side.dtype != np.bool_:
            raise ValueError(
                f"source_side must be booleans of shape ({self.n_vertices},),"
                f" got {side.dtype} of shape {side.shape}"
            )
        tails, heads = self.arcs.T
        return exact_sum(self.capacities[side[tails] & ~side[heads]])

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
            and np.array_equal(self.arcs, other.arcs)
            and self.capacities.dtype == other.capacities.dtype
            and np.array_equal(self.capacities, other.capacities)
        )

    def __hash__(self) -> int:
        return hash((self.n_vertices, self.n_arcs, self.source, self.sink))

    def __repr__(self) -> str:
        return (
            f"FlowNetwork({self.n_vertices} vertices, {self.n_arcs} arcs,"
            f" {self.source} → {self.sink})"
        )


def has_finite_sum(values: NDArray[Any]) -> bool:
    """Whether the sum is finite. Sums of integers always are."""
    with np.errstate(over="ignore"):
        return values.dtype.kind != "f" or math.isfinite(float(values.sum()))


def exact_sum(values: NDArray[Any]) -> int | float:
    """Return the sum: a Python integer for int64 or objects, correctly rounded for floats."""
    if values.dtype.kind == "f":
        return math.fsum(values)
    if values.dtype == object:
        return int(values.sum())
    high, low = _core.wide_sum(np.ascontiguousarray(values, dtype=np.int64))
    return (high << 32) + low
