"""The command line: one module per command, imported when that command is called.

A module has two functions: `arguments` describes the command to its parser, `run` does the work and
returns the exit code, None meaning 0.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence

from graphtv.cli.errors import UsageError

COMMANDS = {
    "demo": "denoise, segment and cut small examples; save a picture",
    "denoise": "denoise an image, a volume or an array",
    "segment": "segment an image from scribbles",
    "cut": "find a minimum cut of a network in DIMACS format",
    "fuse": "fuse numbers on a graph into pieces of equal value",
    "app": "segment and denoise in the browser, live",
    "paper": "the paper's tables and figures, computed anew",
    "bench": "races: exact kernels, graphtv against its peers, cost against size",
    "completion": "print the code that completes commands in a shell",
    "info": "versions, threads and build, for a bug report",
}
"""The commands, which are the names of their modules, and what they do in a line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: its own, 2 for a wrong request, 130 for Ctrl-C.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; by default those of the process.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without κ shows ? instead
    words = sys.argv[1:] if argv is None else list(argv)
    # No option before the command takes a value, so the first other word is the command.
    name = next((word for word in words if not word.startswith("-")), "")
    if not words:
        make_parser().print_help(sys.stderr)
        return 2
    try:
        arguments = make_parser(name).parse_args(words)
        code: int | None = importlib.import_module(f"graphtv.cli.{name}").run(arguments)
        sys.stdout.flush()
    except UsageError as error:
        print(f"graphtv {name}: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except MemoryError:
        print(f"graphtv {name}: error: out of memory", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader has gone, as in `graphtv demo | head`; the interpreter's last flush must not
        # complain about it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code or 0


def make_parser(*names: str) -> argparse.ArgumentParser:
    """Return a parser that knows every command, and the arguments of those named."""
    parser = argparse.ArgumentParser(
        prog="graphtv",
        description="Certified total variation on weighted graphs.",
        epilog="graphtv COMMAND --help has the arguments of a command, and examples.",
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
    """Leaves room for the longest name of a command."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=18)
        self._action_max_length = 16  # by itself it forgets how far commands are indented


class _Version(argparse.Action):
    """Print the version; it is read only when asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"graphtv {version('graphtv')}")
        parser.exit()
