"""The outcomes of completed cells, one JSON file each, so that an interrupted run can continue.

A file contains the experiment, the cell, whether the run was quick, and versions. A file that does
not match or cannot be read is ignored, and is replaced when the cell is run again.
"""

from __future__ import annotations

import hashlib
import json
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from graphtv._atomic import replaced
from graphtv.paper.experiment import Experiment, Outcome

FOLDER = "cells"


class Store:
    """The folder OUT/cells.

    Parameters
    ----------
    out : Path
        The output folder. It need not exist.
    """

    def __init__(self, out: Path) -> None:
        self._folder = out / FOLDER

    def has(self, name: str) -> bool:
        """Return whether the store has outcomes of this experiment."""
        return (self._folder / name).is_dir()

    def path(self, experiment: Experiment, key: str) -> Path:
        """Return the path of the outcome of a cell."""
        kind = "quick" if experiment.quick else "full"
        readable = re.sub(r"[^\w.-]+", "_", key)[:80]
        digest = hashlib.sha256(key.encode()).hexdigest()[:8]  # distinguishes similar keys
        return self._folder / experiment.name / kind / f"{readable}-{digest}.json"

    def get(self, experiment: Experiment, key: str) -> Outcome | None:
        """Return the outcome of a cell, or None."""
        try:
            content = json.loads(self.path(experiment, key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(content, dict) or content.get("of") != _identity(experiment, key):
            return None
        outcome = content.get("outcome")
        return outcome if isinstance(outcome, dict) else None

    def put(self, experiment: Experiment, key: str, outcome: Outcome) -> None:
        """Write the outcome of a cell atomically."""
        path = self.path(experiment, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {"of": _identity(experiment, key), "outcome": outcome}
        text = json.dumps(content, ensure_ascii=False, indent=1)
        with replaced(path) as file:
            file.write(text.encode())


def library_version() -> str:
    """Return the version of graphtv; empty if it is not installed."""
    try:
        return version("graphtv")
    except PackageNotFoundError:
        return ""


def _identity(experiment: Experiment, key: str) -> dict[str, Any]:
    return {
        "experiment": experiment.name,
        "cell": key,
        "quick": experiment.quick,
        "version": library_version(),
        "revision": experiment.revision,
    }
