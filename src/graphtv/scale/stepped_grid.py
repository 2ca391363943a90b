"""Grids with more neighbours than those along the axes, as graphs in parts.

The parts are tiles. A pixel x has edges to x + s for all steps s of the neighbourhood, such as the
diagonals. Pixels x of one tile for which x + s lies in another one form a box. So each tile lists
its edges without knowing any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray

from graphtv._validate import Indices
from graphtv.scale.part_graph import PartGraph
from graphtv.scale.partitioned_graph import PartitionedGraph
from graphtv.scale.tiling import Index, Tiling

Step = tuple[int, ...]


@dataclass(frozen=True)
class SteppedGrid:
    """A grid of tiles with edges along some steps.

    Attributes
    ----------
    tiling : Tiling
        The tiles.
    steps : tuple of tuple of int
        The steps, one of each opposite pair.
    weights : tuple of float
        The weight of all edges along each step.
    """

    tiling: Tiling
    steps: tuple[Step, ...]
    weights: tuple[float, ...]

    def graph(self) -> PartitionedGraph:
        """Return the graph, whose parts are the tiles; vertices are pixels, tile after tile."""
        tiles = list(self.tiling)
        number = {index: k for k, index in enumerate(tiles)}
        n_inner, across, parts = [], {}, []
        for index in tiles:
            n_inner.append(sum(self._counts(index, index)))
            for other in self._around(index):
                count = sum(self._counts(*sorted((index, other))))
                if count and number[index] < number[other]:
                    across[number[index], number[other]] = count
            parts.append(delayed(_part)(self, index))
        sizes = tuple(math.prod(self.tiling.lengths(index)) for index in tiles)
        return PartitionedGraph._made_of(sizes, n_inner, dict(sorted(across.items())), parts)

    def part(self, index: Index) -> PartGraph:
        """Return the edges of a tile."""
        inner = [self._ends(index, index, step) for step in self.steps]
        near, far, crossing = [np.empty(0, np.int32)], [np.empty(0, np.int32)], [np.empty(0)]
        starts, signs = [0], []
        for other in self._around(index):
            low, high = sorted((index, other))
            if not any(self._counts(low, high)):
                continue
            for step, weight in self._directed():
                ends = self._ends(low, high, step)
                here, there = ends if index == low else ends[::-1]
                near.append(here)
                far.append(there)
                crossing.append(np.full(len(here), weight))
            starts.append(sum(map(len, near)))
            signs.append(1 if index == low else -1)
        weights = [np.full(len(e[0]), w) for e, w in zip(inner, self.weights, strict=True)]
        return PartGraph(
            np.concatenate([np.stack(ends, axis=1) for ends in inner]),
            np.concatenate(weights),
            np.concatenate(near),
            np.concatenate(far),
            np.concatenate(crossing),
            np.array(starts, dtype=np.int64),
            np.array(signs, dtype=np.int64),
        )

    def flat(self, values: Any) -> Any:
        """Return an array of pixels as one with a row per vertex."""
        channels = values.shape[len(self.tiling.counts) :]
        whole = values.rechunk((*self.tiling.chunks, *((n,) for n in channels)))
        blocks = whole.to_delayed(optimize_graph=False)
        found = []
        for index in self.tiling:
            block = blocks[(*index, *(0 for _ in channels))]
            shape = (math.prod(self.tiling.lengths(index)), *channels)
            task = delayed(np.reshape)(block, shape)
            found.append(da.from_delayed(task, shape, dtype=values.dtype))
        return da.concatenate(found)

    def image(self, values: Any) -> Any:
        """Return an array with a row per vertex as one of pixels."""
        channels, begin = values.shape[1:], 0
        arrays = np.empty(self.tiling.counts, dtype=object)
        for index in self.tiling:
            lengths = self.tiling.lengths(index)
            size = math.prod(lengths)
            block = values[begin : begin + size].rechunk(-1).to_delayed(optimize_graph=False)
            task = delayed(np.reshape)(block.item(), (*lengths, *channels))
            arrays[index] = da.from_delayed(task, (*lengths, *channels), dtype=values.dtype)
            begin += size
        joined: Any = arrays
        for axis in reversed(range(len(self.tiling.counts))):
            joined = _joined(joined, axis)
        return joined.item()

    def _directed(self) -> Iterator[tuple[Step, float]]:
        """Yield the steps in both directions, with their weights."""
        for step, weight in zip(self.steps, self.weights, strict=True):
            yield step, weight
            yield tuple(-x for x in step), weight

    def _around(self, index: Index) -> list[Index]:
        """Return the tiles that the steps may reach, in their order."""
        begin = self.tiling.begin(index)
        end = [b + n for b, n in zip(begin, self.tiling.lengths(index), strict=True)]
        reach = [max(abs(step[axis]) for step in self.steps) for axis in range(len(begin))]
        ranges = [
            _touched(chunks, b - r, e + r)
            for chunks, b, e, r in zip(self.tiling.chunks, begin, end, reach, strict=True)
        ]
        found = [
            tuple(map(int, place))
            for place in np.stack(
                [axis.ravel() for axis in np.meshgrid(*ranges, indexing="ij")], axis=1
            )
        ]
        return [other for other in found if other != index]

    def _counts(self, low: Index, high: Index) -> list[int]:
        """Return the numbers of edges between two tiles, or inside one, by step."""
        steps: Sequence[Step] = self.steps
        if low != high:
            steps = [step for step, _ in self._directed()]
        boxes = [self._box(low, high, step) for step in steps]
        return [math.prod(max(b - a, 0) for a, b in box) for box in boxes]

    def _box(self, here: Index, there: Index, step: Step) -> list[tuple[int, int]]:
        """Return where pixels x of a tile begin and end for which x + step lies in another."""
        found = []
        for axis, x in enumerate(step):
            chunks = self.tiling.chunks[axis]
            begin, other = sum(chunks[: here[axis]]), sum(chunks[: there[axis]])
            ends = begin + chunks[here[axis]], other + chunks[there[axis]]
            found.append((max(begin, other - x), min(ends[0], ends[1] - x)))
        return found

    def _ends(self, here: Index, there: Index, step: Step) -> tuple[Indices, Indices]:
        """Return the numbers of the ends of all edges along a step, each within its tile."""
        box = self._box(here, there, step)
        return self._numbers(here, box, tuple(0 for _ in step)), self._numbers(there, box, step)

    def _numbers(self, index: Index, box: list[tuple[int, int]], step: Step) -> Indices:
        begin, lengths = self.tiling.begin(index), self.tiling.lengths(index)
        axes = [
            np.arange(a + x - b, max(e, a) + x - b)
            for (a, e), x, b in zip(box, step, begin, strict=True)
        ]
        places = np.meshgrid(*axes, indexing="ij")
        numbers: NDArray[Any] = np.ravel_multi_index(places, lengths).ravel()
        return numbers.astype(np.int32)


def _part(grid: SteppedGrid, index: Index) -> PartGraph:
    return grid.part(index)


def _touched(chunks: tuple[int, ...], begin: int, end: int) -> NDArray[np.int64]:
    """Return the chunks of an axis that intersect an interval."""
    ends = np.cumsum(chunks)
    return np.flatnonzero((ends > begin) & (ends - chunks < end))


def _joined(arrays: Any, axis: int) -> Any:
    """Concatenate arrays along the last axis of their array, which is this axis of the pixels."""
    rows = arrays.reshape(-1, arrays.shape[-1])
    found = np.empty(len(rows), dtype=object)
    for k, row in enumerate(rows):
        found[k] = da.concatenate(list(row), axis=axis)
    return found.reshape(arrays.shape[:-1])
