"""Max-flow as the first stage, where `auto` chooses it, relative to iterations before max-flow.

Small problems and logistic losses to 1e-3 and 1e-6. The second contestant is ``method="exact"``,
which iterates first. Processor time, best of several, in turns; ratios above 1 favour `auto`.

    python benchmarks/solver/first_flows.py
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from graphtv import (
    Graph,
    HuberLoss,
    LogisticLoss,
    PoissonLoss,
    Problem,
    SquaredLoss,
    grid_graph,
    knn_graph,
    solve,
)
from graphtv.terms import DataTerm

WEIGHTS = (0.05, 0.4, 3.0)


def problems() -> Iterator[tuple[str, int, Callable[[float], Problem]]]:
    """Return titles, numbers of repeats, and functions from a weight to a problem."""
    rng = np.random.default_rng(0)
    for shape in ((5, 5), (10, 10), (18, 18)):
        noise = rng.normal(size=shape).ravel()
        losses: dict[str, DataTerm] = {
            "squared": SquaredLoss(noise),
            "Huber": HuberLoss(noise, 0.5),
            "Poisson": PoissonLoss(rng.poisson(5.0, noise.size).astype(float)),
        }
        for name, loss in losses.items():
            if name != "squared" or noise.size <= 100:
                yield (
                    f"{name}, grid {shape}",
                    20,
                    lambda weight, shape=shape, loss=loss: Problem(grid_graph(shape, weight), loss),
                )
    steps = np.zeros((128, 128))
    steps[32:64, 32:96], steps[64:, :42] = 1.0, -1.0
    labels = np.sign(steps - 0.1 + 0.5 * rng.normal(size=steps.shape)).ravel()
    yield (
        "logistic, grid (128, 128)",
        2,
        lambda weight: Problem(grid_graph((128, 128), weight), LogisticLoss(labels)),
    )
    points = rng.random((5000, 2))
    near, halves = knn_graph(points), np.sign(points[:, 0] - 0.5 + 0.3 * rng.normal(size=5000))
    yield (
        "logistic, 5,000 neighbours",
        2,
        lambda weight: Problem(
            Graph(5000, near.edges, weight * near.weights), LogisticLoss(halves)
        ),
    )


def seconds(problem: Problem, method: str, tol: float) -> float:
    """Return the processor time of a solve."""
    start = time.process_time()
    solve(problem, method=method, tol=tol, n_threads=1)
    return time.process_time() - start


def main() -> None:
    print("problem                      weight    tol   max-flow first   iterations first   ratio")
    for title, n_repeats, make in problems():
        for weight in WEIGHTS:
            problem = make(weight)
            for tol in (1e-3, 1e-6):
                pairs = [
                    (seconds(problem, "auto", tol), seconds(problem, "exact", tol))
                    for _ in range(n_repeats)
                ]
                first, later = (min(times) for times in zip(*pairs, strict=True))
                print(
                    f"{title:28} {weight:6} {tol:6} {1e3 * first:13.2f} ms {1e3 * later:15.2f} ms"
                    f" {later / first:8.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
