"""``graphtv bench``: run the benchmarks of a copy of the repository.

The benchmarks are not part of the installed package. They need a C++ compiler and other libraries
in separate environments, so they are in the folder ``benchmarks/races`` of the repository.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

from graphtv.cli.errors import UsageError

DESCRIPTION = (
    "Run the speed comparisons of the repository. They are not part of the installed package:\n"
    "call this command inside a copy of the repository."
)
EXAMPLES = """\
examples:
  graphtv bench kernels --quick
  graphtv bench peers --problems P1 P5 --accuracies 1e-3 1e-6"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command, with its benchmarks if the repository is available."""
    races = _races()
    if races is None:
        parser.description, parser.epilog = DESCRIPTION, EXAMPLES
        parser.add_argument("race", nargs="*", help="a benchmark and its options")
    else:
        races.arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run a benchmark and return its exit code."""
    races = _races()
    if races is None:
        raise UsageError(
            "the benchmarks are not part of the installed package; call this command inside a "
            f"copy of the repository, got {Path.cwd()}"
        )
    code: int = races.run(arguments)
    return code


def _races() -> Any:
    """Return the module that runs the benchmarks, or None outside the repository."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "benchmarks" / "races" / "command.py").is_file():
            benchmarks = str(folder / "benchmarks")
            if benchmarks not in sys.path:
                sys.path.insert(0, benchmarks)
            return importlib.import_module("races.command")
    return None
