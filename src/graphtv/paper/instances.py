"""The max-flow families of Table 2, as minimum cuts and as the corresponding ROF problems.

The construction follows the authors. An arc pair of capacities (c, c') becomes an edge of weight (c
+ c')/2 and moves (c - c')/2 between the unaries of its ends. Terminal capacities give the unary t -
s. Vertices without an edge are dropped, and f = -unary. The minimum cut is a level set of u at 0.

Three families are generated at the paper's sizes. Two are bisections of the same graphs as in the
paper, and one is stereo; these are read from the data folder. The others are not available, and
stand-ins of the same kind replace them (`stand_ins`, `stereo`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow, shortest_path

from graphtv._validate import Floats
from graphtv.applications.cuts.cut_problem import CutProblem
from graphtv.applications.cuts.flow_network import FlowNetwork
from graphtv.applications.cuts.level_sets import LevelSets
from graphtv.gallery import genrmf, washington_rlg
from graphtv.graph.graph import Graph
from graphtv.graph.grid import grid_graph
from graphtv.paper.experiment import UnavailableError
from graphtv.problem import Problem
from graphtv.terms import SquaredLoss


@dataclass(frozen=True, eq=False)
class Instance:
    """A minimum cut to find, and its ROF problem.

    Attributes
    ----------
    cut : CutProblem
        The capacities.
    problem : Problem
        The ROF problem on the vertices that have an edge.
    kept : ndarray of int or None
        Which vertices these are, None for all.
    known : int or None
        The value of the minimum cut, where others have found it before.
    """

    cut: CutProblem
    problem: Problem
    kept: Any
    known: int | None = None

    @classmethod
    def of(cls, cut: CutProblem, known: int | None = None) -> Instance:
        """Construct the ROF problem of a cut."""
        signal = cut.signal()
        kept = np.unique(cut.graph.edges)
        if len(kept) == cut.graph.n_vertices:  # keeps a grid a grid
            return cls(cut, Problem(cut.graph, SquaredLoss(signal)), None, known)
        edges = np.searchsorted(kept, cut.graph.edges)
        graph = Graph(len(kept), edges, cut.graph.weights)
        return cls(cut, Problem(graph, SquaredLoss(signal[kept])), kept, known)

    def value(self, u: Floats) -> int:
        """Return the value of the best level set of u."""
        full = self.cut.signal()
        full[slice(None) if self.kept is None else self.kept] = u
        levels = LevelSets(self.cut, full)
        return int(self.cut.value(levels.side(levels.best(0.0))))

    def maximum_flow(self) -> int:
        """Return the maximum flow, by scipy's implementation of Dinic's algorithm."""
        cut, n = self.cut, self.cut.graph.n_vertices
        inner = np.arange(n)
        tails, heads = cut.graph.edges.T
        rows = np.concatenate([tails, heads, np.full(n, n), inner])
        columns = np.concatenate([heads, tails, inner, np.full(n, n + 1)])
        values = np.concatenate([cut.forward, cut.backward, cut.source, cut.sink])
        if values.max() >= 2**31:
            raise OverflowError("scipy's maximum flow takes 32 bits")
        kept = values > 0
        matrix = sparse.csr_array(
            (values[kept].astype(np.int32), (rows[kept], columns[kept])), shape=(n + 2, n + 2)
        )
        return int(maximum_flow(matrix, n, n + 1).flow_value) + int(cut.constant)


Make = Callable[[bool, Path | None], Instance]
"""Builds an instance, a small one for quick runs, possibly from the data folder."""


def rmf_long(quick: bool, data: Path | None) -> Instance:
    """Return rmf-long.n2: 256 frames of 16 × 16."""
    return _generated(genrmf(*((4, 16) if quick else (16, 256))))


def rmf_wide(quick: bool, data: Path | None) -> Instance:
    """Return rmf-wide.n2: 8 frames of 64 × 64."""
    return _generated(genrmf(*((10, 4) if quick else (64, 8))))


def wash_rlg_long(quick: bool, data: Path | None) -> Instance:
    """Return wash-rlg-long.n1024: 1024 columns of 64."""
    return _generated(washington_rlg(*((8, 32) if quick else (64, 1024))))


def _generated(network: FlowNetwork) -> Instance:
    return Instance.of(CutProblem.of_network(network))


# Bisections -------------------------------------------------------------------------------------


def horse(quick: bool, data: Path | None) -> Instance:
    """Return the bisection of the horse, a triangulated surface with 48,484 vertices."""
    raw = require(data, "horse/horse_48484v.ply").read_bytes()
    n_vertices, n_faces = 48_484, 96_964
    start = raw.index(b"end_header\n") + len(b"end_header\n") + 12 * n_vertices
    kind = np.dtype([("n", "u1"), ("face", "<i4", 3)])
    faces = np.frombuffer(raw, kind, offset=start, count=n_faces)["face"]
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    graph = Graph(n_vertices, np.unique(np.sort(pairs, axis=1), axis=0))
    if quick:
        return bisection(_ball(graph, 1000), 30, None)
    return bisection(graph, 186, 41)


def alue7065(quick: bool, data: Path | None) -> Instance:
    """Return the bisection of alue7065, the net of a chip with 34,046 vertices."""
    path = require(data, "alue7065/pace2018_track3_instance116_alue7065.gr")
    lines = [line.split() for line in path.read_text().splitlines() if line.startswith("E ")]
    edges = np.array([[int(tail), int(head)] for _, tail, head, _ in lines]) - 1
    graph = Graph(int(edges.max()) + 1, edges)
    if quick:
        return bisection(_ball(graph, 1000), 30, None)
    return bisection(graph, 354, 22)


def bisection(graph: Graph, k: int, known: int | None) -> Instance:
    """Return the cut between two distant ends of a graph with unit capacities.

    The source is the k vertices nearest to vertex 0 in hops (ties by number), the sink the k
    vertices nearest to the vertex farthest from it.
    """
    first = _hops(graph, 0)
    last = _hops(graph, int(np.argmax(first)))
    ends = [np.argsort(distance, kind="stable")[:k] for distance in (first, last)]
    return Instance.of(merged(graph, *ends), known)


def merged(graph: Graph, source: Any, sink: Any) -> CutProblem:
    """Return the cut between two sets of vertices of a graph, which become the terminals.

    Their edges become the terminal capacities of their neighbours.
    """
    inner = np.ones(graph.n_vertices, dtype=bool)
    inner[source] = inner[sink] = False
    n = int(inner.sum())
    name = np.zeros(graph.n_vertices, dtype=np.int64)
    name[inner] = np.arange(n)
    name[source], name[sink] = n, n + 1
    arcs = name[graph.edges]
    both = np.concatenate([arcs, arcs[:, ::-1]])
    capacities = np.concatenate([graph.weights, graph.weights]).astype(np.int64)
    kept = both[:, 0] != both[:, 1]
    return CutProblem.of_network(FlowNetwork(n + 2, both[kept], capacities[kept], n, n + 1))


def _hops(graph: Graph, vertex: int) -> Floats:
    distance: Floats = shortest_path(graph.to_sparse(), unweighted=True, indices=vertex)
    return distance


def _ball(graph: Graph, n: int) -> Graph:
    """Return the n vertices nearest to the middle vertex, with the edges between them."""
    near = np.sort(np.argsort(_hops(graph, graph.n_vertices // 2), kind="stable")[:n])
    inside = np.isin(graph.edges, near).all(axis=1)
    return Graph(n, np.searchsorted(near, graph.edges[inside]))


# Stereo on a grid -------------------------------------------------------------------------------


def venus(alpha: int) -> Make:
    """Return the function that builds an α-expansion move of stereo on the pair Venus."""

    def make(quick: bool, data: Path | None) -> Instance:
        arrays = np.load(require(data, f"stereo/bvzlike_venus_alpha{alpha}.npz"))
        part = (slice(100, 132), slice(100, 140)) if quick else (slice(None), slice(None))
        keep, change = arrays["unary_label0"][part], arrays["unary_alpha"][part]
        height, width = keep.shape
        down = arrays["w_down"][part][: height - 1, :]
        right = arrays["w_right"][part][:, : width - 1]
        graph = grid_graph(keep.shape, [down, right])
        cut = CutProblem.of_graph(graph, keep.ravel(), change.ravel())
        return Instance.of(cut, None if quick else int(arrays["mincut"]))

    return make


def require(data: Path | None, name: str) -> Path:
    """Return a file of the data folder, or raise if it is missing."""
    if data is None:
        raise UnavailableError(f"needs {name}: set GRAPHTV_DATA or --data")
    path = data / name
    if not path.is_file():
        raise UnavailableError(f"{name} is not in {data}")
    return path
