"""Max-flow for losses with kinks: the absolute and the quantile loss."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import AbsoluteLoss, Graph, Problem, QuantileLoss, TotalVariation, grid_graph, solve
from graphtv.solver.decision import Moment, SwitchTo
from graphtv.solver.facts import Facts
from graphtv.solver.plan import plan
from graphtv.solver.progress import Count, Progress
from graphtv.solver.strategy import Strategy
from graphtv.solver.tuning import TUNING, Tuning
from instances import make_problem
from verify import verify


def smallest_objective(problem):
    """The minimum over all signals whose values are data, which contain a solution."""
    values = np.unique(problem.data.signal)
    n = problem.graph.n_vertices
    points = np.stack(np.meshgrid(*[values] * n, indexing="ij"), axis=-1).reshape(-1, n)
    return min(problem.primal(u) for u in points)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_minimum_is_that_of_all_combinations(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    pairs = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.6]
    edges = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    graph = Graph(n, edges, rng.choice([0.1, 0.5, 1.0, 3.0], size=len(edges)))
    f, c = rng.integers(0, 4, n).astype(float), rng.choice([0.5, 1.0, 2.0], size=n)
    problem = Problem(graph, QuantileLoss(f, rng.choice([0.1, 0.5, 0.75]), c))
    result = solve(problem, tol=0)
    assert result.status == "optimal"
    assert result.primal == pytest.approx(smallest_objective(problem), abs=1e-12)
    verify(result, problem)


@pytest.mark.parametrize("term", ["absolute", "quantile"])
@pytest.mark.parametrize("graph", ["grid", "random", "tree", "pieces"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_flows_and_pdhg_agree(term, graph, n_threads):
    problem = make_problem(term, graph, "tv")
    exact = solve(problem, tol=0, n_threads=n_threads)
    assert exact.status == "optimal"
    assert [stage.method for stage in exact.stages] == ["flows"]
    other = solve(problem, tol=1e-8, method="pdhg")
    assert exact.primal == pytest.approx(other.primal, rel=1e-7)


def test_values_are_those_of_the_data():
    rng = np.random.default_rng(0)
    f = rng.normal(size=(20, 30))
    result = solve(Problem(grid_graph(f.shape, 0.7), AbsoluteLoss(f)), tol=0)
    assert np.isin(result.u, f).all()
    assert len(np.unique(result.u)) < f.size / 4


def test_half_the_absolute_loss_is_the_median():
    rng = np.random.default_rng(1)
    f, c = rng.normal(size=40), rng.uniform(0.5, 2.0, 40)
    graph = grid_graph((40,), 0.3)
    absolute = solve(Problem(graph, AbsoluteLoss(f, c)), tol=0)
    halves = Graph(40, graph.edges, graph.weights / 2)
    half = solve(Problem(halves, QuantileLoss(f, 0.5, c)), tol=0)
    np.testing.assert_array_equal(absolute.u, half.u)
    assert half.primal == pytest.approx(absolute.primal / 2, rel=1e-15)


def test_a_heavy_graph_takes_the_quantile():
    f = np.arange(11.0)
    result = solve(Problem(grid_graph((11,), 1e3), QuantileLoss(f, 0.85)), tol=0)
    np.testing.assert_array_equal(result.u, np.full(11, 9.0))


def test_a_warm_start_from_the_answer_ends_at_once():
    problem = make_problem("absolute", "grid", "tv")
    first = solve(problem, tol=0)
    again = solve(problem, tol=0, warm_start=first)
    np.testing.assert_array_equal(again.u, first.u)


@pytest.mark.parametrize("tau", [0.0, 1.0, -1.0, np.nan, [0.5, 0.5]])
def test_tau_is_between_0_and_1(tau):
    with pytest.raises(ValueError, match="tau"):
        QuantileLoss([1.0, 2.0], tau)


FACTS = Facts(data="AbsoluteLoss", n_vertices=100, n_edges=200, is_sloped=True, has_kinks=True)


class TestStrategy:
    def test_flows_come_first(self):
        made = plan(FACTS, TUNING)
        assert (made.method, made.stage) == ("exact", "flows")

    def test_pdhg_takes_over_if_they_take_too_long(self):
        strategy = Strategy(plan(FACTS, TUNING), 1e-6, 1000, TUNING)
        progress = Progress()
        progress.begin("flows", "none", "flows", Count(0, 0, 0))
        decision = strategy.decide(progress, Moment(1, 0, is_exhausted=True))
        assert decision == SwitchTo("pdhg", keeps_point=False)

    def test_the_run_goes_on_with_pdhg(self, monkeypatch):
        rng = np.random.default_rng(2)
        problem = Problem(
            grid_graph((30, 30), 1.0), AbsoluteLoss(rng.normal(size=900)), TotalVariation()
        )
        module = importlib.import_module("graphtv.solver.solve")
        monkeypatch.setattr(module, "TUNING", Tuning(first_flows=1e-6))
        result = solve(problem, tol=1e-4)
        assert result.status == "optimal"
        assert [stage.method for stage in result.stages][:2] == ["flows", "pdhg"]
