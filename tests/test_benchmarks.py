"""The benchmarks run; what they measure is not judged here."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import graphtv

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def run(script, *arguments):
    done = subprocess.run(
        [sys.executable, BENCHMARKS / script, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("kernels/chains.py", "ns per vertex"),
        ("kernels/trees.py", "heavy spine"),
        ("decompositions.py", "matroid"),
        ("denoising.py", "camera"),
    ],
)
def test_quick_run(script, expected):
    assert expected in run(script, "--quick")


needs_solver = pytest.mark.skipif(not hasattr(graphtv, "solve"), reason="there is no solver")


@needs_solver
@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("solver/iterations.py", "rmf-wide"),
        ("solver/latency.py", "Ctrl-C"),
        ("solver/pdhg.py", "reconditioned"),
        ("solver/memory.py", "doubles per vertex"),
        ("solver/threads.py", "side by side"),
        ("cuts.py", "rmf-wide"),
    ],
)
def test_quick_run_of_the_solver(script, expected):
    assert expected in run(script, "--quick")


@needs_solver
def test_scaling_is_tabulated_and_plotted(tmp_path):
    run("solver/scaling.py", "--quick", "--out", tmp_path)
    assert (tmp_path / "scaling.csv").read_text().count("\n") == 5
    assert (tmp_path / "scaling.png").stat().st_size > 0


@needs_solver
def test_race_of_the_peers(tmp_path):
    # Peers that are not installed have a row that says so.
    names = ["P1", "P3S", "P5", "rmf-wide"]
    shown = run("peers/run.py", "--smoke", "--out", tmp_path, "--problems", *names)
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert list(figures) == names
    for name in names:
        assert f"### {name}" in shown
        rows = figures[name]["rows"]
        assert set(rows["graphtv"]["time"]) == {"0.001", "1e-06", "1e-12"}
        assert "PyMaxflow divide and conquer" in rows
        if shutil.which("g++"):
            gradient = [row for peer, row in rows.items() if peer.startswith("FGP")]
            assert all("0.001" in row["time"] for row in gradient)
