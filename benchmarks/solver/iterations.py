"""Outer iterations of every method and preconditioner to relative gaps 1e-4, 1e-6 and 1e-10.

    python benchmarks/solver/iterations.py [--quick] [--instances NAME …] [--methods descent pdhg]
        [--preconditioners chains …] [--time-limit 60]

There is one row per instance, method and preconditioner, with the iterations of the certified
result and its seconds. The last two columns show the iterations of a prototype on instances of the
same kind and size with other numbers. The first one is its accelerated block descent, which descent
should not exceed. The second one is the accelerated PDHG of the paper. `-` means that the gap was
not reached within the limits.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from graphtv import recognize_grid
from graphtv.gallery import erdos_renyi_graph, genrmf
from races.iteration_cost import solve
from races.problems import (
    Instance,
    flow,
    grid,
    make,
    nearest_neighbours,
    picture,
    random_graph,
    volume,
)

GAPS = (1e-4, 1e-6, 1e-10)


def dense(n: int, m: int) -> Instance:
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.001, 0.01, m)
    return Instance("dense", erdos_renyi_graph(n, m, 0, weights), rng.standard_normal(n))


def segmentation(side: int) -> Instance:
    """Return an image of costs of two classes, under a weight that leaves large regions."""
    clean, note = picture(side)
    noise = np.random.default_rng(0).normal(0.0, 0.1, clean.shape)
    return grid("segmentation", clean - 0.5 + noise, 2.0, note)


# For each instance: itself, its small version, the prototype's preconditioner, its iterations of
# accelerated block descent and of the paper's accelerated PDHG.
INSTANCES: dict[str, tuple[Callable[[], Instance], Callable[[], Instance], str, str, str]] = {
    "image": (
        lambda: make("P1"),
        lambda: make("P1", small=True),
        "chains",
        "36 / 104 / 171",
        "50 / 133 / 526",
    ),
    "segmentation": (
        lambda: segmentation(512),
        lambda: segmentation(16),
        "chains",
        "66 / 225 / 325",
        "97 / - / -",
    ),
    "volume": (lambda: volume(64), lambda: volume(8), "chains", "22 / 44 / 108", "32 / 76 / -"),
    "random": (
        lambda: random_graph("P3", 50_000, 1.0),
        lambda: random_graph("P3", 100, 1.0),
        "linear",
        "12 / 20 / 34",
        "64 / 138 / -",
    ),
    "neighbours": (
        lambda: nearest_neighbours(100_000),
        lambda: nearest_neighbours(200),
        "linear",
        "76 / 159 / 506",
        "191 / - / -",
    ),
    "rmf-long": (
        lambda: flow("rmf-long", genrmf(8, 256)),
        lambda: flow("rmf-long", genrmf(3, 8)),
        "nested",
        "198 / 221 / 229",
        "373 / 451 / 506",
    ),
    "rmf-wide": (
        lambda: flow("rmf-wide", genrmf(64, 8)),
        lambda: flow("rmf-wide", genrmf(6, 3)),
        "nested",
        "74 / 104 / 108",
        "104 / 138 / 177",
    ),
    "dense": (
        lambda: dense(2000, 200_000),
        lambda: dense(50, 600),
        "linear",
        "4 / 9 / 11",
        "76 / 165 / -",
    ),
}
PRECONDITIONERS = {
    "descent": ("chains", "linear", "nested", "matroid"),
    "pdhg": ("none", "diagonal", "chains", "linear", "nested", "matroid"),
}


def count(
    instance: Instance, method: str, preconditioner: str, limits: dict
) -> tuple[list[str], float]:
    """Return the iterations to each gap, and the seconds to the last that was reached."""
    cells: list[str] = []
    seconds = np.nan
    for gap in GAPS:
        start = time.process_time()
        result = solve(
            instance.graph,
            instance.signal,
            method=method,
            preconditioner=preconditioner,
            tol=gap,
            n_threads=1,
            **limits,
        )
        if result.status != "optimal":
            break
        seconds = time.process_time() - start
        cells.append(str(result.iterations))
    return cells + ["-"] * (len(GAPS) - len(cells)), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="tiny instances")
    parser.add_argument("--instances", nargs="+", choices=list(INSTANCES), default=list(INSTANCES))
    parser.add_argument("--methods", nargs="+", choices=list(PRECONDITIONERS), default=["descent"])
    parser.add_argument("--preconditioners", nargs="+", default=[])
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--max-iterations", type=int, default=2000)
    arguments = parser.parse_args()
    limits = {"time_limit": arguments.time_limit, "max_iterations": arguments.max_iterations}
    print(
        f"{'instance':>13} {'method':>8} {'forests':>9} {'iterations to 1e-4 / 1e-6 / 1e-10':>34}"
        f" {'seconds':>8} {'prototype':>16} {'and its PDHG':>16}"
    )
    for name in arguments.instances:
        full, small, usual, descent, pdhg = INSTANCES[name]
        instance = small() if arguments.quick else full()
        is_grid = recognize_grid(instance.graph) is not None
        for method in arguments.methods:
            for preconditioner in PRECONDITIONERS[method]:
                wanted = arguments.preconditioners
                if (wanted and preconditioner not in wanted) or (
                    preconditioner == "chains" and not is_grid
                ):
                    continue
                cells, seconds = count(instance, method, preconditioner, limits)
                theirs = (descent, pdhg) if preconditioner == usual else ("", "")
                print(
                    f"{name:>13} {method:>8} {preconditioner:>9} {' / '.join(cells):>34}"
                    f" {seconds:>8.2f} {theirs[0]:>16} {theirs[1]:>16}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
