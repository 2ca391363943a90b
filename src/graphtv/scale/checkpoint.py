"""Checkpoints: a folder with the state of a run, from which another run can continue.

The tiles are files (see `Folder`). `manifest.json` lists the files of a complete round and is
written at its end. A run that is stopped or crashes leaves the last complete round. When a run
continues, it checks for each tile that the data have not changed.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphtv._atomic import replaced
from graphtv.objective.proof import Proof
from graphtv.result import Record
from graphtv.scale.coordinates import Coordinates
from graphtv.scale.loss import Loss
from graphtv.scale.parts import Parts
from graphtv.scale.storage import Folder, Handle
from graphtv.scale.window import Unknown
from graphtv.terms._units import Units

FORMAT = 5
"""Version of the files; folders of other versions are refused."""

PARTS = ("tiles", "coarse")
"""Names that the folder may contain besides the manifest."""


class State(NamedTuple):
    """The state of a run after a complete round.

    Attributes
    ----------
    records : list of Record
        One per round.
    proof, unrounded : Proof
        The proofs for the returned points, and for the points before the offset is added.
    """

    records: list[Record]
    proof: Proof
    unrounded: Proof


class Checkpoint:
    """The folder of a run.

    Parameters
    ----------
    path : Path
        A folder that all workers can access and that contains nothing else.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = Folder(path)

    def write(self, parts: Parts, state: State) -> None:
        """Write the manifest of a complete round, then delete all other files."""
        content = {
            "format": FORMAT,
            "signature": parts.problem.signature,
            "delta": parts.problem.delta,
            "unknown": [
                parts.unknown.rho,
                *(np.asarray(e).tolist() for e in parts.unknown[1:3]),
                parts.unknown.loss,
            ],
            "version": parts.version,
            "coordinates": [parts.coordinates.centre.tolist(), parts.coordinates.units],
            "records": state.records,
            "proofs": [state.proof, state.unrounded],
            "parts": [asdict(handle) for handle in parts.handles.values()],
        }
        self.folder.sync(parts.handles.values())
        with replaced(self._manifest) as file:
            file.write(json.dumps(content).encode())
        self.folder.keep(parts.handles.values())

    def read(self, parts: Parts) -> State | None:
        """Load the tiles of the folder into `tiles` and return the state of the run.

        Return None if the folder has no complete round.
        """
        content = self._content()
        if content is None:
            if self.path.exists() and not self.path.is_dir():
                raise ValueError(f"checkpoint must be a folder, got the file {self.path}")
            return None
        if content.get("format", FORMAT) != FORMAT:
            raise ValueError(
                f"checkpoint {self.path} was written by another version of graphtv; delete it, or"
                " choose another folder"
            )
        try:
            signature = content["signature"]
            records = [Record(*record) for record in content["records"]]
            state = State(records, *(Proof(*proof) for proof in content["proofs"]))
            centre, units = content["coordinates"]
            coordinates = Coordinates(np.array(centre), Units(*units))
            handles = [
                Handle(
                    tuple(part["index"]),
                    part["version"],
                    part["kind"],
                    part["numbers"],
                    tuple(part["data_names"]),
                    tuple(part["point_names"]),
                    part["digest"],
                    part["data"],
                )
                for part in content["parts"]
            ]
            rho, least, most, loss = content["unknown"]
            unknown = Unknown(rho, np.array(least), np.array(most), Loss(*loss))
            version = content["version"]
        except (KeyError, TypeError) as error:
            raise ValueError(f"checkpoint {self.path} cannot be read: {error!r}") from None
        is_ours = signature == parts.problem.signature
        if is_ours:
            parts.handles = {handle.index: handle for handle in handles}
            parts.unknown, parts.version = unknown, version
            parts.coordinates = coordinates
            is_ours = content["delta"] == parts.problem.delta and parts.check()
        if not is_ours:
            raise ValueError(
                f"checkpoint must be of the same problem, got {self.path} of another; delete it,"
                " or choose another folder"
            )
        return state

    def clear(self) -> None:
        """Delete the leftovers of a run that ended before its first complete round."""
        for name in PARTS:
            self.folder.inner(name).clear()

    def _content(self) -> dict[str, Any] | None:
        try:
            content = json.loads(self._manifest.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            raise ValueError(f"checkpoint {self.path} cannot be read: {error}") from None
        return content if isinstance(content, dict) else {}

    @property
    def _manifest(self) -> Path:
        return self.path / "manifest.json"
