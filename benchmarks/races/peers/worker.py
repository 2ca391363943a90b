"""The process of a peer: ``main(adapter)`` answers requests, a line of JSON each.

| request | answer |
|---|---|
| {"task": folder} | {"version": …, "entrants": […]}, or {"declined": why}, or {"missing": why} |
| {"run": [number of the entrant, setting]} | {"processor": seconds, "wall": seconds, "proved": …} |

The point of a run is written to u.npy in the task's folder. Seconds are those of the call alone,
without the start of this process and the exchange of arrays. The answer to a request that fails is
{"error": message}.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from .task import DeclinedError, Entrant, Task


def main(adapter: str) -> None:
    """Serve until the requests end."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of a library must not mix with the answers
    serve = Server(adapter)
    for line in sys.stdin:
        answers.write(json.dumps(serve(json.loads(line))) + "\n")
        answers.flush()


class Server:
    """Holds one task and the entrants of the peer for it."""

    def __init__(self, adapter: str) -> None:
        self.adapter = adapter
        self.folder = Path()
        self.entrants: list[Entrant] = []

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""
        try:
            if "task" in request:
                return self.enter(Path(request["task"]))
            number, setting = request["run"]
            return self.run(self.entrants[number].run, setting)
        except DeclinedError as reason:
            return {"declined": str(reason)}
        except ImportError as error:
            return {"missing": str(error)}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}

    def enter(self, folder: Path) -> dict[str, Any]:
        """Load a task."""
        module = importlib.import_module(f".{self.adapter}", __package__)
        self.folder, self.entrants = folder, module.enter(Task.load(folder))
        shown = ("peer", "variant", "ladder", "rescues", "threads", "note")
        return {
            "version": describe(module.PACKAGES),
            "entrants": [{name: getattr(one, name) for name in shown} for one in self.entrants],
        }

    def run(self, call: Callable[[Any], Any], setting: Any) -> dict[str, Any]:
        """Time a call and store its point."""
        wall, processor = time.perf_counter(), time.process_time()
        answer = call(setting)
        processor, wall = time.process_time() - processor, time.perf_counter() - wall
        u = np.asarray(answer.u)
        if u.dtype.kind != "f":
            raise ValueError("no point was returned")
        np.save(self.folder / "u.npy", u)
        return {"processor": processor, "wall": wall, "proved": answer.proved}


def describe(packages: tuple[str, ...]) -> str:
    """Return the packages with their versions."""
    words = []
    for package in packages:
        try:
            words.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            words.append(package)
    return ", ".join(words)
