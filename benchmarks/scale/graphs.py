"""Graphs in parts compared with memory: rounds, processor time and bytes, and memory per edge."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from graphtv import Graph, PartitionedGraph, fused_lasso, knn_graph
from process_memory import peak, reset_peak
from scale.turns import header, race, row

TOLERANCES = 1e-3, 1e-6


def families(n: int, rng: Any) -> Iterator[tuple[str, Graph, Any, Any]]:
    """Yield a name, a graph, a signal of few pieces with noise, and positions or None."""
    from scipy.spatial import Delaunay

    points = rng.random((n, 3))
    yield "kNN in space, k = 10", knn_graph(points, 10), _steps(points, rng), points
    points = rng.random((n, 2))
    corners = Delaunay(points).simplices
    pairs = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]]))
    edges = np.unique(pairs, axis=0)
    length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    weights = np.exp(-length / length.mean())
    yield "Delaunay", Graph(n, edges, weights), _steps(points, rng), points
    kept = rng.random(len(edges)) < 0.45
    yield "road-like", Graph(n, edges[kept], weights[kept]), _steps(points, rng), points
    late = np.repeat(np.arange(3, n), 3)
    early = (rng.random(len(late)) ** 2 * late).astype(np.int64)
    graph = Graph(n, np.stack([late, early], axis=1), 0.3)
    yield "power-law", graph, rng.normal(size=n), None


def _steps(points: Any, rng: Any) -> Any:
    is_inside = np.sin(6.0 * points).sum(axis=1) > 0.4 * points.shape[1]
    return is_inside + rng.normal(0.0, 0.3, len(points))


def against_memory(quick: bool) -> None:
    """Print rounds, processor time over that in memory, and bytes, by number of parts."""
    n, counts, weights = (2000, (4,), (0.1,)) if quick else (100_000, (4, 16, 64), (0.1, 1.0))
    header(
        f"Graphs of {n} vertices in parts, times over those in memory",
        "graph", "λ", "tol", "parts", "edges across", "rounds", "processor time",
        "bytes per round and edge",
    )  # fmt: skip
    for name, graph, signal, points in families(n, np.random.default_rng(0)):
        parts = {count: PartitionedGraph(graph, count, points=points) for count in counts}
        for weight in weights:
            for tol in TOLERANCES:
                _compare(name, graph, parts, signal, weight, tol)


def _compare(
    name: str, graph: Graph, parts: dict[int, Any], signal: Any, weight: float, tol: float
) -> None:
    solve = functools.partial(fused_lasso, signal=signal, lam=weight, tol=tol, n_threads=1)
    contestants = {"memory": functools.partial(solve, graph)}
    contestants |= {str(count): functools.partial(solve, part) for count, part in parts.items()}
    with dask.config.set(scheduler="sync"):
        best = race(contestants, 1)
    for count, part in parts.items():
        found = best[str(count)]
        result = found.outcome
        row(
            name, weight, f"{tol:g}", count, f"{part.n_across / part.n_edges:.1%}",
            f"{result.iterations}{'' if result.status == 'optimal' else ', ' + result.status}",
            f"{found.processor / best['memory'].processor:.2f}",
            f"{result.bytes_per_round / part.n_edges:.0f}",
        )  # fmt: skip


def on_one_machine(quick: bool, n_edges: tuple[int, ...] = (1_000_000, 4_000_000)) -> None:
    """Print the peak memory of random graphs with five edges per vertex, solved to 1e-3.

    With 24 GiB, `on_one_machine(False, (300_000_000,))` measures the largest one.
    """
    header(
        "Memory of a graph on one machine, to 1e-3", "vertices", "edges",
        "peak in bytes per edge", "promised",
    )  # fmt: skip
    for m in (20_000,) if quick else n_edges:
        n, rng = m // 5, np.random.default_rng(0)
        before = reset_peak()
        edges = rng.integers(0, n, (m, 2), dtype=np.int32)
        graph, signal = Graph(n, edges, 0.1), rng.normal(size=n)
        del edges
        fused_lasso(graph, signal, tol=1e-3, n_threads=1)
        used = (peak() - before) / graph.n_edges
        # Graph and signal, 12 doubles per vertex and 3 per edge, 2 more of each beyond 10⁶ edges.
        row(n, graph.n_edges, f"{used:.0f}", f"{16 + (8 + 14 * 8) / 5 + 5 * 8:.0f}")
