"""Proximal steps of the misfit."""

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import aslinearoperator

from graphtv import Graph, Problem, SquaredLoss, grid_graph
from graphtv.applications.imaging.convolution import Convolution
from graphtv.operators.data_step import ConjugateStep, FactoredStep, data_step
from graphtv.operators.spectrum import Spectrum

RNG = np.random.default_rng(0)


def start(problem):
    """Return 0 and its image."""
    u = np.zeros(int(np.prod(problem.shape)))
    return u, problem.misfit.map.apply(u)


def problem_of(n_rows, n_columns, make):
    """Return a random matrix, a loss with weights of which some are 0, and the problem."""
    matrix = RNG.standard_normal((n_rows, n_columns))
    f = RNG.standard_normal(n_rows)
    weights = RNG.uniform(0.0, 2.0, n_rows) * (RNG.random(n_rows) < 0.8)
    graph = Graph(n_columns, [(i, i + 1) for i in range(n_columns - 1)])
    loss = SquaredLoss(f, weights)
    return matrix, loss, Problem(graph, loss, operator=make(matrix))


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_factored_step_solves_its_equation(make):
    matrix, loss, problem = problem_of(10, 40, make)
    step = data_step(problem.misfit, *start(problem))
    assert isinstance(step, FactoredStep)
    for rho in (1.0, 0.3):
        check(step, matrix, loss, rho, RNG.standard_normal(40))


def test_conjugate_step_approaches_the_solution():
    matrix, loss, problem = problem_of(30, 36, aslinearoperator)
    spectrum = Spectrum((6, 6), True, np.full((6, 6), 30.0))  # a poor one
    step, v = ConjugateStep(problem.misfit, spectrum, *start(problem)), RNG.standard_normal(36)
    for _ in range(5):
        step(v, 0.3, 1e-4, 50)
    check(lambda *_: None, matrix, loss, 0.3, v, step)


def check(move, matrix, loss, rho, v, step=None):
    """Assert that a step minimises its objective, and that its arrays agree with each other."""
    step = step or move
    move(v, rho, 0.5, 30)
    slope = matrix.T @ loss.derivative(matrix @ step.w)
    np.testing.assert_allclose(slope + rho * (step.w - v), 0.0, atol=1e-6)
    np.testing.assert_allclose(step.slope, slope, atol=1e-6)
    np.testing.assert_allclose(step.x, matrix @ step.w, atol=1e-8)


def test_channels_of_a_blurred_grid():
    A = Convolution(np.outer([1.0, 2.0, 1.0], [1.0, 2.0, 1.0]) / 16, (7, 8), "reflect")
    f = RNG.standard_normal((56, 2))
    problem = Problem(grid_graph((7, 8)), SquaredLoss(f), operator=A)
    step, v = data_step(problem.misfit, *start(problem)), RNG.standard_normal(112)
    calls = problem.misfit.map.calls
    step(v, 0.1, 0.5, 30)
    assert problem.misfit.map.calls == calls + 4  # one product with A and Aᵀ per channel
    for w, target, data in zip(step.w.reshape(2, 56), v.reshape(2, 56), f.T, strict=True):
        residual = A.rmatvec(A.matvec(w) - data) + 0.1 * (w - target)
        np.testing.assert_allclose(residual, 0.0, atol=1e-9)
