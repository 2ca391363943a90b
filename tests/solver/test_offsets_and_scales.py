"""Offsets and scales of the data change neither the proofs nor the solutions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import (
    AbsoluteLoss,
    EntropicSimplex,
    Graph,
    HuberLoss,
    HuberTV,
    LinearBox,
    LogisticLoss,
    Problem,
    SquaredLoss,
    TotalVariation,
    fused_lasso_path,
    grid_graph,
    solve,
)
from graphtv.terms._units import RADIX
from reliability.exact import confirm

OFFSETS = [1e4, 1e6, -1e9, 1e12]


def noisy(shape=(30, 30), seed=0):
    """A piecewise constant signal with noise, on the grid of the numbers around 1e12."""
    rng = np.random.default_rng(seed)
    rows, columns = (np.arange(n) // 10 for n in shape)
    return np.round((np.add.outer(rows, columns) + 0.3 * rng.normal(size=shape)) * 1024) / 1024


@pytest.mark.parametrize("tol", [0.0, 1e-6])
@pytest.mark.parametrize("offset", [1e6, 1e12])
def test_three_numbers_at_an_offset(offset, tol):
    """The gap was reported as 0 and was 6e-10 at 1e6, 6e-4 at 1e12."""
    f = offset + np.array([-0.3, -0.3, -0.2])
    problem = Problem(grid_graph((3,), 0.3), AbsoluteLoss(f))
    result = solve(problem, tol=tol)
    assert result.status == "optimal"
    confirm(problem, result)


@pytest.mark.parametrize("loss", [SquaredLoss, AbsoluteLoss, HuberLoss])
@pytest.mark.parametrize("offset", OFFSETS)
def test_an_offset_is_no_reason_to_stall(offset, loss):
    f = noisy((12, 12)).ravel() + offset
    problem = Problem(grid_graph((12, 12), 0.3), loss(f))
    result = solve(problem)
    assert result.status == "optimal"
    confirm(problem, result)
    assert problem.primal(result.u) == result.primal
    assert problem.dual(result.p) == result.dual


def test_a_dual_above_the_primal_is_not_hidden():
    """At 1e11 the dual exceeded the primal by 2e-7, and the result was `optimal` with gap 0."""
    f = np.random.default_rng(0).normal(size=900) + 1e11
    problem = Problem(grid_graph((30, 30), 0.3), SquaredLoss(f))
    result = solve(problem, tol=0.0)
    true = confirm(problem, result)
    assert result.dual <= result.primal + 2 * result.rounding
    assert result.gap == pytest.approx(float(true.gap), rel=1e-3)


def test_components_have_their_own_offsets():
    rng = np.random.default_rng(2)
    edges = [(i, i + 1) for i in range(19) if i != 9]
    f = rng.normal(size=20) + np.repeat([1e12, -3e9], 10)
    problem = Problem(Graph(20, edges, 0.4), SquaredLoss(f))
    assert problem._form.centre.shape == (1, 20)
    result = solve(problem)
    assert result.status == "optimal"
    confirm(problem, result)


@pytest.mark.parametrize("offset", OFFSETS)
def test_degrees_of_freedom_do_not_depend_on_the_offset(offset):
    graph, f = grid_graph((30, 30)), noisy().ravel()
    expected = fused_lasso_path(graph, f, n_lambdas=12).df
    np.testing.assert_array_equal(fused_lasso_path(graph, f + offset, n_lambdas=12).df, expected)


@pytest.mark.parametrize("scale", [1e-300, 1e-165, 1e165, 1e300])
def test_underflow_and_overflow_are_no_proof(scale):
    """Both objectives were 0 at 1e-165: `optimal`, with an error as large as the signal."""
    f = noisy((8, 8)).ravel()
    problem = Problem(grid_graph((8, 8), 0.3 * scale), SquaredLoss(f * scale))
    result = solve(problem)
    confirm(problem, result)
    expected = solve(Problem(grid_graph((8, 8), 0.3), SquaredLoss(f)), tol=0.0)
    assert result.status == "optimal"
    assert 0.0 < result.error_bound / scale < 1.0
    assert np.linalg.norm(result.u / scale - expected.u) <= 1.001 * result.error_bound / scale


def scaled(kind, seed, a, b, penalty):
    """A problem in other units: u is scaled by 2^a, and the objective by 2^b."""
    rng = np.random.default_rng(seed)
    n = 12
    edges = rng.integers(0, n, (20, 2))
    weights, f, c = rng.uniform(0.1, 1, 20), rng.normal(size=n), rng.uniform(0.5, 2, n)
    if kind in ("logistic", "simplex"):
        a = 0
    graph = Graph(n, edges, np.ldexp(weights, b - a))
    if kind == "squared":
        data = SquaredLoss(np.ldexp(f, a), np.ldexp(c, b - 2 * a))
    elif kind == "huber":
        data = HuberLoss(np.ldexp(f, a), float(np.ldexp(0.3, a)), np.ldexp(c, b - 2 * a))
    elif kind == "absolute":
        data = AbsoluteLoss(np.ldexp(f, a), np.ldexp(c, b - a))
    elif kind == "box":
        data = LinearBox(np.ldexp(f, b - a), 0.0, float(np.ldexp(1.0, a)))
    elif kind == "logistic":
        labels = np.where(np.arange(n) % 2, 1.0, -1.0)
        graph = Graph(n, [(i, i + 1) for i in range(n - 1)], np.ldexp(weights[: n - 1], b))
        data = LogisticLoss(labels, np.ldexp(c, b))
    else:
        cost = np.ldexp(rng.normal(size=(n, 3)), b)
        data = EntropicSimplex(cost, float(np.ldexp(0.5, b)))
    delta = HuberTV(float(np.ldexp(0.1, b))) if penalty == "huber" else TotalVariation()
    return Problem(graph, data, delta), a


@pytest.mark.parametrize("penalty", ["tv", "huber"])
@pytest.mark.parametrize("kind", ["squared", "huber", "absolute", "box", "logistic", "simplex"])
@settings(max_examples=12)
@given(seed=st.integers(0, 99), a=st.integers(-5, 5), b=st.integers(-5, 5))
def test_multiples_of_the_radix_change_no_bit(kind, penalty, seed, a, b):
    """The normal form is the same problem, for every data term and penalty."""
    check_bits(kind, penalty, seed, RADIX * a, RADIX * b)


@pytest.mark.parametrize("kind", ["squared", "box"])
@settings(max_examples=25)
@given(seed=st.integers(0, 99), a=st.integers(-300, 300), b=st.integers(-300, 300))
def test_powers_of_two_change_no_bit(kind, seed, a, b):
    """Descent and flows use no absolute thresholds. PDHG does, so its terms are not tested here."""
    check_bits(kind, "tv", seed, a, b)


def check_bits(kind, penalty, seed, a, b):
    one, _ = scaled(kind, seed, 0, 0, penalty)
    two, a = scaled(kind, seed, a, b, penalty)
    first, second = (solve(problem, max_iterations=500) for problem in (one, two))
    np.testing.assert_array_equal(np.ldexp(first.u, a), second.u)
    np.testing.assert_array_equal(first.p, second.p)
    assert (first.status, first.relative_gap) == (second.status, second.relative_gap)


def test_a_bound_that_says_nothing_is_none():
    """The bound was 2e69 where the curvature of the loss decreases to 0."""
    labels = np.array([1.0, 1.0, -1.0, -1.0])
    weights = [1.0, 1e-40, 1.0, 1e-40]
    problem = Problem(grid_graph((4,), 1e-3), LogisticLoss(labels, weights))
    result = solve(problem, max_iterations=5)
    assert result.error_bound is None
    assert "error" not in repr(result)
