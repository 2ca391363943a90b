"""Iterations and time of PDHG: the paper's scheme, balanced and restarted weights, reconditioning.

    python benchmarks/solver/pdhg.py [--quick]

The script counts the iterations to relative gaps of 1e-4, 1e-6 and 1e-10. It also shows the time to
the last gap that was reached, relative to the paper's scheme on the same problem and partition
(squared loss) or to constant steps (absolute loss).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

from graphtv import Graph, _core, decompose, gallery, grid_graph, knn_graph

TOLERANCES = (1e-4, 1e-6, 1e-10)
SQUARED = {
    "paper, γ=1/4": ("accelerated", 0.25, False),
    "balanced": ("balanced", 0.0, False),
    "reconditioned": ("balanced", 0.0, True),
}
ABSOLUTE = {
    "constant": ("fixed", 0.0, False),
    "restarted": ("restarted", 0.0, False),
    "reconditioned": ("restarted", 0.0, True),
}


def problems(size: float) -> Iterator[tuple[str, Graph, np.ndarray, tuple[str, ...]]]:
    """Yield name, graph, signal and preconditioners."""
    rng = np.random.default_rng(0)
    side = max(8, int(128 * size))
    image, _ = gallery.piecewise_constant_image((side, side), rng=0)
    for weight in (0.1, 0.5):
        yield (
            f"grid {side}², {weight}",
            grid_graph((side, side), weight),
            image.ravel(),
            ("chains",),
        )
    n = max(50, int(5000 * size))
    points = rng.random((n, 2))
    graph = knn_graph(points, 6)
    signal = (points[:, 0] > 0.5) + (points[:, 1] > 0.3) + 0.3 * rng.standard_normal(n)
    yield f"kNN {n}", Graph(n, graph.edges, 0.5 * graph.weights), signal, ("linear", "nested")
    graph = gallery.erdos_renyi_graph(n, 3 * n, 0)
    weights = 0.3 * rng.uniform(0.1, 1.0, graph.n_edges)
    graph = Graph(n, graph.edges, weights)
    yield f"random {n}/{3 * n}", graph, rng.standard_normal(n), ("linear", "nested")


def measure(
    graph: Graph,
    data: _core.DataTerm,
    preconditioner: str,
    way: tuple[str, float, bool],
    limit: int,
) -> tuple[list[int | None], float]:
    """Return the iterations to each tolerance, and the time of all steps."""
    scheme, gamma, reconditions = way
    partition = decompose(graph, preconditioner)
    shape = (graph.n_vertices, graph.edges, graph.weights)
    forests = _core.Forests(*shape, partition.labels, partition.n_forests, 0.0, np.empty(0))
    steps = (0.0, 0.0, 0.0)  # chosen from the problem
    solver = _core.Pdhg(
        *shape,
        data,
        _core.EdgewisePenalty(0.0),
        forests,
        None,
        scheme,
        *steps,
        gamma,
        1,
        reconditions=reconditions,
    )
    watch = _core.Watch(np.inf)
    hits: list[int | None] = []
    seconds, primal, dual = 0.0, np.inf, -np.inf
    for iteration in range(1, limit + 1):
        start = time.perf_counter()
        solver.step(watch)
        seconds += time.perf_counter() - start
        values = solver.evaluate()
        primal, dual = min(primal, values[0]), max(dual, values[1])
        gap = (primal - dual) / max(abs(primal), abs(dual))
        while len(hits) < len(TOLERANCES) and gap <= TOLERANCES[len(hits)]:
            hits.append(iteration)
        if len(hits) == len(TOLERANCES):
            break
    return hits + [None] * (len(TOLERANCES) - len(hits)), seconds


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny problems, few iterations")
    quick = parser.parse_args(arguments).quick
    limit = 50 if quick else 2000
    for name, graph, signal, preconditioners in problems(0.1 if quick else 1.0):
        one = np.ones(1)
        losses = [("squared", _core.SquaredTerm(len(signal), 1, signal, one), SQUARED)]
        if graph.weights.max() * 4 > 1:  # otherwise the signal itself is optimal
            term = _core.QuantileTerm(len(signal), 1, signal, one, one)
            losses.append(("absolute", term, ABSOLUTE))
        for loss, data, ways in losses:
            for preconditioner in preconditioners:
                base = None
                for label, way in ways.items():
                    if way[2] and preconditioner == "chains":
                        continue
                    hits, seconds = measure(graph, data, preconditioner, way, limit)
                    base = base or seconds
                    counts = " / ".join("-" if hit is None else str(hit) for hit in hits)
                    row = f"{name:<18} {loss:<9} {preconditioner:<7} {label:<14}"
                    print(f"{row} {counts:>18}   time {seconds / base:5.2f}", flush=True)


if __name__ == "__main__":
    main()
