"""Interrupts: SIGINT or a time limit at a random moment of every long computation.

The time from the signal to the return is measured in processor time of this process, which other
processes cannot affect, and in wall-clock time. Afterwards the signal handler is restored, the
result has the right status, and the next solve is correct.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import numpy as np

from graphtv import (
    EntropicSimplex,
    Graph,
    LinearBox,
    Problem,
    SquaredLoss,
    decompose,
    gallery,
    grid_graph,
    solve,
)
from reliability.harness import Figures, Property
from reliability.verifier import confirm

LIMITS = {"longest processor seconds": 0.2}
"""The limit of the processor time from the signal to the return."""

PLACES = ("set-up", "matroid", "descent", "pdhg", "flows", "box", "simplex", "polish", "time limit")
LARGE = 700


def _problem(place: str) -> Problem:
    rng = np.random.default_rng(0)
    if place in ("set-up", "polish", "time limit"):
        n = 200_000
        graph = gallery.erdos_renyi_graph(n, 3 * n, 0, 0.4)
        return Problem(graph, SquaredLoss(rng.normal(size=n)))
    graph = grid_graph((LARGE, LARGE), 1.5)
    f = rng.normal(size=graph.n_vertices)
    if place == "box":
        return Problem(graph, LinearBox(f))
    if place == "simplex":
        small = grid_graph((LARGE // 3, LARGE // 3), 1.0)
        return Problem(small, EntropicSimplex(rng.normal(size=(small.n_vertices, 4)), 0.1))
    return Problem(graph, SquaredLoss(f))


OPTIONS: dict[str, dict[str, Any]] = {
    "set-up": {"method": "descent", "preconditioner": "matroid", "tol": 1e-14},
    "descent": {"method": "descent", "tol": 1e-15},
    "pdhg": {"method": "pdhg", "preconditioner": "nested", "tol": 1e-15},
    "flows": {"method": "exact", "tol": 0.0},
    "box": {"tol": 0.0},
    "simplex": {"tol": 1e-12},
    "polish": {"method": "pdhg", "preconditioner": "linear", "tol": 1e-9},
    "time limit": {"tol": 0.0},
}


def small_solve_is_right() -> bool:
    """Whether the library still works."""
    result = solve(Problem(grid_graph((4,)), SquaredLoss([0.0, 0.0, 3.0, 3.0])))
    return bool(np.allclose(result.u, [0.5, 0.5, 2.5, 2.5])) and result.status == "optimal"


class Alarm:
    """Sends SIGINT after a delay and records when."""

    def __init__(self, delay: float) -> None:
        self.clock = self.processor = float("inf")
        self._timer = threading.Timer(delay, self._ring)
        self._timer.start()

    def _ring(self) -> None:
        self.clock, self.processor = time.perf_counter(), time.process_time()
        os.kill(os.getpid(), signal.SIGINT)

    def elapsed(self) -> tuple[float, float]:
        """Return wall-clock and processor seconds since the signal; 0 if it was never sent."""
        now = time.perf_counter(), time.process_time()
        self._timer.cancel()
        self._timer.join()
        return max(now[0] - self.clock, 0.0), max(now[1] - self.processor, 0.0)


def check(seed: int, number: int) -> Figures:
    """Interrupt one computation at a random moment."""
    rng = np.random.default_rng([seed, number, 6])
    place = PLACES[number % len(PLACES)]
    delay = float(rng.uniform(0.0, 2.5) if rng.random() < 0.7 else rng.uniform(0.0, 0.2))
    if place == "matroid":
        return _interrupt_decomposition(delay)
    problem = _problem(place)
    options = OPTIONS[place] | {"n_threads": 1, "max_iterations": 10**9}
    if place == "time limit":
        begin = time.process_time()
        result = solve(problem, time_limit=delay, **options)
        late = max(time.process_time() - begin - delay, 0.0)
        waited = 0.0
    else:
        alarm = Alarm(delay)
        result = solve(problem, **options)
        waited, late = alarm.elapsed()
    ours = {"time_limit", "optimal"} if place == "time limit" else {"interrupted", "optimal"}
    assert result.status in (*ours, "stalled"), f"{place}: status {result.status}"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "the handler is not back"
    confirm(problem, result)
    assert small_solve_is_right(), f"{place}: the next solve is wrong"
    return {place: 1, "longest processor seconds": late, "longest seconds": waited}


def _interrupt_decomposition(delay: float) -> Figures:
    graph: Graph = gallery.erdos_renyi_graph(60_000, 180_000, 0)
    late = waited = 0.0
    alarm = Alarm(delay)
    try:
        decompose(graph, "matroid")
        waited, late = alarm.elapsed()
    except KeyboardInterrupt:
        waited, late = alarm.elapsed()
    assert small_solve_is_right(), "matroid: the next solve is wrong"
    return {"matroid": 1, "longest processor seconds": late, "longest seconds": waited}


PROPERTY = Property("interrupts", "Interrupts", check, 900, 9, timeout=90.0, limits=LIMITS)
