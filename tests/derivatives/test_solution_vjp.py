"""Derivatives of the solution agree with differences of solutions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphtv import (
    AbsoluteLoss,
    Graph,
    HuberLoss,
    HuberTV,
    LogisticLoss,
    PoissonLoss,
    Problem,
    SquaredLoss,
    gallery,
    grid_graph,
    solution_vjp,
    solve,
)

STEP = 1e-5


def make(loss, data, weights):
    if loss is HuberLoss:
        return HuberLoss(data, 0.4, weights)
    return loss(data, weights)


def solution(graph, loss, data, vertex_weights, edge_weights):
    weighted = Graph(graph.n_vertices, graph.edges, edge_weights)
    problem = Problem(weighted, make(loss, data, vertex_weights))
    result = solve(problem, tol=0, n_threads=1)
    assert result.status == "optimal"
    return problem, result


def data_of(loss, shape, rng):
    if loss is LogisticLoss:
        return np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    if loss is PoissonLoss:
        return 1.0 + rng.poisson(5.0, shape) + rng.random(shape)
    return rng.normal(0.0, 1.0, shape)


@pytest.mark.parametrize("loss", [SquaredLoss, HuberLoss, LogisticLoss, PoissonLoss])
@pytest.mark.parametrize("n_channels", [None, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_directional_derivatives(loss, n_channels, seed):
    rng = np.random.default_rng(seed)
    graph = [grid_graph((5, 6)), gallery.random_tree(40, 3)][seed]
    shape = (graph.n_vertices,) if n_channels is None else (graph.n_vertices, n_channels)
    data = data_of(loss, shape, rng)
    c, w = rng.uniform(0.5, 1.5, shape), rng.uniform(0.1, 0.4, graph.n_edges)
    problem, result = solution(graph, loss, data, c, w)
    g = rng.normal(size=shape)
    gradient = solution_vjp(problem, result, g)
    for k, derivative in enumerate(gradient):
        if loss is LogisticLoss and k == 0:
            assert not derivative.any()
            continue
        direction = rng.normal(size=derivative.shape)
        ends = []
        for sign in (-1.0, 1.0):
            arguments = [data, c, w]
            arguments[k] = arguments[k] + sign * STEP * direction
            ends.append(solution(graph, loss, *arguments)[1].u)
        numeric = np.sum(g * (ends[1] - ends[0])) / (2.0 * STEP)
        assert_allclose(np.sum(derivative * direction), numeric, rtol=1e-5, atol=1e-6)


def test_missing_data_have_no_derivative():
    graph = grid_graph((2, 3))
    data = np.array([[0.0, np.nan, 1.0], [5.0, 6.0, 7.0]])
    problem = Problem(graph, SquaredLoss(data))
    gradient = solution_vjp(problem, solve(problem, tol=0), np.ones((2, 3)))
    assert gradient.signal.shape == (2, 3)
    assert not gradient.signal[np.isnan(data)].any()
    assert not gradient.vertex_weights[np.isnan(data)].any()
    assert_allclose(gradient.signal.sum(), 6.0)  # u + 1 solves the problem of f + 1


def test_a_tie_keeps_its_piece():
    """At f = (0, 2) with ω = 1 both values are 1, and p = -1: the next change splits them."""
    problem = Problem(Graph(2, [[0, 1]]), SquaredLoss([0.0, 2.0]))
    gradient = solution_vjp(problem, solve(problem, tol=0), [1.0, 0.0])
    assert_allclose(gradient.signal, [0.5, 0.5])
    assert_allclose(gradient.edge_weights, [0.0])


def test_the_derivative_averages_within_pieces():
    graph = grid_graph((8, 8))
    signal = np.random.default_rng(0).normal(size=(8, 8))
    problem = Problem(graph, SquaredLoss(signal))
    result = solve(problem, tol=0)
    g = np.random.default_rng(1).normal(size=(8, 8))
    once = solution_vjp(problem, result, g).signal
    assert_allclose(solution_vjp(problem, result, once).signal, once)  # a projection
    assert_allclose(once.sum(), g.sum())


@pytest.mark.parametrize(
    ("make_problem", "message"),
    [
        (lambda: 3, "problem must be a graphtv.Problem"),
        (lambda: Problem(Graph(2, [[0, 1]]), SquaredLoss([0, 1]), HuberTV(0.1)), "TotalVariation"),
        (lambda: Problem(Graph(2, [[0, 1]]), AbsoluteLoss([0, 1])), "smooth loss, got Absolute"),
    ],
)
def test_problems_without_a_derivative(make_problem, message):
    result = solve(Problem(Graph(2, [[0, 1]]), SquaredLoss([0, 1])))
    with pytest.raises(ValueError, match=message):
        solution_vjp(make_problem(), result, [0.0, 1.0])


def test_bad_arguments():
    problem = Problem(Graph(2, [[0, 1]]), SquaredLoss([0, 1]))
    result = solve(problem)
    with pytest.raises(ValueError, match=r"cotangent must have shape \(2,\), got \(3,\)"):
        solution_vjp(problem, result, [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="result must be a Result of the problem"):
        solution_vjp(problem, result.u, [0.0, 1.0])


@pytest.mark.parametrize("loss", [SquaredLoss, HuberLoss, LogisticLoss, PoissonLoss])
def test_second_derivatives_of_losses(loss):
    rng = np.random.default_rng(0)
    data, c = data_of(loss, (20,), rng), rng.uniform(0.5, 1.5, 20)
    u = rng.uniform(0.5, 2.0, 20)
    term = make(loss, data, c)
    slopes = [term.derivative(u + step) for step in (-STEP, STEP)]
    assert_allclose(term.second_derivative(u), (slopes[1] - slopes[0]) / (2 * STEP), rtol=1e-6)
    if loss is not LogisticLoss:
        slopes = [make(loss, data + step, c).derivative(u) for step in (-STEP, STEP)]
        numeric = (slopes[1] - slopes[0]) / (2 * STEP)
        assert_allclose(term.mixed_derivative(u), numeric, rtol=1e-6)
