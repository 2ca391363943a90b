"""The polish from reduced problems gives a valid primal point, close to optimal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtv import (
    Graph,
    Problem,
    SquaredLoss,
    _core,
    gallery,
    grid_graph,
    knn_graph,
    solve,
)
from graphtv.solver.polish import reduced_polish


def blocks(side, noise, rng):
    """Return an image of four pieces with noise."""
    image = np.kron([[0.0, 1.0], [2.0, 4.0]], np.ones((side // 2, side // 2)))
    return image + noise * np.random.default_rng(rng).standard_normal(image.shape)


def polished(problem, p, seconds=np.inf):
    return reduced_polish(problem._normal, p, _core.Watch(seconds), 1)


def test_the_optimal_dual_point_gives_the_optimal_primal_point():
    problem = Problem(grid_graph((20, 20), 0.7), SquaredLoss(blocks(20, 0.3, 0).ravel()))
    result = solve(problem, tol=0)
    found = polished(problem, result.p)
    assert found.primal - result.dual <= 1e-9 * result.primal


@pytest.mark.parametrize("weights", [1.0, "varying"])
def test_a_late_primal_point_is_replaced_by_a_better_one(weights):
    n, rng = 3000, np.random.default_rng(1)
    graph = gallery.erdos_renyi_graph(n, 4 * n, 1)
    graph = Graph(n, graph.edges, 2.0 * rng.exponential(size=graph.n_edges))
    signal = np.repeat([0.0, 3.0], n // 2) + rng.standard_normal(n)
    c = rng.uniform(0.5, 2.0, n) if weights == "varying" else 1.0
    problem = Problem(graph, SquaredLoss(signal, c))
    best = solve(problem, tol=0).primal
    early = solve(problem, tol=0, max_iterations=8, method="descent")
    found = polished(problem, early.p)
    assert best - 1e-9 * best <= found.primal
    assert found.primal - best <= 0.5 * (early.primal - best)


def test_channels_are_polished_one_by_one():
    image = np.stack([blocks(16, 0.3, rng).ravel() for rng in range(3)], axis=1)
    problem = Problem(grid_graph((16, 16), 0.5), SquaredLoss(image))
    result = solve(problem, tol=0)
    found = polished(problem, np.ascontiguousarray(result.p.T).ravel())
    assert found.primal - result.dual <= 1e-9 * result.primal


def test_an_expired_watch_ends_it():
    problem = Problem(grid_graph((8, 8)), SquaredLoss(blocks(8, 0.3, 0).ravel()))
    assert polished(problem, np.zeros(problem.graph.n_edges), seconds=0.0) is None


@given(st.integers(0, 10_000), st.integers(-300, 300))
def test_every_dual_point_gives_a_primal_point_that_scales(seed, power):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    graph = gallery.erdos_renyi_graph(n, int(rng.integers(1, n * (n - 1) // 2 + 1)), rng)
    weights = rng.exponential(size=graph.n_edges)
    signal, p = np.round(rng.standard_normal(n), 1), rng.uniform(-1, 1, graph.n_edges)
    found = []
    for scale in (1.0, 2.0**power):
        problem = Problem(Graph(n, graph.edges, scale * weights), SquaredLoss(scale * signal))
        found.append(reduced_polish(problem, p, _core.Watch(np.inf), 1).u / scale)
    assert np.isfinite(found[0]).all()
    assert np.array_equal(*found)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-2, 1e-3, 1e-4])
def test_runs_with_large_weights_end_over_edges(tolerance):
    points = np.random.default_rng(2).random((4000, 3))
    side = np.floor(3 * points).sum(axis=1) + 0.3 * np.random.default_rng(3).standard_normal(4000)
    near = knn_graph(points, 10)
    problem = Problem(Graph(4000, near.edges, 3.0 * near.weights), SquaredLoss(side))
    result = solve(problem, tol=tolerance)
    assert result.status == "optimal"
    assert [stage.method for stage in result.stages] == ["descent"]
