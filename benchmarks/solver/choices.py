"""Compare `auto` with every explicit choice: it must never be much worse than the best.

    python benchmarks/solver/choices.py [--quick] [--gaps 1e-3 1e-6 1e-12] [--time-limit 5]

For graphs of the gallery and several data terms, this measures the processor time of `auto` and of
every method and preconditioner that applies, to each gap. A row shows the best of them and the
ratio of `auto` to it. After one turn each, `auto` and the three fastest choices take further turns,
of which the best counts. Runs that exceed the time limit are left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

from graphtv import (
    AbsoluteLoss,
    EntropicSimplex,
    Graph,
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

AUTO = ("auto", "auto")
FORESTS = ("chains", "linear", "nested", "matroid")
TOTAL, MOST_TURNS = 2.0, 10  # seconds for the finalists of a row, and turns of each


def problems(quick: bool) -> Iterator[tuple[str, Problem]]:
    """Yield the problems, small ones for a smoke test."""
    rng = np.random.default_rng(0)
    side, n = (12, 150) if quick else (256, 50_000)
    image = gallery.piecewise_constant_image((side, side), rng=0)[0].ravel()
    cube = max(4, round(side ** (2 / 3)))
    for weight in (0.05, 0.5):
        yield (
            f"grid, weight {weight}",
            Problem(grid_graph((side, side), weight), SquaredLoss(image)),
        )
    noise = rng.standard_normal(cube**3)
    yield "volume", Problem(grid_graph((cube,) * 3, 0.3), SquaredLoss(noise))
    points = rng.uniform(size=(n, 2))
    cells = np.floor(4 * points).sum(axis=1) + 0.3 * rng.standard_normal(n)
    neighbours = knn_graph(points, 6)
    yield "neighbours", Problem(neighbours, SquaredLoss(cells))
    random = gallery.erdos_renyi_graph(n, 3 * n, 0)
    signal = rng.standard_normal(n)
    for scale in (0.1, 1.0):
        weights = scale * rng.uniform(0.1, 1.0, random.n_edges)
        graph = Graph(n, random.edges, weights)
        yield f"random, weight {scale}", Problem(graph, SquaredLoss(signal))
    yield from large_weights(side, n)
    tree = gallery.random_tree(n, rng=0)
    yield "tree", Problem(tree, SquaredLoss(signal))
    star = gallery.star_graph(n // 10)
    yield "star", Problem(star, SquaredLoss(signal[: star.n_vertices]))
    for name, network in (
        ("RMF wide", gallery.genrmf(*((4, 3) if quick else (32, 8)))),
        ("RMF long", gallery.genrmf(*((3, 8) if quick else (8, 128)))),
        ("Washington", gallery.washington_rlg(*((6, 8) if quick else (64, 128)))),
    ):
        graph, f = network.rof()
        yield name, Problem(graph, SquaredLoss(f))
    grid = grid_graph((side // 2, side // 2), 0.2)
    small = image.reshape(side, side)[::2, ::2].ravel()
    yield "weighted", Problem(grid, SquaredLoss(small, rng.uniform(0.2, 2.0, small.size)))
    yield "Huber penalty", Problem(grid, SquaredLoss(small), HuberTV(0.05))
    yield "absolute", Problem(grid, AbsoluteLoss(small))
    counts = rng.poisson(5 * np.abs(small) + 1)
    yield "Poisson", Problem(grid, PoissonLoss(counts))
    yield "logistic", Problem(grid, LogisticLoss(np.where(small > np.median(small), 1, -1)))
    costs = rng.standard_normal((small.size, 3))
    yield "simplex", Problem(grid, EntropicSimplex(costs))


def large_weights(side: int, n: int) -> Iterator[tuple[str, Problem]]:
    """Yield problems with large weights, whose solutions have few pieces, and regular graphs."""
    rng = np.random.default_rng(1)
    points = rng.random((n, 3))
    signal = np.floor(4 * points).sum(axis=1) + 0.3 * rng.standard_normal(n)
    for k, scale in ((10, 3.0), (20, 1.0)):
        near = knn_graph(points, k)
        weights = scale * (rng.exponential(size=near.n_edges) if k == 10 else np.ones(near.n_edges))
        graph = Graph(n, near.edges, weights)
        yield f"3D neighbours, k = {k}", Problem(graph, SquaredLoss(signal))
    for name, m in (("triangulation", 14 * n // 5), ("roads", 5 * n // 4)):
        planar, positions = gallery.delaunay_graph(n, m, 2)
        graph = Graph(n, planar.edges, 3.0 * rng.exponential(size=m))
        cells = np.floor(4 * positions).sum(axis=1) + 0.3 * rng.standard_normal(n)
        yield name, Problem(graph, SquaredLoss(cells))
    image = gallery.piecewise_constant_image((side, side), rng=1)[0]
    for connectivity in (8, 16):
        graph = grid_graph(image.shape, 0.2, connectivity=connectivity)
        yield f"{connectivity} neighbours", Problem(graph, SquaredLoss(image.ravel()))
    index = np.arange(side * side, dtype=np.int32).reshape(side, side)
    ends = [np.stack([index, np.roll(index, -1, axis)], axis=-1).reshape(-1, 2) for axis in (0, 1)]
    torus = Graph(side * side, np.concatenate(ends), np.full(2 * side * side, 0.5))
    yield "torus", Problem(torus, SquaredLoss(image.ravel()))
    ramp = np.add.outer(np.linspace(0, 10, side), np.linspace(0, 20, side))
    yield "ramp", Problem(grid_graph((side, side), 1.0), SquaredLoss(ramp.ravel()))
    ladder = np.repeat(rng.standard_normal((2, n // 200 + 1)), 100, axis=1)[:, : n // 2]
    ladder = ladder + 0.3 * rng.standard_normal(ladder.shape)
    yield "ladder", Problem(grid_graph(ladder.shape, 2.0), SquaredLoss(ladder.ravel()))


def contestants(problem: Problem) -> Iterator[tuple[str, str]]:
    """Yield every method and preconditioner that a user can request."""
    yield AUTO
    yield "exact", "auto"
    for preconditioner in FORESTS:
        yield "descent", preconditioner
        yield "exact", preconditioner
        yield "pdhg", preconditioner
    yield "pdhg", "diagonal"


def seconds(problem: Problem, method: str, preconditioner: str, gap: float, limit: float) -> float:
    """Return the processor time of a run; infinite if it does not apply or does not converge."""
    start = time.process_time()
    try:
        result = solve(
            problem,
            method=method,
            preconditioner=preconditioner,
            tol=gap,
            time_limit=limit,
            n_threads=1,
        )
    except ValueError:  # does not apply to this problem
        return np.inf
    return time.process_time() - start if result.status == "optimal" else np.inf


def race(problem: Problem, gap: float, limit: float) -> dict[tuple[str, str], float]:
    """Return the processor time of every choice; for the fastest, the best of several turns."""
    times = {choice: seconds(problem, *choice, gap, limit) for choice in contestants(problem)}
    by_hand = sorted(set(times) - {AUTO}, key=times.__getitem__)
    finalists = [AUTO, *by_hand[:3]]
    turns = int(np.clip(TOTAL / sum(times[choice] for choice in finalists), 1, MOST_TURNS))
    for _ in range(turns):
        for choice in finalists:
            times[choice] = min(times[choice], seconds(problem, *choice, gap, limit))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small problems")
    parser.add_argument("--gaps", type=float, nargs="+", default=[1e-3, 1e-6, 1e-12])
    parser.add_argument("--time-limit", type=float, default=5.0)
    options = parser.parse_args()
    print(f"{'problem':<22} {'gap':>7} {'auto':>9} {'by hand':>9}  ratio  best choice")
    for name, problem in problems(options.quick):
        for gap in options.gaps:
            times = race(problem, gap, options.time_limit)
            auto = times.pop(AUTO)
            choice, best = min(times.items(), key=lambda item: item[1])
            print(
                f"{name:<22} {gap:7.0e} {auto:9.4f} {best:9.4f}"
                f"   {auto / best:6.2f}  {' '.join(choice)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
