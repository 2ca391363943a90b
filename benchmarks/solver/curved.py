"""Compare `auto` with every choice by hand where the penalty is `HuberTV`.

    python benchmarks/solver/curved.py [--quick] [--only WORD ...] [--seeds 0 1] [--size 4000]

For graphs of several kinds, data terms, weights and widths δ, this measures the processor time of
`auto` and of the methods and preconditioners by name to a gap of 1e-6. A row shows `auto`, the best
of the others, their ratio, and which one it is. The choices take turns, of which the best counts.
Times below 20 ms count as 20 ms. A run by name is stopped when it has taken longer than `auto`.
The exit code is the number of ratios above 1.5, or 0 with --quick.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Iterator

import numpy as np

from graphtv import (
    AbsoluteLoss,
    EntropicSimplex,
    Graph,
    HuberLoss,
    HuberTV,
    LogisticLoss,
    PoissonLoss,
    Problem,
    SquaredLoss,
    gallery,
    grid_graph,
    knn_graph,
    solve,
)

WEIGHTS = (1e-2, 1.0, 1e2, 1e4)
WIDTHS = (1e-2, 0.3, 10.0)
BY_NAME = (
    ("pdhg", "diagonal"),
    ("pdhg", "linear"),
    ("pdhg", "chains"),
    ("pdhg", "nested"),
    ("descent", "linear"),
    ("descent", "chains"),
    ("descent", "nested"),
)
GAP, COMPETITIVE, SHORTEST, TURNS = 1e-6, 1.5, 0.02, 3


def graphs(n: int, seed: int) -> dict[str, Graph]:
    """Return graphs of about n vertices."""
    rng = np.random.default_rng(seed)
    side, cube = round(n**0.5), round(n ** (1 / 3))
    tree, random = gallery.random_tree(n, seed), gallery.erdos_renyi_graph(n, 2 * n, seed)
    return {
        "grid": grid_graph((side, side)),
        "volume": grid_graph((cube,) * 3),
        "neighbours": knn_graph(rng.random((n, 2)), 6),
        "random": Graph(n, np.concatenate([tree.edges, random.edges])),
        "tree": tree,
    }


def data_terms(n: int, seed: int) -> dict[str, object]:
    """Return data terms on n vertices."""
    rng = np.random.default_rng(seed)
    steps = np.cumsum(rng.standard_normal(n) * (rng.random(n) < 0.01))
    f = steps + 0.3 * rng.standard_normal(n)
    mask = (rng.random(n) > 0.1).astype(float)
    counts = rng.poisson(5 * abs(f) + 1).astype(float)
    return {
        "squared": SquaredLoss(f),
        "masked": SquaredLoss(f, mask),
        "Huber": HuberLoss(f, 0.1),
        "logistic": LogisticLoss(np.where(f > np.median(f), 1.0, -1.0)),
        "Poisson": PoissonLoss(counts),
        "absolute": AbsoluteLoss(f),
        "simplex": EntropicSimplex(np.stack([f**2, (f - 1) ** 2, (f - 2) ** 2], axis=1), 0.1),
    }


def problems(n: int, seeds: list[int]) -> Iterator[tuple[str, Problem]]:
    """Yield names and problems."""
    for seed in seeds:
        for kind, graph in graphs(n, seed).items():
            for loss, term in data_terms(graph.n_vertices, seed).items():
                for weight, width in itertools.product(WEIGHTS, WIDTHS):
                    scaled = Graph(graph.n_vertices, graph.edges, weight * graph.weights)
                    name = f"{kind}, {loss}, weight {weight:g}, δ {width:g}, seed {seed}"
                    yield name, Problem(scaled, term, HuberTV(width))


def seconds(problem: Problem, method: str, preconditioner: str, limit: float) -> float:
    """Return the processor time of a run, infinite if it does not apply or is not optimal."""
    start = time.process_time()
    try:
        result = solve(
            problem,
            method=method,
            preconditioner=preconditioner,
            tol=GAP,
            n_threads=1,
            stop=lambda: time.process_time() - start > limit,
        )
    except ValueError:  # does not apply to this problem
        return np.inf
    return time.process_time() - start if result.status == "optimal" else np.inf


def row(problem: Problem, limit: float) -> tuple[float, float, str]:
    """Return the time of `auto`, the best time by name, and which that is."""
    auto = seconds(problem, "auto", "auto", limit)
    longest = max(SHORTEST, min(limit, auto))
    times = {choice: seconds(problem, *choice, longest) for choice in BY_NAME}
    best = min(times, key=times.__getitem__)
    for _ in range(TURNS if auto > COMPETITIVE * SHORTEST and times[best] < auto / 1.2 else 0):
        auto = min(auto, seconds(problem, "auto", "auto", limit))
        times[best] = min(times[best], seconds(problem, *best, longest))
    return auto, times[best], " ".join(best)


def main(arguments: list[str] | None = None) -> int:
    """Run the measurements; return how many ratios are too large."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny problems")
    parser.add_argument("--only", nargs="+", default=[""], help="words of the names")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--size", type=int, default=4000, help="vertices")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds of a solve")
    given = parser.parse_args(arguments)
    size, seeds = (60, [0]) if given.quick else (given.size, given.seeds)
    print(f"{'problem':<52} {'auto':>8} {'by name':>8}  ratio  best choice")
    ratios = []
    for name, problem in problems(size, seeds):
        if not all(word in name for word in given.only):
            continue
        auto, best, which = row(problem, given.limit)
        ratios.append(max(auto, SHORTEST) / max(min(best, given.limit), SHORTEST))
        print(f"{name:<52} {auto:8.3f} {best:8.3f} {ratios[-1]:6.2f}  {which}", flush=True)
    failures = sum(ratio > COMPETITIVE for ratio in ratios)
    print(
        f"{len(ratios)} problems, largest ratio {max(ratios):.2f}, {failures} above {COMPETITIVE}"
    )
    return 0 if given.quick else failures


if __name__ == "__main__":
    sys.exit(main())
