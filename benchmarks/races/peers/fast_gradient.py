"""Fast gradient projection in single precision: the stand-in for CCPi-Regularisation's FGP_TV.

`fast_gradient.cpp` is compiled on first use, with the compiler in the variable CXX or that of the
system, and called through ctypes. *plain* makes the same passes over the image as
CCPi-Regularisation, with as many threads. *fused* computes the same iterates in one vectorised
pass, which no package offers. *graph* is for any graph.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .task import Answer, Entrant, Task, iterations

PACKAGES = ()
SOURCE = Path(__file__).with_suffix(".cpp")
FLAGS = ("-std=c++20", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC")
PLAIN = "FGP, float32"
FUSED = "FGP, float32, fused"


@functools.cache
def library(source: Path = SOURCE, flags: tuple[str, ...] = FLAGS) -> ctypes.CDLL:
    """Return the compiled code."""
    names = (os.environ.get("CXX"), "c++", "g++", "clang++")
    compiler = next((found for name in names if name and (found := shutil.which(name))), None)
    if compiler is None:
        raise ImportError("there is no C++ compiler (c++, g++, clang++, or CXX)")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "graphtv"
    cache.mkdir(parents=True, exist_ok=True)
    told = source.read_bytes() + " ".join([compiler, *flags]).encode()
    target = cache / f"{source.stem}-{hashlib.sha256(told).hexdigest()[:16]}.so"
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=cache) as work:
            built = Path(work) / target.name
            command = [compiler, *flags, str(source), "-o", str(built)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                lines = done.stderr.strip().splitlines() or ["no message"]
                raise ImportError(f"{Path(compiler).name} failed: {lines[0]}")
            built.replace(target)
    return ctypes.CDLL(str(target))


def pointer(array: np.ndarray[Any, Any]) -> ctypes.c_void_p:
    """Return the address of an array's numbers."""
    return ctypes.c_void_p(array.ctypes.data)


def enter(task: Task) -> list[Entrant]:
    """Return the loops for grids or the one for graphs."""
    code = library()
    f = task.signal.astype(np.float32)
    if len(task.shape) in (2, 3):
        sizes = (1, *task.shape)[-3:]

        def on_grid(function: str, n: int) -> Answer:
            u = np.empty_like(f)
            getattr(code, function)(pointer(f), pointer(u), *sizes, ctypes.c_float(task.weight), n)
            return Answer(u)

        return [
            Entrant(
                PLAIN,
                "",
                functools.partial(on_grid, "fgp_plain"),
                iterations(),
                threads=task.n_threads,
                note="stands for CCPi-Regularisation",
            ),
            Entrant(
                FUSED,
                "",
                functools.partial(on_grid, "fgp_fused"),
                iterations(),
                note="written for this race, faster than any package's",
            ),
        ]
    edges = np.ascontiguousarray(task.edges, dtype=np.int32)
    weights = task.weights.astype(np.float32)

    def on_graph(n: int) -> Answer:
        u = np.empty_like(f)
        size = ctypes.c_int64(len(f)), ctypes.c_int64(len(edges))
        code.fgp_graph(pointer(f), pointer(u), *size, pointer(edges), pointer(weights), n)
        return Answer(u)

    return [Entrant(PLAIN, "", on_graph, iterations(), note="written for this race")]
