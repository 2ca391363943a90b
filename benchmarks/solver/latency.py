"""How fast a run stops: after Ctrl-C at many moments, and at a time limit.

    python benchmarks/solver/latency.py [--edges 10000000] [--methods auto …] [--quick]

For a grid and a random graph, and for each method, three tables:

- Ctrl-C after a number of seconds: milliseconds until `solve` has returned, in wall-clock and
  processor time, and the relative gap of the result;
- time limits: by how much they were exceeded, in milliseconds of wall-clock and processor time, and
  in per cent;
- silences: the longest periods in which the main thread did not process signals, and where.

On a shared machine wall-clock times are noisy; processor time measures the work.
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from types import FrameType

import numpy as np

import graphtv
from graphtv import Graph, Problem, SquaredLoss

MOMENTS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.8, 1.2, 2.0, 3.0, 4.5, 7.0, 10.0)
LIMITS = (0.2, 0.5, 1.0, 3.0)
METHODS = ("auto", "descent", "pdhg", "exact")
SILENCE = 0.03


def grid(n_edges: int) -> Problem:
    """Return noise on a square grid."""
    side = round((n_edges / 2) ** 0.5)
    graph = graphtv.grid_graph((side, side), 1.5)
    return Problem(graph, SquaredLoss(np.random.default_rng(0).normal(size=side * side)))


def random(n_edges: int) -> Problem:
    """Return noise on a random graph of average degree 10."""
    rng = np.random.default_rng(0)
    n = max(n_edges // 5, 2)
    ends = rng.integers(0, n, (n_edges, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    graph = Graph(n, ends, np.full(len(ends), 0.3))
    return Problem(graph, SquaredLoss(rng.normal(size=n)))


def interrupted_after(problem: Problem, method: str, moment: float) -> str:
    """Run, send Ctrl-C, and return how long the run took to stop."""
    sent: list[tuple[float, float]] = []

    def send() -> None:
        time.sleep(moment)
        sent.append((time.perf_counter(), time.process_time()))
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        result = graphtv.solve(problem, method=method, tol=1e-16)
        clock, processors = time.perf_counter(), time.process_time()
        sender.join()
    except KeyboardInterrupt:
        return "not under way"
    return (
        f"{1e3 * (clock - sent[0][0]):8.0f} ms {1e3 * (processors - sent[0][1]):8.0f} ms"
        f"   {result.status}, {result.iterations} iterations, gap {result.relative_gap:.1e}"
    )


def limited_to(problem: Problem, method: str, seconds: float) -> str:
    """Run with a time limit, and return by how much it was exceeded."""
    passed: list[float] = []
    timer = threading.Timer(seconds, lambda: passed.append(time.process_time()))
    timer.start()
    start = time.perf_counter()
    result = graphtv.solve(problem, method=method, tol=1e-16, time_limit=seconds)
    excess = time.perf_counter() - start - seconds
    processors = time.process_time() - passed[0] if passed else 0.0
    timer.cancel()
    return (
        f"{1e3 * excess:+8.0f} ms {1e3 * processors:8.0f} ms {100 * excess / seconds:+8.1f} %"
        f"    {result.status}, {result.iterations} iterations, gap {result.relative_gap:.1e}"
    )


def silences(problem: Problem, method: str, seconds: float) -> list[str]:
    """Run with a periodic signal, and report where it was not processed for long."""
    found: dict[str, float] = {}
    last = time.thread_time()

    def tick(_: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.thread_time()
        where = []
        while frame is not None and len(where) < 2:
            where.append(f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}")
            frame = frame.f_back
        found[" < ".join(where)] = max(found.get(" < ".join(where), 0.0), now - last)
        last = now

    before = signal.signal(signal.SIGALRM, tick)
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    try:
        graphtv.solve(problem, method=method, tol=1e-16, time_limit=seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    worst = sorted(((span, where) for where, span in found.items()), reverse=True)
    return [f"{1e3 * span:8.0f} ms  {where}" for span, where in worst if span > SILENCE]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=10**7)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--quick", action="store_true", help="small graphs, few moments")
    options = parser.parse_args()
    n_edges = 100_000 if options.quick else options.edges
    moments, limits = ((0.1,), (0.1,)) if options.quick else (MOMENTS, LIMITS)
    for make in (grid, random):
        problem = make(n_edges)
        for method in options.methods:
            print(f"\n{make.__name__}, {problem.graph.n_edges} edges, {method}", flush=True)
            for moment in moments:
                told = interrupted_after(problem, method, moment)
                print(f"  Ctrl-C {moment:6.2f} s {told}", flush=True)
            for seconds in limits:
                told = limited_to(problem, method, seconds)
                print(f"  limit  {seconds:6.2f} s {told}", flush=True)
            for line in silences(problem, method, moments[-1])[:10]:
                print(f"  silence         {line}", flush=True)


if __name__ == "__main__":
    main()
