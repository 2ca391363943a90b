"""Result files, written atomically."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphtv._atomic import replaced


def write(path: Path, content: str | bytes) -> None:
    """Write a file atomically and create its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def write_json(path: Path, content: Any) -> None:
    """Write JSON; infinities and NaN, which JSON does not support, raise an error."""
    write(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows under a heading."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write(path, text.getvalue())
