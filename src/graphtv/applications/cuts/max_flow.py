"""From the flow of the denoising problem to a maximum flow, in integers where capacities are.

The dual point of total variation is a pseudoflow: it proves the cut, but leaves excess at vertices
of the source side and deficits at those of the sink side (D. S. Hochbaum, "The pseudoflow
algorithm", Operations Research 56, 2008). Two runs of the core's maximum flow make it a flow:
`tighten` moves what the solver, or rounding to integers, has left; `balance` sends excess back to
where it came from. Whole amounts are cut into portions of at most 2⁵¹ units, with which floats
calculate exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv import _core
from graphtv.applications.cuts.cut_problem import Capacities, CutProblem, Mask, Roles
from graphtv.applications.cuts.flow_network import FlowNetwork, exact_sum
from graphtv.applications.cuts.whole_flow import PORTION, reachable


@dataclass(frozen=True, eq=False, repr=False)
class Flow:
    """A maximum flow: nothing is lost at any vertex, and no capacity is exceeded.

    Its value equals that of the cut, which proves both. Integers for whole capacities.

    Attributes
    ----------
    value : int or float
        What leaves the source in all.
    edges : ndarray, shape (m,)
        Of a `FlowNetwork`, the flow along each arc, between 0 and its capacity. Of a `Graph`, the
        net flow along each edge (i, j), from i to j, between -weight and weight.
    source, sink : ndarray, shape (n,)
        What each vertex receives from the source, and gives to the sink. At every other vertex it
        holds that source + inflow = sink + outflow.
    """

    value: int | float
    edges: NDArray[Any]
    source: NDArray[Any]
    sink: NDArray[Any]

    def __repr__(self) -> str:
        return f"Flow(value {self.value}, {len(self.edges)} edges)"


def tighten(
    problem: CutProblem, side: Mask, flow: Capacities, watch: _core.Watch
) -> tuple[Mask, Capacities]:
    """Return a minimum cut and a flow that proves it, from a start near to both.

    With whole capacities the flow is made of integers. Ended early by the watch, it proves less.
    """
    while (gap := problem.value(side) - problem.bound(flow)) > 0:
        excess = problem.source - problem.sink - problem.outflow(flow)
        there, back = problem.forward - flow, problem.backward + flow
        # More than the gap cannot be gained: so nothing larger need be told apart.
        rooms = [np.minimum(room, gap) for room in (there, back)]
        excess = np.minimum(np.maximum(excess, -gap), gap)
        moved, ignored, is_finished = _move(problem, rooms, excess, watch)
        flow = problem.clipped(flow + moved)
        found = _reached(problem, flow, ignored)
        if problem.value(found) < problem.value(side):
            side = found
        if ignored == 0 or not is_finished or not problem.is_whole:
            break
    return side, flow


def maximum_flow(problem: CutProblem, side: Mask, flow: Capacities) -> Flow:
    """Return a maximum flow that saturates a minimum cut, from a flow that proves it."""
    watch = _core.Watch(np.inf)
    _, flow = tighten(problem, side, flow, watch)
    flow = balance(problem, side, flow, watch)
    out = problem.outflow(flow)
    source = np.where(side, problem.sink + out, problem.source)
    sink = np.where(side, problem.sink, problem.source - out)
    if not problem.is_whole:  # to rounding
        source, sink = np.clip(source, 0.0, problem.source), np.clip(sink, 0.0, problem.sink)
    value = problem.constant + exact_sum(source)
    edges = flow if problem.network is None else _by_arc(problem, flow, source, sink)
    return Flow(value, edges, source, sink)


def balance(problem: CutProblem, side: Mask, flow: Capacities, watch: _core.Watch) -> Capacities:
    """Return the flow without excess or deficit at any vertex.

    All edges of the cut are saturated, and stay so. A vertex of the source side must not keep more
    than it sends on: t_i + out_i ≥ 0, with the rest sent back towards vertices where that is
    positive. The sink side is the same with all arcs reversed.
    """
    tails, heads = side[problem.graph.edges.T]
    flow = np.where(tails & ~heads, problem.forward, flow)
    flow = np.where(heads & ~tails, -problem.backward, flow)
    is_cut = tails != heads
    while True:
        out = problem.outflow(flow)
        excess = np.where(side, -(problem.sink + out), out - problem.source)
        amount = exact_sum(np.maximum(excess, 0))
        if amount <= 0:
            return flow
        there, back = problem.forward - flow, problem.backward + flow
        there, back = np.where(tails, there, back), np.where(tails, back, there)
        rooms = [np.where(is_cut, 0, np.minimum(room, amount)) for room in (there, back)]
        excess = np.maximum(excess, -amount)
        moved, ignored, is_finished = _move(problem, rooms, excess, watch, True)
        flow = problem.clipped(flow + np.where(tails, moved, -moved))
        if ignored == 0 or not is_finished or not problem.is_whole:
            return flow


def _move(
    problem: CutProblem,
    rooms: list[Capacities],
    excess: Capacities,
    watch: _core.Watch,
    only_excess_travels: bool = False,
) -> tuple[Capacities, int | float, bool]:
    """Move excess to deficits through the edges' rooms, in portions that floats count exactly.

    Returns what has been moved along the edges, what was too small to count, and whether it ended.
    """
    ignored: int | float
    if problem.is_whole:
        shift = max(int(exact_sum(np.abs(excess))).bit_length() - PORTION, 0)
        ignored = (1 << shift) - 1
        there, back = ((room >> shift).astype(np.float64) for room in rooms)
        units = (np.sign(excess) * (np.abs(excess) >> shift)).astype(np.float64)
    else:
        there, back = (np.maximum(room, 0.0) for room in rooms)
        units = excess.copy()
        largest = np.concatenate([problem.forward, problem.backward, np.abs(excess)])
        ignored = 4.0 * float(np.finfo(np.float64).eps) * float(largest.max(initial=0.0))
    x = 0.5 * (back - there)
    before = x.copy()
    graph = problem.graph
    is_finished = _core.max_flow(
        graph.n_vertices,
        graph.edges,
        0.5 * (there + back),
        x,
        units,
        0.0 if problem.is_whole else ignored,
        only_excess_travels,
        watch,
    )
    moved: Capacities = x - before
    if problem.is_whole:
        moved = moved.astype(np.int64).astype(problem.source.dtype) << shift
    return moved, ignored, is_finished


def _reached(problem: CutProblem, flow: Capacities, ignored: int | float) -> Mask:
    """Return what excess can still reach: the source side of a cut."""
    there = problem.forward - flow > ignored
    back = problem.backward + flow > ignored
    excess = problem.source - problem.sink - problem.outflow(flow)
    roots = (excess > ignored) & problem.free | problem.source_seeds
    return problem.side(reachable(problem.graph.edges, there, back, roots))


def _by_arc(
    problem: CutProblem, flow: Capacities, source: Capacities, sink: Capacities
) -> Capacities:
    """Return the flow along the arcs of the network, parallel ones filled one after the other."""
    network = problem.network
    assert isinstance(network, FlowNetwork)
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
    """Share the amount of each group among its members, each up to its capacity, in order."""
    order = np.argsort(group, kind="stable")
    sizes, groups = capacities[order], group[order]
    before = np.cumsum(sizes) - sizes
    is_first = np.append(True, groups[1:] != groups[:-1])[: len(groups)]
    before = before - before[np.maximum.accumulate(np.where(is_first, np.arange(len(groups)), 0))]
    shares = np.empty_like(sizes)
    shares[order] = np.minimum(np.maximum(amounts[groups] - before, 0), sizes)
    return shares
