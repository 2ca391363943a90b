"""Exact TV on trees: time per vertex on spanning trees and on trees that are hard.

The table shows nanoseconds per vertex on one thread for one proximal step (gather, solve, scatter),
the best of several turns, for low, medium and high weights. For hard trees, it also shows the ratio
to the median of the spanning trees of the same run. `build` is the time to lay out the forest,
once. No peer runs yet: treelas (https://github.com/EQt/treelas) solves trees, but has to be built
from source.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csgraph

from graphtv import Graph, _core, decompose, gallery, grid_graph, knn_graph
from graphtv._validate import Floats, Indices
from races.race import race
from races.tables import Table

WEIGHTS = (0.1, 1.0, 10.0)
SPANNING = ("breadth", "depth", "max weight")


def spanning_tree(graph: Graph, kind: str) -> Indices:
    """Return the edges of a spanning forest."""
    tree: Indices
    if kind == "max weight":
        tree = graph.edges[decompose(graph, "nested").labels == 0]
        return tree
    search = csgraph.breadth_first_order if kind == "breadth" else csgraph.depth_first_order
    order, parent = search(graph.to_sparse(), 0, directed=False)
    tree = np.column_stack([order[1:], parent[order[1:]]]).astype(np.int32)
    return tree


def heavy_spine(n: int) -> tuple[Indices, Floats, Floats]:
    """Return a caterpillar whose spine clips no message, so that all knots travel to the root."""
    graph = gallery.caterpillar_graph(n // 2, 1)
    degree = np.bincount(graph.edges.ravel(), minlength=graph.n_vertices)
    is_leg = (degree[graph.edges] == 1).any(axis=1)
    rng = np.random.default_rng(0)
    weights = np.where(is_leg, rng.random(graph.n_edges), 1e7)
    return graph.edges, weights, 1000 * rng.standard_normal(graph.n_vertices)


def measure_trees(*, quick: bool, tell: Callable[[str], None]) -> list[dict[str, Any]]:
    """Return a row of nanoseconds per tree."""
    side = 50 if quick else 1000
    n = side * side
    rng = np.random.default_rng(0)
    graphs = {
        "grid": grid_graph((side, side)),
        "kNN": knn_graph(rng.random((n, 2)), n_neighbors=6),
        "random": gallery.erdos_renyi_graph(n, 3 * n, rng=0),
    }
    signal = rng.standard_normal(n)
    trees = {
        f"{name}, {kind}": spanning_tree(graph, kind)
        for name, graph in graphs.items()
        for kind in SPANNING
    }
    hard = {
        "path": gallery.path_graph(n).edges,
        "star": gallery.star_graph(n).edges,
        "caterpillar": gallery.caterpillar_graph(n // 2, 1).edges,
        "broom": gallery.broom_graph(n // 2, n // 2).edges,
    }
    rows = []
    for name, edges in (trees | hard).items():
        tell(name)
        variants = [np.full(len(edges), weight) for weight in WEIGHTS]
        rows.append(measure(name, name in hard, edges, variants, signal, quick))
    edges, weights, f = heavy_spine(n)
    rows.append(measure("heavy spine", True, edges, [weights], f, quick))
    typical = float(np.median([np.median(row["cost"]) for row in rows if not row["hard"]]))
    for row in rows:
        row["ratio"] = max(row["cost"]) / typical
    return rows


def measure(
    name: str, hard: bool, edges: Indices, variants: list[Floats], f: Floats, quick: bool
) -> dict[str, Any]:
    """Return the nanoseconds of one tree, for several weights."""
    cost, build, n = [], 0.0, len(f)
    for weights in variants:
        start = time.process_time()
        forest = _core.ForestTV(n, np.ascontiguousarray(edges), weights, 0.0, np.empty(0))
        build = (time.process_time() - start) * 1e9 / n
        cost.append(step(forest, f, turns=2 if quick else 5))
    return {"tree": name, "hard": hard, "vertices": n, "build": build, "cost": cost}


def step(forest: _core.ForestTV, f: Floats, turns: int) -> float:
    """Return the nanoseconds per vertex of a proximal step."""
    out = np.empty(len(f))
    run = {"step": lambda: forest.solve(f, out, warm=False, n_threads=1)}
    return race(run, turns=turns)["step"] * 1e9 / len(f)


def tree_table(rows: list[dict[str, Any]]) -> Table:
    """Return nanoseconds per vertex, and the ratio of the hard trees to the others."""
    n = rows[0]["vertices"]
    table = Table(
        f"Exact total variation on trees of {n:,} vertices, nanoseconds per vertex",
        ["tree", "build", *(f"weight {weight:g}" for weight in WEIGHTS), "over the median"],
    )
    for row in rows:
        cost = [f"{ns:.0f}" for ns in row["cost"]] + ["–"] * (len(WEIGHTS) - len(row["cost"]))
        cells = [row["tree"], f"{row['build']:.0f}", *cost, f"{row['ratio']:.1f}×"]
        table.rows.append(cells)
    return table
