"""The benchmarks run; what they measure is not judged here."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("kernels/chains.py", "ns per vertex"),
        ("kernels/trees.py", "heavy spine"),
        ("decompositions.py", "matroid"),
    ],
)
def test_quick_run(script, expected):
    run = subprocess.run(
        [sys.executable, BENCHMARKS / script, "--quick"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert expected in run.stdout
