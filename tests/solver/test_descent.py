"""Descent over the edges of images and volumes with diagonal neighbours."""

import numpy as np
import pytest

from graphtv import Graph, Problem, SquaredLoss, _core, gallery, grid_graph, knn_graph, solve


def torus(side):
    index = np.arange(side * side, dtype=np.int32).reshape(side, side)
    ends = [np.stack([index, np.roll(index, -1, axis)], axis=-1).reshape(-1, 2) for axis in (0, 1)]
    return Graph(side * side, np.concatenate(ends), np.full(2 * side * side, 0.3))


def thinned(graph, rng):
    """Return the graph without a tenth of its edges, in another order and orientation."""
    rng = np.random.default_rng(rng)
    kept = rng.permutation(graph.n_edges)[: 9 * graph.n_edges // 10]
    edges = graph.edges[kept]
    turned = rng.random(len(kept)) < 0.5
    edges = np.where(turned[:, None], edges[:, ::-1], edges)
    return Graph(graph.n_vertices, edges, graph.weights[kept])


STENCILS = {
    "8": grid_graph((20, 23), 0.2, connectivity=8),
    "16": grid_graph((20, 23), 0.2, connectivity=16),
    "18": grid_graph((6, 18, 17), 0.1, connectivity=18),
    "26": grid_graph((6, 18, 17), 0.1, connectivity=26),
    "torus": torus(20),
    "thinned": thinned(grid_graph((31, 19), 0.2, connectivity=8), 0),
}


@pytest.mark.parametrize("name", STENCILS)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_kernel_of_stencils_finds_the_solution(name, is_weighted):
    graph, rng = STENCILS[name], np.random.default_rng(1)
    n = graph.n_vertices
    assert _core.is_stencil(n, graph.edges)
    f, c = rng.standard_normal(n), rng.uniform(0.5, 2.0, n)
    problem = Problem(graph, SquaredLoss(f, c if is_weighted else 1.0))
    best = solve(problem, tol=0).dual
    descent = _core.StencilDescent(
        n, graph.edges, graph.weights, f, c if is_weighted else np.empty(0)
    )
    done, watch = 0, _core.Watch(np.inf)
    while done < 400:
        done += descent.step(watch, 1, 400 - done)
    u, p = np.empty(n), np.empty(graph.n_edges)
    descent.u(u)
    descent.dual(p)
    assert np.abs(p).max() <= 1.0
    assert problem.dual(p) == pytest.approx(best, rel=1e-5)
    assert descent.dual_value == pytest.approx(problem.dual(p), rel=1e-5)
    assert descent.primal_value == pytest.approx(problem.primal(u), rel=1e-5)
    flow = np.zeros(n)
    np.add.at(flow, graph.edges[:, 0], graph.weights * p)
    np.subtract.at(flow, graph.edges[:, 1], graph.weights * p)
    np.testing.assert_allclose(u, f - flow / (c if is_weighted else 1.0), atol=1e-12)
    again = _core.StencilDescent(
        n, graph.edges, graph.weights, f, c if is_weighted else np.empty(0)
    )
    again.start_from(p)
    assert again.dual_value == pytest.approx(descent.dual_value, rel=1e-6)


@pytest.mark.parametrize("name", STENCILS)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 0.0])
def test_runs_on_stencils_end_with_a_proof(name, tolerance):
    graph = STENCILS[name]
    f = np.random.default_rng(2).standard_normal((graph.n_vertices, 2))
    assert solve(Problem(graph, SquaredLoss(f)), tol=tolerance).status == "optimal"


def test_an_expired_watch_ends_an_iteration_at_a_feasible_point():
    graph = STENCILS["8"]
    f = np.random.default_rng(3).standard_normal(graph.n_vertices)
    descent = _core.StencilDescent(graph.n_vertices, graph.edges, graph.weights, f, np.empty(0))
    assert descent.step(_core.Watch(np.inf), 1, 4) == 4
    assert descent.step(_core.Watch(0.0), 1, 4) == 0
    p = np.empty(graph.n_edges)
    descent.dual(p)
    assert np.abs(p).max() <= 1.0


@pytest.mark.parametrize("power", [-300, -1, 200])
def test_scaling_by_a_power_of_two_gives_the_same_bits(power):
    graph, scale = STENCILS["16"], 2.0**power
    f = np.random.default_rng(4).standard_normal(graph.n_vertices)
    found = []
    for unit in (1.0, scale):
        descent = _core.StencilDescent(
            graph.n_vertices, graph.edges, unit * graph.weights, unit * f, np.empty(0)
        )
        for _ in range(10):
            descent.step(_core.Watch(np.inf), 1, 4)
        p = np.empty(graph.n_edges)
        descent.dual(p)
        found.append(p)
    assert np.array_equal(*found)


def test_other_graphs_are_no_stencils():
    points = np.random.default_rng(5).random((500, 2))
    short = grid_graph((40, 9), connectivity=8)  # lines are too short for vectors
    for graph in (knn_graph(points, 5), gallery.random_tree(300, rng=0), short):
        assert not _core.is_stencil(graph.n_vertices, graph.edges)
    assert not _core.is_stencil(5, np.empty((0, 2), dtype=np.int32))
