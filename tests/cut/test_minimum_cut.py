"""The core's minimum cut: against NetworkX, in integers and floats, and ended early."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import Graph, _core, gallery, grid_graph
from graphtv.applications.cuts.excess_flow import ExcessFlow, excess_flow

FOREVER = float("inf")


def outflow(graph: Graph, flow: Any) -> Any:
    out = np.zeros(graph.n_vertices, dtype=flow.dtype)
    np.add.at(out, graph.edges[:, 0], flow)
    np.subtract.at(out, graph.edges[:, 1], flow)
    return out


def most(graph: Graph, there: Any, back: Any, excess: Any) -> int:
    """Return how much excess can reach a deficit, by NetworkX."""
    G = networkx.DiGraph()
    G.add_nodes_from("st")
    for (i, j), c, d in zip(graph.edges.tolist(), there.tolist(), back.tolist(), strict=True):
        G.add_edge(i, j, capacity=int(c))
        G.add_edge(j, i, capacity=int(d))
    for v, e in enumerate(excess.tolist()):
        G.add_edge("s", v, capacity=int(max(e, 0)))
        G.add_edge(v, "t", capacity=int(max(-e, 0)))
    return int(networkx.maximum_flow_value(G, "s", "t"))


def assert_is_maximum(graph: Graph, there: Any, back: Any, excess: Any, found: ExcessFlow) -> None:
    """Assert that flow and cut prove each other, exactly."""
    assert found.is_finished
    assert (found.edges <= there).all()
    assert (found.edges >= -back).all()
    assert (excess - outflow(graph, found.edges) == found.excess).all()
    # All remaining excess is on the source side, no deficit is, and all arcs out are saturated.
    assert (found.excess[found.side] >= 0).all()
    assert (found.excess[~found.side] <= 0).all()
    tails, heads = found.side[graph.edges.T]
    assert (found.edges[tails & ~heads] == there[tails & ~heads]).all()
    assert (found.edges[heads & ~tails] == -back[heads & ~tails]).all()


@st.composite
def graphs(draw: Any) -> Graph:
    seed = draw(st.integers(0, 10**6))
    kind = draw(st.sampled_from(["random", "grid", "volume", "diagonals"]))
    if kind == "grid":
        return grid_graph((draw(st.integers(1, 7)), draw(st.integers(1, 7))))
    if kind == "volume":
        return grid_graph((draw(st.integers(1, 4)), 3, 2))
    if kind == "diagonals":  # some are missing
        rng = np.random.default_rng(seed)
        tails = np.repeat(np.arange(30), 4)
        edges = np.stack([tails, tails + np.tile([1, 5, 6, 4], 30)], axis=1)
        return Graph(40, edges[rng.random(120) < 0.9])
    n = draw(st.integers(1, 30))
    m = draw(st.integers(0, min(3 * n, n * (n - 1) // 2)))
    return gallery.erdos_renyi_graph(n, m, seed)


@given(graphs(), st.integers(0, 10**6), st.sampled_from([3, 2**20, 2**45, 2**100]), st.booleans())
@settings(max_examples=150)
def test_whole_numbers_are_exact(graph: Graph, seed: int, largest: int, float_kind: bool) -> None:
    rng = np.random.default_rng(seed)

    def draw(n: int) -> Any:
        if largest <= 2**45:
            return rng.integers(0, largest + 1, n).astype(float if float_kind else np.int64)
        digits = rng.integers(0, 2**50, (n, 2)).tolist()
        return np.array([a * 2**50 + b for a, b in digits] + [0], dtype=object)[:-1]

    n, m = graph.n_vertices, graph.n_edges
    there, back, excess = draw(m), draw(m), draw(n) - draw(n)
    flow = np.minimum(draw(m), there) if rng.random() < 0.5 else None
    before = excess if flow is None else excess - outflow(graph, flow)
    for gathers in (False, True):
        found = excess_flow(
            graph.edges, there, back, before, _core.Watch(FOREVER), flow, gathers=gathers
        )
        assert_is_maximum(graph, there, back, excess, found)
        if not gathers:  # the remaining excess is where it was
            assert (np.abs(found.excess) <= np.abs(before)).all()
            assert (np.sign(found.excess) * np.sign(before) >= 0).all()
    moved = np.maximum(excess, 0).sum() - np.maximum(found.excess, 0).sum()
    if flow is None:
        assert moved == most(graph, there, back, excess)


@given(graphs(), st.integers(0, 10**6))
@settings(max_examples=50)
def test_real_numbers(graph: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    there, back = 10.0 ** rng.uniform(-6, 6, (2, graph.n_edges))
    excess = rng.normal(size=graph.n_vertices) * 10.0 ** rng.uniform(-6, 6, graph.n_vertices)
    found = excess_flow(graph.edges, there, back, excess, _core.Watch(FOREVER))
    assert found.is_finished
    assert (found.edges <= there).all()
    assert (found.edges >= -back).all()
    size = 1e-14 * (np.abs(excess).sum() + there.sum() + back.sum())
    assert np.abs(excess - outflow(graph, found.edges) - found.excess).max(initial=0.0) <= size
    tails, heads = found.side[graph.edges.T]
    rest = (there - found.edges)[tails & ~heads].sum() + (back + found.edges)[heads & ~tails].sum()
    assert rest <= size


@pytest.mark.parametrize("shape", [(600, 600), (130, 130, 20)])
def test_an_early_end_leaves_a_feasible_flow(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    graph = grid_graph(shape, 40)
    capacities = graph.weights.astype(np.int64)
    excess = np.rint(rng.normal(0, 30, graph.n_vertices)).astype(np.int64)
    found = excess_flow(graph.edges, capacities, capacities, excess, _core.Watch(0.0))
    assert not found.is_finished
    assert (np.abs(found.edges) <= capacities).all()
    assert (excess - outflow(graph, found.edges) == found.excess).all()


def test_sizes_and_proofs_are_checked() -> None:
    graph = grid_graph((3, 3))
    ones = np.ones(12, dtype=np.int64)
    side, watch = np.empty(9, dtype=bool), _core.Watch(FOREVER)
    for n, m in ((8, 12), (9, 11)):
        excess, flow = np.zeros(n, dtype=np.int64), np.zeros(m, dtype=np.int64)
        arguments = graph.edges, ones, ones, flow, excess, side, False, watch
        with pytest.raises(ValueError, match="wrong size"):
            _core.minimum_cut(9, *arguments)
    terminals = np.zeros(9, dtype=np.int64)
    with pytest.raises(ValueError, match="flow exceeds a capacity"):
        _core.flow_bound(9, graph.edges, ones, ones, terminals, terminals, 2 * ones)
