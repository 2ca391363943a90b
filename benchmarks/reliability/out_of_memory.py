"""Out of memory: a failed allocation at any point raises MemoryError and leaks nothing.

Each case lowers the limit on address space (RLIMIT_AS) to a random number of bytes above the
current use. It then repeatedly calls a function that needs more. The function may raise MemoryError
or return the right answer. After the limit is removed, the answer is right, and the process has not
grown.
"""

from __future__ import annotations

import ctypes
import gc
import io
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import graphtv
from graphtv import Graph, LinearBox, PoissonLoss, Problem, SquaredLoss, gallery, grid_graph, solve
from reliability.harness import Figures, Property

SIDE = 160
ATTEMPTS = 12
M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8
MOST_GROWTH = 24 << 20
"""Bytes by which a process may grow over the attempts, since allocators cache memory."""


def _memory(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {name} in /proc/self/status")


def tasks() -> dict[str, Callable[[], Any]]:
    """Return functions that need some megabytes and return an array or a number."""
    rng = np.random.default_rng(0)
    n = SIDE * SIDE
    grid = grid_graph((SIDE, SIDE), 0.4)
    f = rng.normal(size=n)
    random = gallery.erdos_renyi_graph(n, 2 * n, 0, 0.3)
    edges, weights = random.edges, random.weights
    text = io.StringIO()
    network = gallery.genrmf(8, 20, 1, 100, 0)
    graphtv.write_dimacs(network, text)
    content = text.getvalue()
    points = rng.normal(size=(n, 2))

    def answer(problem: Problem, **options: Any) -> Any:
        return solve(problem, n_threads=2, max_iterations=40, **options).u

    return {
        "exact": lambda: answer(Problem(grid, SquaredLoss(f)), tol=1e-6),
        "descent": lambda: answer(Problem(random, SquaredLoss(f)), method="descent", tol=1e-3),
        "pdhg": lambda: answer(Problem(random, PoissonLoss(abs(f))), method="pdhg", tol=1e-3),
        "box": lambda: answer(Problem(grid, LinearBox(f)), tol=1e-4),
        "graph": lambda: Graph(n, edges, weights).weights,
        "grid": lambda: grid_graph((SIDE, 2 * SIDE), 0.5).weights,
        "matroid": lambda: (
            graphtv.decompose(gallery.erdos_renyi_graph(3000, 9000, 0), "matroid").labels
        ),
        "linear": lambda: graphtv.decompose(random, "linear").labels,
        "forest": lambda: graphtv.tv_forest(gallery.random_tree(n, 0, 0.3), f),
        "cut": lambda: network.min_cut(n_threads=2).value,
        "dimacs": lambda: graphtv.read_dimacs(io.StringIO(content)).capacities,
        "neighbours": lambda: graphtv.knn_graph(points, 4).weights,
        "image": lambda: graphtv.denoise_tv(f.reshape(SIDE, SIDE), 0.3, tol=1e-3, n_threads=2),
    }


def check(seed: int, number: int) -> Figures:
    """Let one function run out of memory at many points."""
    # Every larger array is mapped separately and returned to the system when it is freed, so that
    # the next allocation is always new. Threads have no separate reserves.
    ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 14)
    ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)
    rng = np.random.default_rng([seed, number, 5])
    names = list(tasks())
    name = names[number % len(names)]
    task = tasks()[name]
    right = np.asarray(task()).copy()
    task()
    gc.collect()
    before = _memory("VmRSS")
    figures = {"attempts": 0.0, "memory errors": 0.0, "answers": 0.0}
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    for _ in range(ATTEMPTS):
        room = int(10.0 ** rng.uniform(4, 7.3))
        resource.setrlimit(resource.RLIMIT_AS, (_memory("VmSize") + room, hard))
        figures["attempts"] += 1
        try:
            found = task()
        except MemoryError:
            figures["memory errors"] += 1
        except Exception as error:
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
            raise AssertionError(f"{name} with {room} bytes: {error!r}") from error
        else:
            figures["answers"] += 1
            same = np.array_equal(np.asarray(found), right)
            assert same, f"{name} with {room} bytes: another answer"
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    assert np.array_equal(np.asarray(task()), right), f"{name}: another answer afterwards"
    gc.collect()
    growth = _memory("VmRSS") - before
    assert growth <= MOST_GROWTH, f"{name}: the process grew by {growth / 2**20:.0f} MB"
    return figures | {"largest growth in MB": growth / 2**20}


PROPERTY = Property("out-of-memory", "Out of memory", check, cases=390, quick=13)
