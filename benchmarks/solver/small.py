"""Microseconds per call on small problems, where Python takes longer than the core.

    python benchmarks/solver/small.py [--quick]

Each figure is the best of several runs, in processor time of one thread. A batch is a signal of
shape (n, C): C signals on one graph in one call.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from graphtv import Graph, Problem, SquaredLoss, grid_graph, knn_graph, solve, tv_chain


def microseconds(call: Callable[[], object], repetitions: int, runs: int) -> float:
    """Return the processor time of a call."""
    best = np.inf
    for _ in range(runs):
        start = time.process_time()
        for _ in range(repetitions):
            call()
        best = min(best, time.process_time() - start)
    return 1e6 * best / repetitions


def chains(runs: int) -> None:
    """Compare `solve` on a chain with `tv_chain`."""
    print(f"{'chain':<12} {'tv_chain':>10} {'solve':>10} {'ratio':>7}")
    rng = np.random.default_rng(0)
    for n in (100, 1000, 10_000, 100_000):
        f = 0.1 * rng.normal(size=n).cumsum() + rng.normal(size=n)
        problem = Problem(grid_graph((n,)), SquaredLoss(f))
        repetitions = max(1, 10_000 // n)
        direct = microseconds(lambda f=f: tv_chain(f, 1.0, n_threads=1), repetitions, runs)
        solved = microseconds(lambda p=problem: solve(p, n_threads=1), repetitions, runs)
        print(f"{n:<12} {direct:10.1f} {solved:10.1f} {solved / direct:7.1f}", flush=True)


def batches(runs: int, sizes: tuple[int, ...]) -> None:
    """Solve several signals on one graph in one call, and print the time of one signal."""
    rng = np.random.default_rng(1)
    graphs: dict[str, Graph] = {
        "chain 100": grid_graph((100,), 0.5),
        "grid 10²": grid_graph((10, 10), 0.1),
        "grid 32²": grid_graph((32, 32), 0.1),
        "kNN 100": knn_graph(rng.random((100, 2)), 6),
    }
    print(f"\n{'per signal':<12}", *(f"{f'C = {size}':>10}" for size in sizes))
    for name, graph in graphs.items():
        times = []
        for size in sizes:
            problem = Problem(graph, SquaredLoss(rng.normal(size=(graph.n_vertices, size))))
            repetitions = max(1, 50 // size)
            took = microseconds(lambda p=problem: solve(p, n_threads=1), repetitions, runs)
            times.append(took / size)
        print(f"{name:<12}", *(f"{took:10.1f}" for took in times), flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one run of each, and small batches")
    given = parser.parse_args(arguments)
    chains(1 if given.quick else 7)
    batches(1 if given.quick else 5, (1, 10) if given.quick else (1, 100, 1000))


if __name__ == "__main__":
    main()
