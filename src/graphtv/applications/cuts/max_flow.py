"""Maximum flows, computed from the flow of the denoising problem or from scratch.

The dual point of total variation is a pseudoflow: it leaves excess at vertices of the source side
and deficits at those of the sink side (D. S. Hochbaum, "The pseudoflow algorithm", Operations
Research 56, 2008). `completed` moves as much excess as possible to the deficits, which proves the
cut. `balanced` sends the remaining excess back to where it came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphtv import _core
from graphtv.applications.cuts.cut_problem import Capacities, CutProblem, Mask, Roles
from graphtv.applications.cuts.excess_flow import ExcessFlow, excess_flow
from graphtv.applications.cuts.sums import exact_sum
from graphtv.graph.labels import Name

if TYPE_CHECKING:
    from graphtv.applications.cuts.flow_network import FlowNetwork


@dataclass(frozen=True, eq=False, repr=False)
class Flow:
    """A maximum flow: it is conserved at every vertex and respects all capacities.

    Its value equals that of the cut, which proves that both are optimal. All numbers are integers
    if the capacities are.

    Attributes
    ----------
    value : int or float
        The total flow out of the source.
    edges : ndarray, shape (m,)
        For a `FlowNetwork`, the flow along each arc, between 0 and its capacity. For a `Graph`, the
        net flow along each edge (i, j), from i to j, between -weight and weight.
    source, sink : ndarray, shape (n,)
        The flow from the source to each vertex, and from each vertex to the sink. At every vertex
        source + inflow = sink + outflow.
    """

    value: int | float
    edges: NDArray[Any]
    source: NDArray[Any]
    sink: NDArray[Any]
    _network: FlowNetwork | None = None

    def to_dict(self) -> dict[Name, dict[Name, Any]]:
        """Return the flow along each arc of a `FlowNetwork` by name, as NetworkX does.

        ``flow[tail][head]`` is the flow from one vertex to another; parallel arcs are summed.
        """
        network = self._network
        if network is None:
            raise ValueError("to_dict needs the flow of a FlowNetwork, got that of a Graph")
        names = network.names or range(network.n_vertices)
        flow: dict[Name, dict[Name, Any]] = {name: {} for name in names}
        for (i, j), amount in zip(network.arcs.tolist(), self.edges.tolist(), strict=True):
            out = flow[names[i]]
            out[names[j]] = out.get(names[j], 0) + amount
        return flow

    def __repr__(self) -> str:
        return f"Flow(value {self.value}, {len(self.edges)} edges)"


def completed(problem: CutProblem, flow: Capacities | None, watch: _core.Watch) -> ExcessFlow:
    """Return a maximum flow of excess and a minimum cut, starting from the given flow.

    The excess that remains may be at other vertices than at the start.
    """
    excess = problem.source - problem.sink
    if flow is not None:
        excess = excess - problem.outflow(flow)
    edges, there, back = problem.graph.edges, problem.forward, problem.backward
    return excess_flow(edges, there, back, excess, watch, flow, gathers=True)


def maximum_flow(problem: CutProblem, side: Mask, flow: Capacities) -> Flow:
    """Return a maximum flow that saturates a minimum cut, given a flow that proves the cut."""
    flow = balanced(problem, side, flow)
    out = problem.outflow(flow)
    source = np.where(side, problem.sink + out, problem.source)
    sink = np.where(side, problem.sink, problem.source - out)
    if not problem.is_whole:  # balanced up to rounding
        source, sink = np.clip(source, 0.0, problem.source), np.clip(sink, 0.0, problem.sink)
    value = problem.constant + exact_sum(source)
    edges = flow if problem.network is None else _by_arc(problem, flow, source, sink)
    return Flow(value, edges, source, sink, problem.network)


def balanced(problem: CutProblem, side: Mask, flow: Capacities) -> Capacities:
    """Return the flow without excess or deficit at any vertex.

    All edges of the cut are saturated, and remain saturated. On the source side, t_i + out_i ≥ 0
    must hold at every vertex. Where it is negative, flow is sent back towards vertices where it is
    positive. The sink side is treated in the same way with all arcs reversed.
    """
    tails, heads = side[problem.graph.edges.T]
    flow = np.where(tails & ~heads, problem.forward, flow)
    flow = np.where(heads & ~tails, -problem.backward, flow)
    out = problem.outflow(flow)
    excess = np.where(side, -(problem.sink + out), out - problem.source)
    if not (excess > 0).any():
        return flow
    there, back = problem.forward - flow, problem.backward + flow
    there, back = np.where(tails, there, back), np.where(tails, back, there)
    is_inner = tails == heads
    there, back = np.where(is_inner, there, 0), np.where(is_inner, back, 0)
    forever = _core.Watch(np.inf)
    moved = excess_flow(problem.graph.edges, there, back, excess, forever, gathers=True).edges
    return problem.clipped(flow + np.where(tails, moved, -moved))


def _by_arc(
    problem: CutProblem, flow: Capacities, source: Capacities, sink: Capacities
) -> Capacities:
    """Return the flow along the arcs of the network. Parallel arcs are filled one by one."""
    network = problem.network
    assert network is not None
    roles = Roles.of(network)
    capacities = network.capacities.astype(flow.dtype)
    on_arcs = np.zeros(network.n_arcs, dtype=flow.dtype)
    on_arcs[roles.direct] = capacities[roles.direct]
    heads, tails = roles.heads[roles.from_source], roles.tails[roles.to_sink]
    on_arcs[roles.from_source] = _filled(source, heads, capacities[roles.from_source])
    on_arcs[roles.to_sink] = _filled(sink, tails, capacities[roles.to_sink])
    pairs, pair_of = roles.pairs()
    n = network.n_vertices
    of_pairs = np.zeros(len(pairs), dtype=flow.dtype)
    keys, kept = (p[:, 0].astype(np.int64) * n + p[:, 1] for p in (pairs, problem.graph.edges))
    of_pairs[np.searchsorted(keys, kept)] = flow
    inner = np.flatnonzero(roles.inner)
    up = roles.tails[inner] < roles.heads[inner]
    for arcs, pair, amounts in (
        (inner[up], pair_of[up], np.maximum(of_pairs, 0)),
        (inner[~up], pair_of[~up], np.maximum(-of_pairs, 0)),
    ):
        on_arcs[arcs] = _filled(amounts, pair, capacities[arcs])
    return on_arcs


def _filled(
    amounts: Capacities, group: NDArray[np.integer[Any]], capacities: Capacities
) -> Capacities:
    """Distribute the amount of each group over its members in order, each up to its capacity."""
    order = np.argsort(group, kind="stable")
    sizes, groups = capacities[order], group[order]
    before = np.cumsum(sizes) - sizes
    is_first = np.append(True, groups[1:] != groups[:-1])[: len(groups)]
    before = before - before[np.maximum.accumulate(np.where(is_first, np.arange(len(groups)), 0))]
    shares = np.empty_like(sizes)
    shares[order] = np.minimum(np.maximum(amounts[groups] - before, 0), sizes)
    return shares
