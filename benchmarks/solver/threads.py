"""Two threads against one on a 2048² image, in wall-clock time.

    python benchmarks/solver/threads.py [--side 2048] [--threads 2] [--turns 3]

Measures an iteration of descent on chains, the whole call to 1e-3, and the exact solution. The
largest possible gain also depends on the machine: the last line runs as many single-threaded
processes at once as there are threads. They share only the memory bandwidth and the caches.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from graphtv.gallery import piecewise_constant_image
from races.iteration_cost import seconds_per_iteration, solve
from races.problems import Instance, grid


def make_image(side: int) -> Instance:
    return grid(f"{side}²", piecewise_constant_image((side, side))[0], 0.1)


def iteration(instance: Instance, n_threads: int) -> float:
    options = {"few": 5, "many": 20, "turns": 1, "clock": time.perf_counter}
    return seconds_per_iteration(
        instance.graph, instance.signal, preconditioner="chains", n_threads=n_threads, **options
    )


def whole(instance: Instance, tol: float, n_threads: int) -> float:
    start = time.perf_counter()
    solve(instance.graph, instance.signal, tol=tol, n_threads=n_threads)
    return time.perf_counter() - start


def alone(side: int, barrier, queue: multiprocessing.Queue) -> None:
    instance = make_image(side)
    barrier.wait()
    queue.put(iteration(instance, 1))


def side_by_side(side: int, n_processes: int) -> float:
    """Return the mean seconds of an iteration while all processes iterate."""
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(n_processes), context.Queue()
    children = [
        context.Process(target=alone, args=(side, barrier, queue)) for _ in range(n_processes)
    ]
    for child in children:
        child.start()
    times = [queue.get() for _ in children]
    for child in children:
        child.join()
    return float(np.mean(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small image, one turn")
    parser.add_argument("--side", type=int, default=2048)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.side, arguments.turns = 64, 1
    instance, counts = make_image(arguments.side), (1, arguments.threads)
    tasks = {
        "iteration of descent": lambda n: iteration(instance, n),
        "whole call, 1e-3": lambda n: whole(instance, 1e-3, n),
        "whole call, exact": lambda n: whole(instance, 0.0, n),
    }
    columns = "".join(f"{n:>4} thread(s)" for n in counts)
    print(f"{'wall-clock seconds':>24} {columns} {'ratio':>6}")
    single = np.inf
    for name, run in tasks.items():
        best = dict.fromkeys(counts, np.inf)
        for _ in range(arguments.turns):
            for n in counts:
                best[n] = min(best[n], run(n))
        if name == "iteration of descent":
            single = best[1]
        cells = "".join(f"{best[n]:>14.4f}" for n in counts)
        print(f"{name:>24} {cells} {best[1] / best[arguments.threads]:>6.2f}", flush=True)
    together = min(side_by_side(arguments.side, arguments.threads) for _ in range(arguments.turns))
    ceiling = arguments.threads * single / together
    print(f"{arguments.threads} processes side by side: {ceiling:.2f} times the work of one alone")


if __name__ == "__main__":
    main()
