"""How much the constants of the solver matter that were estimated and not measured.

    python benchmarks/solver/sensitivity.py [--quick] [--names stall blind_stride …] [--factor 2]

Every constant is divided and multiplied by a factor, all others stay as they are. A row shows the
processor time relative to the present value: the geometric mean over the problems, and the smallest
and the largest ratio. Ratios near 1 mean that only the order of magnitude matters.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from unittest import mock

import numpy as np

from graphtv import (
    AbsoluteLoss,
    EntropicSimplex,
    HuberTV,
    IsotropicTV,
    PoissonLoss,
    Problem,
    SquaredLoss,
    gallery,
    grid_graph,
    knn_graph,
    solve,
)
from graphtv.solver.tuning import TUNING

ESTIMATES = (
    "most_newton_steps",
    "shortest_newton_step",
    "allowance_growth",
    "longest_inner",
    "restart_check",
    "longest_stride",
    "overshoot",
    "stride_of_past",
    "blind_stride",
    "keep_better",
    "progress",
)
USERS = ("facts", "newton", "pdhg", "solve")
"""Modules that import the constants."""

TURNS = 3


def problems(quick: bool) -> Iterator[tuple[str, Problem, float]]:
    """Yield names, problems and tolerances."""
    rng = np.random.default_rng(1)
    side = 12 if quick else 96
    n = side * side
    image = gallery.piecewise_constant_image((side, side), rng=1)[0].ravel()
    grid = grid_graph((side, side), 0.3)
    yield "grid", Problem(grid, SquaredLoss(image)), 1e-6
    yield "grid, loose", Problem(grid, SquaredLoss(image)), 1e-3
    masked = np.where(rng.random(n) < 0.3, np.nan, image)
    yield "missing data", Problem(grid, SquaredLoss(masked)), 1e-5
    yield "isotropic", Problem(grid, SquaredLoss(image), IsotropicTV()), 1e-4
    yield "Huber penalty", Problem(grid, SquaredLoss(image), HuberTV(0.05)), 1e-6
    yield "absolute", Problem(grid, AbsoluteLoss(image)), 1e-3
    yield "Poisson", Problem(grid, PoissonLoss(rng.poisson(5 * np.abs(image) + 1))), 1e-5
    yield "simplex", Problem(grid, EntropicSimplex(rng.standard_normal((n, 3)))), 1e-5
    points = rng.uniform(size=(n, 2))
    cells = np.floor(4 * points).sum(axis=1) + 0.3 * rng.standard_normal(n)
    yield "neighbours", Problem(knn_graph(points, 6), SquaredLoss(cells)), 1e-6
    random = gallery.erdos_renyi_graph(n, 3 * n, 1)
    yield "random", Problem(random, SquaredLoss(rng.standard_normal(n))), 1e-6
    small = grid_graph((side // 3, side // 3), 0.1)
    operator = rng.standard_normal((small.n_vertices // 2, small.n_vertices)) / side
    data = operator @ image[: small.n_vertices]
    yield "operator", Problem(small, SquaredLoss(data), operator=operator), 1e-3
    yield "operator, absolute", Problem(small, AbsoluteLoss(data), operator=operator), 1e-2


@contextlib.contextmanager
def tuned(name: str, factor: float) -> Iterator[None]:
    """Multiply one constant, and keep integers whole."""
    value = getattr(TUNING, name)
    changed = type(value)(max(value * factor, 1) if isinstance(value, int) else value * factor)
    tuning = replace(TUNING, **{name: changed})
    with contextlib.ExitStack() as stack:
        for user in USERS:
            stack.enter_context(mock.patch(f"graphtv.solver.{user}.TUNING", tuning))
        yield


def seconds(problem: Problem, tolerance: float) -> float:
    """Return the processor time of a run."""
    start = time.process_time()
    solve(problem, tol=tolerance, n_threads=1, time_limit=60.0)
    return time.process_time() - start


def main() -> None:
    """Print a row per constant and factor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--names", nargs="*", default=list(ESTIMATES))
    parser.add_argument("--factor", type=float, default=2.0)
    arguments = parser.parse_args()
    given = list(problems(arguments.quick))
    changes = [
        (name, f) for name in arguments.names for f in (1 / arguments.factor, arguments.factor)
    ]
    times = np.full((len(changes) + 1, len(given)), np.inf)
    for _ in range(1 if arguments.quick else TURNS):
        for j, (_, problem, tolerance) in enumerate(given):
            seconds(problem, tolerance)  # warms the caches
            times[-1, j] = min(times[-1, j], seconds(problem, tolerance))
            for i, change in enumerate(changes):
                with tuned(*change):
                    times[i, j] = min(times[i, j], seconds(problem, tolerance))
    print(f"{'constant':22} {'factor':>6} {'mean':>6} {'least':>6} {'most':>6}  slowest problem")
    for (name, factor), row in zip(changes, times[:-1] / times[-1], strict=True):
        worst = given[int(row.argmax())][0]
        mean = float(np.exp(np.log(row).mean()))
        print(f"{name:22} {factor:6g} {mean:6.2f} {row.min():6.2f} {row.max():6.2f}  {worst}")


if __name__ == "__main__":
    main()
