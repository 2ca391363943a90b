"""Bounds and sparsity: proximal maps, subgradients and the core's term."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtv.operators.constraint import Constraint

BOUNDS = [(None, None), (0.0, None), (None, 1.0), (-1.0, 1.0), (0.5, 2.0)]


@given(
    st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=6),
    st.sampled_from(BOUNDS),
    st.floats(0.0, 2.0),
    st.floats(0.01, 10.0),
)
def test_prox_is_the_minimiser(values, bounds, sparsity, step):
    v = np.array(values)
    constraint = Constraint(v.shape, *bounds, sparsity)
    u = constraint.prox(v, step)
    assert constraint.contains(u)
    low, high = constraint.subgradients(u)
    slope = (v - u) / step  # a subgradient at u
    assert (slope >= low - 1e-9).all()
    assert (slope <= high + 1e-9).all()


@given(
    st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=6),
    st.sampled_from(BOUNDS),
    st.floats(0.0, 2.0),
)
def test_conjugate_of_the_core_is_a_supremum(values, bounds, sparsity):
    s = np.array(values)
    term = Constraint(s.shape, *bounds, sparsity).core_term(-4.0, 4.0)
    low, high = (
        (-4.0 if bounds[0] is None else bounds[0]),
        (4.0 if bounds[1] is None else bounds[1]),
    )
    grid = np.concatenate([np.linspace(low, high, 501), [np.clip(0.0, low, high)]])
    best = (s[:, None] * grid - sparsity * np.abs(grid)).max(axis=1).sum()
    assert term.conjugate(s) == pytest.approx(best, abs=1e-9)


def test_bounds_per_vertex():
    constraint = Constraint((3,), [0.0, -np.inf, 1.0], [1.0, 0.0, 1.0])
    np.testing.assert_array_equal(constraint.project(np.array([2.0, 2.0, 2.0])), [1.0, 0.0, 1.0])
    assert not constraint.is_uniform


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.0, 0.0), "lower must not exceed upper, got 1.0 > 0.0"),
        (([0.0, 0.0], None), r"lower must be a number or have shape \(3,\), got shape \(2,\)"),
        ((np.nan, None), "lower must be a number, got nan"),
        ((None, -np.inf), "upper must be a number, got -inf"),
        (("a", None), "lower must be numbers, got 'a'"),
        ((None, None, -1.0), "sparsity must be"),
        ((None, None, [1.0, 2.0]), r"sparsity must be a number or have shape \(3,\)"),
        ((None, None, [1.0, -2.0, 0.0]), "sparsity must not be negative, got -2.0 at index 1"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        Constraint((3,), *arguments)


def test_sparsity_per_vertex():
    constraint = Constraint((3, 2), sparsity=[1.0, 0.0, 2.0])
    u = np.array([1.0, -2.0, 3.0, -4.0, 5.0, -6.0])  # channel after channel
    assert constraint.norm(u) == 1.0 + 6.0 + 4.0 + 12.0
    np.testing.assert_array_equal(constraint.prox(u, 1.0), [0.0, -2.0, 1.0, -3.0, 5.0, -4.0])
