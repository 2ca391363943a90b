"""Forest decompositions: time, number of forests, and κ.

The script prints three tables: the greedy methods on a large random graph; the time of matroid
partitioning as the number of edges grows; and linear forests with the heaviest edges first compared
with the paper's procedure, on random graphs of the sizes of the paper's Table 1.

    python benchmarks/decompositions.py [--quick]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from graphtv import Graph, condition_number, decompose, grid_graph
from graphtv.gallery import erdos_renyi_graph, genrmf, star_graph

GREEDY = [
    ("linear", {"order": "weight"}),
    ("linear", {"order": "paper"}),
    ("nested", {"spanning": "maximum_weight"}),
    ("nested", {"spanning": "random"}),
    ("nested", {"spanning": "breadth_first"}),
    ("nested", {"spanning": "depth_first"}),
    ("auto", {}),
]


def with_random_weights(graph: Graph, seed: int = 0) -> Graph:
    return Graph(graph.n_vertices, graph.edges, np.random.default_rng(seed).random(graph.n_edges))


def greedy(quick: bool) -> None:
    n = 10**5 if quick else 10**6
    print(f"\nGreedy methods, random weights\n{'graph':28} {'method':24} {'L':>8} {'seconds':>9}")
    for name, graph in [
        (f"Erdős–Rényi {n} / {3 * n}", with_random_weights(erdos_renyi_graph(n, 3 * n))),
        (f"star {n}", star_graph(n)),
    ]:
        for method, options in GREEDY:
            partition = decompose(graph, method, **options)
            label = " ".join([method, *options.values()])
            print(f"{name:28} {label:24} {partition.n_forests:8} {partition.setup_time:9.3f}")


def matroid(quick: bool) -> None:
    print(f"\nMatroid partitioning\n{'graph':14} {'n':>8} {'m':>8} {'L':>4} {'l̂':>4}", end="")
    print(f" {'L greedy':>9} {'seconds':>9} {'µs per edge':>12}")
    sizes = [10**3, 10**4] if quick else [10**3, 10**4, 10**5]
    for name, make in {
        "Erdős–Rényi": lambda m: erdos_renyi_graph(m // 3, m),
        "grid 2D": lambda m: grid_graph([round((m / 2) ** (1 / 2))] * 2),
        "grid 3D": lambda m: grid_graph([round((m / 3) ** (1 / 3))] * 3),
        "genrmf wide": lambda m: genrmf(round((m / 22.75) ** (1 / 2)), 8).rof()[0],
        "dense m = n²/20": lambda m: erdos_renyi_graph(round((20 * m) ** (1 / 2)), m),
    }.items():
        for m in sizes:
            graph = make(m)
            if not name.startswith("genrmf"):
                graph = with_random_weights(graph)
            partition = decompose(graph, "matroid")
            nested = decompose(graph, "nested")
            seconds = partition.setup_time
            print(
                f"{name:14} {graph.n_vertices:8} {graph.n_edges:8} {partition.n_forests:4}", end=""
            )
            print(f" {partition.n_spanning:4} {nested.n_forests:9} {seconds:9.3f}", end="")
            print(f" {1e6 * seconds / graph.n_edges:12.2f}", flush=True)


def linear_orders(quick: bool) -> None:
    n, seeds = (128, 3) if quick else (512, 5)
    print(f"\nErdős–Rényi, {n} vertices, means over {seeds} seeds: forests (κ)")
    print(f"{'m / n':>6} {'linear, weight':>16} {'linear, paper':>16}", end="")
    print(f" {'nested':>16} {'matroid':>16}")
    for ratio in (1.5, 2, 3, 4, 8, 16, 32):
        cells = []
        for method, options in [GREEDY[0], GREEDY[1], GREEDY[2], ("matroid", {})]:
            partitions = [
                decompose(
                    with_random_weights(erdos_renyi_graph(n, int(ratio * n), rng=seed), seed),
                    method,
                    **options,
                )
                for seed in range(seeds)
            ]
            forests = np.mean([partition.n_forests for partition in partitions])
            kappa = np.mean([condition_number(p.graph, p) for p in partitions])
            cells.append(f"{forests:6.1f} ({kappa:7.3f})")
        print(f"{ratio:6} " + " ".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="smaller graphs")
    quick = parser.parse_args().quick
    start = time.perf_counter()
    greedy(quick)
    matroid(quick)
    linear_orders(quick)
    print(f"\n{time.perf_counter() - start:.1f} s in all")


if __name__ == "__main__":
    main()
