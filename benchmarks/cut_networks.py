"""Networks for the minimum cut benchmark: generated ones, and those in the folder GRAPHTV_DATA."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.sparse.csgraph import shortest_path
from scipy.spatial import Delaunay

from graphtv import FlowNetwork, Graph, gallery, grid_graph, knn_graph, read_dimacs


class Terminals(NamedTuple):
    """A graph with capacities to two terminals."""

    graph: Graph
    source: np.ndarray
    sink: np.ndarray


Network = FlowNetwork | Terminals


def nearest(graph: Graph, k: int, vertex: int) -> np.ndarray:
    """Return seeds: the k vertices nearest to a vertex."""
    distance = shortest_path(graph.to_sparse(), unweighted=True, indices=vertex)
    seeds = np.zeros(graph.n_vertices)
    seeds[np.argsort(distance, kind="stable")[:k]] = np.inf
    return seeds


def signed(graph: Graph, unary: np.ndarray) -> Terminals:
    """Return a problem with a preference per vertex, positive for the source."""
    unary = np.rint(100 * unary).ravel()
    return Terminals(graph, np.maximum(unary, 0), np.maximum(-unary, 0))


def blobs(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Return noisy preferences for random regions."""
    rng = np.random.default_rng(seed)
    smooth = gaussian_filter(rng.normal(size=shape), [side / 16 for side in shape])
    return (smooth > 0) - 0.5 + 0.3 * rng.normal(size=shape)


def full_grid(shape: tuple[int, ...], weight: float) -> Graph:
    """Return a grid with diagonals: 8 neighbours in two dimensions, 26 in three."""
    numbers = np.arange(np.prod(shape)).reshape(shape)
    edges, weights = [], []
    for offset in product((-1, 0, 1), repeat=len(shape)):
        if offset <= (0,) * len(shape):
            continue
        steps = list(zip(offset, shape, strict=True))
        here = tuple(slice(max(0, -o), n - max(0, o)) for o, n in steps)
        there = tuple(slice(max(0, o), n - max(0, -o)) for o, n in steps)
        edges.append(np.stack([numbers[here].ravel(), numbers[there].ravel()], axis=1))
        weights.append(np.full(len(edges[-1]), np.rint(weight / np.linalg.norm(offset))))
    return Graph(numbers.size, np.concatenate(edges), np.concatenate(weights))


def regular(quick: bool) -> Iterator[tuple[str, Terminals]]:
    """Yield grids with 4, 8, 6 and 26 neighbours, with light and heavy borders."""
    side, depth, width = (16, 6, 6) if quick else (512, 64, 48)
    for weight in (10, 40, 150):
        yield (
            f"2D, 4, w {weight}",
            signed(grid_graph((side,) * 2, weight), blobs((side,) * 2, 1)),
        )
    for weight in (10, 40):
        yield f"2D, 8, w {weight}", signed(full_grid((side,) * 2, weight), blobs((side,) * 2, 2))
    for weight in (10, 30):
        yield (
            f"3D, 6, w {weight}",
            signed(grid_graph((depth,) * 3, weight), blobs((depth,) * 3, 3)),
        )
    for weight in (4, 10):
        yield f"3D, 26, w {weight}", signed(full_grid((width,) * 3, weight), blobs((width,) * 3, 4))


def scattered(quick: bool) -> Iterator[tuple[str, Terminals]]:
    """Yield nearest-neighbour graphs and triangulations of points in the plane."""
    rng = np.random.default_rng(5)
    n = 300 if quick else 100_000
    points = rng.random((n, 2))
    unary = (np.hypot(*(points - 0.5).T) < 0.3) - 0.5 + 0.4 * rng.normal(size=n)
    neighbours = knn_graph(points, 8)
    relative = neighbours.weights / neighbours.weights.mean()
    triangles = np.sort(Delaunay(points).simplices, axis=1)
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]])
    planar = np.unique(pairs, axis=0)
    factors = rng.uniform(0.5, 1.5, len(planar))
    for weight in (20, 80):
        weights = np.maximum(np.rint(weight * relative), 1)
        yield f"kNN, 8, w {weight}", signed(Graph(n, neighbours.edges, weights), unary)
    for weight in (20, 80):
        yield f"planar, w {weight}", signed(Graph(n, planar, np.rint(weight * factors)), unary)


def generated(quick: bool) -> Iterator[tuple[str, Network]]:
    """Yield networks from generators, and a segmentation."""
    yield "rmf-wide", gallery.genrmf(*((6, 4) if quick else (64, 8)))
    yield "rmf-long", gallery.genrmf(*((3, 8) if quick else (16, 256)))
    yield "wash-rlg-long", gallery.washington_rlg(*((6, 8) if quick else (64, 1024)))
    side = 16 if quick else 512
    noisy, _ = gallery.piecewise_constant_image((side, side), rng=1, noise=0.3)
    unary = np.rint(100 * (noisy - 0.4)).ravel()
    grid = grid_graph((side, side), 40)
    yield "segmentation", Terminals(grid, np.maximum(unary, 0), np.maximum(-unary, 0))


def real(folder: Path) -> Iterator[tuple[str, Network]]:
    """Yield stereo, two bisections, and DIMACS files."""
    for alpha in (1, 8):
        data = np.load(folder / f"stereo/bvzlike_venus_alpha{alpha}.npz")
        source, sink = data["unary_label0"], data["unary_alpha"]
        graph = grid_graph(source.shape, [data["w_down"], data["w_right"]])
        yield f"venus, α = {alpha}", Terminals(graph, source.ravel(), sink.ravel())
    path = folder / "alue7065/pace2018_track3_instance116_alue7065.gr"
    lines = [line.split() for line in path.read_text().splitlines() if line.startswith("E ")]
    graph = Graph(34046, np.array([[int(i) - 1, int(j) - 1] for _, i, j, _ in lines]))
    yield "alue7065", Terminals(graph, nearest(graph, 354, 0), nearest(graph, 354, 34045))
    raw = (folder / "horse/horse_48484v.ply").read_bytes()
    start = raw.index(b"end_header\n") + len(b"end_header\n") + 48484 * 12
    kind = np.dtype([("n", "u1"), ("face", "<i4", 3)])
    faces = np.frombuffer(raw, kind, offset=start, count=96964)["face"]
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    graph = Graph(48484, np.unique(np.sort(pairs, axis=1), axis=0))
    yield "horse", Terminals(graph, nearest(graph, 186, 0), nearest(graph, 186, 2356))
    for name in ("gl1", "gw1", "wlm3"):
        yield name, (read_dimacs(folder / f"networkx_dimacs/{name}.max"))
