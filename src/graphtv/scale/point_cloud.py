"""The k-nearest-neighbour graph of a point cloud in chunks, in parts and exact.

The points are divided into tiles: the leaves of a k-d tree of a sample. Every tile finds the k
nearest neighbours of its points within the tile. The distance to the last of them bounds the search
elsewhere: a point asks another tile only if the box of that tile is closer. Tiles answer with the
points that may be neighbours, so a tile receives a halo, and finds its true neighbours among its
own points and the halo. The graph is that of `knn_graph` in memory, including ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtv._elementary import exp
from graphtv._nearest import SPARES, nearest
from graphtv._validate import Floats, as_floats
from graphtv.scale.edge_blocks import collect_blocks
from graphtv.scale.numbering import ChunkNumbering
from graphtv.scale.partitioned_graph import PartitionedGraph
from graphtv.scale.scheduler import compute, persist
from graphtv.scale.task_graph import TaskGraph

SAMPLE = 1 << 16
"""Number of points from which the tiles are chosen."""

TINY = float(np.finfo(np.float64).tiny)

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Splits:
    """A k-d tree: planes that divide space into tiles.

    Attributes
    ----------
    axis, threshold : ndarray
        The plane of each inner node; axis is -1 at a leaf.
    below, above : ndarray
        The children of a node. At a leaf, `below` is the number of the tile.
    """

    axis: NDArray[np.int64]
    threshold: Floats
    below: NDArray[np.int64]
    above: NDArray[np.int64]

    @classmethod
    def of(cls, points: Floats, count: int) -> Splits:
        """Return `count` tiles with about equally many of these points."""
        nodes: list[list[Any]] = []
        tiles = iter(range(count))

        def grow(rows: Rows, parts: int) -> int:
            number = len(nodes)
            nodes.append([-1, 0.0, 0, 0])
            spread = np.ptp(points[rows], axis=0) if len(rows) > 1 else np.zeros(points.shape[1])
            if parts == 1:
                nodes[number][2] = next(tiles)
                return number
            axis, left = int(np.argmax(spread)), parts // 2
            order = rows[np.argsort(points[rows, axis], kind="stable")]
            cut = len(order) * left // parts
            threshold = float(points[order[min(cut, len(order) - 1)], axis]) if len(order) else 0.0
            below = grow(order[:cut], left)
            above = grow(order[cut:], parts - left)
            nodes[number] = [axis, threshold, below, above]
            return number

        grow(np.arange(len(points)), count)
        axis, threshold, below, above = zip(*nodes, strict=True)
        return cls(np.array(axis), np.array(threshold), np.array(below), np.array(above))

    def tile_of(self, points: Floats) -> Rows:
        """Return the tile of each point."""
        node: Rows = np.zeros(len(points), dtype=np.int64)
        while True:
            rows = np.flatnonzero(self.axis[node] >= 0)
            if len(rows) == 0:
                return self.below[node]
            at = node[rows]
            is_below = points[rows, self.axis[at]] < self.threshold[at]
            node[rows] = np.where(is_below, self.below[at], self.above[at])


class Cloud(NamedTuple):
    """The points of a tile or of a halo: positions, rows in the array, and numbers as vertices."""

    points: Floats
    rows: Rows
    vertices: Rows


class Neighbours(NamedTuple):
    """The nearest neighbours of the points of a tile: distances and vertices, shape (n, k)."""

    vertices: Rows
    distances: Floats
    others: Rows


class Question(NamedTuple):
    """Points that ask another tile for points within a radius."""

    points: Floats
    radii: Floats


def knn_graph_in_parts(points: Any, k: int, length: float | None) -> PartitionedGraph:
    """Return the graph of a dask array of points, with as many parts as the array has chunks."""
    n, dimension = points.shape
    whole = points.rechunk({1: -1})
    lengths = whole.chunks[0]
    begins = np.cumsum([0, *lengths[:-1]])
    graph = TaskGraph()
    blocks = [
        graph.add("check-points", _as_points, block)
        for block in whole.to_delayed(optimize_graph=False).ravel()
    ]
    sampled = [graph.add("sample", _sample, b, max(1, n // SAMPLE)) for b in blocks]
    found = compute(graph.delayed(sampled))
    largest = max(size for size, _ in found)
    _, exponent = np.frexp(largest)
    count = len(lengths)
    splits = Splits.of(np.concatenate([sample for _, sample in found]), count)

    # Which chunk has which points of a tile.
    found_labels = [graph.add("tile-of", _labels, block, splits, count) for block in blocks]
    labels = persist(graph.delayed(found_labels))
    graph = TaskGraph()
    tallies = compute(graph.delayed([graph.add("tally", _tally, lab, count) for lab in labels]))
    counts = np.array(tallies).reshape(len(lengths), count)
    sizes = counts.sum(axis=0)
    firsts = np.cumsum([0, *sizes[:-1]])

    # Tiles, and the neighbours within them.
    graph = TaskGraph()
    blocks = list(whole.to_delayed(optimize_graph=False).ravel())
    clouds = []
    for tile in range(count):
        pieces = [
            graph.add("pick", _pick, blocks[c], labels[c], tile, int(begins[c]), -int(exponent))
            for c in np.flatnonzero(counts[:, tile])
        ]
        clouds.append(graph.add("tile", _tile, pieces, int(firsts[tile]), dimension))
    clouds = list(persist(graph.delayed(clouds)))
    graph = TaskGraph()
    boxes = compute(graph.delayed([graph.add("box", _box, cloud) for cloud in clouds]))
    asked = [
        graph.add("ask", _questions, cloud, tile, k, n, list(boxes))
        for tile, cloud in enumerate(clouds)
    ]
    asked = list(persist(graph.delayed(asked)))
    graph = TaskGraph()
    wanted = compute(graph.delayed([graph.add("asked", _tiles_asked, q) for q in asked]))
    neighbours = []
    for tile, others in enumerate(wanted):
        halo = [
            graph.add(
                "answer", _answer, clouds[o], graph.add("question", _question, asked[tile], o), k
            )
            for o in others
        ]
        neighbours.append(graph.add("neighbours", _neighbours, clouds[tile], halo, k, n))
    neighbours = list(persist(graph.delayed(neighbours)))

    # Edges with their weights. With a local scale, ends in other tiles have to be asked for.
    graph, edges = TaskGraph(), []
    for tile, others in enumerate(wanted):
        scales: list[Any] = []
        if length is None:
            bounds = [(int(firsts[o]), int(firsts[o] + sizes[o])) for o in others]
            scales = [
                graph.add(
                    "scales",
                    _scales,
                    neighbours[o],
                    graph.add("ends", _ends_in, neighbours[tile], *ends),
                )
                for o, ends in zip(others, bounds, strict=True)
            ]
        scaled = None if length is None else float(np.ldexp(length, -int(exponent)))
        edges.append(graph.add("edges", _edges, neighbours[tile], scales, scaled))
    pairs = [(graph.add("first", _first, e), graph.add("second", _second, e)) for e in edges]
    flat = graph.delayed([ref for pair in pairs for ref in pair])
    made = collect_blocks(
        tuple(map(int, sizes)), list(zip(flat[::2], flat[1::2], strict=True)), is_sum=False
    )
    return PartitionedGraph._made_of(
        tuple(map(int, sizes)),
        *made,
        lambda s, m, a: ChunkNumbering(s, m, a, lengths, counts, labels),
    )


# Tasks -------------------------------------------------------------------------------------------


def _as_points(block: Any) -> Floats:
    return as_floats(block, "points")


def _sample(block: Floats, stride: int) -> tuple[float, Floats]:
    return float(np.abs(block).max(initial=0.0)), block[::stride].copy()


def _labels(block: Floats, splits: Splits, count: int) -> Any:
    return splits.tile_of(block).astype(np.int32)


def _tally(labels: Any, count: int) -> Any:
    return np.bincount(labels, minlength=count)


def _pick(block: Any, labels: Any, tile: int, begin: int, exponent: int) -> tuple[Floats, Rows]:
    places = np.flatnonzero(labels == tile)
    # Scaled by a power of two near the largest coordinate, squared distances cannot overflow.
    return np.ldexp(np.asarray(block, dtype=np.float64)[places], exponent), places + begin


def _tile(pieces: Sequence[tuple[Floats, Rows]], first: int, dimension: int) -> Cloud:
    points = np.concatenate([np.empty((0, dimension)), *(p for p, _ in pieces)])
    rows = np.concatenate([np.empty(0, dtype=np.int64), *(r for _, r in pieces)])
    return Cloud(points, rows, np.arange(first, first + len(rows)))


def _box(cloud: Cloud) -> Floats | None:
    """Return the smallest box of the points of a tile; None if it has none."""
    points = cloud.points
    return np.stack([points.min(axis=0), points.max(axis=0)]) if len(points) else None


def _questions(
    cloud: Cloud, tile: int, k: int, n: int, boxes: Sequence[Floats | None]
) -> dict[int, Question]:
    """Return what a tile asks the others: its points that may have neighbours there."""
    points, rows, _ = cloud
    if len(points) == 0:
        return {}
    if len(points) > k:
        radii = _search(points, rows, points, rows, k, n)[0][:, -1] * (1.0 + 1e-9)
    else:
        radii = np.full(len(points), np.inf)
    found = {}
    for other, box in enumerate(boxes):
        if other != tile and box is not None:
            away = np.maximum(np.maximum(box[0] - points, points - box[1]), 0.0)
            asks = np.sqrt(np.square(away).sum(axis=1)) * (1.0 - 1e-9) <= radii
            if asks.any():
                found[other] = Question(points[asks], radii[asks])
    return found


def _tiles_asked(questions: dict[int, Question]) -> list[int]:
    return sorted(questions)


def _question(questions: dict[int, Question], other: int) -> Question:
    return questions[other]


def _answer(cloud: Cloud, question: Question, k: int) -> Cloud:
    """Return the points of a tile that may be neighbours of the points that ask."""
    from scipy.spatial import cKDTree

    count = min(k + 1 + SPARES[-1], len(cloud.points))
    tree = cKDTree(cloud.points)
    chosen = np.zeros(len(cloud.points), dtype=bool)
    for radius_class in _by_size(question.radii):
        points, bound = question.points[radius_class], question.radii[radius_class].max()
        distances, places = (
            np.reshape(x, (len(points), count))
            for x in tree.query(points, count, distance_upper_bound=np.nextafter(bound, np.inf))
        )
        is_near = distances <= question.radii[radius_class][:, None]
        chosen[places[is_near & (places < len(chosen))]] = True
    return Cloud(cloud.points[chosen], cloud.rows[chosen], cloud.vertices[chosen])


def _by_size(radii: Floats) -> list[Rows]:
    """Return groups of points with radii of the same size, so that no search goes too far."""
    sizes = np.frexp(np.where(np.isfinite(radii), radii, 0.0))[1]
    sizes = np.where(np.isfinite(radii), sizes, np.iinfo(sizes.dtype).max)
    return [np.flatnonzero(sizes == size) for size in np.unique(sizes)]


def _search(
    points: Floats, rows: Rows, queries: Floats, own: Rows, k: int, n: int
) -> tuple[Floats, Rows]:
    """Return distances and places of the k nearest points, ties as in the whole array."""
    from scipy.spatial import cKDTree

    return nearest(cKDTree(points).query, points, queries, k, own, numbers=rows, modulus=n)


def _neighbours(cloud: Cloud, halo: Sequence[Cloud], k: int, n: int) -> Neighbours:
    """Return the nearest neighbours of the points of a tile, given its halo."""
    points, rows, vertices = (np.concatenate(parts) for parts in zip(cloud, *halo, strict=True))
    order = np.argsort(rows, kind="stable")
    points, rows, vertices = points[order], rows[order], vertices[order]
    if len(cloud.points) == 0:
        empty = np.empty((0, k))
        return Neighbours(cloud.vertices, empty, empty.astype(np.int64))
    distances, places = _search(points, rows, cloud.points, cloud.rows, k, n)
    return Neighbours(cloud.vertices, distances, vertices[places])


def _ends_in(found: Neighbours, first: int, last: int) -> Rows:
    """Return the neighbours that lie in another tile."""
    others = found.others
    return np.unique(others[(others >= first) & (others < last)])


def _scales(found: Neighbours, wanted: Rows) -> tuple[Rows, Floats]:
    """Return the distance of vertices to the last of their neighbours."""
    first = int(found.vertices[0]) if len(found.vertices) else 0
    return wanted, found.distances[wanted - first, -1]


def _edges(
    found: Neighbours, scales: Sequence[tuple[Rows, Floats]], length: float | None
) -> tuple[Rows, Floats]:
    """Return the edges from the points of a tile to their neighbours, and their weights."""
    k = found.others.shape[1]
    edges = np.stack([np.repeat(found.vertices, k), found.others.ravel()], axis=1)
    between = found.distances.ravel()
    if length is None:
        own = found.distances[:, -1]
        known = np.concatenate([found.vertices, *(v for v, _ in scales)])
        farthest = np.concatenate([own, *(s for _, s in scales)])
        order = np.argsort(known)
        there = farthest[order[np.searchsorted(known[order], edges[:, 1])]]
        scale = np.maximum(np.repeat(own, k), there)
        relative = np.divide(between, scale, out=np.zeros_like(between), where=scale > 0)
    else:
        with np.errstate(over="ignore"):
            relative = between / max(length, TINY)
    with np.errstate(over="ignore"):
        weights = exp(-np.square(relative))
    return edges, np.maximum(weights, TINY)


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def _second(pair: tuple[Any, Any]) -> Any:
    return pair[1]
