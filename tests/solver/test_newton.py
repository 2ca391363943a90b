"""Newton's method for isotropic and coupled total variation, against dense algebra and Clarabel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import CoupledTV, IsotropicTV, Problem, SquaredLoss, _core, gallery, grid_graph, solve
from graphtv.solver.newton import Improved, PrimalNewton
from graphtv.terms._arrays import to_core
from verify import verify


def make_problem(seed, kind, channels=2, delta=0.0):
    rng = np.random.default_rng(seed)
    if kind == "isotropic":
        graph, penalty = grid_graph((4, 5), 0.5), IsotropicTV(coupled=channels > 1, delta=delta)
    elif kind == "channels":
        graph, penalty = grid_graph((4, 5), 0.5), IsotropicTV(delta=delta)
    else:
        graph = gallery.erdos_renyi_graph(20, 40, seed, rng.uniform(0.2, 1.0, 40))
        penalty = CoupledTV(delta)
    f = rng.normal(size=(20, channels)) if channels > 1 else rng.normal(size=20)
    return Problem(graph, SquaredLoss(f, weights=rng.uniform(0.5, 2.0)), penalty)


def groups_of(problem):
    """The places of the entries of each group in the core's flat p."""
    m, n_channels = problem.graph.n_edges, problem.term.n_channels
    pixel = problem.graph.edges.min(axis=1)
    is_isotropic = isinstance(problem.penalty, IsotropicTV)
    couples = not is_isotropic or problem.penalty.coupled
    names = pixel if is_isotropic else np.arange(m)
    for name in np.unique(names):
        places = np.flatnonzero(names == name)[:, None] + m * np.arange(n_channels)
        yield from [places.ravel()] if couples else places.T


def twin_step(problem, u, p, smoothing):
    """Chan, Golub and Mulet's step, with dense matrices."""
    n_channels = problem.term.n_channels
    k = np.kron(np.eye(n_channels), problem.graph.gradient().toarray())
    c, f = problem.data.weights.T.ravel(), to_core(problem.data.signal).ravel()
    x, matrix, rhs = k @ u, np.diag(c), c * (f - u)
    for places in groups_of(problem):
        here, q, rows = x[places], p[places], k[places]
        delta = problem.penalty.delta
        norm = np.linalg.norm(here)
        length = max(norm, delta) if delta else np.hypot(norm, smoothing)
        unit = here / length
        inner = np.zeros_like(unit) if delta and norm < delta else unit
        block = np.eye(len(q)) - 0.5 * (np.outer(q, inner) + np.outer(inner, q))
        matrix = matrix + rows.T @ block @ rows / length
        rhs = rhs - rows.T @ unit
    return np.linalg.solve(matrix, rhs)


@pytest.mark.parametrize("kind", ["isotropic", "channels", "coupled"])
@given(
    seed=st.integers(0, 10**6),
    channels=st.integers(1, 3),
    delta=st.sampled_from([0.0, 0.4]),
    exponent=st.floats(-6.0, 0.0),
)
@settings(max_examples=25, deadline=None)
def test_steps_solve_the_linearised_equations(kind, seed, channels, delta, exponent):
    problem = make_problem(seed, kind, channels, delta)
    if not isinstance(problem.core_penalty, _core.GroupNorms):
        return  # one channel of coupled total variation is plain total variation
    rng = np.random.default_rng([seed, 1])
    u = rng.normal(size=20 * channels)
    p = rng.normal(size=problem.graph.n_edges * channels)
    problem.core_penalty.project(p)
    data, graph, smoothing = problem.data, problem.graph, 10.0**exponent
    newton = _core.PrimalNewton(graph.n_vertices, graph.edges, graph.weights, problem.core_penalty)
    rows, found = u.reshape(channels, 20).T.reshape(problem.shape), np.empty_like(u)
    slope = to_core(data.derivative(rows)).ravel()
    curvature = to_core(data.second_derivative(rows)).ravel()
    newton.step(u, p, slope, curvature, smoothing, 1e-13, 500, found)
    expected = twin_step(problem, u, p, smoothing)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * scale)


def test_multigrid_needs_few_iterations_for_any_contrast():
    """Flat regions of different sizes couple their pixels 1e8 times more strongly than edges do."""
    rng = np.random.default_rng(0)
    for side in (16, 48, 96):
        u = np.kron(rng.normal(size=(4, 4)), np.ones((side // 4, side // 4)))
        graph = grid_graph(u.shape, 0.5)
        problem = Problem(graph, SquaredLoss(u + rng.normal(size=u.shape)), IsotropicTV())
        newton = _core.PrimalNewton(
            graph.n_vertices, graph.edges, graph.weights, problem.core_penalty
        )
        flat, ones, found = u.ravel(), np.ones(u.size), np.empty(u.size)
        slope, p = flat - problem.data.signal, np.zeros(graph.n_edges)
        for smoothing in (1.0, 1e-4, 1e-8):
            assert newton.step(flat, p, slope, ones, smoothing, 1e-2, 100, found) <= 50


@pytest.mark.parametrize("kind", ["isotropic", "channels", "coupled"])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_it_brings_u_to_the_accuracy_of_p(kind, seed):
    """With a good p, the steps reach the optimum that a long run proves."""
    problem = make_problem(seed, kind)
    exact = solve(problem, tol=1e-9)
    p, dual = to_core(exact.p).ravel(), exact.dual
    u = to_core(problem.data.signal).ravel()
    start = Improved(u, problem.objective.primal(u))
    goal = 1e-6 * abs(dual)
    newton = PrimalNewton(problem, 1)
    found = start
    for _ in range(8):  # it stops when the gap decreases slowly; a descent would follow
        found = newton.improve(found, p, dual, goal)
    assert found.primal <= start.primal
    assert found.primal == problem.objective.primal(found.u)
    assert found.primal - exact.dual <= 1e-4 * abs(dual)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [IsotropicTV(), CoupledTV()], ids=repr)
def test_high_accuracy(penalty):
    """Certified 1e-9 on a noisy image whose flat regions are large."""
    rng = np.random.default_rng(3)
    image = np.kron(rng.normal(size=(4, 4, 2)), np.ones((16, 16, 1)))
    data = SquaredLoss(image + rng.normal(0.0, 0.3, image.shape))
    problem = Problem(grid_graph((64, 64), 1.0), data, penalty)
    result = solve(problem, tol=1e-9, n_threads=1)
    assert result.status == "optimal"
    verify(result, problem)
    again = solve(problem, tol=1e-9, n_threads=2)
    np.testing.assert_array_equal(result.u, again.u)
    np.testing.assert_array_equal(result.p, again.p)
