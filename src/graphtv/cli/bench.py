"""``graphtv bench``: run the races of a copy of the repository.

The races are not part of the installed package. They need peers in environments of their own and a
C++ compiler, so they live in the folder ``benchmarks/races`` of the repository.
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
    """Describe the command, with its races where the repository is at hand."""
    races = _races()
    if races is None:
        parser.description, parser.epilog = DESCRIPTION, EXAMPLES
        parser.add_argument("race", nargs="*", help="a race, and its options")
    else:
        races.arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run a race, and return its exit code."""
    races = _races()
    if races is None:
        raise UsageError(
            f"the races are in the folder benchmarks of the repository, and {Path.cwd()} is not "
            "inside a copy of it"
        )
    code: int = races.run(arguments)
    return code


def _races() -> Any:
    """Return the module that runs the races, or None outside the repository."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "benchmarks" / "races" / "command.py").is_file():
            benchmarks = str(folder / "benchmarks")
            if benchmarks not in sys.path:
                sys.path.insert(0, benchmarks)
            return importlib.import_module("races.command")
    return None
