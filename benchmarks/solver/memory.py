"""Peak memory of a solve beyond its input, in doubles per vertex and per edge (Linux).

    python benchmarks/solver/memory.py [--quick]

Each solve runs in a separate process. The graph and the signal exist before the measurement starts,
and the result (one double per vertex and one per edge) is included in it. `allowed` is
12 doubles per vertex and 3 per edge. The last lines fit a doubles per vertex and b per edge to the
rows of each method.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

sys.path.insert(0, str(Path(__file__).parents[1]))
from graphtv import Graph, knn_graph
from graphtv.gallery import erdos_renyi_graph, piecewise_constant_image
from process_memory import in_child, peak, reset_peak
from races.iteration_cost import solve
from races.problems import Instance, grid

METHODS = {
    "descent": {"method": "descent", "tol": 1e-15, "max_iterations": 20},
    "auto 1e-6": {"tol": 1e-6},
    "auto 0": {"tol": 0.0},
}


def make_instance(kind: str, n: int) -> Instance:
    """Return a grid, a neighbour graph, or a random graph with this many edges per vertex."""
    if kind == "grid":
        side = round(n**0.5)
        return grid("grid", piecewise_constant_image((side, side))[0], 0.1)
    if kind == "volume":
        side = round(n ** (1 / 3))
        return grid("volume", piecewise_constant_image((side,) * 3)[0], 0.1)
    rng = np.random.default_rng(0)
    if kind == "knn":
        points = rng.uniform(size=(n, 2))
        steps = np.floor(4.0 * points[:, 0]) + np.floor(3.0 * points[:, 1])
        graph = knn_graph(points, 6)
        graph = Graph(n, graph.edges, 0.5 * graph.weights / graph.weights.mean())
        return Instance(kind, graph, steps + 0.5 * rng.standard_normal(n))
    density = int(kind.split()[-1])
    weights = rng.uniform(0.03, 0.3, density * n) * 3 / density
    graph = erdos_renyi_graph(n, density * n, 0, weights)
    return Instance(kind, graph, rng.standard_normal(n))


def used(kind: str, n: int, method: str, queue: multiprocessing.Queue) -> None:
    instance = make_instance(kind, n)
    solve(*small_problem(), **METHODS[method])  # memory that the first call loads
    before = reset_peak()
    result = solve(instance.graph, instance.signal, n_threads=1, **METHODS[method])
    doubles = (peak() - before) / 8
    queue.put((instance.graph.n_vertices, instance.graph.n_edges, doubles, result.status))


def small_problem():
    instance = make_instance("random 3", 100)
    return instance.graph, instance.signal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small graphs")
    arguments = parser.parse_args()
    print(f"{'graph':>10} {'method':>10} {'per vertex':>11} {'per edge':>9} {'of allowed':>11}")
    for method in METHODS:
        rows = []
        for kind in ("grid", "volume", "knn", "random 3", "random 10"):
            size = 20_000 if arguments.quick else 1_000_000 if kind != "random 10" else 300_000
            n, m, doubles, _ = in_child(used, kind, size, method)
            rows.append((n, m, doubles))
            print(
                f"{kind:>10} {method:>10} {doubles / n:>11.1f} {doubles / m:>9.1f}"
                f" {doubles / (12 * n + 3 * m):>11.2f}",
                flush=True,
            )
        n, m, doubles = np.array(rows).T
        # Relative errors, so that all graphs have equal weight.
        (a, b), _ = nnls(np.stack([n, m], axis=1) / doubles[:, None], np.ones(len(n)))
        print(f"{method}: about {a:.1f} doubles per vertex and {b:.1f} per edge")


if __name__ == "__main__":
    main()
