"""Smooth losses on graphs in parts: the same optimum and the same certificate as in memory."""

from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import (
    AbsoluteLoss,
    Graph,
    HuberLoss,
    HuberTV,
    LogisticLoss,
    PartitionedGraph,
    PoissonLoss,
    Problem,
    TotalVariation,
    fused_lasso,
    grid_graph,
    knn_graph,
    solve,
)
from graphtv.scale.loss import Loss, TiltedLoss
from graphtv.terms._arrays import to_core

LOSSES = ("huber", "logistic", "poisson")


def make_loss(name: str, n: int, rng: Any, missing: float) -> Any:
    known = rng.random(n) >= missing
    known[: min(n, 2)] = True
    c = np.where(known, 0.2 + rng.random(n), 0.0)
    if name == "huber":
        return HuberLoss(rng.normal(size=n), 0.3, c)
    if name == "poisson":
        return PoissonLoss(rng.poisson(2.0, n).astype(float), c)
    labels = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    labels[:2] = (1.0, -1.0)[: min(n, 2)]
    return LogisticLoss(np.where(known, labels, 0.0), c)


@settings(max_examples=12, deadline=None)
@given(
    name=st.sampled_from(LOSSES),
    n=st.integers(2, 20),
    n_parts=st.integers(1, 5),
    seed=st.integers(0, 999),
    weight=st.sampled_from([0.05, 0.5, 3.0]),
    missing=st.sampled_from([0.0, 0.3]),
    delta=st.sampled_from([0.0, 0.2]),
)
def test_certificates_of_any_partition(
    name: str, n: int, n_parts: int, seed: int, weight: float, missing: float, delta: float
) -> None:
    rng = np.random.default_rng(seed)
    path = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    edges = np.concatenate([path, rng.integers(0, n, (2 * n, 2))])
    graph = Graph(n, edges, weight * (0.1 + rng.random(len(edges))))
    data = make_loss(name, n, rng, missing)
    penalty = HuberTV(delta) if delta else TotalVariation()
    parts = PartitionedGraph(graph, rng.integers(0, n_parts, n))
    with dask.config.set(scheduler="sync"):
        found = solve(Problem(parts, data, penalty), tol=1e-3, max_iterations=4)
    problem = Problem(graph, data, penalty)
    proof = problem.objective.prove(to_core(found.u), to_core(found.p))
    slack = found.rounding + proof.rounding
    assert found.primal == pytest.approx(proof.primal, rel=1e-9, abs=slack)
    assert found.gap == pytest.approx(proof.gap, rel=1e-6, abs=slack)
    expected = solve(problem, tol=1e-9)
    assert found.dual <= expected.primal + slack + expected.rounding
    assert expected.dual <= found.primal + slack + expected.rounding
    if found.status == "optimal":
        assert proof.gap <= 1e-3 * max(abs(proof.primal), abs(proof.dual)) + slack


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_optimum_is_that_in_memory(name: str, missing: float) -> None:
    rng, n = np.random.default_rng(1), 400
    points = rng.random((n, 2))
    graph = knn_graph(points, 5)
    graph = Graph(n, graph.edges, 0.2 * graph.weights)
    data = make_loss(name, n, rng, missing)
    with dask.config.set(scheduler="sync"):
        found = solve(Problem(PartitionedGraph(graph, 3, points=points), data), tol=1e-4)
    assert found.status == "optimal"
    assert found.primal == pytest.approx(solve(Problem(graph, data)).primal, rel=2e-4)


@pytest.mark.parametrize("name", LOSSES)
def test_tilted_terms_are_consistent(name: str) -> None:
    """Value, conjugate, proximal map, derivative and minimiser of a window's term agree."""
    rng, n = np.random.default_rng(4), 12
    data = make_loss(name, n, rng, 0.2)
    kind = Loss.of(data)
    assert kind is not None
    kind = kind._replace(lower=0.0 if name == "poisson" else -4.0, upper=6.0)
    rho = np.where(rng.random(n) < 0.5, 0.0, rng.random(n))
    c = np.array(data.weights)
    term = TiltedLoss(kind, data.data, c, 0.3 * rng.normal(size=n), rho, rng.normal(size=n))
    grid, s = np.linspace(kind.lower + 1e-9, kind.upper, 4001), 0.2 * rng.normal(size=n)
    values = np.array([[_entry(term, i, u, n) for u in grid] for i in range(n)])
    best = np.max(s[:, None] * grid - values, axis=1).sum() - term.value(np.ones(n))
    assert term.conjugate(s) == pytest.approx(best, abs=2e-3)
    v, step = rng.normal(size=n), 0.7
    near = term.prox(v, step)
    cost = values + (grid - v[:, None]) ** 2 / (2 * step)
    np.testing.assert_allclose(near, grid[cost.argmin(axis=1)], atol=4e-3)
    core: Any = term._core_term
    m = core.minimizer(np.arange(n, dtype=np.int32), 0, 0.1)
    assert m == pytest.approx(grid[(values.sum(axis=0) + 0.1 * grid).argmin()], abs=4e-3)
    u, h = 2.0, 1e-5
    for i in range(n):
        rise = (_entry(term, i, u + h, n) - _entry(term, i, u - h, n)) / (2 * h)
        assert core.derivative(i, u) == pytest.approx(rise, abs=1e-6)


def _entry(term: Any, i: int, u: float, n: int) -> float:
    """Return the summand of one entry, up to a constant of the others."""
    at, base = np.full(n, 1.0), np.full(n, 1.0)
    at[i] = u
    return float(term.value(at) - term.value(base))


def test_channels_checkpoint_and_large_offsets(tmp_path: Path) -> None:
    rng, graph = np.random.default_rng(0), grid_graph((6, 5))
    signal = 1e4 + np.stack([rng.normal(size=30), rng.normal(size=30)], axis=1)
    parts = PartitionedGraph(graph, 3)
    args: Any = {"lam": 0.3, "loss": "huber", "delta": 0.5}
    first = fused_lasso(parts, signal, **args, max_iterations=1, checkpoint=tmp_path, tol=1e-12)
    assert first.status == "iteration_limit"
    found = fused_lasso(parts, signal, **args, tol=1e-4, checkpoint=tmp_path)
    expected = fused_lasso(graph, signal, **args, tol=1e-8)
    assert found.status == "optimal"
    assert found.error_bound is None
    assert found.primal == pytest.approx(expected.primal, rel=3e-4)
    with pytest.raises(ValueError, match="same problem"):
        fused_lasso(parts, signal, lam=0.3, checkpoint=tmp_path)


def test_errors() -> None:
    graph = grid_graph((4, 4))
    parts = PartitionedGraph(graph, 2)
    with pytest.raises(ValueError, match="SquaredLoss, HuberLoss, LogisticLoss or PoissonLoss"):
        Problem(parts, AbsoluteLoss(np.zeros(16)))
    with pytest.raises(ValueError, match="all labels of a connected component are 1"):
        solve(Problem(parts, LogisticLoss(np.ones(16))))
