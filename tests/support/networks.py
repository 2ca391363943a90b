"""Networks for tests, and oracles for their cuts and flows that share no code with the library."""

from __future__ import annotations

import itertools
from typing import Any

import networkx
import numpy as np
from hypothesis import strategies as st

from graphtv import FlowNetwork


@st.composite
def networks(draw: Any, largest: int = 2**20, most_vertices: int = 12) -> FlowNetwork:
    """Directed networks with integer capacities, parallel arcs and loops."""
    n = draw(st.integers(2, most_vertices))
    vertex = st.integers(0, n - 1)
    arcs = draw(st.lists(st.tuples(vertex, vertex, st.integers(0, largest)), max_size=4 * n))
    source = draw(vertex)
    sink = draw(vertex.filter(lambda v: v != source))
    ends = np.array([arc[:2] for arc in arcs], dtype=int).reshape(-1, 2)
    return FlowNetwork(n, ends, np.array([arc[2] for arc in arcs], dtype=np.int64), source, sink)


def oracle(network: FlowNetwork) -> int | float:
    """Return the value of a maximum flow, by NetworkX in Python numbers."""
    G = networkx.DiGraph()
    G.add_nodes_from(range(network.n_vertices))
    for (i, j), c in zip(network.arcs.tolist(), network.capacities.tolist(), strict=True):
        if i != j:
            G.add_edge(i, j, capacity=c + (G[i][j]["capacity"] if G.has_edge(i, j) else 0))
    return networkx.maximum_flow_value(G, network.source, network.sink)


def sides(n: int) -> Any:
    """Yield all sets of n vertices as booleans."""
    for choice in itertools.product([False, True], repeat=n):
        yield np.array(choice, dtype=bool)


def cost(network: FlowNetwork, side: Any) -> int | float:
    """Return the capacity of the arcs that leave a set, in Python numbers."""
    arcs = zip(network.arcs.tolist(), network.capacities.tolist(), strict=True)
    return sum(c for (i, j), c in arcs if side[i] and not side[j])


def imbalances(network: FlowNetwork, flow: Any) -> list[int | float]:
    """Return inflow minus outflow of every vertex, in Python numbers."""
    total: list[int | float] = [0] * network.n_vertices
    for (i, j), x in zip(network.arcs.tolist(), flow.tolist(), strict=True):
        total[j] += x
        total[i] -= x
    return total


def assert_is_maximum(network: FlowNetwork, cut: Any) -> None:
    """Assert that cut and flow prove each other, exactly."""
    flow = cut.flow
    assert cut.certified
    assert type(cut.value) is int
    assert cut.source_side[network.source]
    assert not cut.source_side[network.sink]
    assert cost(network, cut.source_side) == cut.value == cut.bound == flow.value
    assert (flow.edges >= 0).all()
    assert (flow.edges <= network.capacities).all()
    rest = imbalances(network, flow.edges)
    assert -rest[network.source] == rest[network.sink] == cut.value
    inner = [x for v, x in enumerate(rest) if v not in (network.source, network.sink)]
    assert not any(inner)
