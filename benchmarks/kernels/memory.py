"""Bytes per vertex and per edge of the core's data structures (Linux).

    python benchmarks/kernels/memory.py

Measures the memory that the proximal step of a forest holds (chains, trees, Huber), and the peak
memory of building and decomposing a graph. Each measurement runs in a separate process.
"""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from graphtv import Graph, _core, decompose, gallery
from process_memory import in_child, peak, reset_peak


def forest_bytes(n: int) -> None:
    path, tree = gallery.path_graph(n), gallery.random_tree(n, rng=0)
    rows = Graph(n, path.edges[(np.arange(n - 1) + 1) % 1000 != 0])
    f, out = np.random.default_rng(0).standard_normal(n), np.empty(n)
    for name, graph, delta in (
        ("chains of 1000", rows, 0.0),
        ("one chain", path, 0.0),
        ("tree", tree, 0.0),
        ("Huber tree", tree, 0.1),
    ):
        forest = _core.ForestTV(n, graph.edges, graph.weights, delta)
        forest.solve(f, out, warm=False, n_threads=1)
        print(f"{name:>24}: {forest.n_bytes / n:6.1f} bytes per vertex, with its workspace")


def build_graph(n: int, m: int, queue: multiprocessing.Queue) -> None:
    edges = np.random.default_rng(0).integers(0, n, (m, 2), dtype=np.int32)
    before = reset_peak()
    graph = Graph(n, edges, 1.0)
    queue.put((peak() - before) / graph.n_edges)


def partition(method: str, n: int, m: int, queue: multiprocessing.Queue) -> None:
    graph = gallery.erdos_renyi_graph(n, m, rng=0)
    before = reset_peak()
    decompose(graph, method)
    queue.put((peak() - before) / m)


def main() -> None:
    n, m = 1_000_000, 3_000_000
    forest_bytes(n)
    print(f"{'Graph, held':>24}: {16:6.1f} bytes per edge")
    print(f"{'Graph, peak of building':>24}: {in_child(build_graph, n, m):6.1f} bytes per edge")
    for method, edges in (("linear", m), ("nested", m), ("matroid", m // 30)):
        vertices = edges // 3
        used = in_child(partition, method, vertices, edges)
        print(f"{'decompose, ' + method:>24}: {used:6.1f} bytes per edge at the peak")


if __name__ == "__main__":
    main()
