"""Offsets and scales of the data change neither the proofs nor the solutions."""

import numpy as np
import pytest

from graphtv import (
    AbsoluteLoss,
    Graph,
    HuberLoss,
    LogisticLoss,
    Problem,
    SquaredLoss,
    fused_lasso_path,
    grid_graph,
    solve,
)
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


def test_a_bound_that_says_nothing_is_none():
    """The bound was 2e69 where the curvature of the loss decreases to 0."""
    labels = np.array([1.0, 1.0, -1.0, -1.0])
    weights = [1.0, 1e-40, 1.0, 1e-40]
    problem = Problem(grid_graph((4,), 1e-3), LogisticLoss(labels, weights))
    result = solve(problem, max_iterations=5)
    assert result.error_bound is None
    assert "error" not in repr(result)
