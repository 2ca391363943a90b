"""The time of `fused_lasso_path` with 50 λ, relative to 50 separate solutions for the same λ.

The path includes λ_max, degrees of freedom and criteria. Processor time, best of three, in turns.

    python benchmarks/fused_lasso_path.py
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from graphtv import Graph, fused_lasso, fused_lasso_path, gallery, grid_graph, knn_graph

Array = np.ndarray


def problems() -> Iterator[tuple[str, Graph, Array]]:
    """Return graphs with noisy signals on them."""
    rng = np.random.default_rng(0)
    steps = np.add.outer(np.arange(100) // 25, np.arange(100) // 34)
    noisy = (steps + 0.5 * rng.normal(size=steps.shape)).ravel()
    yield "grid, 100 × 100", grid_graph(steps.shape), noisy
    points = rng.random((4000, 2))
    halves = (points[:, 0] > 0.5) + 0.3 * rng.normal(size=4000)
    yield "neighbours, 4,000", knn_graph(points), halves
    chain = (np.arange(20_000) // 2500) % 3 + 0.5 * rng.normal(size=20_000)
    yield "chain, 20,000", grid_graph((20_000,)), chain
    yield "tree, 10,000", gallery.random_tree(10_000, 0), rng.normal(size=10_000)


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> None:
    print("problem              path      50 solutions   ratio")
    for name, graph, signal in problems():
        lambdas = fused_lasso_path(graph, signal, n_threads=1).lambdas.tolist()

        def path() -> None:
            fused_lasso_path(graph, signal, n_threads=1)  # noqa: B023

        def alone() -> None:
            for lam in lambdas:  # noqa: B023
                fused_lasso(graph, signal, lam, tol=0, n_threads=1)  # noqa: B023

        pairs = [(seconds(path), seconds(alone)) for _ in range(3)]
        whole, separate = (min(times) for times in zip(*pairs, strict=True))
        print(f"{name:18} {whole:6.3f} s {separate:12.3f} s {separate / whole:9.2f}", flush=True)


if __name__ == "__main__":
    main()
