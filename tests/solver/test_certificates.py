"""All claims of a result, recomputed in forty digits by code independent of the solver."""

import numpy as np
import pytest

from graphtv import AbsoluteLoss, SquaredLoss, gallery, grid_graph, solve
from graphtv.problem import Problem
from instances import GRAPHS, PENALTIES, TERMS, make_problem, one_forest_per_edge, ways
from reference.certificate import certificate
from reference.tv import tv_quadratic
from reliability.exact import confirm as confirm_exactly
from reliability.verifier import confirm as confirm_in_long_floats
from verify import objectives, verify

FORESTLESS = ("edgeless", "vertex")


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("term", TERMS)
def test_every_claim_is_true(term, penalty, graph):
    problem = make_problem(term, graph, penalty)
    for method, preconditioner in ways(term, graph, penalty):
        # A user's term in floats may miss a minimum of 0 by a bit.
        is_hopeless = term == "quartic" and graph in FORESTLESS
        result = solve(
            problem,
            method=method,
            preconditioner=preconditioner,
            tol=1e-7,
            max_iterations=20 if is_hopeless else 100_000,
        )
        verify(result, problem)
        if not is_hopeless:
            assert result.status == "optimal", (method, preconditioner, result)


@pytest.mark.slow
@pytest.mark.parametrize("iterations", [0, 1, 2, 7])
@pytest.mark.parametrize("term", TERMS)
def test_claims_of_unfinished_runs(term, iterations):
    for graph in ("grid", "pieces"):
        problem = make_problem(term, graph)
        for method, preconditioner in ways(term, graph, "tv"):
            result = solve(
                problem,
                method=method,
                preconditioner=preconditioner,
                tol=1e-13,
                max_iterations=iterations,
            )
            verify(result, problem)
            assert result.iterations <= iterations
            if result.status != "optimal":
                assert result.status in ("iteration_limit", "stalled")


@pytest.mark.parametrize("loss", [SquaredLoss, AbsoluteLoss])
@pytest.mark.parametrize("iterations", [1, 5])
@pytest.mark.parametrize("scales", [(1.0, 1.0, 1.0), (1.0, 100.0, 1.0)])
def test_channels_with_ranges_of_their_own(loss, iterations, scales):
    """Centred channels have another range than the data, and so another dual objective."""
    rng = np.random.default_rng(0)
    f = rng.normal(size=(12, 3)) * scales + np.array([1e4, 0.0, -300.0])
    c = rng.random(f.shape) * (rng.random(f.shape) > 0.4)
    problem = Problem(grid_graph((3, 4), 0.1), loss(f, c))
    for tol in (1e-6, 0.0):
        result = solve(problem, method="pdhg", tol=tol, max_iterations=iterations)
        verify(result, problem)
        confirm_in_long_floats(problem, result)
        confirm_exactly(problem, result)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("term", ["squared", "weighted", "poisson", "simplex"])
def test_the_error_bound_holds(term, penalty):
    for seed in range(3):
        problem = make_problem(term, "random", penalty, seed=seed)
        if problem.term.strong_convexity == 0:  # a count of 0
            continue
        best = solve(problem, method="pdhg", preconditioner="nested", tol=1e-13)
        assert best.relative_gap < 1e-11
        for tol in (1e-1, 1e-2, 1e-4):
            result = solve(problem, method="pdhg", preconditioner="diagonal", tol=tol)
            slack = best.error_bound * 2
            assert np.linalg.norm(result.u - best.u) <= result.error_bound + slack


def test_the_error_bound_against_a_known_minimiser():
    graph = gallery.erdos_renyi_graph(25, 60, 1, 0.2)
    f = np.random.default_rng(0).normal(size=25)
    best, _ = tv_quadratic(graph.gradient(), f)
    for method in ("descent", "pdhg", "auto"):
        for tol in (0.3, 1e-2, 1e-5, 1e-9):
            result = solve(Problem(graph, SquaredLoss(f)), method=method, tol=tol)
            assert np.linalg.norm(result.u - best) <= result.error_bound + 1e-9


@pytest.mark.parametrize("method", ["descent", "pdhg", "exact"])
def test_asking_for_the_exact_answer(method):
    graph = grid_graph((6, 7), 0.3)
    f = np.random.default_rng(2).normal(size=(42, 2))
    problem = Problem(graph, SquaredLoss(f))
    result = solve(problem, method=method, tol=0)
    assert result.tolerance == 0.0
    assert result.status == "optimal"
    exact = certificate(graph.gradient(), f, result.u, result.p, exact=True)
    assert 0 <= exact.gap <= 1.1e-12 * exact.primal


@pytest.mark.parametrize("tol", [1e-14, 1e-16, 1e-17])
@pytest.mark.parametrize("method", ["descent", "pdhg", "exact"])
def test_a_tolerance_below_rounding_ends_and_does_not_lie(method, tol):
    problem = make_problem("squared", "grid", seed=5)
    result = solve(problem, method=method, tol=tol)
    verify(result, problem)
    assert result.status in ("optimal", "stalled")
    assert result.relative_gap <= 1e-12


def test_a_partition_of_ones_own():
    for term in ("squared", "simplex"):
        problem = make_problem(term, "random")
        partition = one_forest_per_edge(problem.graph)
        for method in ("pdhg", "descent") if term == "squared" else ("pdhg",):
            result = solve(problem, method=method, preconditioner=partition)
            verify(result, problem)
            assert result.status == "optimal"
            assert result.preconditioner == "custom"


@pytest.mark.parametrize("limit", [600, 900, 1500])
def test_a_long_run_gives_back_the_best_that_it_saw(limit):
    """Gaps of PDHG rise and fall; the best certificate is kept, up to a factor of 2."""
    for term, penalty, seed in (
        ("logistic", "hubertv", 0),
        ("absolute", "tv", 1),
        ("box", "tv", 2),
    ):
        graph = gallery.erdos_renyi_graph(60, 120, seed, 10.0 ** np.linspace(-3, 1, 120))
        problem = make_problem(term, graph, penalty)
        result = solve(
            problem, method="pdhg", preconditioner="diagonal", tol=1e-14, max_iterations=limit
        )
        seen = result.history[int(result.history["iteration"].searchsorted(500)) :]
        assert result.status == "optimal" or result.relative_gap <= (
            2.0 * seen["relative_gap"].min() + 1e-13
        )


def test_the_verifier_sees_a_lie():
    """The verifier must be able to reject."""
    problem = make_problem("squared", "random")
    result = solve(problem, method="descent", tol=1e-10)
    true = objectives(problem, result.u, result.p)
    assert objectives(problem, result.u + 1e-3, result.p).primal > true.primal
    assert objectives(problem, result.u, 0.9 * result.p).dual < true.dual
    assert objectives(problem, result.u, 1.0001 * result.p).dual == -np.inf


def test_larger_problems_by_compensated_sums():
    graph = grid_graph((40, 50), 0.15)
    rng = np.random.default_rng(3)
    f, c = rng.normal(size=2000), rng.uniform(0.5, 2.0, 2000)
    for method in ("descent", "pdhg", "auto"):
        result = solve(Problem(graph, SquaredLoss(f, c)), method=method, tol=1e-6)
        judged = certificate(graph.gradient(), f, result.u, result.p, c)
        assert result.primal == pytest.approx(judged.primal, rel=1e-14)
        assert result.dual == pytest.approx(judged.dual, rel=1e-13)
        assert judged.gap <= 1e-6 * judged.primal
        assert result.status == "optimal"
