"""Graphs in parts: the same optimum as in memory, for any graph, partition and data."""

import itertools
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphtv import (
    AbsoluteLoss,
    CoupledTV,
    Graph,
    HuberTV,
    PartitionedGraph,
    Problem,
    SquaredLoss,
    fused_lasso,
    gallery,
    grid_graph,
    knn_graph,
    solve,
)
from reliability import exact

TOLERANCE = 1e-7


def random_graph(n: int, m: int, seed: int) -> Graph:
    """Return a graph that may be disconnected and have isolated vertices."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, n, (m, 2)) if n else np.empty((0, 2), dtype=int)
    return Graph(n, edges, rng.random(len(edges)) ** 3 + 1e-3)


def confirm(result: Any, problem: Problem) -> None:
    """Check the certificate in fractions, from the points in the order of the whole graph."""
    p = np.clip(result.p, -1.0, 1.0)
    np.testing.assert_array_equal(p, result.p)
    true = exact.objectives(problem, result.u, result.p)
    assert abs(exact.Fraction(result.primal) - true.primal) <= result.rounding
    assert abs(exact.Fraction(result.dual) - true.dual) <= result.rounding
    if result.status == "optimal":
        tolerance = exact.Fraction(result.tolerance) or exact.EXACT_GAP
        assert true.gap <= tolerance * true.scale


@pytest.mark.slow
@settings(max_examples=25)
@given(
    n=st.integers(1, 40),
    m=st.integers(0, 120),
    n_parts=st.integers(1, 7),
    seed=st.integers(0, 999),
    weight=st.sampled_from([0.05, 0.5, 5.0]),
    is_contiguous=st.booleans(),
)
@example(n=5, m=0, n_parts=3, seed=0, weight=1.0, is_contiguous=False)
@example(n=1, m=1, n_parts=1, seed=0, weight=1.0, is_contiguous=True)
def test_any_graph_and_any_partition(
    n: int, m: int, n_parts: int, seed: int, weight: float, is_contiguous: bool
) -> None:
    """Parts may be empty, disconnected, and have isolated vertices."""
    graph, rng = random_graph(n, m, seed), np.random.default_rng(seed)
    labels = rng.integers(0, n_parts, n)
    labels = np.sort(labels) if is_contiguous else labels
    parts, signal = PartitionedGraph(graph, labels), rng.normal(size=n)
    assert (parts.n_vertices, parts.n_edges) == (n, graph.n_edges)
    with dask.config.set(scheduler="sync"):
        result = fused_lasso(parts, signal, lam=weight, tol=TOLERANCE)
    assert result.status == "optimal"
    problem = Problem(Graph(n, graph.edges, weight * graph.weights), SquaredLoss(signal))
    confirm(result, problem)
    expected = solve(problem, tol=1e-10)
    slack = 1e-12 * expected.primal
    assert result.dual <= expected.primal + slack
    assert expected.dual <= result.primal + slack


def families() -> dict[str, tuple[Graph, np.ndarray]]:
    rng = np.random.default_rng(3)
    points = rng.random((600, 3))
    star = Graph(300, [[0, k] for k in range(1, 300)])
    hubs = rng.integers(0, 8, 600)
    power = Graph(400, np.stack([np.arange(600) % 400, hubs], axis=1), 0.2)
    return {
        "knn": (knn_graph(points, 8), (points[:, 0] > 0.5) + rng.normal(0, 0.3, 600)),
        "grid": (grid_graph((20, 30)), rng.normal(size=600)),
        "star": (star, rng.normal(size=300)),
        "power-law": (power, rng.normal(size=400)),
        "tree": (gallery.random_tree(500, 0), rng.normal(size=500)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", families())
@pytest.mark.parametrize("weight", [0.1, 2.0])
def test_families(name: str, weight: float) -> None:
    graph, signal = families()[name]
    result = fused_lasso(PartitionedGraph(graph, 5), signal, lam=weight, tol=TOLERANCE)
    assert result.status == "optimal"
    problem = Problem(
        Graph(graph.n_vertices, graph.edges, weight * graph.weights), SquaredLoss(signal)
    )
    confirm(result, problem)
    assert result.primal == pytest.approx(solve(problem, tol=1e-10).primal, rel=2 * TOLERANCE)


@pytest.fixture
def cloud() -> tuple[Graph, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    points = rng.random((900, 2))
    signal = np.where(np.sin(7 * points).sum(axis=1) > 0.8, 1.0, 0.0) + rng.normal(0, 0.3, 900)
    return knn_graph(points, 6), signal, points


@pytest.mark.slow
def test_exact(cloud: Any) -> None:
    graph, signal, points = cloud
    result = fused_lasso(PartitionedGraph(graph, 6, points=points), signal, lam=0.5, tol=0)
    assert (result.status, result.tolerance) == ("optimal", 0.0)
    assert result.relative_gap <= 1e-12
    expected = fused_lasso(graph, signal, lam=0.5, tol=0)
    np.testing.assert_allclose(result.u, expected.u, atol=1e-6)
    assert np.linalg.norm(result.u - expected.u) <= result.error_bound + expected.error_bound


def test_channels_weights_and_missing_data(cloud: Any) -> None:
    graph, signal, points = cloud
    rng = np.random.default_rng(1)
    values = np.stack([signal, 1e3 + 2.0 * signal[::-1]], axis=1)
    c = rng.random(values.shape)
    values[rng.random(values.shape) < 0.2] = np.nan
    c[:80] = 0.0
    parts = PartitionedGraph(graph, 4, points=points)
    result = fused_lasso(parts, values, lam=0.3, vertex_weights=c, tol=TOLERANCE)
    expected = fused_lasso(graph, values, lam=0.3, vertex_weights=c, tol=1e-9)
    assert result.status == "optimal"
    assert result.u.shape == values.shape
    assert result.p.shape == (graph.n_edges, 2)
    assert result.dual <= expected.primal
    assert expected.dual <= result.primal
    assert result.primal == pytest.approx(expected.primal, rel=2 * TOLERANCE)


def test_solve_and_huber(cloud: Any) -> None:
    graph, signal, points = cloud
    parts = PartitionedGraph(graph, 4, points=points)
    penalty = HuberTV(0.2)
    result = solve(Problem(parts, SquaredLoss(signal), penalty), tol=TOLERANCE)
    whole = Problem(graph, SquaredLoss(signal), penalty)
    assert result.status == "optimal"
    confirm(result, whole)
    assert result.primal == pytest.approx(solve(whole, tol=1e-9).primal, rel=2 * TOLERANCE)
    assert "PartitionedProblem" in repr(Problem(parts, SquaredLoss(signal)))


@pytest.mark.slow
def test_schedulers_give_the_same_bits(cloud: Any) -> None:
    graph, signal, points = cloud
    parts = PartitionedGraph(graph, 5, points=points)
    with dask.config.set(scheduler="sync"):
        one = fused_lasso(parts, signal, lam=1.0)
    other = fused_lasso(parts, signal, lam=1.0, n_threads=2)
    np.testing.assert_array_equal(one.u, other.u)
    np.testing.assert_array_equal(one.p, other.p)
    assert (one.primal, one.dual, one.iterations) == (other.primal, other.dual, other.iterations)


@pytest.mark.slow
def test_limits_and_progress(cloud: Any, capsys: pytest.CaptureFixture[str]) -> None:
    graph, signal, points = cloud
    parts = PartitionedGraph(graph, 5, points=points)
    seen: list[Any] = []
    result = fused_lasso(parts, signal, lam=2.0, tol=0, callback=seen.append, verbose=True)
    assert [record.iteration for record in seen] == list(range(1, len(seen) + 1))
    assert "5 parts" in capsys.readouterr().out
    assert "5 parts" in repr(result)
    assert result.bytes_per_round > 0
    one = fused_lasso(parts, signal, lam=2.0, tol=0, max_iterations=1)
    assert (one.status, one.iterations) == ("iteration_limit", 1)
    assert fused_lasso(parts, signal, lam=2.0, tol=0, stop=lambda: True).status == "interrupted"
    late = fused_lasso(parts, signal, lam=2.0, tol=0, time_limit=0.0)
    assert late.status == "time_limit"
    assert late.primal >= late.dual


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [1, 3])
def test_a_stopped_run_goes_on(cloud: Any, tmp_path: Path, rounds: int) -> None:
    graph, signal, points = cloud
    parts, options = PartitionedGraph(graph, 5, points=points), {"lam": 3.0, "tol": 1e-10}
    whole = fused_lasso(parts, signal, **options)
    assert whole.iterations > rounds
    fused_lasso(parts, signal, checkpoint=tmp_path, max_iterations=rounds, **options)
    result = fused_lasso(parts, signal, checkpoint=tmp_path, **options)
    np.testing.assert_array_equal(result.u, whole.u)
    np.testing.assert_array_equal(result.p, whole.p)
    assert result.iterations == whole.iterations
    with pytest.raises(ValueError, match="checkpoint must be of the same problem"):
        fused_lasso(parts, signal + 1e-9, checkpoint=tmp_path, **options)
    with pytest.raises(ValueError, match="checkpoint must be of the same problem"):
        fused_lasso(PartitionedGraph(graph, 4), signal, checkpoint=tmp_path, **options)


def test_points_are_in_the_order_of_the_graph() -> None:
    """A cycle with one heavy jump, whose parts are interleaved."""
    graph = Graph(6, [[1, 0], [1, 2], [3, 2], [3, 4], [5, 4], [5, 0]])
    signal = np.array([0.0, 0.0, 0.0, 6.0, 6.0, 6.0])
    labels = [0, 1, 0, 1, 2, 0]
    result = fused_lasso(PartitionedGraph(graph, labels), signal, lam=0.5, tol=0)
    expected = fused_lasso(graph, signal, lam=0.5, tol=0)
    np.testing.assert_allclose(result.u, expected.u, atol=1e-9)
    np.testing.assert_allclose(graph.gradient().T @ result.p * 0.5, signal - result.u, atol=1e-9)


def test_attributes() -> None:
    graph = grid_graph((4, 6))
    parts = PartitionedGraph(graph, np.arange(24) % 6 // 2)
    assert (parts.n_parts, parts.sizes, parts.n_across) == (3, (8, 8, 8), 8)
    assert [parts.neighbours(k) for k in range(3)] == [(1,), (0, 2), (1,)]
    assert parts.crossing_counts == {(0, 1): 4, (1, 2): 4}
    assert "24 vertices in 3 parts, 38 edges, 8 of them across" in repr(parts)
    assert PartitionedGraph(graph).n_parts == 1
    for a, b in itertools.pairwise(PartitionedGraph(graph, 5).sizes):
        assert abs(a - b) <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"graph": [[0, 1]]}, "graph must be"),
        ({"parts": 0}, "parts"),
        ({"parts": [0, 1]}, "parts"),
        ({"parts": np.full(24, 0.5)}, "parts"),
        ({"parts": np.full(24, -1)}, "parts must be numbered from 0, got -1"),
        ({"parts": np.full(24, 10**6)}, "parts"),
        ({"parts": 2, "method": "best"}, "method"),
        ({"parts": 2, "method": "points"}, "points"),
        ({"parts": 2, "points": np.ones((3, 2))}, "points"),
    ],
)
def test_errors_name_the_argument(arguments: dict[str, Any], message: str) -> None:
    given = {"graph": grid_graph((4, 6)), **arguments}
    with pytest.raises(ValueError, match=message):
        PartitionedGraph(**given)


def test_errors_of_problems() -> None:
    parts, signal = PartitionedGraph(grid_graph((4, 6)), 2), np.zeros(24)
    with pytest.raises(ValueError, match="data must be a SquaredLoss"):
        Problem(parts, AbsoluteLoss(signal))
    with pytest.raises(ValueError, match="data must have one row for each of the 24 vertices"):
        Problem(parts, SquaredLoss(np.zeros(23)))
    with pytest.raises(ValueError, match="penalty must be"):
        Problem(parts, SquaredLoss(signal), CoupledTV())
    with pytest.raises(ValueError, match="coupled"):
        fused_lasso(parts, signal, coupled=True)
    with pytest.raises(ValueError, match="sparsity"):
        fused_lasso(parts, signal, sparsity=1.0)
    with pytest.raises(ValueError, match="signal must have a known entry"):
        fused_lasso(parts, signal, vertex_weights=0.0)
    with pytest.raises(ValueError, match="signal"):
        fused_lasso(parts, np.full(24, np.nan))
    with pytest.raises(ValueError, match="method"):
        solve(Problem(parts, SquaredLoss(signal)), method="pdhg")
