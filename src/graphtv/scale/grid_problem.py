"""A problem on a grid with dask arrays, and its coarsening."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import Delayed

from graphtv.scale.coarse_grid import FACTOR, coarse_box
from graphtv.scale.grid_arrays import dual_arrays
from graphtv.scale.layout import Index, Pair
from graphtv.scale.loss import SQUARED, Loss
from graphtv.scale.tile import Tile
from graphtv.scale.tiling import Tiling, fitting_chunks, layers


@dataclass(frozen=True)
class GridProblem:
    """A loss and total variation on a grid.

    Attributes
    ----------
    f : dask array, shape (*lengths) or (*lengths, C)
        The data.
    c : dask array of the same shape or None
        Vertex weights, 0 for missing data; None means 1 everywhere.
    weights : tuple of float or dask array, one per axis
        Weights ω of the edges along each axis. The array of an axis has the shape `lengths` with
        one additional entry along this axis; its first and last entries are 0.
    delta : float
        Width of the Huber penalty, 0 for total variation.
    tiling : Tiling
        The division into tiles.
    name : str
        The name of the data in error messages.
    loss : Loss
        The loss; its data are f and c.
    couples : bool
        Whether the norm of an edge is over its channels; only for the squared loss.
    """

    f: Any
    c: Any
    weights: tuple[Any, ...]
    delta: float
    tiling: Tiling
    name: str = "image"
    loss: Loss = SQUARED
    couples: bool = False

    @classmethod
    def of(
        cls,
        f: Any,
        c: Any,
        weights: tuple[Any, ...],
        delta: float = 0.0,
        tiling: Tiling | None = None,
        name: str = "image",
        loss: Loss = SQUARED,
        couples: bool = False,
    ) -> GridProblem:
        """Return the problem; its tiles are the chunks of the data if these are suitable."""
        d = len(weights)
        tiling = tiling or Tiling(fitting_chunks(f.chunks[:d]))
        whole = (*tiling.chunks, *((n,) for n in f.shape[d:]))  # channels stay together
        c = None if c is None else c.rechunk(whole)
        return cls(f.rechunk(whole), c, weights, delta, tiling, name, loss, couples)

    @property
    def n_entries(self) -> int:
        """Numbers in f."""
        return math.prod(self.f.shape)

    @property
    def input(self) -> str:
        """What the user gave, for error messages."""
        return "dask arrays"

    @property
    def n_channel_axes(self) -> int:
        """Number of axes of f after those of the grid."""
        return int(self.f.ndim - len(self.weights))

    @property
    def kind(self) -> type[Any]:
        """The class of the parts."""
        return Tile

    @property
    def keys(self) -> list[Index]:
        """The tiles."""
        return list(self.tiling)

    @property
    def signature(self) -> Any:
        """The tiling, the loss, and whether channels are coupled, as JSON."""
        chunks = [list(lengths) for lengths in self.tiling.chunks]
        return [chunks, self.loss.name, self.loss.delta, self.couples]

    @property
    def bytes_per_round(self) -> int:
        """The bytes of all strips, their returned points and the layers for the certificate."""
        tiling, d = self.tiling, len(self.weights)
        channels = self.n_entries // math.prod(tiling.shape)
        fields = 1 + d  # u and p
        data = 1 + (self.c is not None)
        arrays = sum(not isinstance(weight, float) for weight in self.weights)
        total = 0
        for axis in range(d):
            for below, above in tiling.pairs(axis):
                side = math.prod(tiling.lengths(below)) // tiling.lengths(below)[axis]
                depth = tiling.depth(below, axis) + tiling.depth(above, axis)
                total += side * (depth * ((data + 2 * fields) * channels + arrays) + channels)
        return 8 * total

    def description(self) -> dict[str, str]:
        """Return what the log says about the grid."""
        shape = " × ".join(map(str, self.tiling.shape))
        longest = " × ".join(str(max(lengths)) for lengths in self.tiling.chunks)
        return {"grid": f"{shape} in {self.tiling.n_tiles} tiles up to {longest}"}

    def ingredients(self) -> dict[Index, tuple[Any, ...]]:
        """Return f, c and the weights of every tile, and whether channels are coupled."""
        f, c = self.blocks(self.f), self.blocks(self.c)
        return {
            index: (f[index], c[index], self.tile_weights(index), self.couples)
            for index in self.tiling
        }

    def strips(self) -> list[list[Pair]]:
        """Return the strips across all borders; those along the same axis do not overlap."""
        tiling, found = self.tiling, []
        for axis in range(len(tiling.counts)):
            strips = []
            for below, above in tiling.pairs(axis):
                end, depth = tiling.lengths(below)[axis], tiling.depth(below, axis)
                lower, upper = (axis, end - depth, end), (axis, 0, tiling.depth(above, axis))
                strips.append(Pair(below, above, lower, upper))
            if strips:
                found.append(strips)
        return found

    def beyond(self, key: Index) -> list[tuple[Index, Any] | None]:
        """Return the neighbours above a tile, whose first layers its certificate needs."""
        above = (self.tiling.above(key, axis) for axis in range(len(key)))
        return [None if other is None else (other, axis) for axis, other in enumerate(above)]

    def borders(self) -> list[tuple[int, int, int, int]]:
        """Return the pairs of neighbours; a tile has two borders along each axis."""
        numbers = {index: number for number, index in enumerate(self.tiling)}
        return [
            (numbers[below], numbers[above], 2 * axis + 1, 2 * axis)
            for axis in range(len(self.tiling.counts))
            for below, above in self.tiling.pairs(axis)
        ]

    def starts(self, coarse: Any) -> dict[Index, tuple[Any, ...]]:
        """Return the first index of every tile, and the coarse p that intersects it."""
        p, counts = dual_arrays(coarse), coarse.problem.tiling.shape
        found: dict[Index, tuple[Any, ...]] = {}
        for index in self.tiling:
            begin, lengths = self.tiling.begin(index), self.tiling.lengths(index)
            boxes = [coarse_box(a, begin, lengths, counts) for a in range(len(counts))]
            found[index] = (
                begin,
                [None if box is None else in_one(p[axis][box]) for axis, box in enumerate(boxes)],
            )
        return found

    def blocks(self, values: Any) -> dict[Index, Delayed | None]:
        """Return the blocks of f or c by tile."""
        if values is None:
            return dict.fromkeys(self.tiling)
        # If f and c were optimised separately, different tasks would have the same name.
        delayed = values.to_delayed(optimize_graph=False)
        rest = (0,) * (values.ndim - len(self.weights))
        return {index: delayed[(*index, *rest)] for index in self.tiling}

    def tile_weights(self, index: Index) -> list[Any]:
        """Return the weights of a tile, including those of edges across its border."""
        begin, lengths = self.tiling.begin(index), self.tiling.lengths(index)
        found = []
        for axis, weight in enumerate(self.weights):
            if not isinstance(weight, float):
                box = [slice(b, b + n) for b, n in zip(begin, lengths, strict=True)]
                box[axis] = slice(begin[axis], begin[axis] + lengths[axis] + 1)
                weight = in_one(weight[tuple(box)])
            found.append(weight)
        return found

    def coarser(self) -> GridProblem | None:
        """Return the problem for functions that are constant on cells of FACTORᵈ vertices.

        Its data are the sums over each cell, and its weights the sums across each side of a cell,
        both divided by the size of a cell. Incomplete cells at the end of an axis are left out.
        Return None if the coarse grid would be too small, or if the loss is not squared.
        """
        d = len(self.weights)
        counts = [n // FACTOR for n in self.tiling.shape]
        if min(counts) < 2 or not self.loss.is_squared:
            return None
        mean = functools.partial(_means, axes=tuple(range(d)))
        if self.c is None:
            f, c = mean(self.f), None
        else:
            c = mean(self.c)
            f = mean(self.f * self.c) / da.where(c > 0.0, c, 1.0)
        weights = []
        for axis, weight in enumerate(self.weights):
            if not isinstance(weight, float):
                planes = weight[layers(axis, slice(None, None, FACTOR))]
                planes = planes[layers(axis, slice(0, counts[axis] + 1))]
                weight = _means(planes, tuple(a for a in range(d) if a != axis)) / FACTOR
            else:
                weight /= FACTOR
            weights.append(weight)
        # Keep the number of vertices per tile about the same.
        longest = [max(lengths) for lengths in self.tiling.chunks]
        chunks = tuple(_even(n, length) for n, length in zip(counts, longest, strict=True))
        coarse = Tiling(fitting_chunks(chunks))
        return GridProblem.of(f, c, tuple(weights), self.delta, coarse, couples=self.couples)


def in_one(values: Any) -> Delayed:
    """Return a small dask array as one delayed array."""
    return values.rechunk(-1).to_delayed(optimize_graph=False).item()


def _means(values: Any, axes: tuple[int, ...]) -> Any:
    """Return means over cells along some axes."""
    box, chunks = [], []
    for axis, lengths in enumerate(values.chunks):
        if axis in axes:
            whole = values.shape[axis] // FACTOR * FACTOR
            step = max(lengths) // FACTOR * FACTOR or FACTOR
            box.append(slice(0, whole))
            chunks.append(tuple(min(step, whole - b) for b in range(0, whole, step)))
        else:
            box.append(slice(None))
            chunks.append(lengths)
    aligned = values[tuple(box)].rechunk(tuple(chunks))
    return da.coarsen(np.mean, aligned, dict.fromkeys(axes, FACTOR))


def _even(n: int, length: int) -> tuple[int, ...]:
    count = max(1, math.ceil(n / length))
    return tuple(n * (k + 1) // count - n * k // count for k in range(count))
