"""Exact TV on trees: time per vertex on spanning trees and on trees that are hard.

    python benchmarks/kernels/trees.py [--quick]

Nanoseconds per vertex on one thread for one proximal step (gather, solve, scatter), best of
several, for low, medium and high weights; the last column is the ratio to the median of the
spanning trees of the same run. `build` is the time to lay out the forest, once.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csgraph

sys.path.insert(0, str(Path(__file__).parents[1]))
from race import race

from graphtv import Graph, _core, decompose, gallery, grid_graph, knn_graph


def spanning_tree(graph: Graph, kind: str) -> np.ndarray:
    """Return the edges of a spanning forest."""
    if kind == "max weight":
        return graph.edges[decompose(graph, "nested").labels == 0]
    search = csgraph.breadth_first_order if kind == "breadth" else csgraph.depth_first_order
    order, parent = search(graph.to_sparse(), 0, directed=False)
    return np.column_stack([order[1:], parent[order[1:]]]).astype(np.int32)


def heavy_spine(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a caterpillar whose spine cuts no message: all knots travel to the root."""
    graph = gallery.caterpillar_graph(n // 2, 1)
    degree = np.bincount(graph.edges.ravel(), minlength=graph.n_vertices)
    is_leg = (degree[graph.edges] == 1).any(axis=1)
    rng = np.random.default_rng(0)
    weights = np.where(is_leg, rng.random(graph.n_edges), 1e7)
    return graph.edges, weights, 1000 * rng.standard_normal(graph.n_vertices)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="10⁴ vertices instead of 10⁶")
    arguments = parser.parse_args()
    side = 100 if arguments.quick else 1000
    n = side * side
    turns = 2 if arguments.quick else 5
    rng = np.random.default_rng(0)
    points = rng.random((n, 2))
    graphs = {
        "grid": grid_graph((side, side)),
        "kNN": knn_graph(points, n_neighbors=6),
        "random": gallery.erdos_renyi_graph(n, 3 * n, seed=0),
    }
    trees = {
        f"{name}, {kind}": spanning_tree(graph, kind)
        for name, graph in graphs.items()
        for kind in ("breadth", "depth", "max weight")
    }
    hard = {
        "path": gallery.path_graph(n).edges,
        "star": gallery.star_graph(n).edges,
        "caterpillar": gallery.caterpillar_graph(n // 2, 1).edges,
        "broom": gallery.broom_graph(n // 2, n // 2).edges,
    }
    weights = (0.1, 1.0, 10.0)
    print(
        f"{'tree':>20} {'build':>6} " + " ".join(f"{'w=' + str(w):>7}" for w in weights) + "   hard"
    )
    medians = []
    signals = {"noise": rng.standard_normal(n)}
    for name, edges in {**trees, **hard, "heavy spine": None}.items():
        if name == "heavy spine":
            edges, own, f = heavy_spine(n)
            variants = [own]
        else:
            f = signals["noise"]
            variants = [np.full(len(edges), w) for w in weights]
        row = []
        for w in variants:
            start = time.process_time()
            forest = _core.ForestTV(n, np.ascontiguousarray(edges), w, 0.0)
            build = (time.process_time() - start) * 1e9 / n
            out = np.empty(n)
            run = lambda: forest.solve(f, out, warm=False, n_threads=1)  # noqa: B023, E731
            row.append(race({"solve": run}, turns=turns)["solve"] * 1e9 / n)
        if name in trees:
            medians.append(np.median(row))
        note = "" if name in trees else f"   {max(row) / np.median(medians):.1f}×"
        print(f"{name:>20} {build:>6.0f} " + " ".join(f"{t:>7.1f}" for t in row) + note, flush=True)


if __name__ == "__main__":
    main()
