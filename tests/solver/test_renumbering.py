"""Large graphs in a random order are solved in another order; the answer is in that of the user."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from graphtv import (
    AbsoluteLoss,
    Graph,
    HuberTV,
    PoissonLoss,
    Problem,
    SquaredLoss,
    TotalVariation,
    _core,
    gallery,
    grid_graph,
    knn_graph,
    solve,
)
from graphtv.solver.plan import gains_from_order
from graphtv.solver.tuning import TUNING

RNG = np.random.default_rng(0)
N = 8_000
POINTS = RNG.random((N, 2))
GRAPH = knn_graph(POINTS, 4)
SIGNAL = np.floor(3 * POINTS).sum(axis=1) + 0.3 * RNG.standard_normal(N)


@pytest.fixture
def orders(monkeypatch):
    """Solve smaller graphs in another order, and count how often that happens."""
    module = sys.modules["graphtv.solver.solve"]
    tuning, found = replace(TUNING, large_graph=9, very_large_graph=9, scattered=0.0), []

    def renumbered(problem, preconditioner, tolerance, watch, _):
        order = original(problem, preconditioner, tolerance, watch, tuning)
        found.append(order)
        return order

    original = module.renumbered
    monkeypatch.setattr(module, "renumbered", renumbered)
    return found


def test_the_order_is_a_permutation_that_keeps_edges_and_their_directions():
    edges = GRAPH.edges.copy()
    edges[::3] = edges[::3, ::-1]
    vertices, order, other = _core.renumber(N, edges)
    assert sorted(vertices) == list(range(N))
    assert sorted(order) == list(range(len(edges)))
    np.testing.assert_array_equal(vertices[other], edges[order])
    assert np.abs(np.diff(other)).mean() < 0.05 * np.abs(np.diff(edges)).mean()


def test_random_orders_are_recognised():
    points = RNG.random((150_000, 2))
    graph = knn_graph(points, 3)
    other = _core.renumber(graph.n_vertices, graph.edges)[2]
    assert _core.misses_per_edge(other) < 0.2 < 0.5 < _core.misses_per_edge(graph.edges)


def test_nothing_is_gained_on_graphs_that_expand():
    graph = gallery.erdos_renyi_graph(10_000, 30_000, 0)
    assert _core.renumber(graph.n_vertices, graph.edges) is None


@pytest.mark.parametrize("n", [0, 1, 5])
def test_graphs_without_edges(n):
    edges = np.empty((0, 2), dtype=np.int32)
    vertices, order, other = _core.renumber(n, edges)
    assert vertices.tolist() == list(range(n))
    assert len(order) == len(other) == 0
    assert _core.misses_per_edge(edges) == 0.0


@pytest.mark.parametrize(
    ("data", "penalty"),
    [
        (SquaredLoss(SIGNAL), TotalVariation()),
        (SquaredLoss(SIGNAL + 1e5, RNG.uniform(0.5, 2.0, N)), TotalVariation()),
        (SquaredLoss(np.stack([SIGNAL, -SIGNAL], axis=1)), TotalVariation()),
        (SquaredLoss(SIGNAL), HuberTV(0.1)),
        (AbsoluteLoss(np.round(SIGNAL)), TotalVariation()),
        (PoissonLoss(RNG.poisson(1.0 + 9.0 * np.floor(3 * POINTS[:, 0])) + 1), TotalVariation()),
    ],
)
def test_points_and_certificate_are_those_of_the_user(orders, data, penalty):
    problem, seen = Problem(GRAPH, data, penalty), []
    result = solve(problem, tol=1e-3, callback=lambda info: seen.append(info.u))
    assert orders[0] is not None
    assert result.status == "optimal"
    assert problem.relative_gap(result.u, result.p) == result.relative_gap <= 1e-3
    if seen:
        assert np.corrcoef(seen[-1].ravel(), result.u.ravel())[0, 1] > 0.8
    again = solve(problem, tol=1e-4, warm_start=result, max_iterations=0)
    assert again.relative_gap <= result.relative_gap


def test_threads_and_repeats_give_the_same_bits(orders):
    problem = Problem(GRAPH, SquaredLoss(SIGNAL))
    first, second = (solve(problem, tol=1e-6, n_threads=k) for k in (1, 2))
    assert orders[0] is not None
    np.testing.assert_array_equal(first.u, second.u)
    np.testing.assert_array_equal(first.p, second.p)


def test_limits_return_a_certified_point(orders):
    problem = Problem(GRAPH, SquaredLoss(SIGNAL))
    result = solve(problem, tol=0, callback=lambda _: True)
    assert result.status == "interrupted"
    assert problem.gap(result.u, result.p) == pytest.approx(result.gap, rel=1e-12)


def test_good_orders_partitions_and_grids_stay():
    grid = grid_graph((400, 400))
    plain = Graph(grid.n_vertices, grid.edges, grid.weights)
    assert _core.misses_per_edge(plain.edges) < TUNING.scattered
    many = TUNING.large_graph
    assert gains_from_order(many, 3 * many, 0.8, 1e-3, TUNING)
    assert not gains_from_order(many, 3 * many, 0.3, 1e-3, TUNING)
    assert not gains_from_order(many, many - 1, 0.8, 1e-3, TUNING)
    assert not gains_from_order(many - 1, 3 * many, 0.8, 1e-3, TUNING)
    assert not gains_from_order(many, 3 * many, 0.8, 1e-2, TUNING)
    assert gains_from_order(TUNING.very_large_graph, 3 * TUNING.very_large_graph, 0.8, 1e-2, TUNING)
