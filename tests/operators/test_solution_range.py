"""Bounds of solutions of problems with an operator."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse.linalg import aslinearoperator

from graphtv import Graph, LogisticLoss, PoissonLoss, Problem, SquaredLoss, solve
from graphtv.operators.solution_range import _polyhedral_bound


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 12))
@settings(max_examples=20)
def test_linear_programs_bound_the_constants(seed, count, rows):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(rows, count))
    low = np.where(rng.random(rows) < 0.3, -np.inf, -rng.random(rows))
    high = np.where(rng.random(rows) < 0.3, np.inf, rng.random(rows))
    limits = np.where(rng.random(count) < 0.3, 1.0, np.inf)
    bound = _polyhedral_bound(columns, 0.0 * columns, low, high, limits)
    assume(np.isfinite(bound))
    for _ in range(20):  # points on the boundary of the polyhedron
        goal = rng.normal(size=count)
        known = np.isfinite(np.concatenate([high, -low, limits, limits]))
        matrix = np.concatenate([columns, -columns, np.eye(count), -np.eye(count)])[known]
        right = np.concatenate([high, -low, limits, limits])[known]
        found = linprog(goal, A_ub=matrix, b_ub=right, bounds=(None, None))
        assert np.abs(found.x).max() <= bound * (1 + 1e-7)


def test_no_bound():
    assert _polyhedral_bound(
        np.eye(2), np.zeros((2, 2)), np.zeros(2), np.full(2, np.inf), np.full(2, np.inf)
    ) == (np.inf)


def test_a_logistic_model_with_an_intercept_is_certified():
    """The intercept is a component of its own, and rows are bounded on one side only."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 8)), np.ones((40, 1))], axis=1)
    y = np.where(X[:, :4].sum(axis=1) + rng.normal(size=40) > 0, 1.0, -1.0)
    graph = Graph(9, [(i, i + 1) for i in range(7)])
    for sparsity in (0.0, [0.5] * 8 + [0.0]):
        problem = Problem(graph, LogisticLoss(y), operator=X, sparsity=sparsity)
        assert problem.composite.solution_range.is_proved
        assert solve(problem, tol=1e-6).status == "optimal"


def test_sparsity_is_one_number_per_component():
    graph = Graph(3, [(0, 1)])
    with pytest.raises(ValueError, match="sparsity must be the same at all vertices"):
        Problem(graph, LogisticLoss([1.0]), operator=np.ones((1, 3)), sparsity=[1.0, 2.0, 0.0])


def test_a_component_that_the_operator_does_not_see_stays_within_its_bounds():
    """Differences have no image of constants, so bounds alone tell where u is."""
    graph = Graph(3, [(0, 1), (1, 2)], [0.5, 0.5])
    differences = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    for bounds in ({"lower": 5.0}, {"upper": -5.0}, {"lower": [7.0, 5.0, -np.inf]}, {}):
        problem = Problem(graph, SquaredLoss([1.0, 2.0]), operator=differences, **bounds)
        assert problem.composite.solution_range.is_proved
        result = solve(problem)
        assert result.status == "optimal"
        assert result.primal == pytest.approx(1.25, rel=1e-5)
        assert result.assumptions == ()


def test_constants_that_the_operator_hardly_sees_are_not_neglected():
    """The constant 1e11 has the objective 0, and u = (0.5, 0) has 0.375."""
    graph = Graph(2, [(0, 1)], [0.5])
    problem = Problem(graph, SquaredLoss([1.0]), operator=np.array([[1.0, -1.0 + 1e-11]]))
    assert problem.composite.solution_range.is_proved
    assert problem.composite.solution_range.upper >= 0.9e11
    result = solve(problem)
    assert result.dual - result.rounding <= problem.primal([1e11, 1e11])


