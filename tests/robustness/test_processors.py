"""Results do not depend on the processor, nor on its detection by NumPy, BLAS or the C library.

docs/reliability.md states and explains this guarantee. The script `outcomes.py` runs under settings
that make each library use the code for an older processor. If the processor lacks a feature, or the
library has no such setting, the run is a repetition of the first. On a recent x86-64 with glibc all
runs differ, as `test_the_settings_have_an_effect` shows.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[1] / "support" / "outcomes.py"
LIBM = "glibc.cpu.hwcaps=-FMA,-AVX2,-AVX512F,-FMA_Usable,-AVX2_Usable,-AVX512F_Usable"

# Sums of functions of NumPy and of the C library, and a sort with ties.
PROBE = """
import hashlib, math
import numpy as np
x = np.arange(1, 20001) * 0.00137
ties = np.argsort(np.arange(5000) % 7)
libm = [math.exp(t) for t in x.tolist()]
for values in (np.exp(x), ties, np.array(libm)):
    print(hashlib.sha256(values.tobytes()).hexdigest())
"""


def dispatched():
    """Return the names of the instruction sets that this NumPy selects at run time."""
    try:
        from numpy._core import _multiarray_umath as core
    except ImportError:  # NumPy 1
        from numpy.core import _multiarray_umath as core
    return [name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)]


def settings():
    """Return environments, from the default of the libraries down to the most basic code."""
    found = dispatched()
    recent = [name for name in found if "512" in name or name == "X86_V4"]
    return {
        "NumPy without AVX-512": {"NPY_DISABLE_CPU_FEATURES": " ".join(recent)},
        "NumPy at its baseline": {"NPY_DISABLE_CPU_FEATURES": " ".join(found)},
        "libm without FMA": {"GLIBC_TUNABLES": LIBM},
        "all, and another BLAS": {
            "NPY_DISABLE_CPU_FEATURES": " ".join(found),
            "GLIBC_TUNABLES": LIBM,
            "OPENBLAS_CORETYPE": "Nehalem",
        },
    }


def run(*arguments, **environment):
    """Return the output of Python in a separate environment."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def usual():
    pytest.importorskip("sklearn")
    return run(SCRIPT)


@pytest.mark.slow
@pytest.mark.parametrize("setting", settings().values(), ids=settings())
def test_folds_pieces_choices_and_labels_are_the_same(setting, usual):
    other = run(SCRIPT, **setting)
    assert len(other) == len(usual) > 50
    differing = [pair for pair in zip(usual, other, strict=True) if pair[0] != pair[1]]
    assert differing == []


def test_the_settings_have_an_effect():
    """Otherwise the test above could pass without testing anything."""
    if not dispatched() or sys.platform != "linux" or np.__version__ < "2":
        pytest.skip("NumPy chooses nothing by the processor here")
    import platform

    if platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc":
        pytest.skip("these names are those of x86-64 and glibc")
    plain = run("-c", PROBE)
    other = run("-c", PROBE, **settings()["all, and another BLAS"])
    assert [a == b for a, b in zip(plain, other, strict=True)] == [False, False, False]
