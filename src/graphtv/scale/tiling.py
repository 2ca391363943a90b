"""Division of a grid into tiles, and neighbours of tiles."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from graphtv.scale.tuning import TUNING

Index = tuple[int, ...]


@dataclass(frozen=True)
class Tiling:
    """A grid of tiles.

    Attributes
    ----------
    chunks : tuple of tuple of int
        Lengths of the tiles along each axis.
    """

    chunks: tuple[tuple[int, ...], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return tuple(map(sum, self.chunks))

    @property
    def counts(self) -> tuple[int, ...]:
        """Numbers of tiles along the axes."""
        return tuple(map(len, self.chunks))

    @property
    def n_tiles(self) -> int:
        """Number of tiles."""
        return math.prod(self.counts)

    def __iter__(self) -> Iterator[Index]:
        return itertools.product(*map(range, self.counts))

    def lengths(self, index: Index) -> tuple[int, ...]:
        """Return the lengths of a tile."""
        return tuple(chunks[i] for chunks, i in zip(self.chunks, index, strict=True))

    def begin(self, index: Index) -> tuple[int, ...]:
        """Return the first index of a tile along each axis."""
        return tuple(sum(chunks[:i]) for chunks, i in zip(self.chunks, index, strict=True))

    def above(self, index: Index, axis: int) -> Index | None:
        """Return the neighbour above along an axis, if there is one."""
        if index[axis] + 1 == self.counts[axis]:
            return None
        return (*index[:axis], index[axis] + 1, *index[axis + 1 :])

    def below(self, index: Index, axis: int) -> Index | None:
        """Return the neighbour below along an axis, if there is one."""
        if index[axis] == 0:
            return None
        return (*index[:axis], index[axis] - 1, *index[axis + 1 :])

    def pairs(self, axis: int) -> Iterator[tuple[Index, Index]]:
        """Return the pairs of neighbours along an axis, the lower one first."""
        for index in self:
            above = self.above(index, axis)
            if above is not None:
                yield index, above

    def depth(self, index: Index, axis: int) -> int:
        """Return how far strips along an axis extend into a tile; strips do not overlap."""
        length = self.lengths(index)[axis]
        part, least = TUNING.strip_depth, TUNING.least_strip_depth
        return min(max(int(part * length), least), length // 2)


def layers(axis: int, which: slice) -> tuple[slice, ...]:
    """Return an index of layers along an axis."""
    return (*(slice(None),) * axis, which)


def fitting_chunks(chunks: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """Return chunks that are suitable as tiles, if possible the given ones.

    Chunks that are too short are merged with neighbours. If this makes them too large, the axes are
    divided again.
    """
    shape = tuple(map(sum, chunks))
    merged = tuple(_merge(lengths) for lengths in chunks)
    largest = math.prod(max(lengths) for lengths in chunks)
    if math.prod(max(lengths) for lengths in merged) <= max(4 * largest, TUNING.tile_size):
        return merged
    length = max(TUNING.shortest_tile, round(TUNING.tile_size ** (1.0 / len(shape))))
    return tuple(_cut(n, length) for n in shape)


def _merge(lengths: tuple[int, ...]) -> tuple[int, ...]:
    merged: list[int] = []
    for length in lengths:
        if merged and merged[-1] < TUNING.shortest_tile:
            merged[-1] += length
        elif length > 0:
            merged.append(length)
    if len(merged) > 1 and merged[-1] < TUNING.shortest_tile:
        merged[-2:] = [sum(merged[-2:])]
    return tuple(merged)


def _cut(n: int, length: int) -> tuple[int, ...]:
    count = max(1, round(n / length))
    return tuple(n * (k + 1) // count - n * k // count for k in range(count))
