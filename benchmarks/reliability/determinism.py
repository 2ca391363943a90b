"""Determinism: the same bits for 1, 2, 4 and 8 threads, and for every repetition.

Every method on a large problem, and a quarter of the small problems, are repeated a hundred times.
"""

from __future__ import annotations

import numpy as np

from graphtv import Problem, SquaredLoss, gallery, grid_graph, solve
from reliability.harness import Figures, Property
from reliability.problems import make_problem

THREADS = (1, 2, 4, 8)
WAYS = (
    ("auto", "auto"), ("exact", "auto"), ("descent", "linear"), ("descent", "nested"),
    ("descent", "chains"), ("pdhg", "chains"), ("pdhg", "nested"), ("pdhg", "diagonal"),
)  # fmt: skip


def _bits(problem: Problem, n_threads: int, **options: object) -> tuple[object, ...]:
    result = solve(problem, n_threads=n_threads, max_iterations=60, **options)  # type: ignore[arg-type]
    return (
        result.u.tobytes(), result.p.tobytes(), result.primal, result.dual, result.iterations,
        result.status,
    )  # fmt: skip


def check(seed: int, number: int) -> Figures:
    """Solve one problem with every number of threads: large ones by every method, or small ones."""
    rng = np.random.default_rng([seed, number, 3])
    if number % 4 == 0:
        method, preconditioner = WAYS[number // 4 % len(WAYS)]
        if preconditioner == "chains":
            graph = grid_graph((int(rng.integers(100, 200)), int(rng.integers(100, 200))), 0.3)
        else:
            n = int(rng.integers(5_000, 25_000))
            graph = gallery.erdos_renyi_graph(n, 5 * n // 2, number, 0.3)
        problem = Problem(graph, SquaredLoss(rng.normal(size=graph.n_vertices)))
        options: dict[str, object] = {"method": method, "preconditioner": preconditioner}
        options["tol"] = float(rng.choice([1e-3, 1e-6, 0.0]))
    else:
        with np.errstate(all="ignore"):
            problem, _ = make_problem(rng, largest=20.0)
        options = {"tol": 1e-6}
    found = {_bits(problem, k, **options) for k in THREADS}
    is_large = number % 4 == 0
    is_often = number % 4 == 1 or number < 4 * len(WAYS)
    repeats = 100 if is_often else 2 if is_large else 10
    found |= {_bits(problem, int(rng.choice(THREADS)), **options) for _ in range(repeats)}
    assert len(found) == 1, f"{len(found)} different answers: {problem!r}, {options}"
    return {"solves": len(THREADS) + repeats, "repeated 100 times": repeats == 100}


PROPERTY = Property("determinism", "Determinism", check, cases=800, quick=24, timeout=900.0)
