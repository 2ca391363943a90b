"""The benchmarks run. Their results are not checked here."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("decompositions.py", "matroid"),
        ("denoising.py", "camera"),
        ("cuts.py", "rmf-wide"),
        ("layers.py", "FGP"),
        ("page.py", "cross-talk"),
        ("solver/iterations.py", "rmf-wide"),
        ("solver/latency.py", "Ctrl-C"),
        ("solver/pdhg.py", "reconditioned"),
        ("solver/curved.py --only neighbours 10000", "largest ratio"),
        ("solver/schemes.py", "geometric mean"),
        ("solver/sensitivity.py --names overshoot", "slowest problem"),
        ("solver/small.py", "per signal"),
        ("solver/memory.py", "doubles per vertex"),
        ("solver/tolerances.py --only wide masked penalty", "loses to"),
        ("solver/threads.py", "side by side"),
        ("scale/run.py --only tasks memory chains", "relax-strip"),
    ],
)
def test_quick_run(script, expected):
    name, *options = script.split()
    if name == "layers.py":
        pytest.importorskip("torch")
    done = subprocess.run(
        [sys.executable, BENCHMARKS / name, *options, "--quick"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
