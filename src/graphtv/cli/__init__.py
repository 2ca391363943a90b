"""The command line: one module per command, imported when that command is called."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from graphtv.cli.errors import UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 2 for a wrong request, 130 for Ctrl-C.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; by default those of the process.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without κ shows ? instead
    arguments = _parser().parse_args(argv)
    command = importlib.import_module(f"graphtv.cli.{arguments.command}")
    try:
        command.run(arguments)
        sys.stdout.flush()
    except UsageError as error:
        print(f"graphtv {arguments.command}: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader has gone, as in `graphtv demo | head`; the interpreter's last flush must not
        # complain about it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="graphtv", description="Certified total variation on weighted graphs."
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    demo = commands.add_parser(
        "demo",
        help="denoise an image and decompose a graph, with certificates and a picture",
        description="Denoise a seeded image to a certified relative gap of 1e-3 and then exactly, "
        "decompose a small graph by every method, and save a picture of both.",
    )
    picture = demo.add_mutually_exclusive_group()
    picture.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="where the picture goes, its suffix is its format; by default graphtv-demo.png, "
        "numbered if that exists",
    )
    picture.add_argument("--no-picture", action="store_true", help="numbers only")
    demo.add_argument("--force", action="store_true", help="overwrite an existing picture")
    demo.add_argument(
        "--size",
        type=_size,
        default=256,
        metavar="N",
        help="height and width of the image in pixels, by default %(default)s",
    )

    commands.add_parser("info", help="versions, threads and build, for a bug report")
    return parser


class _Version(argparse.Action):
    """Print the version; it is read only when asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"graphtv {version('graphtv')}")
        parser.exit()


def _size(text: str) -> int:
    size = int(text)
    if not 8 <= size <= 4096:
        raise argparse.ArgumentTypeError(f"must lie in [8, 4096], got {size}")
    return size


_size.__name__ = "size"  # argparse names it in its errors
