"""Storage of tiles between steps: in the memory of the workers, or in a folder.

A step takes handles and returns new ones. In memory a handle is the tile itself, which stays on the
worker that computed it. In a folder it is a name. The tiles may then be larger than memory, and the
next run can use them. Files are never changed: every step writes new files atomically, and files
that are no longer needed are deleted between rounds.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from graphtv import _core
from graphtv._atomic import replaced
from graphtv.scale import array_file
from graphtv.scale.tile import Tile
from graphtv.scale.tiling import Index

CHANGED = "changed"
"""Name of data that a step has changed; the step can be repeated, since its own data remain."""


class Storage(Protocol):
    """Keeps tiles."""

    def put(
        self, tile: Tile, index: Index, version: int, old: Any = None, *, with_data: bool = False
    ) -> Any:
        """Store a tile and return its handle.

        `old` is the handle of the tile it was made from. The data are those of `old`, unless
        `with_data` is true.
        """

    def get(self, handle: Any) -> Tile:
        """Return the tile of a handle."""

    def settle(self) -> None:
        """Free memory after a step."""

    def clear(self) -> None:
        """Delete everything."""


class Memory:
    """Tiles in the memory of Dask workers."""

    def put(
        self, tile: Tile, index: Index, version: int, old: Any = None, *, with_data: bool = False
    ) -> Tile:
        """Return the tile."""
        return tile

    def get(self, handle: Tile) -> Tile:
        """Return the tile."""
        return handle

    def settle(self) -> None:
        """Do nothing."""

    def clear(self) -> None:
        """No-op: Dask frees objects without references."""


@dataclass(frozen=True)
class Handle:
    """The names of a tile and of its data in a folder, its scalar attributes, and its arrays."""

    index: Index
    version: int
    delta: float
    weights: tuple[float | None, ...]
    has_c: bool
    has_before: bool
    digest: str
    data: str = "data"


class Folder:
    """Tiles as array files, with a folder per tile and a subfolder per step.

    Parameters
    ----------
    path : Path
        A folder that all workers can access.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def put(
        self,
        tile: Tile,
        index: Index,
        version: int,
        old: Handle | None = None,
        *,
        with_data: bool = False,
    ) -> Handle:
        """Write the arrays that have changed, usually all except data and weights."""
        numbers = tuple(w if isinstance(w, float) else None for w in tile.weights)
        digest = tile.digest() if old is None else old.digest
        data = "data" if old is None else old.data
        if old is None or with_data:
            data = "data" if old is None else CHANGED
            self._write(index, data, {"f": tile.f, "c": tile.c} | _by_axis("w", tile.weights))
        points = {"u": tile.u} | _by_axis("p", tile.p) | _by_axis("b", tile.before or ())
        self._write(index, str(version), points)
        has_c, has_before = tile.c is not None, tile.before is not None
        return Handle(index, version, tile.delta, numbers, has_c, has_before, digest, data)

    def get(self, handle: Handle) -> Tile:
        """Return a tile with memory-mapped arrays, which are read on access."""

        def load(part: str, name: str) -> Any:
            return array_file.mapped(self._folder(handle.index) / part / name)

        version, axes = str(handle.version), range(len(handle.weights))
        return Tile(
            load(handle.data, "f"),
            load(handle.data, "c") if handle.has_c else None,
            tuple(
                load(handle.data, f"w{axis}") if number is None else number
                for axis, number in enumerate(handle.weights)
            ),
            tuple(load(version, f"p{axis}") for axis in axes),
            load(version, "u"),
            handle.delta,
            tuple(load(version, f"b{axis}") for axis in axes) if handle.has_before else None,
        )

    def settle(self) -> None:
        """Return freed memory to the system; Dask gives no work to a worker that seems full."""
        _core.give_back_freed_memory()

    def inner(self, name: str) -> Folder:
        """Return a folder within this one."""
        return Folder(self.path / name)

    def sync(self, handles: Iterable[Handle]) -> None:
        """Write the files to disk, so that they survive a loss of power."""
        for handle in handles:
            for path in self._folder(handle.index).glob(f"{handle.version}/[!.]*"):
                with open(path, "rb") as file:
                    os.fsync(file.fileno())

    def keep(self, handles: Iterable[Handle]) -> None:
        """Delete all other versions of these tiles."""
        for handle in handles:
            for path in self._folder(handle.index).iterdir():
                if path.name not in (handle.data, str(handle.version)):
                    shutil.rmtree(path, ignore_errors=True)

    def clear(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _write(self, index: Index, part: str, arrays: dict[str, Any]) -> None:
        folder = self._folder(index) / part
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in arrays.items():
            if isinstance(array, np.ndarray):
                with replaced(folder / name, durable=False) as file:
                    array_file.write(file, array)

    def _folder(self, index: Index) -> Path:
        return self.path / "tiles" / "-".join(map(str, index))


def _by_axis(name: str, values: Iterable[Any]) -> dict[str, Any]:
    return {f"{name}{axis}": value for axis, value in enumerate(values)}
