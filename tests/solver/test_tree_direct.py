"""Graphs without cycles are solved in one step, and no forests are built for it."""

import numpy as np
import pytest

from graphtv import Graph, HuberTV, Problem, SquaredLoss, TotalVariation, grid_graph, solve
from graphtv.decomposition import preconditioner
from verify import verify

SHUFFLED = np.random.default_rng(3).permutation(12)

FORESTS = {
    "path": (grid_graph((12,)), "chains"),
    "path in any order": (Graph(12, np.stack([SHUFFLED[:-1], SHUFFLED[1:]], axis=1)), "chains"),
    "two paths": (Graph(12, [[i, i + 1] for i in range(11) if i != 5]), "nested"),
    "star": (Graph(12, [[0, i] for i in range(1, 12)]), "nested"),
    "comb": (grid_graph((2, 4), [[[1, 1, 1, 1]], [[1, 1, 1], [0, 0, 0]]]), "nested"),
    "no edges": (Graph(3, np.empty((0, 2), dtype=int)), "nested"),
}


def signal(n):
    return np.random.default_rng(n).normal(size=n)


@pytest.mark.parametrize("penalty", [TotalVariation(), HuberTV(0.1)])
@pytest.mark.parametrize("name", FORESTS)
def test_forests_are_not_built(name, penalty, monkeypatch):
    graph, expected = FORESTS[name]
    problem = Problem(graph, SquaredLoss(signal(graph.n_vertices), 2.0), penalty)
    partition = solve(problem, preconditioner="nested")

    def fail(*_):
        raise AssertionError("forests are built")

    monkeypatch.setattr(preconditioner, "_decompose", fail)
    result = solve(problem)
    verify(result, problem)
    assert result.status == "optimal"
    assert result.preconditioner == expected
    assert result.iterations == (graph.n_edges > 0)
    np.testing.assert_array_equal(result.u, partition.u)
    np.testing.assert_array_equal(result.p, partition.p)


@pytest.mark.parametrize("penalty", [TotalVariation(), HuberTV(0.1)])
def test_a_cycle_beside_isolated_vertices(penalty):
    """Such a graph has fewer edges than vertices, but is no forest."""
    problem = Problem(Graph(6, [[0, 1], [1, 2], [2, 0]]), SquaredLoss(signal(6)), penalty)
    for method in ("auto", "descent"):
        result = solve(problem, method=method)
        verify(result, problem)
        assert result.status == "optimal"


@pytest.mark.parametrize("weights", [np.full(29, 0.7), np.linspace(0.1, 2.0, 29)])
def test_a_path_has_the_same_solution_for_any_order_of_its_edges(weights):
    edges, order = np.stack([np.arange(29), np.arange(1, 30)], axis=1), np.arange(29)[::-1]
    loss = SquaredLoss(signal(30))
    ordered = solve(Problem(Graph(30, edges, weights), loss))
    turned = solve(Problem(Graph(30, edges[order], weights[order]), loss))
    np.testing.assert_array_equal(ordered.u, turned.u)
    np.testing.assert_array_equal(ordered.p[order], turned.p)
