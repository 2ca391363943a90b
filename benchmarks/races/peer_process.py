"""The peers as processes: where their interpreters are, and how to start, query and stop them."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from races.peers.task import DeclinedError, Task

ENVIRONMENTS = {
    "graphtv_solve": "graphtv",
    "divide_and_conquer": "PyMaxflow",
    "cut_pursuit": "pycut-pursuit",
    "proximal_tv": "prox_tv",
    "scikit_image": "scikit-image",
    "fast_gradient": "FGP, float32",
    "pdlp": "ortools",
    "modelling": "cvxpy",
    "chains_graphtv": "graphtv",
    "chains_proximal_tv": "prox_tv",
}
"""The adapters of `peers`, and the environments that ``benchmarks/setup_peers`` makes for them.

If there is none of that name (graphtv, the compiled loop), our own interpreter is used.
"""
RACERS = {
    "graphtv_solve": ("graphtv", "graphtv, unproved"),
    "divide_and_conquer": ("PyMaxflow, divide and conquer",),
    "cut_pursuit": ("pycut-pursuit",),
    "proximal_tv": ("prox_tv",),
    "scikit_image": ("scikit-image",),
    "fast_gradient": ("FGP, float32", "FGP, float32, fused"),
    "pdlp": ("ortools PDLP",),
    "modelling": ("cvxpy with Clarabel", "cvxpy with OSQP"),
}
"""The adapters of the race of the peers, and the names under which they race."""

OURS = "graphtv"
LIMIT_FACTOR = 5.0
"""A run is killed after this multiple of its time budget."""
LEAST_LIMIT = 60.0
"""Minimum time limit of a worker in seconds, because imports may be slow."""
START = "import sys; sys.path.append({!r}); from peers.worker import main; main({!r})"
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class PeerError(Exception):
    """A peer cannot run, failed or died; the message says how."""


class Offer(NamedTuple):
    """An entrant as its worker describes it, see `races.peers.task.Entrant`."""

    number: int
    peer: str
    variant: str
    ladder: list[Any]
    rescues: str
    threads: int
    note: str


@dataclass(frozen=True)
class Run:
    """The result and the times of one run of an entrant."""

    u: NDArray[Any]
    processor: float
    wall: float
    proved: float | None


def interpreter(environment: str, folder: Path | None) -> str:
    """Return the Python of a peer's environment, or our own if it has none."""
    if folder is not None:
        if (folder / f"{environment}.error").exists():
            said = (folder / f"{environment}.error").read_text().strip().splitlines()
            wrong = [line for line in said if "error" in line.lower()] or said[-1:] or ["?"]
            raise PeerError(f"could not be installed: {wrong[-1].strip()}")
        python = folder / environment / "bin" / "python"
        if python.exists():
            return str(python)
    return sys.executable


class Worker:
    """The process of a peer. It starts at the first request and restarts if it has died."""

    def __init__(self, adapter: str, environments: Path | None, n_threads: int = 1) -> None:
        self.adapter = adapter
        self.n_threads = n_threads
        self._environments = environments
        self._folder = tempfile.TemporaryDirectory(prefix="graphtv-bench-")
        self._process: subprocess.Popen[bytes] | None = None
        self._limit = LEAST_LIMIT
        self.version = ""

    def enter(self, task: Task) -> list[Offer]:
        """Hand the task over and return what the peer offers for it.

        Raises
        ------
        DeclinedError
            The peer has no method for such a task.
        PeerError
            The peer is missing or broken.
        """
        self._limit = max(LEAST_LIMIT, LIMIT_FACTOR * task.budget)
        task.save(Path(self._folder.name))
        answer = self._load()
        if "declined" in answer:
            raise DeclinedError(answer["declined"])
        if "missing" in answer:
            raise PeerError(f"not installed: {answer['missing']}")
        self.version = answer["version"]
        return [Offer(number, **entrant) for number, entrant in enumerate(answer["entrants"])]

    def run(self, offer: Offer, setting: Any) -> Run:
        """Return the result of an entrant with a setting."""
        if self._process is None:
            self._load()
        answer = self._ask({"run": [offer.number, setting]})
        u = np.load(Path(self._folder.name) / "u.npy")
        return Run(u, answer["processor"], answer["wall"], answer["proved"])

    def close(self) -> None:
        """End the process and forget the task."""
        self._stop()
        self._folder.cleanup()

    def _load(self) -> dict[str, Any]:
        return self._ask({"task": self._folder.name})

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise PeerError(self._last_words()) from None
        if not select.select([process.stdout], [], [], self._limit)[0]:
            self._stop()
            raise PeerError(f"no answer within {self._limit:.0f} s")
        line = process.stdout.readline()
        if not line:
            raise PeerError(self._last_words())
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        python = interpreter(ENVIRONMENTS[self.adapter], self._environments)
        start = START.format(str(Path(__file__).parent), self.adapter)
        threads = dict.fromkeys(THREAD_VARIABLES, str(self.n_threads))
        with self._words.open("wb") as words:
            self._process = subprocess.Popen(
                [python, "-P", "-c", start],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=words,
                env=os.environ | threads,
            )
        return self._process

    @property
    def _words(self) -> Path:
        return Path(self._folder.name) / "stderr"

    def _last_words(self) -> str:
        """Return why the process has ended, and discard it."""
        assert self._process is not None
        code = self._process.wait()
        self._stop()
        said = self._words.read_text(errors="replace").strip().splitlines()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"crashed with {how}" + (f": {said[-1]}" if said else "")

    def _stop(self) -> None:
        if self._process is not None:
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    try:
                        stream.close()
                    except BrokenPipeError:
                        continue
            self._process.kill()
            self._process.wait()
            self._process = None


class Team:
    """The workers of a benchmark, each started once and used for every problem."""

    def __init__(
        self, adapters: Sequence[str], environments: Path | None = None, n_threads: int = 1
    ) -> None:
        self.workers = [Worker(adapter, environments, n_threads) for adapter in adapters]

    def __enter__(self) -> list[Worker]:
        return self.workers

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self.workers:
            worker.close()
