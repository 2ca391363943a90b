"""Agreement with a generic interior-point solver that does not use the graph."""

import numpy as np
import pytest

from graphtv import CoupledTV, Graph, IsotropicTV, LogisticLoss, Problem, solve
from instances import PENALTIES, make_problem, ways
from verify import groups_of

cp = pytest.importorskip("cvxpy")
pytest.importorskip("clarabel")

TERMS = (
    "squared",
    "weighted",
    "masked",
    "absolute",
    "huber",
    "logistic",
    "poisson",
    "box",
    "boxes",
    "simplex",
)
ACCURACY = 1e-9


def data_term(kind, data, u):
    """The data term and the constraints of u, from their definitions."""
    if kind in ("box", "boxes"):
        return cp.sum(cp.multiply(data.cost, u)), [u >= data.lower, u <= data.upper]
    if kind == "simplex":
        cost = cp.sum(cp.multiply(data.cost, u)) - data.epsilon * cp.sum(cp.entr(u))
        return cost, [cp.sum(u, axis=1) == 1]
    c = data.weights
    if kind == "logistic":
        losses = cp.logistic(cp.multiply(-data.labels, u))
        return cp.sum(cp.multiply(c * (data.labels != 0), losses)), []
    if kind == "poisson":
        counts = data.counts
        there = (counts > 0).astype(float)  # 0 · log u is not representable in a cone
        shifted = cp.multiply(there, u) + (1 - there)
        return cp.sum(cp.multiply(c, u - cp.multiply(counts, cp.log(shifted)))), [u >= 0]
    r = u - data.signal
    losses = {"absolute": cp.abs(r), "huber": cp.huber(r, getattr(data, "delta", 1.0)) / 2}
    return cp.sum(cp.multiply(c, losses.get(kind, cp.square(r) / 2))), []


def norms(differences, problem):
    """The norms of the groups of a penalty."""
    flat = cp.vec(differences, order="C")
    n_channels = flat.size // problem.graph.n_edges
    places = [[e * n_channels + c for e, c in group] for group in groups_of(problem)]
    return cp.hstack([cp.norm(flat[group]) for group in places])


def minimum(kind, problem):
    u = cp.Variable(problem.shape)
    fidelity, constraints = data_term(kind, problem.data, u)
    differences, delta = problem.graph.gradient() @ u, problem.penalty.delta
    if any(len(group) > 1 for group in groups_of(problem)):
        differences = norms(differences, problem)
    penalty = cp.abs(differences) if delta == 0 else cp.huber(differences, delta) / (2 * delta)
    task = cp.Problem(cp.Minimize(fidelity + cp.sum(penalty)), constraints)
    task.solve(solver=cp.CLARABEL, tol_gap_abs=ACCURACY, tol_gap_rel=ACCURACY, tol_feas=ACCURACY)
    assert task.status == "optimal"
    return task.value, u.value


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("kind", TERMS)
def test_agrees_with_clarabel(kind, penalty):
    cases = [("random", ()), ("grid", ()), ("pieces", (2,)), ("tree", ())]
    for seed, (graph, channels) in enumerate(cases):
        problem = make_problem(kind, graph, penalty, channels, seed=20 + seed)
        value, u = minimum(kind, problem)
        for method, preconditioner in (("pdhg", "nested"), *ways(kind, graph, penalty)[-2:]):
            result = solve(problem, method=method, preconditioner=preconditioner, tol=1e-9)
            assert result.status == "optimal"
            slack = 1e-7 * (1 + abs(value))
            assert result.dual - slack <= value <= result.primal + slack
            if result.error_bound is not None:
                theirs = np.sqrt(2 * slack / problem.term.strong_convexity)
                assert np.linalg.norm(result.u - u) <= result.error_bound + theirs


@pytest.mark.parametrize(
    "penalty",
    [CoupledTV(), CoupledTV(0.3), IsotropicTV(), IsotropicTV(True), IsotropicTV(True, 0.2)],
    ids=repr,
)
@pytest.mark.parametrize("kind", TERMS)
def test_groups_agree_with_clarabel(kind, penalty):
    plain = make_problem(kind, "grid", channels=(3,), seed=5)
    problem = Problem(plain.graph, plain.data, penalty)
    value, u = minimum(kind, problem)
    result = solve(problem, tol=1e-9)
    assert result.status == "optimal"
    slack = 1e-7 * (1 + abs(value))
    assert result.dual - slack <= value <= result.primal + slack
    if result.error_bound is not None:
        theirs = np.sqrt(2 * slack / problem.term.strong_convexity)
        assert np.linalg.norm(result.u - u) <= result.error_bound + theirs


def test_the_range_of_a_logistic_problem_holds_its_solution():
    """Strong data, weak edges: the restricted conjugate must handle a distant solution."""
    graph = Graph(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], [1e-3, 1e-2, 1e-3, 1e-4, 1e-2])
    data = LogisticLoss([1.0, 1.0, 0.0, -1.0, -1.0, 0.0], [10.0, 1.0, 1.0, 0.1, 5.0, 1.0])
    problem = Problem(graph, data)
    value, _ = minimum("logistic", problem)
    result = solve(problem, tol=1e-8)
    assert result.status == "optimal"
    assert result.primal == pytest.approx(value, rel=1e-5)
