"""The incumbent: the point kept for interrupted runs, and results that need no work."""

import signal
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtv import Problem, SquaredLoss, _core, decompose, grid_graph, solve
from graphtv.gallery import erdos_renyi_graph, random_tree
from graphtv.solver.certificate import certify
from graphtv.solver.incumbent import FINEST, Held, Incumbent
from graphtv.solver.polish import Polished
from graphtv.solver.reserve import Reserve
from graphtv.solver.stage import rounded
from graphtv.solver.trivial import trivial_certificate
from graphtv.solver.tuning import TUNING
from instances import GRAPHS, PENALTIES, TERMS, make_problem, noise, noisy_image

METHODS = ("descent", "pdhg", "exact")


def assert_certified(problem, result):
    assert np.abs(result.p).max(initial=0.0) <= 1
    assert problem.primal(result.u) == result.primal
    assert problem.dual(result.p) == result.dual
    assert result.dual <= result.primal < np.inf


@pytest.fixture
def hurried(monkeypatch):
    """There is no time for work after Ctrl-C, so every evaluation stores the point."""
    tuning = replace(TUNING, grace=0.0, first_hold=0.0, holds=0.0)
    monkeypatch.setitem(solve.__globals__, "TUNING", tuning)
    return tuning


def press_at(iteration):
    def press(info):
        if info.iteration >= iteration:
            signal.raise_signal(signal.SIGINT)

    return press


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("channels", [(), (3,)])
def test_what_is_known_without_work_is_certified(term, penalty, channels):
    for graph in GRAPHS:
        problem = make_problem(term, graph, penalty, channels)
        known = trivial_certificate(problem, 1)
        assert np.isfinite(known.primal)
        assert known.primal == problem.objective.primal(known.u)
        assert known.dual == problem.objective.dual(known.p)


@pytest.mark.parametrize("term", TERMS)
def test_no_time_at_all_still_gives_a_certificate(term):
    problem = make_problem(term)
    result = solve(problem, time_limit=0.0, tol=1e-14)
    assert result.status in ("time_limit", "optimal")
    assert_certified(problem, result)
    assert len(result.history) == 1 or result.status == "optimal"


@pytest.mark.parametrize("method", METHODS)
def test_control_c_in_a_hurry_returns_the_point_held(hurried, method):
    problem = noisy_image()
    first = solve(problem, method=method, tol=1e-14, max_iterations=1)
    result = solve(problem, method=method, tol=1e-14, callback=press_at(3))
    assert result.status == "interrupted"
    assert result.iterations >= 3
    assert_certified(problem, result)
    assert result.relative_gap < first.relative_gap


@pytest.mark.parametrize("method", METHODS)
def test_control_c_before_anything_is_held(monkeypatch, method):
    monkeypatch.setitem(solve.__globals__, "TUNING", replace(TUNING, grace=0.0, first_hold=1e9))
    problem = noisy_image()
    result = solve(problem, method=method, tol=1e-14, callback=press_at(1))
    assert result.status == "interrupted"
    assert_certified(problem, result)
    np.testing.assert_array_equal(result.p, 0.0)


def test_a_callback_that_ends_the_run_gets_the_last_iterate(hurried):
    problem = noisy_image()
    told = []

    def stop(info):
        told.append(info.relative_gap)
        return info.iteration >= 3

    result = solve(problem, method="descent", tol=1e-14, callback=stop)
    assert result.status == "interrupted"
    assert result.relative_gap == pytest.approx(told[-1], rel=1e-9)


def test_a_warm_start_beats_what_is_known_without_work(monkeypatch):
    monkeypatch.setitem(solve.__globals__, "TUNING", replace(TUNING, grace=0.0, first_hold=1e9))
    problem = noisy_image()
    start = solve(problem, tol=1e-3)
    result = solve(problem, method="pdhg", tol=1e-14, warm_start=start, callback=press_at(1))
    assert result.status == "interrupted"
    assert result.relative_gap <= start.relative_gap


@pytest.mark.parametrize("method", METHODS)
def test_holding_points_does_not_change_a_run(request, method):
    problem = noisy_image()
    expected = solve(problem, method=method, tol=1e-9)
    request.getfixturevalue("hurried")
    result = solve(problem, method=method, tol=1e-9)
    np.testing.assert_array_equal(result.u, expected.u)
    np.testing.assert_array_equal(result.p, expected.p)
    for name in ("iteration", "primal", "dual"):
        np.testing.assert_array_equal(result.history[name], expected.history[name])


