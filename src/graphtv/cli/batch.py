"""Batches of files: folders, patterns and lists of files as input, a folder as output."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Sequence

from graphtv.cli.errors import UsageError
from graphtv.cli.files import STANDARD, check_distinct, check_output

MAGIC = "*?["
"""Characters that turn a name into a pattern."""


def is_batch(inputs: Sequence[str], output: str) -> bool:
    """Return whether the input can be more than one file; the output is then a folder."""
    if len(inputs) > 1 or output.endswith(os.sep) or os.path.isdir(output):
        return True
    return os.path.isdir(inputs[0]) or _is_pattern(inputs[0])


def pairs(
    inputs: Sequence[str], output: str, *, force: bool, suffixes: Collection[str]
) -> list[tuple[str, str]]:
    """Return each input file with the file of the same name in the folder `output`.

    A folder means all its files with one of the suffixes, a pattern all files that match. The
    output folder is created if needed. All names are checked before anything is written.
    """
    if output == STANDARD or STANDARD in inputs:
        raise UsageError("standard input and output hold a single file; OUT must be a folder")
    found = dict.fromkeys(path for name in inputs for path in _files(name, suffixes))
    is_taken = os.path.lexists(output) or os.path.splitext(output)[1].lower() in suffixes
    if is_taken and not os.path.isdir(output):
        raise UsageError(f"{output} must be a folder for several files")
    made = [(path, os.path.join(output, os.path.basename(path))) for path in found]
    check_distinct(dict(made))
    is_new = not os.path.isdir(output)
    if is_new:
        try:
            os.makedirs(output)
        except OSError as error:
            raise UsageError(f"{output} cannot be created: {error.strerror}") from None
    try:
        for _, target in made:
            check_output(target, force=force, suffixes=suffixes)
    except UsageError:
        if is_new:
            os.rmdir(output)
        raise
    return made


def _is_pattern(name: str) -> bool:
    return any(sign in name for sign in MAGIC) and not os.path.lexists(name)


def _files(name: str, suffixes: Collection[str]) -> list[str]:
    """Return the files that a name refers to, in order."""
    if os.path.isdir(name):
        entries = [entry.path for entry in os.scandir(name) if entry.is_file()]
        found = [path for path in entries if os.path.splitext(path)[1].lower() in suffixes]
        if not found:
            raise UsageError(f"{name} has no file that ends in {', '.join(sorted(suffixes))}")
        return sorted(found)
    if _is_pattern(name):
        found = [path for path in glob.glob(name, recursive=True) if os.path.isfile(path)]
        if not found:
            raise UsageError(f"{name}: no file matches")
        return sorted(found)
    return [name]
