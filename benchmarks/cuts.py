"""Minimum cuts against solvers that find nothing else.

All start from the same arrays, and building their network counts. PyMaxflow (Boykov and Kolmogorov,
`pip install PyMaxflow`) and scipy's Dinic return a cut; graphtv's is proved in integers, too, and
with `tol=0` it is one of the whole family of nested cuts. The networks in the folder GRAPHTV_DATA
take part if it is there: stereo, two bisections, and DIMACS files.

    python benchmarks/cuts.py [--quick] [--only NAME …]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow, shortest_path

from graphtv import FlowNetwork, Graph, cut_path, gallery, grid_graph, min_cut, read_dimacs
from graphtv.applications.cuts.cut_problem import CutProblem
from races.race import race

try:
    import maxflow
except ImportError:
    maxflow = None

Runs = dict[str, Callable[[], int]]
INFINITE = 2**30


def directed(network: FlowNetwork) -> Runs:
    """Return the contestants for a directed network."""
    n, s, t = network.n_vertices, network.source, network.sink
    tails, heads = network.arcs.T
    capacities = network.capacities

    def by_pymaxflow() -> int:
        # An arc and the one back are one edge here: the same as graphtv does.
        problem = CutProblem.of_network(network)
        pairs = problem.graph.edges
        graph = maxflow.GraphInt(n, len(pairs))
        nodes = graph.add_nodes(n)
        graph.add_edges(*pairs.T, problem.forward, problem.backward)
        graph.add_grid_tedges(nodes, problem.source, problem.sink)
        return graph.maxflow() + problem.constant

    def by_scipy() -> int:
        matrix = sparse.csr_array((capacities.astype(np.int32), (tails, heads)), shape=(n, n))
        return int(maximum_flow(matrix, s, t).flow_value)

    return {
        "graphtv": lambda: network.min_cut(n_threads=1).value,
        "graphtv, with flow": lambda: network.min_cut(n_threads=1).flow.value,
        "graphtv, all cuts": lambda: network.cut_path(n_threads=1).cut().value,
        "PyMaxflow": by_pymaxflow,
        "scipy": by_scipy,
    }


def undirected(graph: Graph, source: np.ndarray, sink: np.ndarray) -> Runs:
    """Return the contestants for a graph with terminal capacities."""
    n = graph.n_vertices
    finite = [np.where(np.isinf(c), INFINITE, c).astype(np.int64) for c in (source, sink)]
    tails, heads = graph.edges.T
    weights = graph.weights.astype(np.int64)

    def by_pymaxflow() -> int:
        network = maxflow.GraphInt(n, graph.n_edges)
        nodes = network.add_nodes(n)
        network.add_edges(tails, heads, weights, weights)
        network.add_grid_tedges(nodes, *finite)
        return network.maxflow()

    def by_scipy() -> int:
        inner = np.arange(n)
        rows = np.concatenate([tails, heads, np.full(n, n), inner])
        columns = np.concatenate([heads, tails, inner, np.full(n, n + 1)])
        values = np.concatenate([weights, weights, *finite]).astype(np.int32)
        matrix = sparse.csr_array((values, (rows, columns)), shape=(n + 2, n + 2))
        return int(maximum_flow(matrix, n, n + 1).flow_value)

    return {
        "graphtv": lambda: min_cut(graph, source, sink, n_threads=1).value,
        "graphtv, with flow": lambda: min_cut(graph, source, sink, n_threads=1).flow.value,
        "graphtv, all cuts": lambda: cut_path(graph, source, sink, n_threads=1).cut().value,
        "PyMaxflow": by_pymaxflow,
        "scipy": by_scipy,
    }


def nearest(graph: Graph, k: int, vertex: int) -> np.ndarray:
    distance = shortest_path(graph.to_sparse(), unweighted=True, indices=vertex)
    seeds = np.zeros(graph.n_vertices)
    seeds[np.argsort(distance, kind="stable")[:k]] = np.inf
    return seeds


def generated(quick: bool) -> Iterator[tuple[str, Runs]]:
    yield "rmf-wide", directed(gallery.genrmf(*((6, 4) if quick else (64, 8))))
    yield "rmf-long", directed(gallery.genrmf(*((3, 8) if quick else (16, 256))))
    yield "wash-rlg-long", directed(gallery.washington_rlg(*((6, 8) if quick else (64, 1024))))
    side = 16 if quick else 512
    noisy, _ = gallery.piecewise_constant_image((side, side), seed=1, noise=0.3)
    unary = np.rint(100 * (noisy - 0.4)).ravel()
    grid = grid_graph((side, side), 40)
    yield "segmentation", undirected(grid, np.maximum(unary, 0), np.maximum(-unary, 0))


def real(folder: Path) -> Iterator[tuple[str, Runs]]:
    for alpha in (1, 8):
        data = np.load(folder / f"stereo/bvzlike_venus_alpha{alpha}.npz")
        source, sink = data["unary_label0"], data["unary_alpha"]
        graph = grid_graph(source.shape, [data["w_down"], data["w_right"]])
        yield f"venus, α = {alpha}", undirected(graph, source.ravel(), sink.ravel())
    path = folder / "alue7065/pace2018_track3_instance116_alue7065.gr"
    lines = [line.split() for line in path.read_text().splitlines() if line.startswith("E ")]
    graph = Graph(34046, np.array([[int(i) - 1, int(j) - 1] for _, i, j, _ in lines]))
    yield "alue7065", undirected(graph, nearest(graph, 354, 0), nearest(graph, 354, 34045))
    raw = (folder / "horse/horse_48484v.ply").read_bytes()
    start = raw.index(b"end_header\n") + len(b"end_header\n") + 48484 * 12
    kind = np.dtype([("n", "u1"), ("face", "<i4", 3)])
    faces = np.frombuffer(raw, kind, offset=start, count=96964)["face"]
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    graph = Graph(48484, np.unique(np.sort(pairs, axis=1), axis=0))
    yield "horse", undirected(graph, nearest(graph, 186, 0), nearest(graph, 186, 2356))
    for name in ("gl1", "gw1", "wlm3"):
        yield name, directed(read_dimacs(folder / f"networkx_dimacs/{name}.max"))


def show(name: str, runs: Runs, turns: int) -> None:
    if maxflow is None:
        del runs["PyMaxflow"]
    values = {peer: run() for peer, run in runs.items()}
    agreed = values["graphtv"]
    times = race(runs, turns=turns, patience=3.0)
    cells = [f"{name:16} {agreed:>10} {times['graphtv']:9.4f} s"]
    cells += [
        f"{peer} {times[peer] / times['graphtv']:6.2f}×" + (" WRONG" if value != agreed else "")
        for peer, value in values.items()
        if peer != "graphtv"
    ]
    print("  ".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small networks")
    parser.add_argument("--only", nargs="+", help="names of networks, or their beginnings")
    arguments = parser.parse_args()
    start = time.perf_counter()
    print("Value, processor time of graphtv's minimum cut, and the times of others over it")
    networks = generated(arguments.quick)
    folder = os.environ.get("GRAPHTV_DATA")
    if folder and not arguments.quick:
        networks = chain(networks, real(Path(folder)))
    for name, runs in networks:
        if not arguments.only or name.startswith(tuple(arguments.only)):
            show(name, runs, 1 if arguments.quick else 5)
    print(f"\n{time.perf_counter() - start:.1f} s in all")


if __name__ == "__main__":
    main()