def test_a_range_is_not_proved_where_rounding_hides_the_rank():
    graph = Graph(4, [(0, 1), (2, 3)])
    hidden = np.array([[1.0, 0.0, 1.0 - 1e-12, 0.0], [0.0, 1.0, 0.0, 1.0]])
    problem = Problem(graph, SquaredLoss([1.0, 2.0]), operator=hidden)
    assert not problem.composite.solution_range.is_proved
    assert any("solution" in told for told in solve(problem).assumptions)
    sums = np.array([[0.1, 0.2, -0.3]])  # 2.8e-17, or 5.6e-17 if rounded
    path = Graph(3, [(0, 1), (1, 2)])
    assert not Problem(path, SquaredLoss([1.0]), operator=sums).composite.solution_range.is_proved


ROWS = {  # data whose loss does not bound some rows of Au, and values of u that are allowed
    "no weight": (SquaredLoss([0.0, 1.0], [0.0, 1.0]), [[3e5, -1e5], [1.0, 1.0]], (2, 6)),
    "one side": (LogisticLoss([1.0, -1.0]), [[1e5, 2e5], [-3e6, 1.0]], (2, 6)),
    "both": (LogisticLoss([1.0, -1.0], [0.0, 2.0]), [[1e9, 1.0], [1.0, -1e4]], (1e3, 1e4)),
    "poisson": (PoissonLoss([0.0, 2.0], [0.0, 1.0]), [[1e7, 1.0], [1.0, 2.0]], (2, 6)),
}


@pytest.mark.parametrize("is_matrix", [True, False])
@pytest.mark.parametrize("name", ROWS)
def test_rows_that_the_loss_does_not_bound_reach_as_far_as_u(name, is_matrix):
    data, matrix, (lower, upper) = ROWS[name]
    A = np.array(matrix)
    graph = Graph(2, [[0, 1]])
    operator = A if is_matrix else aslinearoperator(A)
    problem = Problem(graph, data, operator=operator, lower=lower, upper=upper)
    found = problem.composite.solution_range
    corners = np.array(list(itertools.product((lower, upper), repeat=2)), dtype=float)
    free = np.flatnonzero(data.weights == 0.0) if name != "one side" else [0]
    images = (corners @ A.T)[:, free]
    assert found.row_lower <= images.min()
    assert images.max() <= found.row_upper
    assert found.is_proved == is_matrix
    least = min(map(problem.primal, corners))
    for q in np.random.default_rng(0).normal(size=(20, 2)):
        assert problem.dual([0.5], q) <= least


def test_rows_far_from_0_are_certified():
    """exp(-|Au|) underflows there, but not the loss, which is |Au| or 0."""
    data, A = LogisticLoss([1.0, -1.0, 1.0]), np.array([[-1e6], [3e3], [800.0]])
    problem = Problem(Graph(1, np.empty((0, 2), int)), data, operator=A, lower=1.0, upper=2.0)
    result = solve(problem)
    assert result.status == "optimal"
    np.testing.assert_allclose(result.u, 1.0)
    for u, share in itertools.product(([1.0], [1.5]), (1e-9, 0.3, 1 - 1e-9)):
        q = share * np.array([-1.0, 1.0, -1.0])
        dual = problem.dual(np.empty(0), q)
        proof = problem.objective.prove(np.array(u), np.asarray(q))
        assert proof.gap == pytest.approx(problem.primal(u) - dual, rel=1e-9)


def test_an_operator_without_entries():
    for unit in (2.0**-20, 1.0, 2.0**80):
        problem = Problem(
            Graph(2, [[0, 1]]), SquaredLoss([unit]), operator=np.zeros((1, 2)), sparsity=unit
        )
        result = solve(problem, method="pdhg")
        assert result.status == "optimal"
        assert not result.u.any()


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e14])
def test_an_assumed_range_has_the_scale_of_the_data(unit):
    data = SquaredLoss(unit * np.array([1.0, 2.0]), [1.0, 0.0])
    A = np.array([[1.0, 1.0, 0.5], [0.0, 1.0, -1.0]])
    problem = Problem(Graph(3, np.empty((0, 2), int)), data, operator=A, upper=-0.1 * unit)
    found = problem.composite.solution_range
    assert not found.is_proved
    assert 1e8 * unit < found.upper < 1e12 * unit
    assert np.isfinite(solve(problem, max_iterations=20).primal)
