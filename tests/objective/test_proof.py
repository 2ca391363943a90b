"""Proofs: gaps relative to the objectives, and sums of objectives."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtv.objective.proof import Proof, relative_gap

numbers = st.floats(-1e12, 1e12)
sizes = st.floats(0.0, 1e3)
proofs = st.builds(Proof, numbers, numbers, sizes, sizes, sizes)


@given(proofs, proofs)
def test_the_bounds_of_a_sum_include_its_rounding(a, b):
    found = a.plus(b)
    for name in ("primal", "dual"):
        exact = Fraction(getattr(a, name)) + Fraction(getattr(b, name))
        error = abs(exact - Fraction(getattr(found, name)))
        assert error + Fraction(a.rounding) + Fraction(b.rounding) <= found.rounding * (1 + 2**-50)
    most = Fraction(a.gap) + Fraction(b.gap) + Fraction(a.gap_rounding) + Fraction(b.gap_rounding)
    assert most <= (Fraction(found.gap) + Fraction(found.gap_rounding)) * (1 + Fraction(1, 2**50))


@given(proofs)
def test_the_proved_gap_is_not_smaller(proof):
    assert proof.proved_gap >= proof.relative_gap


@pytest.mark.parametrize(
    ("primal", "dual", "expected"),
    [
        (2.0, 1.0, 0.5),
        (1.0, 2.0, 0.0),  # rounding
        (0.0, 0.0, 0.0),
        (-1.0, -2.0, 0.5),
        (math.inf, 1.0, math.inf),
        (1.0, -math.inf, math.inf),
    ],
)
def test_relative_gap(primal, dual, expected):
    assert relative_gap(primal, dual) == expected


def test_nothing_is_proved_if_rounding_is_as_large_as_the_objective():
    assert Proof(1.0, 1.0, 1e-9, 1.0, 0.0).proved_gap == math.inf
    assert Proof(0.0, 0.0, 0.0, 0.0, 0.0).proved_gap == 0.0
