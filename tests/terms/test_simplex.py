"""The entropic simplex against its reference in forty digits, and near the limits of numbers."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphtv import EntropicSimplex, _core
from reference import terms as twins
from term_values import numbers, prox


@pytest.mark.slow
@settings(max_examples=30)
@given(
    rows=st.integers(1, 6).flatmap(
        lambda k: st.lists(st.tuples(numbers, numbers), min_size=k, max_size=k)
    ),
    epsilon=st.floats(-3, 2).map(lambda x: 10.0**x),
    step=st.floats(-5, 5).map(lambda x: 10.0**x),
)
@example(rows=[(0.0, 0.0), (0.0, 0.0), (5.0, 0.0)], epsilon=1.0, step=1e-5)
def test_prox_on_the_simplex_agrees_with_bisection(rows, epsilon, step):
    v, cost = (np.array(column) for column in zip(*rows, strict=True))
    core = EntropicSimplex(cost[None, :], epsilon)._core_term
    u = prox(core, v, np.array([step]))
    expected = np.array(twins.simplex_prox(v.tolist(), cost.tolist(), epsilon, step))
    # The effect of rounding v/τ - cost on the logarithms; the point itself moves no further than v.
    noise = 1e-15 * (np.abs(v).max() / step + np.abs(cost).max()) / epsilon
    tolerance = np.minimum(noise * expected, 1e-15 * (np.abs(v) + step * np.abs(cost)).max())
    assert np.all(np.abs(u - expected) <= 1e-12 * expected + 4 * tolerance + 1e-300)
    # From guesses, eight vertices at once: one good, one bad, one that is not in the simplex.
    together = EntropicSimplex(np.tile(cost, (8, 1)), epsilon)._core_term
    for guess in (expected * np.linspace(0.9, 1.1, len(v)), np.full(len(v), 1.0), 0.0 * v):
        near = np.empty(8 * len(v))
        together.prox_near(np.repeat(guess, 8), np.repeat(v, 8), np.array([step]), near)
        for row in near.reshape(-1, 8).T:
            assert np.all(np.abs(row - expected) <= 1e-12 * expected + 4 * tolerance + 1e-300)


def near(core, guess, v, steps, n_threads=1):
    out = np.empty_like(v)
    core.prox_near(guess, v, steps, out, n_threads)
    return out


@pytest.mark.parametrize("C", [1, 2, 3, 10, 100])
@pytest.mark.parametrize("error", [1e-9, 1e-3, 0.1, 3.0, 100.0, np.nan])
def test_simplex_from_any_guess(C, error):
    rng = np.random.default_rng(C)
    n = 1001
    cost, v = rng.normal(size=(2, C * n)) * 10.0 ** rng.uniform(-2, 2, C * n)
    steps = 10.0 ** rng.uniform(-3, 3, n)
    core = _core.EntropicSimplexTerm(n, C, cost, 0.3)
    u = prox(core, v, steps)
    guess = u * np.exp(error * rng.normal(size=C * n))
    found = near(core, guess, v, steps)
    # Logarithms are as accurate as differences of v/(τε) allow.
    size = np.abs(v.reshape(C, n)).max(axis=0) / steps + np.abs(cost.reshape(C, n)).max(axis=0)
    noise = np.tile(1e-14 * (1.0 + size / 0.3), C)
    assert np.all(np.abs(found - u) <= noise * u + 1e-300)
    assert np.abs(found.reshape(C, n).sum(axis=0) - 1).max() <= 1e-13
    np.testing.assert_array_equal(near(core, guess, v, steps, 2), found)


def test_simplex_near_the_limits_of_numbers():
    cost, v = np.array([0.0, 1e300, -1e300, 5.0] * 8), np.array([1e300, -1e300, 1e200, 0.0] * 8)
    for C in (2, 4):
        core = _core.EntropicSimplexTerm(32 // C, C, cost, 1e-3)
        for step in (1e-300, 1.0, 1e300):
            u = near(core, np.full(32, 1.0 / C), v, np.array([step]))
            np.testing.assert_allclose(u, prox(core, v, np.array([step])), rtol=1e-12)


@pytest.mark.parametrize("C", [1, 2, 3, 10, 100])
def test_simplex_over_many_orders_of_magnitude(C):
    rng = np.random.default_rng(C)
    n = 400
    for epsilon in (1e-6, 1e-2, 1.0, 1e3):
        scale = 10.0 ** rng.uniform(-8, 8, n)
        cost = (rng.normal(size=(C, n)) * 10.0 ** rng.uniform(-4, 4, n)).ravel()
        core = _core.EntropicSimplexTerm(n, C, cost, epsilon)
        v, steps = (rng.normal(size=(C, n)) * scale).ravel(), 10.0 ** rng.uniform(-8, 8, n)
        u = prox(core, v, steps)
        points = u.reshape(C, n)
        assert points.min() >= 0
        assert np.abs(points.sum(axis=0) - 1).max() <= 1e-13
        assert np.isfinite(core.value(u))
        # The derivative ε log u + cost + (u - v)/τ is the same for all classes: no duality gap.
        s = ((v - u).reshape(C, n) / steps).ravel()
        size = np.abs(u * s).sum() + abs(core.value(u)) + abs(core.conjugate(s))
        assert abs(core.value(u) + core.conjugate(s) - u @ s) <= 1e-12 * size


def test_simplex_is_infinite_outside():
    term = EntropicSimplex(np.zeros((1, 3)))
    assert term.value([[0.5, 0.5, 0.0]]) == pytest.approx(-np.log(2))
    assert term.value([[0.5, 0.6, -0.1]]) == np.inf
    assert term.value([[0.5, 0.5, 1e-9]]) == np.inf
