"""Coarser grids: which part of a coarse p intersects a tile, and how p continues on the tile."""

from __future__ import annotations

import numpy as np

from graphtv._validate import Floats
from graphtv.scale.tile import Tile
from graphtv.scale.tiling import layers
from graphtv.scale.tuning import TUNING

FACTOR = TUNING.coarsening


def prolonged(
    tile: Tile, begin: tuple[int, ...], coarse: list[Floats | None]
) -> tuple[Floats, ...]:
    """Return p of a tile: that of the sides of coarse cells, 0 inside the cells.

    `coarse` contains, for each axis, the part of the coarse p that intersects the tile (see
    `coarse_box`).
    """
    p = tuple(np.zeros(q.shape) for q in tile.p)
    for axis, values in enumerate(coarse):
        if values is None or values.size == 0:
            continue
        place: list[slice] = []
        for a, (first, n) in enumerate(zip(begin, tile.lengths, strict=True)):
            if a == axis:
                low = _planes(first, n).start - first
                place.append(slice(low, low + FACTOR * (values.shape[a] - 1) + 1, FACTOR))
            else:
                skip = first % FACTOR
                values = np.repeat(values, FACTOR, axis=a)[layers(a, slice(skip, skip + n))]
                place.append(slice(0, values.shape[a]))
        p[axis][tuple(place)] = values
    for axis, weight in enumerate(tile.weights):
        if isinstance(weight, np.ndarray):
            there = weight > 0.0
            p[axis][...] = np.where(
                there if p[axis].ndim == there.ndim else there[..., None], p[axis], 0.0
            )
    return p


def coarse_box(
    axis: int, begin: tuple[int, ...], lengths: tuple[int, ...], counts: tuple[int, ...]
) -> tuple[slice, ...] | None:
    """Return the slices of the coarse p along an axis that intersect a tile, or None."""
    box = []
    for a, (first, n) in enumerate(zip(begin, lengths, strict=True)):
        if a == axis:
            planes = _planes(first, n)
            low, high = planes.start // FACTOR - 1, planes.stop // FACTOR
            box.append(slice(low, min(high, counts[a] - 1)))
        else:
            box.append(slice(first // FACTOR, min(-(-(first + n) // FACTOR), counts[a])))
        if box[-1].stop <= box[-1].start:
            return None
    return tuple(box)


def _planes(first: int, n: int) -> slice:
    """Return the first multiple of FACTOR above 0 from `first` on, and the end of the tile."""
    return slice(max(-(-first // FACTOR), 1) * FACTOR, first + n)
