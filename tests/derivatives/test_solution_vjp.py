"""Derivatives of the solution agree with differences of solutions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphtv import (
    AbsoluteLoss,
    CoupledTV,
    Graph,
    HuberLoss,
    HuberTV,
    IsotropicTV,
    LogisticLoss,
    PoissonLoss,
    Problem,
    SquaredLoss,
    TotalVariation,
    gallery,
    grid_graph,
    solution_vjp,
    solve,
)

STEP = 1e-5
TOTAL_VARIATION = TotalVariation()


def make(loss, data, weights):
    if loss is HuberLoss:
        return HuberLoss(data, 0.4, weights)
    return loss(data, weights)


def solution(graph, loss, data, vertex_weights, edge_weights, penalty=TOTAL_VARIATION, tol=0):
    weighted = Graph(graph.n_vertices, graph.edges, edge_weights)
    problem = Problem(weighted, make(loss, data, vertex_weights), penalty)
    result = solve(problem, tol=tol, n_threads=1)
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
    check_directions(graph, loss, shape, rng)


CURVED = [
    HuberTV(0.1),
    CoupledTV(),
    CoupledTV(0.05),
    IsotropicTV(),
    IsotropicTV(coupled=True),
    IsotropicTV(coupled=True, delta=0.05),
]


@pytest.mark.parametrize("loss", [SquaredLoss, HuberLoss, LogisticLoss, PoissonLoss])
@pytest.mark.parametrize("penalty", CURVED, ids=str)
@pytest.mark.parametrize("n_channels", [None, 3])
def test_directional_derivatives_of_curved_penalties(loss, penalty, n_channels):
    graph = grid_graph((4, 5))
    shape = (20,) if n_channels is None else (20, n_channels)
    rng = np.random.default_rng(7)
    step = 1e-4 if penalty.delta > 0.0 else STEP  # more than the error of the solutions
    check_directions(graph, loss, shape, rng, penalty, tol=1e-14, step=step, error=1e-3)


def check_directions(
    graph, loss, shape, rng, penalty=TOTAL_VARIATION, tol=0, step=STEP, error=1e-5
):
    """Compare the derivatives in random directions with differences of solutions."""
    data = data_of(loss, shape, rng)
    c, w = rng.uniform(0.5, 1.5, shape), rng.uniform(0.1, 0.4, graph.n_edges)
    problem, result = solution(graph, loss, data, c, w, penalty, tol)
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
            arguments[k] = arguments[k] + sign * step * direction
            ends.append(solution(graph, loss, *arguments, penalty, tol)[1].u)
        numeric = np.sum(g * (ends[1] - ends[0])) / (2.0 * step)
        assert_allclose(np.sum(derivative * direction), numeric, rtol=error, atol=0.1 * error)


def test_missing_data_have_no_derivative():
    graph = grid_graph((2, 3))
    data = np.array([[0.0, np.nan, 1.0], [5.0, 6.0, 7.0]])
    problem = Problem(graph, SquaredLoss(data))
    gradient = solution_vjp(problem, solve(problem, tol=0), np.ones((2, 3)))
    assert gradient.signal.shape == (2, 3)
    assert not gradient.signal[np.isnan(data)].any()
    assert not gradient.vertex_weights[np.isnan(data)].any()
    assert_allclose(gradient.signal.sum(), 6.0)  # u + 1 solves the problem of f + 1


def test_a_huber_penalty_of_a_small_width_is_total_variation():
    graph, rng = grid_graph((6, 6), 0.3), np.random.default_rng(2)
    data, g = rng.normal(size=36), rng.normal(size=36)
    sharp, soft = (Problem(graph, SquaredLoss(data), F) for F in (TOTAL_VARIATION, HuberTV(1e-6)))
    one = solution_vjp(sharp, solve(sharp, tol=0), g)
    other = solution_vjp(soft, solve(soft, tol=1e-13), g)
    for expected, found in zip(one, other, strict=True):
        assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("penalty", [HuberTV(0.1), IsotropicTV()], ids=str)
def test_parts_without_data_have_no_derivative(penalty):
    graph = Graph(6, [[0, 1], [1, 2], [3, 4], [4, 5]], 0.2)
    data = np.array([0.0, 1.0, 3.0, np.nan, np.nan, np.nan])
    problem = Problem(
        grid_graph((6,), 0.2) if penalty == IsotropicTV() else graph, SquaredLoss(data), penalty
    )
    gradient = solution_vjp(problem, solve(problem, tol=1e-12), np.ones(6))
    assert not gradient.signal[3:].any()
    assert np.isfinite(gradient.signal).all()


@pytest.mark.parametrize("penalty", CURVED, ids=str)
def test_large_systems_are_solved_by_conjugate_gradients(penalty, monkeypatch):
    graph, rng = grid_graph((8, 8), 0.2), np.random.default_rng(3)
    data, g = rng.normal(size=(64, 2)), rng.normal(size=(64, 2))
    problem = Problem(graph, SquaredLoss(data), penalty)
    result = solve(problem, tol=1e-12)
    direct = solution_vjp(problem, result, g)
    monkeypatch.setattr("graphtv.derivatives.reduced.DIRECT", 0)
    for expected, found in zip(direct, solution_vjp(problem, result, g), strict=True):
        assert_allclose(found, expected, atol=1e-9)


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
        (lambda: Problem(Graph(2, [[0, 1]]), SquaredLoss([0, 1]), OwnPenalty()), "of graphtv"),
        (lambda: Problem(Graph(2, [[0, 1]]), AbsoluteLoss([0, 1])), "smooth loss, got Absolute"),
    ],
)
def test_problems_without_a_derivative(make_problem, message):
    result = solve(Problem(Graph(2, [[0, 1]]), SquaredLoss([0, 1])))
    with pytest.raises(ValueError, match=message):
        solution_vjp(make_problem(), result, [0.0, 1.0])


class OwnPenalty:
    """Total variation, written by a user."""

    def value(self, x):
        return np.abs(x).sum()

    def conjugate(self, p):
        return 0.0 if (np.abs(p) <= 1).all() else np.inf

    def prox_conjugate(self, v, step):
        return np.clip(v, -1, 1)


def test_bad_arguments():
    problem = Problem(Graph(2, [[0, 1]]), SquaredLoss([0, 1]))
    result = solve(problem)
    with pytest.raises(ValueError, match=r"cotangent must have shape \(2,\), got \(3,\)"):
        solution_vjp(problem, result, [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="result must be a Result of the problem"):
        solution_vjp(problem, result.u, [0.0, 1.0])
    other = solve(Problem(Graph(3, [[0, 1]]), SquaredLoss([0, 1, 2])))
    with pytest.raises(ValueError, match=r"result.u must have shape \(2,\), got \(3,\)"):
        solution_vjp(problem, other, [0.0, 1.0])


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
