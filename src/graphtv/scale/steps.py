"""The tasks on tiles that run on the workers. Arguments are handles and numbers.

No task changes its arguments, and all tasks are deterministic, so a task can be repeated after a
worker was lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats
from graphtv.scale.certificate import Share
from graphtv.scale.coordinates import Coordinates
from graphtv.scale.grid_problem import FACTOR
from graphtv.scale.storage import Storage
from graphtv.scale.tile import Points, Tile, Unknown
from graphtv.scale.tiling import Index, layers
from graphtv.terms._units import InexactError


@dataclass(frozen=True)
class Effort:
    """How accurately windows are solved.

    Attributes
    ----------
    density : float
        The allowed gap per entry.
    relative : float
        A gap, relative to the objective of the window, that is always allowed.
    is_first : bool
        Whether this is the first round.
    momentum : float
        Extrapolation factor of the flows across borders before tiles are solved.
    unknown : Unknown
        The treatment of vertices without data.
    n_threads : int or None
        Threads per window.
    deadline : float or None
        Time (as in `time.time`) after which the run ends.
    """

    density: float
    relative: float
    is_first: bool
    momentum: float
    unknown: Unknown
    n_threads: int | None
    deadline: float | None

    def relax(self, tile: Tile, is_cold: bool = False) -> Tile:
        """Solve the interior of a tile within the time limit."""
        seconds = None if self.deadline is None else self.deadline - time.time()
        if seconds is not None and seconds <= 0.0:
            return tile
        return tile.relax(
            self.density * tile.f.size,
            relative=self.relative,
            is_cold=is_cold,
            unknown=self.unknown,
            n_threads=self.n_threads,
            time_limit=seconds,
        )


@dataclass(frozen=True)
class Census:
    """Statistics of the data of a tile per channel, and of its weights.

    Attributes
    ----------
    known, unknown : ndarray
        Numbers of entries with and without data.
    total, least, most : ndarray
        The sum, the minimum and the maximum of the data.
    mass, heaviest : float
        The sum of all vertex weights, and the largest of them.
    """

    known: Floats
    unknown: Floats
    total: Floats
    least: Floats
    most: Floats
    mass: float
    heaviest: float


def run(step: Callable[..., Any], storage: Storage, *args: Any) -> Any:
    """Run a step, then let the storage free memory."""
    try:
        return step(storage, *args)
    finally:
        storage.settle()


def open_tile(
    storage: Storage,
    index: Index,
    f: NDArray[Any],
    c: NDArray[Any] | None,
    weights: list[Any],
    delta: float,
) -> Any:
    """Make a tile from blocks and store it."""
    return storage.put(_tile_of(f, c, weights, delta), index, 0)


def is_made_of(
    storage: Storage, handle: Any, f: NDArray[Any], c: NDArray[Any] | None, weights: list[Any]
) -> bool:
    """Return whether a tile in a folder was made from these blocks."""
    return bool(_tile_of(f, c, weights, handle.delta).digest() == handle.digest)


def _tile_of(f: NDArray[Any], c: NDArray[Any] | None, weights: list[Any], delta: float) -> Tile:
    if c is not None and (c == 1.0).all():
        c = None
    made = tuple(w if isinstance(w, float) else np.asarray(w, dtype=np.float64) for w in weights)
    return Tile.at_rest(f, c, made, delta)


def take_census(storage: Storage, handle: Any) -> Census:
    """Return the statistics of a tile."""
    tile = storage.get(handle)
    axes = tuple(range(len(tile.weights)))
    known = np.ones(tile.f.shape, dtype=bool) if tile.c is None else tile.c > 0.0
    return Census(
        known.sum(axis=axes, dtype=np.float64),
        (~known).sum(axis=axes, dtype=np.float64),
        np.sum(tile.f, axis=axes, where=known, dtype=np.float64),
        np.min(tile.f, axis=axes, where=known, initial=np.inf).astype(np.float64),
        np.max(tile.f, axis=axes, where=known, initial=-np.inf).astype(np.float64),
        float(tile.f.size if tile.c is None else np.sum(tile.c, dtype=np.float64)),
        float(1.0 if tile.c is None else np.max(tile.c)),
    )


def fits(storage: Storage, handle: Any, coordinates: Coordinates) -> bool:
    """Return whether all numbers of a tile are exact in other coordinates."""
    try:
        storage.get(handle).in_coordinates(coordinates, np.zeros(()))
    except InexactError:
        return False
    return True


def change_coordinates(
    storage: Storage, handle: Any, index: Index, coordinates: Coordinates, filling: Floats
) -> Any:
    """Change the coordinates of a tile, and set vertices without data to a value."""
    tile = storage.get(handle)
    if coordinates.are_plain and (tile.c is None or (tile.c > 0.0).all()):
        return handle
    changed = tile.in_coordinates(coordinates, filling)
    return storage.put(changed, index, 1, handle, with_data=True)


def prolong(
    storage: Storage,
    handle: Any,
    index: Index,
    version: int,
    begin: tuple[int, ...],
    coarse: list[Floats | None],
) -> Any:
    """Start a tile from p on the sides of coarse cells.

    `coarse` contains, for each axis, the part of the coarse p that intersects the tile (see
    `coarse_box`).
    """
    tile = storage.get(handle)
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
    return storage.put(tile.start(p), index, version, handle)


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


def relax_tile(storage: Storage, handle: Any, index: Index, version: int, effort: Effort) -> Any:
    """Solve the interior of a tile."""
    tile = storage.get(handle)
    moved = tile if effort.is_first else tile.extrapolate(effort.momentum)
    relaxed = effort.relax(moved, effort.is_first)
    return handle if relaxed is tile else storage.put(relaxed, index, version, handle)


def take(storage: Storage, handle: Any, axis: int, first: int, last: int) -> Tile:
    """Return layers of a tile to send to a neighbour."""
    return storage.get(handle).part(axis, first, last)


def relax_strip(
    storage: Storage, lower: Tile, upper: Tile, axis: int, effort: Effort
) -> tuple[Points | None, Points | None]:
    """Solve the interior of a strip across a border; return its two parts, None if unchanged."""
    strip = lower.join(upper, axis)
    relaxed = effort.relax(strip)
    if relaxed is strip:
        return None, None
    at, end = lower.lengths[axis], strip.lengths[axis]
    return relaxed.points(axis, 0, at), relaxed.points(axis, at, end)


def paste(
    storage: Storage,
    handle: Any,
    index: Index,
    version: int,
    axis: int,
    lower: Points | None,
    upper: Points | None,
) -> Any:
    """Insert the layers at both ends of an axis."""
    if lower is None and upper is None:
        return handle
    tile = storage.get(handle)
    pieces = [] if lower is None else [(0, lower)]
    if upper is not None:
        pieces.append((tile.lengths[axis] - upper.u.shape[axis], upper))
    return storage.put(tile.paste(axis, pieces), index, version, handle)


def first_layer(storage: Storage, handle: Any, axis: int) -> Floats:
    """Return the first layer of u, which the neighbour below needs for its certificate."""
    u = storage.get(handle).u
    layer: Floats = np.array(np.take(u, 0, axis=axis))
    return layer


def certify(
    storage: Storage,
    handle: Any,
    above: list[Floats | None],
    unknown: Unknown,
    coordinates: Coordinates,
) -> tuple[Share, Share]:
    """Return the share of a tile in the certificate, as returned and before it is rounded."""
    tile, layers_above = storage.get(handle), tuple(above)
    found = tile.certify(layers_above, unknown, coordinates)
    if not coordinates.has_centre:
        return found, found
    return found, tile.certify(layers_above, unknown, Coordinates())


def primal_block(storage: Storage, handle: Any, coordinates: Coordinates) -> Floats:
    """Return u of a tile."""
    return np.array(coordinates.restore(storage.get(handle).u))


def dual_block(storage: Storage, handle: Any, axis: int, is_last: bool) -> Floats:
    """Return p of the edges along an axis that begin in a tile."""
    p = storage.get(handle).p[axis]
    return np.array(p[layers(axis, slice(1, -1 if is_last else None))])
