"""The minimum cut in its symmetric form: capacities between vertices, and to two terminals.

With S the source side, the cost of a cut is

    constant + Σ_{i∉S} s_i + Σ_{i∈S} t_i + Σ_{i∈S, j∉S} c_ij,

and for every flow g on the edges, -c_ji ≤ g_ij ≤ c_ij, it is at least

    constant + Σ_i min(s_i, t_i + out_i(g)),    out_i: what leaves i in all,

since c_ij [i∈S, j∉S] + c_ji [j∈S, i∉S] ≥ g_ij ([i∈S] - [j∈S]). Here g = (c_ij - c_ji)/2 + ω p with
the dual point p of the denoising problem, ω = (c_ij + c_ji)/2: the authors' convention (see
`FlowNetwork.rof`). Whole capacities are kept as integers, and both sides are computed from them
without a rounding error; so the bound is a proof, whatever floating point arithmetic did before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv import _core
from graphtv._validate import (
    Floats,
    Indices,
    as_capacities,
    moderate,
)
from graphtv.applications.cuts.flow_network import FlowNetwork, exact_sum
from graphtv.graph.graph import Graph

Mask = NDArray[np.bool_]
Capacities = NDArray[Any]
"""int64; Python integers where sums might exceed it; float64 where some capacity is not whole."""

WORD = 61
"""Bits that int64 sums may take."""


@dataclass(frozen=True, eq=False)
class CutProblem:
    """A minimum cut to find. All capacities have one dtype, see `Capacities`."""

    graph: Graph  # weights (c_ij + c_ji)/2 as floats
    forward: Capacities  # by edge (i, j): c_ij
    backward: Capacities  # c_ji
    source: Capacities  # by vertex: s_i
    sink: Capacities  # t_i
    constant: int | float  # paid by every cut
    source_seeds: Mask  # vertices that are on the source side in any case
    sink_seeds: Mask
    network: FlowNetwork | None = None  # where it comes from

    @classmethod
    def of_graph(cls, graph: Graph, source_capacities: Any, sink_capacities: Any) -> CutProblem:
        """Take an undirected graph and terminal capacities, infinite ones among them."""
        shape = (graph.n_vertices,)
        source = as_capacities(source_capacities, "source_capacities", shape, infinite=True)
        sink = as_capacities(sink_capacities, "sink_capacities", shape, infinite=True)
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
        """Take a directed network; its terminals are vertices without edges here, and seeds."""
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
        """The vertices that have a choice."""
        free: Mask = ~(self.source_seeds | self.sink_seeds)
        return free

    def signal(self) -> Floats:
        """Return f, the data of the denoising problem whose level sets are minimum cuts."""
        moved = self.outflow(self.forward - self.backward)
        return (self.source - self.sink - 0.5 * moved).astype(np.float64)

    def side(self, above: Mask) -> Mask:
        """Return a source side with all seeds in their places."""
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
        """Return what leaves each vertex when `flow` goes along the edges."""
        return outflow(self.graph.edges, flow, len(self.source))

    def flow(self, p: Floats) -> Capacities:
        """Return the flow of a dual point, between -backward and forward; whole if they are."""
        difference = 0.5 * (self.forward - self.backward).astype(np.float64)
        flow = difference + self.graph.weights * p
        if not self.is_whole:
            return self.clipped(flow)
        whole = nearest(flow, self.source)
        # Where p is ±1 the edge is saturated, though the float nearest to its capacity may not be.
        whole = np.where(p >= 1.0, self.forward, whole)
        return self.clipped(np.where(p <= -1.0, -self.backward, whole))

    def clipped(self, flow: Capacities) -> Capacities:
        """Return the flow within its bounds."""
        within: Capacities = np.minimum(np.maximum(flow, -self.backward), self.forward)
        return within

    def bound(self, flow: Capacities) -> int | float:
        """Return what every cut costs at least, by a flow."""
        if self.source.dtype == np.int64:
            return self.constant + _core.flow_bound(*self._arrays(), flow)
        if not self.is_whole:
            return self._float_bound(flow)
        return self.constant + exact_sum(np.minimum(self.source, self.sink + self.outflow(flow)))

    def _float_bound(self, flow: Floats) -> float:
        """Return the bound less all that rounding can have added to it."""
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
        """Return the problem with θ more at every sink capacity; below 0, -θ at every source's."""
        if not (self.is_whole and float(theta).is_integer()):
            whole = [self.forward, self.backward, self.source, self.sink]
            forward, backward, source, sink = (part.astype(np.float64) for part in whole)
            amount: Any = float(theta)
        else:
            # Python integers, for the sums have become larger.
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
    """What the arcs of a network are in the symmetric form; the others do not matter."""

    tails: Indices
    heads: Indices
    n_vertices: int
    direct: Mask
    from_source: Mask
    to_sink: Mask
    inner: Mask

    @classmethod
    def of(cls, network: FlowNetwork) -> Roles:
        """Tell the roles."""
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
    """Return what leaves each vertex when `flow` goes along the edges."""
    out = np.zeros(n, dtype=flow.dtype)
    tails, heads = edges.T
    np.add.at(out, tails, flow)
    np.subtract.at(out, heads, flow)
    return out


def nearest(values: Floats, like: Capacities) -> Capacities:
    """Return the nearest whole numbers, of the same type as others."""
    if like.dtype == object:
        return np.array([int(x) for x in np.rint(values)] + [0], dtype=object)[:-1]
    return np.rint(values).astype(np.int64)


def _unified(*parts: Capacities) -> list[Capacities]:
    """Return the arrays in one dtype: integers if all are whole."""
    whole = [_as_whole(part) for part in parts]
    if any(part is None for part in whole):
        return [part.astype(np.float64) for part in parts]
    integers = [part for part in whole if part is not None]
    total = sum(int(exact_sum(part)) for part in integers)
    kind = np.int64 if total.bit_length() < WORD else object
    return [part.astype(kind, copy=False) for part in integers]


def _as_whole(part: Capacities) -> Capacities | None:
    """Return the array as integers, or nothing if it has others."""
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
    """Give seeds capacities that no minimum cut crosses, for every shift up to the largest level.

    A seed is worth more than all that its edges and its other terminal can ask; and no level of
    another vertex is beyond its own terminals and edges.
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
