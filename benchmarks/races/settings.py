"""The cheapest settings found for the peers, stored in a file for the next run."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from races.files import write
from races.problems import Instance


class Settings:
    """A dictionary in a JSON file, written at every change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, Any] = {}
        if path.exists():
            try:
                self.known = json.loads(path.read_text())
                if not isinstance(self.known, dict):
                    raise ValueError("it holds no object")
            except ValueError as error:
                raise ValueError(
                    f"settings must be a JSON file of an earlier run: {error}"
                ) from None

    @staticmethod
    def key(instance: Instance, *parts: object) -> str:
        """Return a key that changes with the data of the problem."""
        digest = hashlib.sha256(instance.signal.tobytes() + instance.graph.weights.tobytes())
        return " | ".join([instance.name, digest.hexdigest()[:12], *map(str, parts)])

    def get(self, key: str) -> Any:
        """Return the value of the key, or None."""
        return self.known.get(key)

    def put(self, key: str, value: Any) -> None:
        """Keep a value."""
        self.known[key] = value
        lines = [f"{json.dumps(key)}: {json.dumps(self.known[key])}" for key in sorted(self.known)]
        write(self.path, "{\n" + ",\n".join(lines) + "\n}\n")
