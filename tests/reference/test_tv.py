"""The slow reference solvers against each other, and against exact rational certificates."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.certificate import certificate
from reference.tv import recover_dual, tv_chain, tv_quadratic, tv_tree

dyadic = st.integers(-64, 64).map(lambda k: k / 8)
positive = st.integers(1, 40).map(lambda k: k / 8)


def gradient(n, edges, weights):
    edges = np.asarray(edges, dtype=int).reshape(-1, 2)
    m = len(edges)
    K = np.zeros((m, n))
    K[np.arange(m), edges[:, 0]] = weights
    K[np.arange(m), edges[:, 1]] -= weights
    return K


@st.composite
def forests(draw):
    """A forest of any shape and orientation, with signal, weights, vertex weights, Huber δ."""
    n = draw(st.integers(1, 12))
    parents = [draw(st.integers(-1, i - 1)) for i in range(1, n)]
    edges = [(i, p) if draw(st.booleans()) else (p, i) for i, p in enumerate(parents, 1) if p >= 0]
    weights = [draw(positive) for _ in edges]
    f = [draw(dyadic) for _ in range(n)]
    c = draw(st.none() | st.lists(positive, min_size=n, max_size=n))
    huber = draw(st.sampled_from([0.0, 0.125, 1.0, 3.0]))
    return n, edges, weights, f, c, huber


@given(forests())
def test_tree_has_gap_exactly_zero(problem):
    n, edges, weights, f, c, huber = problem
    u = tv_tree(n, edges, weights, f, c, huber, exact=True)
    p = recover_dual(n, edges, weights, f, u, c)
    result = certificate(gradient(n, edges, weights), f, u, p, c, huber, exact=True)
    assert result.gap == 0
    assert isinstance(result.gap, Fraction)
    assert result.primal == result.dual


@given(forests())
def test_tree_in_floats_is_the_exact_tree(problem):
    n, edges, weights, f, c, huber = problem
    exact = tv_tree(n, edges, weights, f, c, huber, exact=True).astype(float)
    np.testing.assert_allclose(
        tv_tree(n, edges, weights, f, c, huber), exact, rtol=0, atol=1e-13 * 64
    )


@settings(max_examples=50)
@given(forests())
def test_tree_agrees_with_bounded_least_squares(problem):
    n, edges, weights, f, c, huber = problem
    u, p = tv_quadratic(gradient(n, edges, weights), f, c, huber)
    expected = tv_tree(n, edges, weights, f, c, huber)
    np.testing.assert_allclose(u, expected, atol=1e-9)
    np.testing.assert_allclose(p, recover_dual(n, edges, weights, f, expected, c), atol=1e-8)


@pytest.mark.parametrize("huber", [0.0, 0.3])
def test_bounded_least_squares_on_a_graph_with_cycles_is_certified(huber):
    rng = np.random.default_rng(7)
    n = 20
    edges = np.array([(i, j) for i in range(n) for j in range(i) if rng.random() < 0.3])
    K = scipy.sparse.csr_array(gradient(n, edges, rng.uniform(0.01, 0.5, len(edges))))
    f, c = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    u, p = tv_quadratic(K, f, c, huber)
    result = certificate(K, f, u, p, c, huber)
    assert abs(result.gap) <= 1e-12 * result.primal
    jumps = np.abs(K @ u) > max(huber, 1e-9)
    np.testing.assert_allclose(p[jumps], np.sign(K @ u)[jumps], atol=1e-9)


def test_chain_by_hand():
    # One jump of height 4, lowered by ω/2 on both sides; u₁ < u₂ saturates p at -1.
    u = tv_chain([0.0, 0.0, 4.0, 4.0], 1.0)
    np.testing.assert_array_equal(u, [0.5, 0.5, 3.5, 3.5])
    p = recover_dual(4, [(0, 1), (1, 2), (2, 3)], [1.0] * 3, [0.0, 0.0, 4.0, 4.0], u)
    np.testing.assert_array_equal(p, [-0.5, -1.0, -0.5])


def test_strong_weights_give_the_weighted_mean():
    u = tv_tree(3, [(0, 1), (2, 1)], [1e3, 1e3], [1.0, 2.0, 6.0], [1.0, 1.0, 2.0], exact=True)
    assert list(u) == [Fraction(15, 4)] * 3


def test_huber_of_two_vertices_by_hand():
    # |ω(u₀ - u₁)| ≤ δ: the penalty is quadratic, u₀ = ω²/δ (u₁ - u₀) and by symmetry u₁ = 2 - u₀.
    u = tv_chain([0.0, 2.0], [1.0], 2.0, exact=True)
    assert list(u) == [Fraction(1, 2), Fraction(3, 2)]


def test_edges_of_weight_zero_separate():
    u = tv_chain([0.0, 4.0, 8.0], [0.0, 1.0], 0.5)
    np.testing.assert_array_equal(u[:1], [0.0])
    np.testing.assert_allclose(u[1:], tv_chain([4.0, 8.0], [1.0], 0.5))


@pytest.mark.parametrize("n", [0, 1])
def test_chains_without_edges(n):
    np.testing.assert_array_equal(tv_chain([3.0] * n, 1.0), [3.0] * n)


def test_cycle_is_an_error():
    with pytest.raises(ValueError, match="edges must be a forest, edge 1 closes a cycle"):
        tv_tree(3, [(0, 1), (1, 2), (2, 0)], [1.0] * 3, [0.0] * 3)
    with pytest.raises(ValueError, match="closes a cycle"):
        tv_tree(2, [(0, 1), (1, 0)], [1.0] * 2, [0.0] * 2)


def test_certificate_sees_infeasible_and_suboptimal_duals():
    K = gradient(2, [(0, 1)], [2.0])
    f = [0.0, 1.0]
    assert certificate(K, f, f, [1.5]).gap == np.inf
    zero = certificate(K, f, f, [0.0])
    assert zero == (2.0, 0.0, 2.0)
    best = certificate(K, f, [0.5, 0.5], [-0.25])
    assert best == (0.25, 0.25, 0.0)


def test_certificate_sums_channels():
    K = gradient(3, [(0, 1), (1, 2)], [1.0, 2.0])
    rng = np.random.default_rng(0)
    f, u, p = rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), rng.uniform(-1, 1, (2, 2))
    both = certificate(K, f, u, p, [1.0, 2.0, 3.0], 0.2)
    parts = [certificate(K, f[:, k], u[:, k], p[:, k], [1.0, 2.0, 3.0], 0.2) for k in range(2)]
    np.testing.assert_allclose(both, np.sum(parts, axis=0), rtol=1e-14)
    with pytest.raises(ValueError, match="expected shape"):
        certificate(K, f, u[:2], p)
