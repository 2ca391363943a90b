"""All tiles of a grid on the Dask workers, and the task graphs that operate on them.

In memory, tiles and their results stay on the workers (with the threaded scheduler, in this
process). With a folder they are files. Only numbers are sent to the client.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from graphtv._validate import Floats
from graphtv.problem import Proof
from graphtv.scale import steps
from graphtv.scale.certificate import proof_of
from graphtv.scale.coordinates import Coordinates
from graphtv.scale.grid_problem import GridProblem, in_one
from graphtv.scale.scheduler import compute, persist
from graphtv.scale.steps import Effort
from graphtv.scale.storage import Folder, Storage
from graphtv.scale.tile import Unknown
from graphtv.scale.tiling import Index, Tiling
from graphtv.terms._units import scaled

Handles = dict[Index, Any]

PROXIMAL = 1e-2
"""Weight of the proximal term of vertices without data, relative to the mean weight of the data.
With a smaller weight, their values move faster, but windows with few data are harder to solve."""


class Tiles:
    """The tiles of a problem.

    Parameters
    ----------
    problem : GridProblem
        The problem, which defines the tiling.
    storage : Storage
        The storage of the tiles.

    Attributes
    ----------
    unknown : Unknown
        The treatment of vertices without data.
    coordinates : Coordinates
        Where the tiles are solved.
    """

    def __init__(self, problem: GridProblem, storage: Storage) -> None:
        self.problem, self.storage = problem, storage
        self.handles: Handles = {}
        self.unknown = Unknown(PROXIMAL, np.zeros(()), np.zeros(()))
        self.coordinates = Coordinates()
        self.version = 1

    @property
    def tiling(self) -> Tiling:
        """The division into tiles."""
        return self.problem.tiling

    @property
    def n_windows(self) -> int:
        """Number of tiles and of strips across the borders between them."""
        axes = range(len(self.tiling.counts))
        return self.tiling.n_tiles + sum(1 for a in axes for _ in self.tiling.pairs(a))

    # Data ----------------------------------------------------------------------------------------

    def open(self) -> None:
        """Make the tiles, with p = 0."""
        self._keep(
            {
                index: self._task(steps.open_tile, index, *blocks, self.problem.delta)
                for index, blocks in self._blocks().items()
            }
        )
        self._change_coordinates()

    def check(self) -> bool:
        """Return whether tiles read from a folder belong to the problem."""
        return all(
            compute(
                [
                    self._task(steps.is_made_of, self.handles[index], *blocks)
                    for index, blocks in self._blocks().items()
                ]
            )
        )

    def _blocks(self) -> dict[Index, tuple[Any, Any, list[Any]]]:
        """Return f, c and the weights of every tile."""
        f, c = self.problem.blocks(self.problem.f), self.problem.blocks(self.problem.c)
        return {i: (f[i], c[i], self.problem.tile_weights(i)) for i in self.tiling}

    def _change_coordinates(self) -> None:
        """Centre and scale the data; set vertices without data to the mean of the others."""
        found = compute([self._task(steps.take_census, h) for h in self.handles.values()])
        known = sum(census.known for census in found)
        has_unknown = np.any([census.unknown for census in found])
        if has_unknown and not np.all(known):
            where = "" if np.ndim(known) == 0 else f" in channel {int(np.argmin(known))}"
            raise ValueError(f"{self.problem.name} must have a known entry, got none{where}")
        least = np.min([census.least for census in found], axis=0)
        most = np.max([census.most for census in found], axis=0)
        mass = sum(census.mass for census in found) / float(np.sum(known))
        heaviest = max(census.heaviest for census in found)
        coordinates = Coordinates.of(least, most, heaviest)
        if not self._fits(coordinates):
            coordinates = Coordinates(np.zeros(least.shape))
        a, b = coordinates.units
        self.coordinates = coordinates
        self.unknown = Unknown(
            PROXIMAL * float(scaled(np.float64(mass), 2 * a - b)),
            coordinates.point(least),
            coordinates.point(most),
        )
        if has_unknown or not coordinates.are_plain:
            mean = np.asarray(sum(census.total for census in found) / known)
            filling = coordinates.point(mean)
            self._keep(
                {
                    index: self._task(steps.change_coordinates, handle, index, coordinates, filling)
                    for index, handle in self.handles.items()
                }
            )

    def _fits(self, coordinates: Coordinates) -> bool:
        """Return whether all numbers of the tiles are exact in these coordinates."""
        return coordinates.are_plain or all(
            compute([self._task(steps.fits, h, coordinates) for h in self.handles.values()])
        )

    # Points --------------------------------------------------------------------------------------

    def start_from(self, coarse: Tiles) -> None:
        """Start from p of a coarser grid."""
        p, counts = coarse.dual_arrays(), coarse.tiling.shape
        version = self._next_version()
        started = {}
        for index, handle in self.handles.items():
            begin, lengths = self.tiling.begin(index), self.tiling.lengths(index)
            boxes = [steps.coarse_box(a, begin, lengths, counts) for a in range(len(counts))]
            parts = [
                None if box is None else in_one(p[axis][box]) for axis, box in enumerate(boxes)
            ]
            started[index] = self._task(steps.prolong, handle, index, version, begin, parts)
        self._keep(started)

    def relax(self, effort: Effort) -> tuple[Proof, Proof]:
        """Solve all windows once, tiles first.

        Return what is proved of the points as returned, and before they are rounded around an
        offset, both in the coordinates of the tiles.
        """
        version = self._next_version()
        handles = {
            index: self._task(steps.relax_tile, handle, index, version, effort)
            for index, handle in self.handles.items()
        }
        for axis, count in enumerate(self.tiling.counts):
            if count > 1:
                handles = self._relax_strips(handles, axis, effort)
        shares = self._keep(handles, self._shares(handles))
        returned, unrounded = zip(*shares, strict=True)
        return proof_of(returned), proof_of(unrounded)

    def _relax_strips(self, handles: Handles, axis: int, effort: Effort) -> Handles:
        lower, upper = {}, {}
        for below, above in self.tiling.pairs(axis):
            end, depth = self.tiling.lengths(below)[axis], self.tiling.depth(below, axis)
            low = self._task(steps.take, handles[below], axis, end - depth, end)
            high = self._task(steps.take, handles[above], axis, 0, self.tiling.depth(above, axis))
            strip = self._task(steps.relax_strip, low, high, axis, effort, nout=2)
            upper[below], lower[above] = strip
        version = self._next_version()
        return {
            i: self._task(steps.paste, h, i, version, axis, lower.get(i), upper.get(i))
            for i, h in handles.items()
        }

    def _shares(self, handles: Handles) -> list[Any]:
        shares = []
        for index, handle in handles.items():
            above = (self.tiling.above(index, axis) for axis in range(len(index)))
            layers = [
                None if other is None else self._task(steps.first_layer, handles[other], axis)
                for axis, other in enumerate(above)
            ]
            shares.append(self._task(steps.certify, handle, layers, self.unknown, self.coordinates))
        return shares

    # Arrays --------------------------------------------------------------------------------------

    def primal_array(self) -> Any:
        """Return u as a dask array."""
        blocks = {
            index: (
                self._task(steps.primal_block, handle, self.coordinates),
                self.tiling.lengths(index),
            )
            for index, handle in self.handles.items()
        }
        return self._assemble(blocks)

    def dual_arrays(self) -> tuple[Any, ...]:
        """Return p along each axis as dask arrays."""
        arrays = []
        for axis, count in enumerate(self.tiling.counts):
            blocks = {}
            for index, handle in self.handles.items():
                is_last = index[axis] + 1 == count
                lengths = list(self.tiling.lengths(index))
                lengths[axis] -= is_last
                blocks[index] = self._task(steps.dual_block, handle, axis, is_last), lengths
            arrays.append(self._assemble(blocks))
        return tuple(arrays)

    def _assemble(self, blocks: Mapping[Index, tuple[Any, Sequence[int]]]) -> Any:
        shape = self.problem.f.shape
        channels = shape[len(self.tiling.counts) :]
        meta: Floats = np.empty((0,) * len(shape))
        arrays = np.empty(self.tiling.counts, dtype=object)
        for index, (block, lengths) in blocks.items():
            arrays[index] = da.from_delayed(block, (*lengths, *channels), meta=meta)
        joined = arrays.tolist()
        for _ in channels:
            joined = _wrap(joined, len(self.tiling.counts))
        return da.block(joined)

    # Dask ----------------------------------------------------------------------------------------

    def _task(self, step: Callable[..., Any], *args: Any, nout: int | None = None) -> Any:
        """Return a task, named for the dashboard."""
        key = f"{step.__name__.replace('_', '-')}-{uuid.uuid4().hex}"
        return delayed(steps.run, pure=False, nout=nout)(
            step, self.storage, *args, dask_key_name=key
        )

    def _keep(self, handles: Handles, others: Sequence[Any] = ()) -> Sequence[Any]:
        """Compute tasks on the workers; keep the tiles there and return the other values."""
        keep = compute if isinstance(self.storage, Folder) else persist
        found = keep([*handles.values(), *others])
        self.handles = dict(zip(handles, found[: len(handles)], strict=True))
        numbers = found[len(handles) :]
        # Errors of the tasks are raised here.
        return compute(numbers) if numbers else ()

    def _next_version(self) -> int:
        self.version += 1
        return self.version


def _wrap(blocks: Any, depth: int) -> Any:
    """Wrap every array of nested lists in a list, so that `da.block` adds an axis."""
    return [_wrap(block, depth - 1) for block in blocks] if depth else [blocks]
