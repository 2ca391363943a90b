"""The command line: one module per command, imported when the command is called.

Each module has two functions. `arguments` adds the arguments of the command to its parser. `run`
does the work and returns the exit code; None means 0.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence

from graphtv.cli.errors import UsageError
from graphtv.io.errors import FileError

COMMANDS = {
    "demo": "denoise, segment and cut small examples, and save a figure",
    "denoise": "denoise an image, a volume or an array",
    "segment": "segment an image from scribbles",
    "cut": "find a minimum cut of a network in DIMACS format",
    "fuse": "fit the fused lasso to values on a graph",
    "app": "segment and denoise interactively in the browser",
    "paper": "reproduce the tables and figures of the paper",
    "bench": "run benchmarks: kernels, other libraries, scaling with size",
    "completion": "print a shell completion script",
    "info": "print versions, threads and build for a bug report",
}
"""The commands, named like their modules, with a one-line description."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; 2 for invalid usage, 130 for Ctrl-C.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program name; by default those of the process.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # print ? for characters that the terminal lacks
    words = sys.argv[1:] if argv is None else list(argv)
    # Options before the command take no value, so the first other argument is the command.
    name = next((word for word in words if not word.startswith("-")), "")
    if not words:
        make_parser().print_help(sys.stderr)
        return 2
    try:
        arguments = make_parser(name).parse_args(words)
        code: int | None = importlib.import_module(f"graphtv.cli.{name}").run(arguments)
        sys.stdout.flush()
    except (UsageError, FileError) as error:
        print(f"graphtv {name}: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except MemoryError:
        print(f"graphtv {name}: error: out of memory", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader has closed the pipe, as in `graphtv demo | head`. The final flush of the
        # interpreter must not raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code or 0


def make_parser(*names: str) -> argparse.ArgumentParser:
    """Return a parser with all commands and the arguments of those in `names`."""
    parser = argparse.ArgumentParser(
        prog="graphtv",
        description="Certified total variation on weighted graphs.",
        epilog="graphtv COMMAND --help shows the arguments of a command and examples.",
        formatter_class=_Help,
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for command, summary in COMMANDS.items():
        described = commands.add_parser(
            command, help=summary, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if command in names:
            importlib.import_module(f"graphtv.cli.{command}").arguments(described)
    return parser


class _Help(argparse.HelpFormatter):
    """Help formatter with room for the longest command name."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=18)
        self._action_max_length = 16  # argparse does not account for the indentation of commands


class _Version(argparse.Action):
    """Print the version, which is read only if needed."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"graphtv {version('graphtv')}")
        parser.exit()
