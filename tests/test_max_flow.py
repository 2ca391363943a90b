"""The core's maximum flow: exact for whole numbers, and feasible when it ends early."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import Graph, _core, gallery, grid_graph

FOREVER = float("inf")


def run(graph: Graph, x: Any, excess: Any, only: bool = False, seconds: float = FOREVER) -> Any:
    x, excess = x.copy(), excess.copy()
    watch = _core.Watch(seconds)
    args = graph.n_vertices, graph.edges, graph.weights, x, excess, 0.0, only, watch
    return _core.max_flow(*args), x, excess


def outflow(graph: Graph, x: Any) -> Any:
    out = np.zeros(graph.n_vertices)
    np.add.at(out, graph.edges[:, 0], x)
    np.subtract.at(out, graph.edges[:, 1], x)
    return out


def most(graph: Graph, x: Any, excess: Any) -> int:
    """Return how much excess can reach a deficit, by NetworkX."""
    G = networkx.DiGraph()
    G.add_nodes_from("st")
    for (i, j), w, y in zip(graph.edges.tolist(), graph.weights, x, strict=True):
        G.add_edge(i, j, capacity=int(w - y))
        G.add_edge(j, i, capacity=int(w + y))
    for v, e in enumerate(excess):
        G.add_edge("s", v, capacity=int(max(e, 0)))
        G.add_edge(v, "t", capacity=int(max(-e, 0)))
    return int(networkx.maximum_flow_value(G, "s", "t"))


@pytest.mark.parametrize("only_excess_travels", [False, True])
@given(st.integers(2, 30), st.integers(0, 10**6), st.sampled_from([3, 2**20, 2**45]))
@settings(max_examples=60)
def test_whole_numbers_are_exact(
    only_excess_travels: bool, n: int, seed: int, largest: int
) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(0, min(3 * n, n * (n - 1) // 2) + 1))
    graph = gallery.erdos_renyi_graph(n, m, seed, rng.integers(1, largest + 1, m).astype(float))
    x = np.rint(rng.uniform(-1, 1, graph.n_edges) * graph.weights)
    excess = rng.integers(-largest, largest + 1, n).astype(float)
    finished, y, rest = run(graph, x, excess, only_excess_travels)
    assert finished
    assert (np.abs(y) <= graph.weights).all()
    np.testing.assert_array_equal(excess - outflow(graph, y - x), rest)  # not a bit is lost
    assert most(graph, y, rest) == 0
    if only_excess_travels:  # a deficit is met or left where it is
        assert (rest[excess >= 0] >= 0).all()
        assert (rest[excess < 0] >= excess[excess < 0]).all()
        assert np.minimum(excess, 0).sum() == np.minimum(rest, 0).sum() - most(graph, x, excess)


def test_an_interrupt_leaves_a_feasible_flow() -> None:
    rng = np.random.default_rng(0)
    graph = grid_graph((600, 600), 40.0)
    excess = np.rint(rng.normal(0, 30, graph.n_vertices))
    x = np.zeros(graph.n_edges)
    for seconds in (0.0, 0.02):
        finished, y, rest = run(graph, x, excess, seconds=seconds)
        assert not finished
        assert (np.abs(y) <= graph.weights).all()
        np.testing.assert_array_equal(excess - outflow(graph, y), rest)


def test_sizes_are_checked() -> None:
    graph = grid_graph((3, 3))
    for x, excess, name in ((np.zeros(3), np.zeros(9), "x"), (np.zeros(12), np.zeros(8), "excess")):
        with pytest.raises(ValueError, match=f"{name} has the wrong size"):
            run(graph, x, excess)
