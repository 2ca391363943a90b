"""Load: 64 concurrent solves in 8 threads, and in forked, spawned and pooled processes."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np

from graphtv import Problem, SquaredLoss, gallery, grid_graph, solve
from reliability.harness import Figures, Property

SOLVES = 64
WAYS = ("threads", "fork", "spawn", "forkserver", "joblib", "threads and fork")


def task(seed: int) -> tuple[bytes, str]:
    """Solve a problem determined by a number; return its bits."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        graph = grid_graph((40, 50), 0.3)
    else:
        graph = gallery.erdos_renyi_graph(2000, 5000, seed, 0.3)
    problem = Problem(graph, SquaredLoss(rng.normal(size=graph.n_vertices)))
    method = ("auto", "descent", "pdhg", "exact")[seed % 4]
    result = solve(problem, method=method, tol=1e-4, n_threads=1 + seed % 3, max_iterations=200)
    return result.u.tobytes(), result.status


def _in_threads(seeds: list[int]) -> list[Any]:
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(task, seeds))


def _in_processes(way: str, seeds: list[int]) -> list[Any]:
    context = multiprocessing.get_context(way)
    with ProcessPoolExecutor(4, mp_context=context) as pool:
        return list(pool.map(task, seeds))


def check(seed: int, number: int) -> Figures:
    """Solve 64 problems at once in one of several ways."""
    import warnings

    way = WAYS[number % len(WAYS)]
    first = 1000 * seed + 7 * number
    seeds = [first + k for k in range(SOLVES)]
    expected = [task(k) for k in seeds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks with threads
        if way == "threads":
            found = _in_threads(seeds)
        elif way == "threads and fork":
            with ThreadPoolExecutor(8) as pool:
                half = [pool.submit(task, k) for k in seeds[: SOLVES // 2]]
                rest = _in_processes("fork", seeds[SOLVES // 2 :])
                found = [each.result() for each in half] + rest
        elif way == "joblib":
            try:
                import joblib
            except ImportError:
                return {"without joblib": 1}
            found = joblib.Parallel(n_jobs=4)(joblib.delayed(task)(k) for k in seeds)
        else:
            found = _in_processes(way, seeds)
    wrong = [k for k, a, b in zip(seeds, expected, found, strict=True) if a != b]
    assert not wrong, f"{way}: other answers for {wrong}"
    return {"solves": SOLVES, way: 1}


PROPERTY = Property("load", "Load", check, cases=120, quick=6, timeout=300.0)
