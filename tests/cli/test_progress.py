"""The progress bar: what it shows on a terminal, and that it is silent everywhere else."""

import builtins
import io
import os
import subprocess
import sys
import threading

import pytest

from graphtv import Problem, SquaredLoss, gallery, grid_graph, solve
from graphtv.cli.progress import progress_bar

PROGRAM = """
from graphtv import Problem, SquaredLoss, gallery, grid_graph, solve
from graphtv.cli.progress import progress_bar

image, _ = gallery.piecewise_constant_image((32, 32), rng=1, noise=0.2)
problem = Problem(grid_graph((32, 32), 0.2), SquaredLoss(image.ravel()))
with progress_bar("working", 0.0) as callback:
    result = solve(problem, tol=0.0, callback=callback, verbose=True)
print("shown" if callback else "not shown", result.status)
"""


def on_terminal(program, **options):
    """Run a program with stderr on a terminal; return the finished process and the output."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    shown = bytearray()

    def read():
        try:
            while part := os.read(ours, 4096):
                shown.extend(part)
        except OSError:  # the other end was closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    finished = subprocess.run(
        [sys.executable, "-c", program],
        stdin=subprocess.DEVNULL,
        stdout=options.get("stdout", theirs),
        stderr=theirs,
        env=environment,
        check=False,
    )
    os.close(theirs)
    reader.join()
    os.close(ours)
    return finished, shown.decode()


def test_a_terminal_shows_iterations_and_the_gap():
    pytest.importorskip("rich")
    finished, shown = on_terminal(PROGRAM)
    assert finished.returncode == 0, shown
    assert "working" in shown
    assert "iteration" in shown
    assert "log₁₀ gap" in shown
    assert "optimal: primal" in shown  # the table goes above the bar
    assert "shown optimal" in shown


def test_a_table_in_a_pipe_stays_there():
    pytest.importorskip("rich")
    finished, shown = on_terminal(PROGRAM, stdout=subprocess.PIPE)
    table = finished.stdout.decode()
    assert finished.returncode == 0, shown
    assert "working" in shown
    assert "rel.gap" not in shown
    assert "rel.gap" in table
    assert "working" not in table
    assert "\x1b" not in table


def test_silent_without_a_terminal():
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0
    assert finished.stderr == ""
    assert "not shown optimal" in finished.stdout
    assert "working" not in finished.stdout


def test_silent_without_rich(monkeypatch, capsys):
    real_import = builtins.__import__

    def no_rich(name, *args, **kwargs):
        if name.partition(".")[0] == "rich":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_rich)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_bar("working", 1e-6) as callback:
        assert callback is None
    assert capsys.readouterr() == ("", "")


def test_a_run_with_the_bar_is_the_same_run():
    image, _ = gallery.piecewise_constant_image((16, 16), rng=1, noise=0.2)
    problem = Problem(grid_graph((16, 16), 0.2), SquaredLoss(image.ravel()))
    with progress_bar("working", 1e-6) as callback:
        result = solve(problem, callback=callback)
    assert (result.u == solve(problem).u).all()


def test_runs_one_after_the_other_are_counted(monkeypatch):
    pytest.importorskip("rich")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("COLUMNS", "100")
    image, _ = gallery.piecewise_constant_image((32, 32), rng=1, noise=0.2)
    problem = Problem(grid_graph((32, 32), 0.2), SquaredLoss(image.ravel()))
    with progress_bar("working", 0.0) as callback:
        for _ in range(3):
            solve(problem, tol=0.0, callback=callback)
    assert "working, run 3" in terminal.getvalue()
    assert "run 4" not in terminal.getvalue()
