"""The exact finish by flows, through its bindings, checked by the independent verifier."""

from __future__ import annotations

import dataclasses
import sys
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import Graph, Problem, SquaredLoss, _core, grid_graph, solve
from graphtv.gallery import erdos_renyi_graph, piecewise_constant_image
from graphtv.solver.tuning import TUNING
from reference.certificate import certificate

FOREVER = float("inf")


def finish(
    graph: Graph, signal: Any, start: Any = None, weights: Any = 1.0, n_threads: int = 1
) -> tuple[Any, Any, str, Any]:
    f = np.ascontiguousarray(signal, dtype=float)
    c = np.atleast_1d(np.asarray(weights, dtype=float))
    term = _core.SquaredTerm(graph.n_vertices, 1, f, c)
    solver = _core.ExactFinish(graph.n_vertices, graph.edges, graph.weights)
    p = np.zeros(graph.n_edges) if start is None else np.array(start, dtype=float)
    u = np.full(graph.n_vertices, np.nan)
    end = solver.solve(term, 0, p, u, _core.Watch(FOREVER), n_threads)
    return p, u, end, solver.stats


def relative_gap(graph: Graph, signal: Any, u: Any, p: Any, weights: Any = None) -> float:
    value = certificate(graph.gradient(), signal, u, p, weights)
    return float(value.gap / max(abs(value.primal), abs(value.dual), 1e-300))


