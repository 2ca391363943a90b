"""The minimum cut in its symmetric form: capacities between vertices, and to two terminals.

With S the source side, the cost of a cut is

    constant + Σ_{i∉S} s_i + Σ_{i∈S} t_i + Σ_{i∈S, j∉S} c_ij,

For every flow g on the edges with -c_ji ≤ g_ij ≤ c_ij, the cost is at least

    constant + Σ_i min(s_i, t_i + out_i(g)),    out_i(g): the net flow out of vertex i,

because c_ij [i∈S, j∉S] + c_ji [j∈S, i∉S] ≥ g_ij ([i∈S] - [j∈S]). The flow is g = (c_ij - c_ji)/2 +
ω p, where p is the dual point of the denoising problem and ω = (c_ij + c_ji)/2, as in the paper
(see `FlowNetwork.rof`). Whole capacities are kept as integers, and both the cost and the bound are
computed from them without rounding errors. So the bound is a proof, even though the flow was found
in floating-point arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphtv import _core
from graphtv._validate import (
    Floats,
    Indices,
    as_capacities,
    moderate,
)
from graphtv.applications.cuts.sums import exact_sum
from graphtv.graph.graph import Graph
from graphtv.graph.labelled import in_order

if TYPE_CHECKING:
    from graphtv.applications.cuts.flow_network import FlowNetwork

Mask = NDArray[np.bool_]
Capacities = NDArray[Any]
"""int64, Python integers if sums may exceed int64, or float64 if some capacity is not whole."""

WORD = 61
"""Sums with fewer bits than this are stored as int64."""


@dataclass(frozen=True, eq=False)
class CutProblem:
    """A minimum cut problem. All capacities have the same dtype, see `Capacities`."""

    graph: Graph  # weights (c_ij + c_ji)/2 as floats
    forward: Capacities  # c_ij of each edge (i, j)
    backward: Capacities  # c_ji of each edge
    source: Capacities  # s_i of each vertex
    sink: Capacities  # t_i of each vertex
    constant: int | float  # part of the cost of every cut
    source_seeds: Mask  # vertices that are tied to the source
    sink_seeds: Mask
    network: FlowNetwork | None = None  # the network that the problem was made from

    @classmethod
    def of_graph(cls, graph: Graph, source_capacities: Any, sink_capacities: Any) -> CutProblem:
        """Return the problem of an undirected graph and (possibly infinite) terminal capacities."""
        shape = (graph.n_vertices,)
        source, sink = (
            as_capacities(in_order(values, name, graph), name, shape, infinite=True)
            for values, name in (
                (source_capacities, "source_capacities"),
                (sink_capacities, "sink_capacities"),
            )
        )
        source_seeds, sink_seeds = np.isinf(source), np.isinf(sink)
        if (both := source_seeds & sink_seeds).any():
            raise ValueError(
                "sink_capacities must be finite where source_capacities are infinite,"
                f" got inf for both at vertex {int(np.argmax(both))}"
            )
        source[source_seeds], sink[sink_seeds] = 0, 0
        weights, source, sink = _unified(graph.weights, source, sink)
        if (source_seeds | sink_seeds).any():
            source, sink = _tied(graph, weights, source, sink, source_seeds, sink_seeds)
            weights, source, sink = _unified(weights, source, sink)
        if source.dtype.kind == "f":
            moderate(source, "source_capacities")
            moderate(sink, "sink_capacities")
        return cls(graph, weights, weights, source, sink, 0, source_seeds, sink_seeds)

    @classmethod
    def of_network(cls, network: FlowNetwork) -> CutProblem:
        """Return the problem of a directed network. Its terminals become seeds without edges."""
        n, s, t = network.n_vertices, network.source, network.sink
        (capacities,) = _unified(network.capacities)
        roles = Roles.of(network)
        source, sink = (np.zeros(n, dtype=capacities.dtype) for _ in range(2))
        np.add.at(source, roles.heads[roles.from_source], capacities[roles.from_source])
        np.add.at(sink, roles.tails[roles.to_sink], capacities[roles.to_sink])
        pairs, pair_of = roles.pairs()
        forward, backward = (np.zeros(len(pairs), dtype=capacities.dtype) for _ in range(2))
        up = roles.tails[roles.inner] < roles.heads[roles.inner]
        np.add.at(forward, pair_of[up], capacities[roles.inner][up])
        np.add.at(backward, pair_of[~up], capacities[roles.inner][~up])
        weights = (0.5 * (forward + backward)).astype(np.float64)
        kept = weights > 0
        graph = Graph(n, pairs[kept], weights[kept])
        return cls(
            graph,
            forward[kept],
            backward[kept],
            source,
            sink,
            constant=exact_sum(capacities[roles.direct]),
            source_seeds=np.arange(n) == s,
            sink_seeds=np.arange(n) == t,
            network=network,
        )

    @property
    def is_whole(self) -> bool:
        """Whether all capacities are whole numbers."""
        return self.source.dtype.kind != "f"

    @property
    def free(self) -> Mask:
        """The vertices that are not tied to a terminal."""
        free: Mask = ~(self.source_seeds | self.sink_seeds)
        return free

    def signal(self) -> Floats:
        """Return f, the data of the denoising problem whose level sets are minimum cuts."""
        moved = self.outflow(self.forward - self.backward)
        return (self.source - self.sink - 0.5 * moved).astype(np.float64)

    def side(self, above: Mask) -> Mask:
        """Return the source side, with all seeds on the side of their terminal."""
        side: Mask = (above | self.source_seeds) & ~self.sink_seeds
        return side

    def value(self, side: Mask) -> int | float:
        """Return the cost of a cut: exact, or correctly rounded from the original capacities."""
        if self.source.dtype == np.int64:
            return self.constant + _core.cut_value(*self._arrays(), side)
        if self.network is not None and not self.is_whole:
            return self.network.cut_value(side)
        tails, heads = side[self.graph.edges.T]
        parts = (
            self.source[~side],
            self.sink[side],
            self.forward[tails & ~heads],
            self.backward[heads & ~tails],
        )
        return self.constant + exact_sum(np.concatenate(parts))

    def outflow(self, flow: Capacities) -> Capacities:
        """Return the net flow out of each vertex."""
        return outflow(self.graph.edges, flow, len(self.source))

    def flow(self, p: Floats) -> Capacities:
        """Return the flow of a dual point, between -backward and forward; integers if they are."""
        difference = 0.5 * (self.forward - self.backward).astype(np.float64)
        flow = difference + self.graph.weights * p
        if not self.is_whole:
            return self.clipped(flow)
        whole = nearest(flow, self.source)
        # If p is ±1, the edge is saturated, even if a rounded capacity would suggest otherwise.
        whole = np.where(p >= 1.0, self.forward, whole)
        return self.clipped(np.where(p <= -1.0, -self.backward, whole))

    def clipped(self, flow: Capacities) -> Capacities:
        """Return the flow clipped to its bounds."""
        within: Capacities = np.minimum(np.maximum(flow, -self.backward), self.forward)
        return within

    def bound(self, flow: Capacities) -> int | float:
        """Return the lower bound that a flow proves for all cuts."""
        if self.source.dtype == np.int64:
            return self.constant + _core.flow_bound(*self._arrays(), flow)
        if not self.is_whole:
            return self._float_bound(flow)
        return self.constant + exact_sum(np.minimum(self.source, self.sink + self.outflow(flow)))

    def _float_bound(self, flow: Floats) -> float:
        """Return the bound minus an upper bound of its rounding error."""
        tails, heads = self.graph.edges.T
        least = np.minimum(self.source, self.sink + self.outflow(flow))
        size, degree = np.zeros((2, len(self.source)))
        for ends in (tails, heads):
            np.add.at(size, ends, self.forward + self.backward)
            np.add.at(degree, ends, 1.0)
        if self.network is not None:  # parallel arcs have been summed
            degree += np.bincount(self.network.arcs.ravel(), minlength=len(degree))
        slack = (degree + 4.0) * (size + self.source + self.sink)
        slack *= float(np.finfo(np.float64).eps)
        total = math.fsum(least) - math.fsum(slack) + self.constant
        return total - 1e-15 * abs(total)

    def shifted(self, theta: int | float) -> CutProblem:
        """Return the problem with the terminal capacities shifted by θ (see `cut_path`)."""
        if not (self.is_whole and float(theta).is_integer()):
            whole = [self.forward, self.backward, self.source, self.sink]
            forward, backward, source, sink = (part.astype(np.float64) for part in whole)
            amount: Any = float(theta)
        else:
            # Python integers, because the sums are larger than before.
            forward, backward = self.forward, self.backward
            source, sink = self.source.astype(object), self.sink.astype(object)
            amount = int(theta)
        free = self.free
        source[free] += max(-amount, 0)
        sink[free] += max(amount, 0)
        if amount.__class__ is int:
            forward, backward, source, sink = _unified(forward, backward, source, sink)
        return replace(
            self,
            forward=forward,
            backward=backward,
            source=source,
            sink=sink,
            network=None,
            constant=self.constant,
        )

    def _arrays(
        self,
    ) -> tuple[int, Indices, Capacities, Capacities, Capacities, Capacities]:
        return (
            self.graph.n_vertices,
            self.graph.edges,
            self.forward,
            self.backward,
            self.source,
            self.sink,
        )

    def total(self) -> int:
        """Return the sum of all whole capacities."""
        parts = (self.forward, self.backward, self.source, self.sink)
        return sum(int(exact_sum(part)) for part in parts)


@dataclass(frozen=True, eq=False)
class Roles:
    """The roles of the arcs of a network in the symmetric form. Arcs without a role are ignored."""

    tails: Indices
    heads: Indices
    n_vertices: int
    direct: Mask
    from_source: Mask
    to_sink: Mask
    inner: Mask

    @classmethod
    def of(cls, network: FlowNetwork) -> Roles:
        """Return the roles of the arcs of a network."""
        tails, heads = network.arcs.T
        s, t = network.source, network.sink
        vain = (heads == s) | (tails == t) | (tails == heads)
        leaves, arrives = (tails == s) & ~vain, (heads == t) & ~vain
        inner = ~(leaves | arrives | vain)
        direct = leaves & arrives
        return cls(
            tails, heads, network.n_vertices, direct, leaves & ~direct, arrives & ~direct, inner
        )

    def pairs(self) -> tuple[Indices, NDArray[np.int64]]:
        """Return the pairs i < j that inner arcs join, and the pair of each inner arc."""
        tails, heads = self.tails[self.inner], self.heads[self.inner]
        low = np.minimum(tails, heads).astype(np.int64)
        keys = low * self.n_vertices + np.maximum(tails, heads)
        found, pair_of = np.unique(keys, return_inverse=True)
        pairs = np.stack(np.divmod(found, self.n_vertices), axis=1).astype(np.int32)
        return pairs, pair_of


def outflow(edges: Indices, flow: Capacities, n: int) -> Capacities:
    """Return the net flow out of each vertex."""
    out = np.zeros(n, dtype=flow.dtype)
    tails, heads = edges.T
    np.add.at(out, tails, flow)
    np.subtract.at(out, heads, flow)
    return out


def nearest(values: Floats, like: Capacities) -> Capacities:
    """Return the nearest integers, in the integer type of `like`."""
    if like.dtype == object:
        return np.array([int(x) for x in np.rint(values)] + [0], dtype=object)[:-1]
    return np.rint(values).astype(np.int64)


def _unified(*parts: Capacities) -> list[Capacities]:
    """Return the arrays in one dtype, an integer type if all numbers are whole."""
    whole = [_as_whole(part) for part in parts]
    if any(part is None for part in whole):
        return [part.astype(np.float64) for part in parts]
    integers = [part for part in whole if part is not None]
    total = sum(int(exact_sum(part)) for part in integers)
    kind = np.int64 if total.bit_length() < WORD else object
    return [part.astype(kind, copy=False) for part in integers]


def _as_whole(part: Capacities) -> Capacities | None:
    """Return the array as integers, or None if some numbers are not whole."""
    if part.dtype.kind != "f":
        return part if part.dtype == object else part.astype(np.int64, copy=False)
    whole = np.empty(len(part), dtype=np.int64)
    return whole if _core.to_whole(np.ascontiguousarray(part), whole) else None


def _tied(
    graph: Graph,
    weights: Capacities,
    source: Capacities,
    sink: Capacities,
    source_seeds: Mask,
    sink_seeds: Mask,
) -> tuple[Capacities, Capacities]:
    """Return capacities so large that no minimum cut separates a seed from its terminal.

    This holds for every shift up to the largest level. A seed gets more than the capacity of its
    edges and its other terminal together. No level of another vertex exceeds the capacities of its
    terminals and edges.
    """
    exact = object if weights.dtype.kind != "f" else np.float64
    weights, source, sink = (part.astype(exact) for part in (weights, source, sink))
    around = np.zeros(len(source), dtype=exact)
    for ends in graph.edges.T:
        np.add.at(around, ends, weights)
    free = ~(source_seeds | sink_seeds)
    reach = (source + sink + around)[free].max(initial=0) + 1
    source[source_seeds] = (sink + 2 * around + reach)[source_seeds]
    sink[sink_seeds] = (source + 2 * around + reach)[sink_seeds]
    return source, sink
