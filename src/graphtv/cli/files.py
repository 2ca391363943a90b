"""Files and standard streams of commands. Outputs are checked first and written atomically."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING

from graphtv.cli.errors import UsageError

if TYPE_CHECKING:
    from graphtv.io.picture import Picture
    from graphtv.io.scribbles import Scribbles

STANDARD = "-"
"""The name of standard input or output."""


def read_bytes(path: str) -> bytes:
    """Return the content of a file or of standard input."""
    try:
        if path == STANDARD:
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"{shown(path, 'input')}: {_reason(error)}") from None


def read_picture(path: str) -> Picture:
    """Read an image, a volume or an array."""
    from graphtv.io.pictures import picture_of

    return picture_of(read_bytes(path), shown(path, "input"))


def read_scribbles(path: str, background: str | None) -> Scribbles:
    """Read scribbles; `background` is the colour of pixels without scribbles, if unusual."""
    from graphtv.io.scribbles import NoBackgroundError, scribbles_of

    try:
        return scribbles_of(read_bytes(path), shown(path, "input"), background)
    except NoBackgroundError as error:
        raise UsageError(f"{error}; set the background colour with --background") from None


def format_of(path: str, otherwise: str) -> str:
    """Return the format given by the suffix of a name; `otherwise` for standard output."""
    from graphtv.io.pictures import FORMATS

    if path == STANDARD:
        return otherwise if otherwise in FORMATS.values() else "png"
    return FORMATS[os.path.splitext(path)[1].lower()]


def check_output(path: str, *, force: bool, suffixes: Collection[str] = ()) -> None:
    """Raise if a file cannot be written there, or has none of the given suffixes.

    Standard output is allowed, unless it is a terminal and the format is binary.
    """
    if path == STANDARD:
        if suffixes and sys.stdout.isatty():
            raise UsageError(
                "standard output is a terminal; give a file name or redirect the output"
            )
        return
    folder, name = os.path.split(path)
    if os.path.isdir(path) or not name:
        raise UsageError(f"{path} is a directory; the output must be a file")
    if suffixes and os.path.splitext(name)[1].lower() not in suffixes:
        raise UsageError(f"{path} must end in one of {', '.join(sorted(suffixes))}")
    if not os.path.isdir(folder or "."):
        raise UsageError(f"{folder} is not a directory; the output {name} cannot go there")
    if os.path.lexists(path):
        if not os.path.isfile(path):
            raise UsageError(f"{path} exists and is not a file")
        if not force:
            raise UsageError(f"{path} exists; use --force to overwrite it")
    if not os.access(folder or ".", os.W_OK | os.X_OK):
        raise UsageError(f"{folder or 'this directory'} is not writable")


def write_bytes(path: str, content: bytes) -> None:
    """Write a file atomically, or write to standard output."""
    from graphtv._atomic import replaced

    if path == STANDARD:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        with replaced(path) as file:
            file.write(content)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {_reason(error)}") from None


def shown(path: str, way: str) -> str:
    """Return the name of a file for messages; `way` is input or output."""
    return f"standard {way}" if path == STANDARD else path


def check_distinct(paths: dict[str, str]) -> None:
    """Raise if two outputs, or two inputs, are the same file or stream."""
    seen: dict[str, str] = {}
    for name, path in paths.items():
        key = path if path == STANDARD else os.path.realpath(path)
        if key in seen:
            raise UsageError(f"{seen[key]} and {name} must differ, got {path} for both")
        seen[key] = name


def _reason(error: OSError) -> str:
    reason = error.strerror or str(error)
    return reason[:1].lower() + reason[1:]
