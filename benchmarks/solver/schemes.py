"""Iterations of PDHG's schemes to a relative gap of 1e-6, from easy to ill-conditioned problems.

    python benchmarks/solver/schemes.py [--quick] [--most 12000]

`auto` starts balanced, and switches to restarts if that makes no progress. It should need little
more than the better of the two. A dash means that the limit was reached. The last line has the
geometric means, in which a dash counts as twice the limit.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from graphtv import (
    PDHG,
    Graph,
    HuberTV,
    PoissonLoss,
    Problem,
    SquaredLoss,
    gallery,
    grid_graph,
    knn_graph,
    solve,
)
from graphtv.gallery import examples

SCHEMES = ("balanced", "restarted", "auto")


def problems(quick: bool) -> Iterator[tuple[str, Problem, str]]:
    """Yield name, problem and preconditioner."""
    roads = examples.roads()
    if not quick:
        for preconditioner in ("none", "diagonal", "linear"):
            yield "roads of the demo", roads, preconditioner
    for side in (8,) if quick else (32, 64, 128):
        image = SquaredLoss(gallery.piecewise_constant_image((side, side), rng=1)[0].ravel())
        for weight in (1.0, 10.0, 100.0, 1e4):
            grid = grid_graph((side, side), weight)
            for delta in (0.01, 0.1, 10.0) if side == 64 else (0.1,):
                yield (
                    f"grid {side}², {weight:g}, δ {delta:g}",
                    Problem(grid, image, HuberTV(delta)),
                    "diagonal",
                )
            if side == 64:
                yield f"grid {side}², {weight:g}, TV", Problem(grid, image), "diagonal"
    rng = np.random.default_rng(0)
    n = 60 if quick else 3000
    neighbours, tree = knn_graph(rng.random((n, 2)), 6), gallery.random_tree(n, rng=0)
    f = SquaredLoss(rng.standard_normal(n))
    counts = PoissonLoss(rng.poisson(3, n) + 1.0)
    for weight in (1.0, 100.0, 1e4):
        graph = Graph(n, neighbours.edges, weight * neighbours.weights)
        for preconditioner in ("none", "diagonal", "linear"):
            yield f"kNN, {weight:g}, δ 0.1", Problem(graph, f, HuberTV(0.1)), preconditioner
        yield f"kNN, Poisson, {weight:g}, δ 0.1", Problem(graph, counts, HuberTV(0.1)), "diagonal"
        branches = Graph(n, tree.edges, weight * tree.weights)
        yield f"tree, {weight:g}, δ 0.1", Problem(branches, f, HuberTV(0.1)), "diagonal"


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny problems, few iterations")
    parser.add_argument("--most", type=int, default=12_000, help="iterations of a run")
    given = parser.parse_args(arguments)
    most = 100 if given.quick else given.most
    print(f"{'problem':<28} {'metric':<9}", *(f"{name:>10}" for name in SCHEMES))
    logarithms = []
    for name, problem, preconditioner in problems(given.quick):
        counts = []
        for scheme in SCHEMES:
            result = solve(
                problem,
                method=PDHG(scheme=scheme),
                preconditioner=preconditioner,
                max_iterations=most,
            )
            counts.append(result.iterations if result.status == "optimal" else None)
        logarithms.append([np.log(2 * most if k is None else k) for k in counts])
        shown = (f"{'-' if k is None else k:>10}" for k in counts)
        print(f"{name:<28} {preconditioner:<9}", *shown, flush=True)
    means = np.exp(np.mean(logarithms, axis=0))
    print(f"{'geometric mean':<38}", *(f"{mean:10.0f}" for mean in means))


if __name__ == "__main__":
    main()
