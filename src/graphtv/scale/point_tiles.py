"""A point cloud in chunks, divided into tiles: the leaves of a k-d tree of a sample.

Points that are close to each other are in the same tile, or in tiles next to each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats, as_floats
from graphtv.scale.scheduler import compute, persist
from graphtv.scale.task_graph import TaskGraph

SAMPLE = 1 << 16
"""Number of points from which the tiles are chosen."""

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


@dataclass(frozen=True)
class PointTiles:
    """The tiles of a dask array of points. There are as many tiles as chunks.

    Attributes
    ----------
    clouds : list of dask.delayed.Delayed
        The points of each tile. Coordinates are multiplied by 2**-exponent, so squared distances
        cannot overflow.
    sizes, firsts : ndarray
        The number of points of each tile, and the vertex of its first point.
    exponent : int
        The power of two near the largest coordinate.
    lengths : tuple of int
        The number of points of each chunk.
    counts : ndarray
        The number of points of each chunk (row) in each tile (column).
    labels : list of dask.delayed.Delayed
        The tile of each point, for each chunk.
    """

    clouds: list[Any]
    sizes: NDArray[np.int64]
    firsts: NDArray[np.int64]
    exponent: int
    lengths: tuple[int, ...]
    counts: NDArray[np.int64]
    labels: Sequence[Any]

    @classmethod
    def of(cls, points: Any) -> PointTiles:
        """Divide the rows of a dask array."""
        whole = points.rechunk({1: -1})
        lengths = whole.chunks[0]
        largest, labels = _assign(whole)
        _, exponent = np.frexp(largest)
        counts = _count(labels)
        sizes = counts.sum(axis=0)
        firsts = np.cumsum([0, *sizes[:-1]])
        clouds = _gather(whole, labels, counts, firsts, int(exponent))
        return cls(clouds, sizes, firsts, int(exponent), lengths, counts, labels)

    @property
    def n_points(self) -> int:
        """The number of points."""
        return sum(self.lengths)

    def vertices(self, tile: int) -> tuple[int, int]:
        """Return the range of the vertices of a tile."""
        first = int(self.firsts[tile])
        return first, first + int(self.sizes[tile])


def _assign(whole: Any) -> tuple[float, Sequence[Any]]:
    """Return the largest coordinate, and the tile of each point, chunk by chunk."""
    graph = TaskGraph()
    blocks = [graph.add("check-points", _as_points, block) for block in _blocks(whole)]
    stride = max(1, whole.shape[0] // SAMPLE)
    found = compute(graph.delayed([graph.add("sample", _sample, b, stride) for b in blocks]))
    splits = Splits.of(np.concatenate([sample for _, sample in found]), len(blocks))
    labels = [graph.add("tile-of", _labels, block, splits) for block in blocks]
    return max(size for size, _ in found), persist(graph.delayed(labels))


def _count(labels: Sequence[Any]) -> NDArray[np.int64]:
    """Return the number of points of each chunk in each tile."""
    graph, count = TaskGraph(), len(labels)
    tallies = compute(graph.delayed([graph.add("tally", _tally, part, count) for part in labels]))
    return np.array(tallies).reshape(count, count)


def _gather(
    whole: Any, labels: Sequence[Any], counts: NDArray[np.int64], firsts: Rows, exponent: int
) -> list[Any]:
    """Return the points of each tile."""
    graph, blocks, clouds = TaskGraph(), _blocks(whole), []
    begins = np.cumsum([0, *whole.chunks[0][:-1]])
    for tile, first in enumerate(firsts):
        chunks = map(int, np.flatnonzero(counts[:, tile]))
        pieces = [
            graph.add("pick", _pick, blocks[c], labels[c], tile, int(begins[c]), -exponent)
            for c in chunks
        ]
        clouds.append(graph.add("tile", _tile, pieces, int(first), whole.shape[1]))
    return list(persist(graph.delayed(clouds)))


def _blocks(whole: Any) -> list[Any]:
    return list(whole.to_delayed(optimize_graph=False).ravel())


# Tasks -------------------------------------------------------------------------------------------


def _as_points(block: Any) -> Floats:
    return as_floats(block, "points")


def _sample(block: Floats, stride: int) -> tuple[float, Floats]:
    return float(np.abs(block).max(initial=0.0)), block[::stride].copy()


def _labels(block: Floats, splits: Splits) -> Any:
    return splits.tile_of(block).astype(np.int32)


def _tally(labels: Any, count: int) -> Any:
    return np.bincount(labels, minlength=count)


def _pick(block: Any, labels: Any, tile: int, begin: int, exponent: int) -> tuple[Floats, Rows]:
    places = np.flatnonzero(labels == tile)
    return np.ldexp(np.asarray(block, dtype=np.float64)[places], exponent), places + begin


def _tile(pieces: Sequence[tuple[Floats, Rows]], first: int, dimension: int) -> Cloud:
    points = np.concatenate([np.empty((0, dimension)), *(p for p, _ in pieces)])
    rows = np.concatenate([np.empty(0, dtype=np.int64), *(r for _, r in pieces)])
    return Cloud(points, rows, np.arange(first, first + len(rows)))
