"""Minimum cuts compared with specialised solvers.

All solvers start from the same arrays, and the time to build their network is included. PyMaxflow
(Boykov and Kolmogorov) and OR-tools (push-relabel) are used if they are installed (`pip install
PyMaxflow ortools`), scipy's Dinic always. They return a cut without a proof. graphtv's cut is also
proved in integers. If the folder GRAPHTV_DATA exists, its networks are used too: stereo, two
bisections, and DIMACS files.

    python benchmarks/cuts.py [--quick] [--only NAME …]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from cut_networks import Network, Terminals, generated, real, regular, scattered
from graphtv import FlowNetwork, cut_path, min_cut
from graphtv.applications.cuts.cut_problem import CutProblem
from races.race import race

try:
    import maxflow
except ImportError:
    maxflow = None
try:
    from ortools.graph.python import max_flow as ortools
except ImportError:
    ortools = None

Runs = dict[str, Callable[[], int]]
INFINITE = 2**30


def directed(network: FlowNetwork) -> Runs:
    """Return the solvers for a directed network."""
    n, s, t = network.n_vertices, network.source, network.sink
    tails, heads = network.arcs.T
    capacities = network.capacities

    def by_pymaxflow() -> int:
        # An arc and its reverse are one edge here, as in graphtv.
        problem = CutProblem.of_network(network)
        pairs = problem.graph.edges
        graph = maxflow.GraphInt(n, len(pairs))
        nodes = graph.add_nodes(n)
        graph.add_edges(*pairs.T, problem.forward, problem.backward)
        graph.add_grid_tedges(nodes, problem.source, problem.sink)
        return graph.maxflow() + problem.constant

    return {
        "graphtv": lambda: network.min_cut(n_threads=1).value,
        "with flow": lambda: network.min_cut(n_threads=1).flow.value,
        "all cuts": lambda: network.cut_path(n_threads=1).value(),
        "PyMaxflow": by_pymaxflow,
        "OR-tools": lambda: by_ortools(tails, heads, capacities, s, t),
        "scipy": lambda: by_scipy(tails, heads, capacities, s, t, n),
    }


def undirected(problem: Terminals) -> Runs:
    """Return the solvers for a graph with terminal capacities."""
    graph, n = problem.graph, problem.graph.n_vertices
    source, sink = (
        np.where(np.isinf(c), INFINITE, c).astype(np.int64) for c in (problem.source, problem.sink)
    )
    tails, heads = graph.edges.T
    weights = graph.weights.astype(np.int64)

    def by_pymaxflow() -> int:
        network = maxflow.GraphInt(n, graph.n_edges)
        nodes = network.add_nodes(n)
        network.add_edges(tails, heads, weights, weights)
        network.add_grid_tedges(nodes, source, sink)
        return network.maxflow()

    def arcs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        inner = np.arange(n)
        return (
            np.concatenate([tails, heads, np.full(n, n), inner]),
            np.concatenate([heads, tails, inner, np.full(n, n + 1)]),
            np.concatenate([weights, weights, source, sink]),
        )

    return {
        "graphtv": lambda: min_cut(*problem, n_threads=1).value,
        "with flow": lambda: min_cut(*problem, n_threads=1).flow.value,
        "all cuts": lambda: cut_path(*problem, n_threads=1).value(),
        "PyMaxflow": by_pymaxflow,
        "OR-tools": lambda: by_ortools(*arcs(), n, n + 1),
        "scipy": lambda: by_scipy(*arcs(), n, n + 1, n + 2),
    }


def by_ortools(tails: np.ndarray, heads: np.ndarray, capacities: np.ndarray, s: int, t: int) -> int:
    """Return the maximum flow of OR-tools."""
    solver = ortools.SimpleMaxFlow()
    solver.add_arcs_with_capacity(tails.astype(np.int32), heads.astype(np.int32), capacities)
    solver.solve(s, t)
    return solver.optimal_flow()


def by_scipy(
    tails: np.ndarray, heads: np.ndarray, capacities: np.ndarray, s: int, t: int, n: int
) -> int:
    """Return the maximum flow of scipy, which is limited to 32 bits."""
    matrix = sparse.csr_array((capacities.astype(np.int32), (tails, heads)), shape=(n, n))
    return int(maximum_flow(matrix, s, t).flow_value)


def show(name: str, network: Network, turns: int, without: list[str]) -> dict[str, float]:
    """Run all solvers on a network and return the times of the others relative to graphtv."""
    runs = directed(network) if isinstance(network, FlowNetwork) else undirected(network)
    for peer in without:
        del runs[peer]
    values = {peer: run() for peer, run in runs.items()}
    agreed = values["graphtv"]
    times = race(runs, turns=turns, longest=3.0)
    ratios = {peer: times[peer] / times["graphtv"] for peer in runs if peer != "graphtv"}
    cells = [f"{name:16} {agreed:>10} {1000 * times['graphtv']:8.1f} ms"]
    cells += [
        f"{peer} {ratio:6.2f}×" + (" WRONG" if values[peer] != agreed else "")
        for peer, ratio in ratios.items()
    ]
    print("  ".join(cells), flush=True)
    return ratios


def main() -> None:
    """Run the benchmark on all requested networks."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small networks")
    parser.add_argument("--only", nargs="+", help="names of networks, or the beginnings of names")
    parser.add_argument("--without", nargs="+", default=[], help="contestants to leave out")
    arguments = parser.parse_args()
    start = time.perf_counter()
    absent = [("PyMaxflow", maxflow), ("OR-tools", ortools)]
    without = arguments.without + [name for name, module in absent if module is None]
    print("Value, processor time of graphtv's minimum cut, and the times of others relative to it")
    quick = arguments.quick
    networks = chain(regular(quick), scattered(quick), generated(quick))
    folder = os.environ.get("GRAPHTV_DATA")
    if folder and not quick:
        networks = chain(networks, real(Path(folder)))
    ratios = [
        show(name, network, 1 if quick else 5, without)
        for name, network in networks
        if not arguments.only or name.startswith(tuple(arguments.only))
    ]
    for peer in ratios[0] if ratios else ():
        of_peer = np.array([row[peer] for row in ratios])
        wins = f"{(of_peer >= 1).sum()} of {len(of_peer)} at least 1×, {(of_peer >= 2).sum()} 2×"
        print(f"{peer:10} {wins}; median {np.median(of_peer):.2f}×, least {of_peer.min():.2f}×")
    print(f"\n{time.perf_counter() - start:.1f} s in all")


if __name__ == "__main__":
    main()
