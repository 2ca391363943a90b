"""pycut-pursuit's `cp_d1_ql1b` (Raguet and Landrieu), in an interpreter of its own.

Its wheel needs numpy < 2: `benchmarks/setup_peers` makes the environment, and GRAPHTV_CUT_PURSUIT
may name another interpreter that has it. The worker measures its own processor time, without its
start and without the exchange of arrays. The ladder is the number of cuts, for three tolerances of
the reduced problems, a finer one where a coarser does not suffice.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from peer import Peer, Run
from problems import Instance
from scipy import sparse

WORKER = Path(__file__).with_name("cut_pursuit_worker.py")
CUTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 60)
INNER_TOLERANCES = (1e-3, 1e-5, 1e-9)  # of the reduced problems


@functools.cache
def interpreter() -> str | None:
    """Return the Python that has pycut-pursuit, None if there is none."""
    beside = Path(sys.prefix + "-numpy1") / "bin" / "python"
    for python in (os.environ.get("GRAPHTV_CUT_PURSUIT"), str(beside)):
        if python and Path(python).exists():
            probe = [python, "-c", "import pycut_pursuit.cp_d1_ql1b"]
            if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
                return python
    return None


class Worker:
    """The other process, holding one problem."""

    def __init__(self, python: str, instance: Instance) -> None:
        self.folder = tempfile.TemporaryDirectory()
        folder = Path(self.folder.name)
        # Each edge once, in the forward star of its lower vertex.
        n, edges = instance.graph.n_vertices, np.sort(instance.graph.edges, axis=1)
        star = sparse.csr_array((instance.graph.weights, edges.T), shape=(n, n))
        np.savez(
            folder / "problem.npz",
            signal=instance.signal,
            first_edge=star.indptr.astype(np.uint32),
            adj_vertices=star.indices.astype(np.uint32),
            edge_weights=star.data,
        )
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [python, str(WORKER), self.folder.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        atexit.register(self.close)

    def __call__(self, setting: tuple[int, float]) -> Run:
        """Solve with (cuts, inner tolerance)."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(setting) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("pycut-pursuit ended without an answer")
        answer: dict[str, Any] = json.loads(line)
        return Run(np.load(Path(self.folder.name) / "u.npy"), seconds=answer["seconds"])

    def close(self) -> None:
        """End the process."""
        if self.process.poll() is None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait()
        self.folder.cleanup()


def peers(instance: Instance) -> list[Peer]:
    """Return the contestants for this problem."""
    python = interpreter()
    if python is None:
        return [Peer("pycut-pursuit", None, missing="no environment with pycut-pursuit")]
    worker = Worker(python, instance)
    names = [f"pycut-pursuit {inner:g}" for inner in INNER_TOLERANCES]
    return [
        Peer(name, worker, [(n, inner) for n in CUTS], rescues=coarser)
        for name, inner, coarser in zip(names, INNER_TOLERANCES, ["", *names], strict=False)
    ]
