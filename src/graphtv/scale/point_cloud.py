"""The k-nearest-neighbour graph of a point cloud in chunks, in parts and exact.

The points are divided into tiles. Every tile finds the k nearest neighbours of its points within
the tile. The distance to the last of them bounds the search elsewhere: a point asks another tile
only if the box of that tile is closer. Tiles answer with the points that may be neighbours, so a
tile receives a halo, and finds its true neighbours among its own points and the halo. The graph is
that of `knn_graph` in memory, including ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphtv._elementary import exp
from graphtv._nearest import SPARES, nearest
from graphtv._validate import Floats
from graphtv.scale.edge_blocks import collect_blocks
from graphtv.scale.numbering import ChunkNumbering
from graphtv.scale.partitioned_graph import PartitionedGraph
from graphtv.scale.point_tiles import Cloud, PointTiles, Rows
from graphtv.scale.scheduler import compute, persist
from graphtv.scale.task_graph import TaskGraph

TINY = float(np.finfo(np.float64).tiny)


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
    tiles = PointTiles.of(points)
    asked = _ask(tiles, k)
    graph = TaskGraph()
    others = compute(graph.delayed([graph.add("asked", _tiles_asked, q) for q in asked]))
    neighbours = _answered(tiles, asked, others, k)
    blocks = _weighted(tiles, neighbours, others, length)
    sizes = tuple(map(int, tiles.sizes))
    return PartitionedGraph._made_of(
        sizes,
        *collect_blocks(sizes, blocks, is_sum=False),
        lambda s, m, a: ChunkNumbering(s, m, a, tiles.lengths, tiles.counts, tiles.labels),
    )


def _ask(tiles: PointTiles, k: int) -> list[Any]:
    """Return what each tile asks the others."""
    graph = TaskGraph()
    boxes = compute(graph.delayed([graph.add("box", _box, cloud) for cloud in tiles.clouds]))
    asked = [
        graph.add("ask", _questions, cloud, tile, k, tiles.n_points, list(boxes))
        for tile, cloud in enumerate(tiles.clouds)
    ]
    return list(persist(graph.delayed(asked)))


def _answered(
    tiles: PointTiles, asked: Sequence[Any], others: Sequence[Sequence[int]], k: int
) -> list[Any]:
    """Return the neighbours of the points of each tile, after the others have answered."""
    graph, neighbours = TaskGraph(), []
    for tile, questions in enumerate(asked):
        halo = [
            graph.add(
                "answer",
                _answer,
                tiles.clouds[o],
                graph.add("question", _question, questions, o),
                k,
            )
            for o in others[tile]
        ]
        cloud = tiles.clouds[tile]
        neighbours.append(graph.add("neighbours", _neighbours, cloud, halo, k, tiles.n_points))
    return list(persist(graph.delayed(neighbours)))


def _weighted(
    tiles: PointTiles,
    neighbours: Sequence[Any],
    others: Sequence[Sequence[int]],
    length: float | None,
) -> list[tuple[Any, Any]]:
    """Return the edges from the points of each tile, and their weights."""
    graph, parts = TaskGraph(), []
    scaled = None if length is None else float(np.ldexp(length, -tiles.exponent))
    for found, tiles_asked in zip(neighbours, others, strict=True):
        # With a local scale, ends in other tiles have to be asked for.
        scales = [
            graph.add(
                "scales",
                _scales,
                neighbours[o],
                graph.add("ends", _ends_in, found, *tiles.vertices(o)),
            )
            for o in (tiles_asked if length is None else ())
        ]
        edges = graph.add("edges", _edges, found, scales, scaled)
        parts += [edges[0], edges[1]]
    flat = graph.delayed(parts)
    return list(zip(flat[::2], flat[1::2], strict=True))


# Tasks -------------------------------------------------------------------------------------------


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
