"""Constants that balance a residual."""

import numpy as np
import pytest

from graphtv import Graph, LogisticLoss, Problem, solve
from graphtv.operators.constants import balancing_shift


def test_the_shift_balances_a_nonlinear_residual():
    rng = np.random.default_rng(0)
    columns, data = rng.normal(size=(6, 2)), rng.normal(size=6)
    found = balancing_shift(
        columns, lambda y: np.arctan(y - data), lambda y: 1.0 / (1.0 + (y - data) ** 2), 1
    )
    assert columns.T @ np.arctan(columns @ found[0] - data) == pytest.approx(0.0, abs=1e-9)


def test_steps_that_are_far_too_long_are_shortened():
    """The logistic loss has next to no curvature at 1,000, so that Newton's first step is huge."""
    A = np.random.default_rng(3).normal(size=(5, 4))
    problem = Problem(
        Graph(4, [(0, 1), (2, 3)]),
        LogisticLoss([1.0, -1.0, 1.0, 1.0, -1.0]),
        operator=A,
        lower=1000.0,
    )
    assert np.isfinite(solve(problem, max_iterations=50).primal)
