"""The command line page, the README and the help name commands and options that exist."""

import re
import shlex
from pathlib import Path

import pytest

from graphtv.cli import COMMANDS, make_parser
from graphtv.cli.solving import EXIT_CODES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def examples():
    """Return every line with a command, split like in a shell, without its pipes."""
    found = []
    for text in (PAGE, README):
        for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
            found += [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    parser = make_parser(*COMMANDS)
    (commands,) = (action for action in parser._actions if action.dest == "command")
    for command in commands.choices.values():
        lines = (command.epilog or "").splitlines()
        found += [line.strip() for line in lines if "graphtv " in line and line.startswith("  ")]
    return sorted(set(found))


@pytest.mark.parametrize("line", [line for line in examples() if "graphtv " in line])
def test_examples_are_understood(line):
    words = shlex.split(line, comments=True)
    words = words[words.index("graphtv") + 1 :]
    for operator in (">", "<", "|"):
        if operator in words:
            words = words[: words.index(operator)]
    if "with" in words:  # a comment after the command
        words = words[: words.index("with")]
    if not words or words[0] == "COMMAND":
        return
    make_parser(*COMMANDS).parse_args(words)


def test_every_command_is_on_the_page():
    for command in ("demo", "denoise", "segment", "cut", "fuse", "app", "completion", "info"):
        assert re.search(rf"^\| .*`{command}`", PAGE, re.M)


def test_the_exit_codes_are_on_the_page():
    table = dict(re.findall(r"^\| (\d+) \| `(\w+)` \|", PAGE, re.M))
    assert {status: int(code) for code, status in table.items()} == EXIT_CODES


@pytest.mark.parametrize("option", sorted(set(re.findall(r"`(--[a-z-]+)", PAGE))))
def test_options_on_the_page_exist(option):
    parser = make_parser(*COMMANDS)
    (commands,) = (action for action in parser._actions if action.dest == "command")
    known = {
        name
        for command in commands.choices.values()
        for action in command._actions
        for name in action.option_strings
    }
    assert option in known
