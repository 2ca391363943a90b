"""The tasks on parts that run on the workers. Arguments are handles and numbers.

No task changes its arguments, and all tasks are deterministic, so a task can be repeated after a
worker was lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphtv._validate import Floats
from graphtv.scale import reduction
from graphtv.scale.census import Census
from graphtv.scale.certificate import Share
from graphtv.scale.coarse_grid import prolonged
from graphtv.scale.coordinates import Coordinates
from graphtv.scale.layout import Index
from graphtv.scale.loss import Loss
from graphtv.scale.storage import Storage
from graphtv.scale.tiling import layers
from graphtv.scale.tuning import TUNING
from graphtv.scale.window import Unknown
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
    tolerance : float
        The relative gap of the whole problem that the run is to reach.
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
    tolerance: float
    n_threads: int | None
    deadline: float | None

    def relax(self, box: Any, is_cold: bool = False) -> Any:
        """Solve the interior of a part or a strip within the time limit."""
        seconds = seconds_until(self.deadline)
        if seconds is not None and seconds <= 0.0:
            return box
        window = box.window()
        relaxed = window.relax(
            self.density * window.f.size,
            relative=self.relative,
            is_cold=is_cold,
            unknown=self.unknown,
            n_threads=self.n_threads,
            time_limit=seconds,
        )
        return box if relaxed is window else box.with_points(relaxed)


def seconds_until(deadline: float | None) -> float | None:
    """Return the seconds until a time, as in `time.time`."""
    return None if deadline is None else deadline - time.time()


def run(step: Callable[..., Any], storage: Storage, *args: Any) -> Any:
    """Run a step, then let the storage free memory."""
    try:
        return step(storage, *args)
    finally:
        storage.settle()


def open_part(
    storage: Storage, index: Index, kind: type[Any], ingredients: Sequence[Any], delta: float
) -> Any:
    """Make a part and store it."""
    return storage.put(kind.made_of(*ingredients, delta), index, 0)


def is_made_of(
    storage: Storage, handle: Any, kind: type[Any], ingredients: Sequence[Any], delta: float
) -> bool:
    """Return whether a part in a folder was made from these ingredients."""
    return bool(kind.made_of(*ingredients, delta).digest() == handle.digest)


def take_census(storage: Storage, handle: Any, n_channel_axes: int) -> Census:
    """Return the statistics of a part."""
    return Census.of(storage.get(handle), n_channel_axes)


def fits(storage: Storage, handle: Any, coordinates: Coordinates) -> bool:
    """Return whether all numbers of a tile are exact in other coordinates."""
    try:
        storage.get(handle).in_coordinates(coordinates, np.zeros(()))
    except InexactError:
        return False
    return True


def change_coordinates(
    storage: Storage,
    handle: Any,
    index: Index,
    coordinates: Coordinates,
    filling: Floats,
    loss: Loss,
) -> Any:
    """Change the coordinates of a part, and set vertices without data to a value.

    Begin with u in the interval of the loss.
    """
    tile = storage.get(handle)
    is_complete = tile.c is None or (tile.c > 0.0).all()
    if coordinates.are_plain and is_complete and loss.is_squared:
        return handle
    changed = tile.in_coordinates(coordinates, filling)
    if not loss.is_squared:
        changed = changed.with_u(np.clip(changed.u, loss.lower, loss.upper))
    return storage.put(changed, index, 1, handle, with_data=True)


def prolong(
    storage: Storage,
    handle: Any,
    index: Index,
    version: int,
    begin: tuple[int, ...],
    coarse: list[Floats | None],
) -> Any:
    """Start a tile from the parts of p on a coarser grid that intersect it."""
    tile: Any = storage.get(handle)
    return storage.put(tile.start(prolonged(tile, begin, coarse)), index, version, handle)


def relax_part(storage: Storage, handle: Any, index: Index, version: int, effort: Effort) -> Any:
    """Solve the interior of a part."""
    part = storage.get(handle)
    moved = part.anchored(effort.unknown.loss)
    moved = moved if effort.is_first else moved.extrapolate(effort.momentum)
    relaxed = effort.relax(moved, effort.is_first)
    return handle if relaxed is part else storage.put(relaxed, index, version, handle)


def take(storage: Storage, handle: Any, where: Any) -> Any:
    """Return a piece of a part to send to a neighbour."""
    return storage.get(handle).piece(where)


def relax_strip(storage: Storage, low: Any, high: Any, effort: Effort) -> tuple[Any, Any]:
    """Solve the interior of a strip across a border; return its sides, None if unchanged."""
    strip = low.join(high)
    relaxed = effort.relax(strip)
    return (None, None) if relaxed is strip else relaxed.halves()


def paste(
    storage: Storage,
    handle: Any,
    index: Index,
    version: int,
    places: list[Any],
    pieces: list[Any],
) -> Any:
    """Insert the new points of pieces."""
    new = [(at, piece) for at, piece in zip(places, pieces, strict=True) if piece is not None]
    if not new:
        return handle
    return storage.put(storage.get(handle).paste(new), index, version, handle)


def border_values(storage: Storage, handle: Any, where: Any) -> Floats:
    """Return values of u that the certificate of a neighbour needs."""
    return storage.get(handle).border_values(where)


# The reduced problem -----------------------------------------------------------------------------


def reduce_to_pieces(
    storage: Storage, handle: Any, flat: float, most: int, loss: Loss
) -> list[reduction.Reduction] | None:
    """Return the pieces of u in a part; None if there are too many of them."""
    part = storage.get(handle)
    window = part.window()
    labels = reduction.pieces_of(window, flat)
    count = max(int(label.max(initial=0)) + 1 for label in labels)
    if count > most:
        return None
    data = loss.near(window.f, window.c, window.u) if not loss.is_squared else None
    return reduction.reduced(window, part.border(), labels, data)


def reduce_to_clusters(
    storage: Storage, handle: Any, levels: int, loss: Loss
) -> list[reduction.Reduction]:
    """Return clusters of the vertices of a part."""
    part = storage.get(handle)
    window = part.window()
    data = loss.start(window.f, window.c) if not loss.is_squared else None
    return reduction.reduced(window, part.border(), reduction.clusters_of(window, levels), data)


def solve_reduced(
    storage: Storage,
    parts: list[list[reduction.Reduction] | None],
    borders: list[tuple[int, int, int, int]],
    n_entries: int,
    delta: float,
    tolerance: float,
    deadline: float | None,
) -> list[reduction.Coarse] | None:
    """Solve the problem of all pieces, by channel; None if it is too large or takes too long."""
    given = [part for part in parts if part is not None]
    if len(given) < len(parts):
        return None
    found = []
    for channel in range(len(given[0])):
        pieces = [part[channel] for part in given]
        count = sum(len(piece.mass) for piece in pieces)
        if count * len(given[0]) * TUNING.least_reduction > n_entries:
            return None
        seconds = seconds_until(deadline)
        if seconds is not None and seconds <= 0.0:
            return None
        coarse = reduction.solve_reduced(pieces, borders, delta, tolerance, seconds)
        if coarse is None:
            return None
        found.append(coarse)
    return found


def use_values(
    storage: Storage,
    handle: Any,
    index: Index,
    version: int,
    number: int,
    coarse: list[reduction.Coarse] | None,
    flat: float,
    loss: Loss,
) -> Any:
    """Give the pieces of u in a part the values of the reduced problem."""
    if coarse is None:
        return handle
    part = storage.get(handle)
    window = part.window()
    labels = reduction.pieces_of(window, flat)
    columns = [c.u[number][label] for c, label in zip(coarse, labels, strict=True)]
    u = np.stack(columns, axis=1).reshape(window.u.shape)
    if not loss.is_squared:
        u = np.clip(u, loss.lower, loss.upper)
    return storage.put(part.with_u(u), index, version, handle)


def with_u_of(storage: Storage, handle: Any, index: Index, version: int, other: Any) -> Any:
    """Return a part with u of an earlier one."""
    u = storage.get(other).window().u
    return storage.put(storage.get(handle).with_u(u), index, version, handle)


def start_flows(
    storage: Storage,
    handle: Any,
    index: Index,
    version: int,
    borders: dict[int, int],
    coarse: list[reduction.Coarse] | None,
    loss: Loss,
) -> Any:
    """Start a part from p of the reduced problem across its borders.

    `borders` has the number of each border of the part among all borders.
    """
    if coarse is None:
        return handle
    part = storage.get(handle)
    channels = part.window().p.shape[1:]
    p = {
        at: np.stack([c.p[k] for c in coarse], axis=1).reshape(-1, *channels)
        for at, k in borders.items()
    }
    started = part.start_across(p)
    started = started if loss.is_squared else started.with_u(part.window().u)
    return storage.put(started, index, version, handle)


def certify(
    storage: Storage,
    handle: Any,
    beyond: list[Floats | None],
    unknown: Unknown,
    coordinates: Coordinates,
) -> tuple[Share, Share]:
    """Return the share of a part in the certificate, as returned and before it is rounded."""
    part = storage.get(handle)
    found = part.certify(beyond, unknown, coordinates)
    if not coordinates.has_centre:
        return found, found
    return found, part.certify(beyond, unknown, Coordinates())


def primal_block(storage: Storage, handle: Any, coordinates: Coordinates) -> Floats:
    """Return u of a tile."""
    return np.array(coordinates.restore(storage.get(handle).u))


def dual_inside(storage: Storage, handle: Any) -> Floats:
    """Return p of the edges inside a part of a graph."""
    return np.array(storage.get(handle).p)


def dual_across(storage: Storage, handle: Any, neighbour: int) -> Floats:
    """Return p of the edges from a part of a graph to a neighbour."""
    part: Any = storage.get(handle)
    return np.array(part.across(neighbour))


def dual_block(storage: Storage, handle: Any, axis: int, is_last: bool) -> Floats:
    """Return p of the edges along an axis that begin in a tile."""
    p = storage.get(handle).p[axis]
    return np.array(p[layers(axis, slice(1, -1 if is_last else None))])
