"""Storage of parts between steps: in the memory of the workers, or in a folder.

A step takes handles and returns new ones. In memory a handle is the part itself, which stays on the
worker that computed it. In a folder it is a name. The parts may then be larger than memory, and the
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

from graphtv import _core
from graphtv._atomic import replaced
from graphtv.scale import array_file
from graphtv.scale.block import Block
from graphtv.scale.layout import Index
from graphtv.scale.part import Part
from graphtv.scale.tile import Tile

CHANGED = "changed"
"""Name of data that a step has changed; the step can be repeated, since its own data remain."""


class Storage(Protocol):
    """Keeps tiles."""

    def put(
        self, part: Block, index: Index, version: int, old: Any = None, *, with_data: bool = False
    ) -> Any:
        """Store a tile and return its handle.

        `old` is the handle of the tile it was made from. The data are those of `old`, unless
        `with_data` is true.
        """

    def get(self, handle: Any) -> Block:
        """Return the tile of a handle."""

    def settle(self) -> None:
        """Free memory after a step."""

    def clear(self) -> None:
        """Delete everything."""


class Memory:
    """Tiles in the memory of Dask workers."""

    def put(
        self, part: Block, index: Index, version: int, old: Any = None, *, with_data: bool = False
    ) -> Block:
        """Return the tile."""
        return part

    def get(self, handle: Block) -> Block:
        """Return the tile."""
        return handle

    def settle(self) -> None:
        """Do nothing."""

    def clear(self) -> None:
        """No-op: Dask frees objects without references."""


KINDS: dict[str, type[Any]] = {"tile": Tile, "part": Part}


@dataclass(frozen=True)
class Handle:
    """The names of a part and of its data in a folder, its numbers, and the names of its arrays."""

    index: Index
    version: int
    kind: str
    numbers: dict[str, Any]
    data_names: tuple[str, ...]
    point_names: tuple[str, ...]
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
        part: Block,
        index: Index,
        version: int,
        old: Handle | None = None,
        *,
        with_data: bool = False,
    ) -> Handle:
        """Write the arrays that have changed, usually all except data and weights."""
        digest = part.digest() if old is None else old.digest
        data = "data" if old is None else old.data
        arrays, points = _present(part.data_arrays()), _present(part.point_arrays())
        if old is None or with_data:
            data = "data" if old is None else CHANGED
            self._write(index, data, arrays)
        self._write(index, str(version), points)
        kind = type(part).__name__.lower()
        names = tuple(arrays), tuple(points)
        return Handle(index, version, kind, part.numbers(), *names, digest, data)

    def get(self, handle: Handle) -> Block:
        """Return a part with memory-mapped arrays, which are read on access."""

        def load(part: str, names: tuple[str, ...]) -> dict[str, Any]:
            folder = self._folder(handle.index) / part
            return {name: array_file.mapped(folder / name) for name in names}

        arrays = load(handle.data, handle.data_names)
        arrays |= load(str(handle.version), handle.point_names)
        made: Block = KINDS[handle.kind].from_arrays(arrays, handle.numbers)
        return made

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
            with replaced(folder / name, durable=False) as file:
                array_file.write(file, array)

    def _folder(self, index: Index) -> Path:
        return self.path / "tiles" / "-".join(map(str, index))


def _present(arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: array for name, array in arrays.items() if array is not None}