@given(st.integers(2, 40), st.integers(0, 10**6), st.sampled_from([0.05, 0.5, 5.0]))
@settings(max_examples=60, deadline=None)
def test_gap_is_rounding(n: int, seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(0, min(3 * n, n * (n - 1) // 2) + 1))
    graph = erdos_renyi_graph(n, m, seed, scale * rng.uniform(0.1, 1.0, m))
    signal, weights = rng.standard_normal(n), rng.uniform(0.1, 2.0, n)
    start = rng.uniform(-1.0, 1.0, graph.n_edges)
    p, u, end, _ = finish(graph, signal, start, weights)
    assert end == "exact"
    assert np.all(np.abs(p) <= 1.0)
    assert abs(relative_gap(graph, signal, u, p, weights)) <= 1e-12


@given(st.integers(2, 40), st.integers(0, 10**6), st.sampled_from([0.05, 0.5, 5.0]))
@settings(max_examples=40, deadline=None)
def test_start_between_the_solutions_of_two_weights(n: int, seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(0, min(3 * n, n * (n - 1) // 2) + 1))
    weights, signal = rng.uniform(0.1, 1.0, m), rng.standard_normal(n)
    flows = {}
    for factor in (0.8, 1.25):
        graph = erdos_renyi_graph(n, m, seed, scale * factor * weights)
        flows[factor] = factor * finish(graph, signal)[0]
    graph = erdos_renyi_graph(n, m, seed, scale * weights)
    start = ((1.25 - 1.0) * flows[0.8] + (1.0 - 0.8) * flows[1.25]) / (1.25 - 0.8)
    p, u, end, _ = finish(graph, signal, np.clip(start, -1.0, 1.0))
    assert end == "exact"
    assert abs(relative_gap(graph, signal, u, p)) <= 1e-12


def test_components_that_are_optimal_at_the_start_need_no_flow() -> None:
    noisy, _ = piecewise_constant_image((30, 20), rng=3)
    graph, signal = grid_graph((30, 20), 0.2), noisy.ravel()
    p, u, _, _ = finish(graph, signal)
    again, same, end, stats = finish(graph, signal, p)
    assert end == "exact"
    assert stats.paths == 0
    # Jumps below 1e-4 of the range are not guessed, so a few components may be solved again.
    assert stats.components <= 3
    np.testing.assert_allclose(same, u, rtol=0, atol=1e-14)
    assert relative_gap(graph, signal, same, again) <= 1e-14


@pytest.mark.parametrize("n_arcs", [0.0, TUNING.near_flows])
def test_a_near_start_goes_to_flows_at_once(n_arcs: float, monkeypatch: Any) -> None:
    noisy, _ = piecewise_constant_image((30, 20), rng=3)
    signal = noisy.ravel()
    start = solve(Problem(grid_graph((30, 20), 0.2), SquaredLoss(signal)), tol=0)
    few = dataclasses.replace(TUNING, near_start=1e-2, near_flows=n_arcs)
    monkeypatch.setattr(sys.modules["graphtv.solver.solve"], "TUNING", few)
    problem = Problem(grid_graph((30, 20), 0.201), SquaredLoss(signal))
    result = solve(problem, tol=0, warm_start=start)
    assert result.status == "optimal"
    methods = [stage.method for stage in result.stages]
    # Where the allowance is exhausted, descent goes on.
    assert methods[:2] == (["flows"] if n_arcs else ["flows", "descent"])


def test_image_from_descent_and_from_nothing() -> None:
    noisy, _ = piecewise_constant_image((48, 40), rng=3)
    graph, signal = grid_graph((48, 40), 0.2), noisy.ravel()
    descent = _core.EdgeDescent(graph.n_vertices, graph.edges, graph.weights, signal, np.empty(0))
    for _ in range(10):
        assert descent.step(_core.Watch(FOREVER), 1, 1)
    p = np.empty(graph.n_edges)
    descent.dual(p)
    p, u, end, stats = finish(graph, signal, p)
    assert end == "exact"
    assert stats.rounds >= 1
    assert not stats.fallback
    assert relative_gap(graph, signal, u, p) <= 1e-14
    other = finish(graph, signal)
    np.testing.assert_allclose(other[1], u, rtol=0, atol=1e-12)


def test_started_at_the_optimum_it_stays() -> None:
    noisy, _ = piecewise_constant_image((40, 40), rng=1)
    graph, signal = grid_graph((40, 40), 0.3), noisy.ravel()
    p, u, _, _ = finish(graph, signal)
    again = finish(graph, signal, p)
    assert again[3].splits == 0
    assert again[3].paths == 0
    np.testing.assert_allclose(again[1], u, rtol=0, atol=1e-13)


def test_no_data_at_all() -> None:
    graph = grid_graph((3, 3))
    p, u, end, _ = finish(graph, np.arange(9.0), weights=np.zeros(9))
    assert end == "exact"
    assert np.ptp(u) == 0.0
    assert not p.any()


def test_any_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    graph, signal = grid_graph((160, 160), 0.15), rng.standard_normal(160 * 160)
    one = finish(graph, signal)
    for n_threads in (2, 4, 8):
        more = finish(graph, signal, n_threads=n_threads)
        assert one[0].tobytes() == more[0].tobytes()
        assert one[1].tobytes() == more[1].tobytes()


def test_an_interrupt_leaves_a_feasible_flow() -> None:
    rng = np.random.default_rng(0)
    graph, signal = grid_graph((700, 700), 3.0), rng.standard_normal(700 * 700)
    term = _core.SquaredTerm(graph.n_vertices, 1, signal, np.ones(1))
    solver = _core.ExactFinish(graph.n_vertices, graph.edges, graph.weights)
    p, u = np.zeros(graph.n_edges), np.zeros(graph.n_vertices)
    watch = _core.Watch(FOREVER)
    timer = threading.Timer(0.15, watch.interrupt)
    timer.start()
    end = solver.solve(term, 0, p, u, watch, 1)
    timer.join()
    assert end == "expired"
    assert np.all(np.abs(p) <= 1.0)
    assert np.isfinite(u).all()


def test_in_vain_it_leaves_the_start() -> None:
    rng = np.random.default_rng(1)
    graph, signal = grid_graph((60, 50), 3.0), rng.standard_normal(3000)
    term = _core.SquaredTerm(graph.n_vertices, 1, signal, np.ones(1))
    solver = _core.ExactFinish(graph.n_vertices, graph.edges, graph.weights)
    start = np.clip(rng.standard_normal(graph.n_edges), -1.0, 1.0)
    p, u = start.copy(), np.full(graph.n_vertices, 7.0)
    assert solver.solve(term, 0, p, u, _core.Watch(FOREVER), 1, 0.1) == "exhausted"
    assert np.all(u == 7.0)
    np.testing.assert_allclose(p, start, rtol=0, atol=1e-4)
    np.testing.assert_array_equal(p[np.abs(start) == 1.0], start[np.abs(start) == 1.0])


def test_what_lags_behind_is_given_up_early() -> None:
    rng = np.random.default_rng(0)
    graph = grid_graph((3, 10_000), 20.0)
    n = graph.n_vertices
    signal = rng.standard_normal(n) + 3.0 * np.sin(np.linspace(0.0, 6.0, n))
    term = _core.SquaredTerm(n, 1, signal, np.ones(1))
    solver = _core.ExactFinish(n, graph.edges, graph.weights)
    for allowance, end, most in ((50.0, "exhausted", 0.7), (150.0, "exact", 1.0)):
        p, u = np.zeros(graph.n_edges), np.zeros(n)
        assert solver.solve(term, 0, p, u, _core.Watch(FOREVER), 1, allowance) == end
        assert solver.stats.work < most * allowance * 1.25 * n


def test_memory_is_counted() -> None:
    graph = grid_graph((50, 40))
    solver = _core.ExactFinish(graph.n_vertices, graph.edges, graph.weights)
    assert solver.n_bytes <= 8 * (7 * graph.n_vertices + 2.25 * graph.n_edges)


def test_sizes_are_checked() -> None:
    graph = grid_graph((3, 3))
    solver = _core.ExactFinish(9, graph.edges, graph.weights)
    term = _core.SquaredTerm(9, 1, np.zeros(9), np.ones(1))
    with pytest.raises(ValueError, match="p has the wrong size"):
        solver.solve(term, 0, np.zeros(3), np.zeros(9), _core.Watch(FOREVER), 1)
    with pytest.raises(ValueError, match="channel"):
        solver.solve(term, 1, np.zeros(12), np.zeros(9), _core.Watch(FOREVER), 1)


@pytest.mark.parametrize("kind", ["grid", "random"])
def test_after_flows_in_vain_the_start_goes_on(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    n = 10_000  # enough work for a check of the allowance
    graph = grid_graph((100, 100), 2.0) if kind == "grid" else erdos_renyi_graph(n, 3 * n, 0)
    problem = Problem(graph, SquaredLoss(rng.standard_normal(n) + np.arange(n) / 1000.0))
    expected = solve(problem, tol=0.0)
    costs = {kernel: cost._replace(allowance=1e-3) for kernel, cost in TUNING.costs.items()}
    tuning = dataclasses.replace(TUNING, costs=costs)
    monkeypatch.setitem(solve.__globals__, "TUNING", tuning)
    found = solve(problem, tol=0.0, method="exact")
    methods = [stage.method for stage in found.stages]
    assert methods[:3] == ["descent", "flows", "descent"]
    assert sum(stage.iterations for stage in found.stages) == found.iterations
    assert np.abs(found.p).max() <= 1.0
    assert found.status == "optimal"
    assert found.preconditioner == ("chains" if kind == "grid" else "none")
    np.testing.assert_allclose(found.u, expected.u, rtol=0, atol=1e-10)
