"""``graphtv completion``: shell completion of commands, options and file names.

The script is generated once from the parsers of all commands, so that the shell need not start
Python for each completion.
"""

from __future__ import annotations

import argparse
from typing import Any

from graphtv.cli.errors import UsageError

SHELLS = ("bash", "zsh", "fish", "tcsh")

DESCRIPTION = "Print a script for shell completion of commands, options and file names."

EXAMPLES = """\
examples:
  bash   graphtv completion bash > ~/.local/share/bash-completion/completions/graphtv
  zsh    graphtv completion zsh > ~/.zfunc/_graphtv      with ~/.zfunc in fpath
  fish   graphtv completion fish > ~/.config/fish/completions/graphtv.fish

Needs shtab, which is part of the extra `cli`."""

NO_FILES = {"command", "id", "value", "vertex_weight", "edge_weight"}
"""Arguments that take text but not a file name."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    parser.add_argument("shell", choices=SHELLS, help="which shell")


def run(arguments: argparse.Namespace) -> None:
    """Print the script."""
    from graphtv.cli import COMMANDS, make_parser

    try:
        import shtab
    except ImportError:
        raise UsageError('completion needs shtab: pip install "graphtv[cli]"') from None
    parser = make_parser(*COMMANDS)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                command.description = COMMANDS[name]  # shells show a single line
    _mark_files(parser, shtab.FILE)
    print(shtab.complete(parser, shell=arguments.shell))


def _mark_files(parser: argparse.ArgumentParser, mark: Any) -> None:
    """Mark the arguments that are file names for shtab."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _mark_files(command, mark)
        elif action.nargs != 0 and action.choices is None and action.dest not in NO_FILES:
            kind = getattr(action.type, "__name__", None)
            if action.type is None or kind in ("Path", "PosixPath"):
                action.complete = mark  # type: ignore[attr-defined]
