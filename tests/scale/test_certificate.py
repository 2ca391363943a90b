"""The shares of edges with coupled channels bound the exact values."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtv.scale.certificate import FORMULA, coupled_edges, inside_balls


def exact(
    weights: np.ndarray, p: np.ndarray, difference: np.ndarray, delta: float
) -> tuple[Decimal, Decimal]:
    """Return the primal objective and the gap of edges, to 60 digits."""
    primal, gap = Decimal(0), Decimal(0)
    width = Decimal(delta)
    for weight, q, d in zip(weights, p, difference, strict=True):
        x = [Decimal(float(weight)) * Decimal(float(value)) for value in d]
        q = [Decimal(float(value)) for value in q]
        size = sum(value * value for value in x).sqrt()
        value = size * size / (2 * width) if size < width else size - width / 2
        primal += value
        conjugate = width / 2 * sum(value * value for value in q)
        gap += value + conjugate - sum(a * b for a, b in zip(q, x, strict=True))
    return primal, gap


@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([0.0, 0.3]))
def test_bounds_hold(seed: int, n_channels: int, delta: float) -> None:
    rng = np.random.default_rng(seed)
    difference = rng.normal(size=(20, n_channels)) * 10.0 ** rng.integers(-8, 8, (20, 1))
    weights = rng.random(20) * 10.0 ** rng.integers(-3, 3, 20)
    # Close to the optimum the gap is small against both of its terms.
    p = difference / np.linalg.norm(difference, axis=1, keepdims=True)
    p = inside_balls(p + rng.normal(size=p.shape) * 10.0 ** rng.integers(-12, 0, (20, 1)))
    share = coupled_edges(weights[:, None], p, difference, delta)
    with localcontext() as context:
        context.prec = 60
        primal, gap = exact(weights, p, difference, delta)
        assert all(sum(Decimal(float(v)) ** 2 for v in q) <= 1 for q in p)
        assert abs(Decimal(share.gap) - gap) <= Decimal(share.rounding)
        allowed = Decimal(FORMULA) * primal + Decimal(share.floor)
        assert abs(Decimal(share.primal) - primal) <= allowed


def test_points_outside_of_the_ball_prove_nothing() -> None:
    p = np.array([[0.8, 0.7]])
    assert coupled_edges(1.0, p, np.ones((1, 2)), 0.0).gap == math.inf
    assert coupled_edges(1.0, inside_balls(p), np.ones((1, 2)), 0.0).gap < 1.0


@pytest.mark.parametrize("n_channels", [1, 3, 40])
def test_projection_keeps_points_inside(n_channels: int) -> None:
    p = np.random.default_rng(0).normal(size=(50, n_channels)) / (2 * n_channels)
    is_inside = np.linalg.norm(p, axis=1) < 0.99
    found = inside_balls(p)
    np.testing.assert_array_equal(found[is_inside], p[is_inside])
    np.testing.assert_array_equal(inside_balls(found), found)