def test_set_up_looks_at_the_watch():
    graph = erdos_renyi_graph(300, 2000, 0, 0.5)
    n, edges, weights = graph.n_vertices, graph.edges, graph.weights
    partition = decompose(graph, "nested")
    labels, p, out = partition.labels, np.zeros(graph.n_edges), np.zeros(n)
    term = noise(17).term
    signal_ = np.zeros(n)
    steps = {
        "recognize_grid": lambda: _core.recognize_grid(n, edges),
        "largest_degree": lambda: _core.largest_degree(n, edges),
        "profile": lambda: _core.profile_partition(n, edges, labels, partition.n_forests),
        "adjoint": lambda: _core.adjoint(n, edges, weights, p, 1.0, out),
        "penalty": lambda: _core.EdgewisePenalty(0.0).value(n, edges, weights, out),
        "value": lambda: term.value(np.zeros(term.n_vertices)),
        "edges": lambda: _core.EdgeDescent(n, edges, weights, signal_, np.empty(0)),
    }
    for step in steps.values():
        step()  # without an observer
    for name, step in steps.items():
        with pytest.raises(_core.Expired), _core.Watch(0.0):
            print(name, step())
    early = _core.Watch(1e9)
    with early:
        for step in steps.values():
            step()


def test_a_block_ends_with_its_watch():
    late = _core.Watch(0.0)
    graph = grid_graph((5, 5))
    with late:
        pass
    assert _core.largest_degree(graph.n_vertices, graph.edges) == 4


def test_the_adjoint_has_the_same_bits_for_any_number_of_threads():
    graph = erdos_renyi_graph(20_000, 100_000, 1, 0.5)
    p = np.random.default_rng(0).uniform(-1, 1, graph.n_edges)
    found = [np.empty(graph.n_vertices) for _ in range(3)]
    for n_threads, out in zip((1, 2, 5), found, strict=True):
        _core.adjoint(
            graph.n_vertices, graph.edges, graph.weights, p, -1.0, out, n_threads=n_threads
        )
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_allclose(found[0], -(graph.gradient().T @ p), atol=1e-12)


def test_a_proximal_step_that_is_ended_leaves_the_last_point():
    problem = noise(40)
    result = solve(problem, method="pdhg", tol=1e-14, max_iterations=5)
    graph = problem.graph
    pdhg = _core.Pdhg(
        graph.n_vertices, graph.edges, graph.weights, problem.term, problem.core_penalty, None,
        1.0, "balanced", 0.0, 0.0, 1.0, 1.0, 1,
    )  # fmt: skip
    pdhg.start_from(result.u, result.p)
    assert not pdhg.step(_core.Watch(0.0)).completed
    u, p = np.empty(graph.n_vertices), np.empty(graph.n_edges)
    pdhg.u(u)
    pdhg.dual(p)
    np.testing.assert_array_equal(u, result.u)
    np.testing.assert_array_equal(p, result.p)
    assert pdhg.step(_core.Watch(1e9)).completed


@given(seed=st.integers(0, 1000), n_channels=st.sampled_from([1, 3]))
def test_what_is_held_is_what_it_says(seed, n_channels):
    rng = np.random.default_rng(seed)
    graph = grid_graph((7, 6), 0.3)
    problem = Problem(graph, SquaredLoss(rng.standard_normal((42, n_channels))))
    u = rng.standard_normal(42 * n_channels)
    p = np.clip(rng.uniform(-1.5, 1.5, graph.n_edges * n_channels), -1.0, 1.0)
    exact = p.copy()
    held = Held.of(problem, u, rounded(p, 1), 1)
    found = held.unpack()
    again = certify(problem, found.u, found.p, 1)
    assert again.proof == found.proof
    assert held.gap == found.gap
    assert abs(found.p - exact).max() <= 0.5 / FINEST
    assert ((abs(exact) < 1.0) | (found.p == exact)).all()


def test_the_better_of_two_points_is_held(hurried):
    problem = Problem(grid_graph((5, 5), 0.3), SquaredLoss(np.arange(25.0)))
    watch = _core.Watch(np.inf)
    reserve = Reserve(65, watch, np.inf, hurried)
    incumbent = Incumbent(problem, None, reserve, watch, 1, hurried)
    best = solve(problem, method="descent")
    poor = certify(problem, np.zeros(25), np.zeros(40), 1)
    good = certify(problem, best.u, best.p.copy(), 1)
    for found in (poor, good, replace(poor, p=np.zeros(40))):
        incumbent.take_polished(Polished(found.u, rounded(found.p, 1), found.primal))
    incumbent.fall_back()
    held = incumbent.best
    assert (held.u == best.u).all()
    assert held.gap <= good.gap + 1e-3 * good.primal


@pytest.mark.parametrize("graph", [grid_graph((30,)), random_tree(40, rng=1)], ids=repr)
def test_a_tree_without_iterations_has_a_certificate(graph):
    problem = Problem(graph, SquaredLoss(np.arange(graph.n_vertices, dtype=float)))
    result = solve(problem, max_iterations=0)
    assert result.status == "iteration_limit"
    assert_certified(problem, result)
    assert result.stages == []
