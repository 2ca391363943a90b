"""The command line, called in this process."""

import os

from graphtv.cli import main


def refused(capsys, *argv):
    """Run a command that must fail; return its message. It must leave nothing behind."""
    before = sorted(os.listdir())
    try:
        code = main([*map(str, argv)])
    except SystemExit as exit_:
        code = exit_.code
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    assert sorted(os.listdir()) == before
    return captured.err
