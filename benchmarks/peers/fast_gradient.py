"""Fast gradient projection in single precision: the stand-in for CCPi-Regularisation's FGP_TV.

`fast_gradient.cpp` is compiled when first asked for, with ``g++ -O3 -march=native``, and called
through ctypes. *plain* makes the passes over the image that CCPi-Regularisation makes; *fused* has
the same iterates from one vectorised pass, which no package offers; *graph* is for any graph.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from peer import Peer, Run, iterations
from problems import Instance

SOURCE = Path(__file__).with_suffix(".cpp")


@functools.cache
def library() -> ctypes.CDLL | None:
    """Return the compiled code, None without a compiler."""
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / "graphtv-benchmarks"
    folder.mkdir(exist_ok=True)
    target = folder / f"fast_gradient-{digest}.so"
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=folder) as work:
            built = Path(work) / target.name
            flags = ["-std=c++20", "-O3", "-march=native", "-shared", "-fPIC"]
            subprocess.run([compiler, *flags, str(SOURCE), "-o", str(built)], check=True)
            built.rename(target)
    return ctypes.CDLL(str(target))


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def peers(instance: Instance) -> list[Peer]:
    """Return the contestants for this problem."""
    code = library()
    if code is None:
        return [Peer("FGP float32", None, missing="there is no g++")]
    f = instance.signal.astype(np.float32)
    if instance.shape is not None:
        sizes = (1, 1, *instance.shape)[-3:]

        def on_grid(function: str, n: int) -> Run:
            u = np.empty_like(f)
            weight = ctypes.c_float(instance.weight or 0.0)
            getattr(code, function)(pointer(f), pointer(u), *sizes, weight, n)
            return Run(u)

        return [
            Peer("FGP float32, plain", functools.partial(on_grid, "fgp_plain"), iterations()),
            Peer(
                "FGP float32, fused",
                functools.partial(on_grid, "fgp_fused"),
                iterations(),
                note="written for this race, stronger than any package's",
            ),
        ]
    edges = np.ascontiguousarray(instance.graph.edges, dtype=np.int32)
    weights = instance.graph.weights.astype(np.float32)

    def on_graph(n: int) -> Run:
        u = np.empty_like(f)
        size = ctypes.c_int64(len(f)), ctypes.c_int64(len(edges))
        code.fgp_graph(pointer(f), pointer(u), *size, pointer(edges), pointer(weights), n)
        return Run(u)

    return [Peer("FGP float32, graph", on_graph, iterations())]
