"""A looser tolerance must not take longer, and `auto` must not be slower than a named method.

    python benchmarks/solver/tolerances.py [--quick] [--only WORD ...] [--size S] [--limit SECONDS]

For problems of many kinds, this measures the processor time of `auto` and of the named methods to
each tolerance. The best of a few turns counts. A row shows the times of `auto`, the largest ratio
of a time to that of a tighter tolerance, and the largest ratio to the fastest named method. The
exit code is the number of problems where these ratios exceed 1.2 and 1.3, or 0 with --quick. Times
below 20 ms are not compared. A named method that takes longer than `auto` (or the limit) is
stopped.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.spatial import Delaunay

from graphtv import (
    AbsoluteLoss,
    EntropicSimplex,
    Graph,
    HuberLoss,
    HuberTV,
    LinearBox,
    LogisticLoss,
    PoissonLoss,
    Problem,
    SquaredLoss,
    gallery,
    grid_graph,
    knn_graph,
    solve,
)

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-6, 0.0)
METHODS = ("pdhg", "descent", "exact")
MONOTONE, COMPETITIVE = 1.2, 1.3
SHORTEST = 0.02  # seconds
TOTAL, MOST_TURNS = 1.0, 5  # seconds for the turns of one measurement, and how many

Make = Callable[[], Problem]


def icosphere(n_splits: int) -> Graph:
    """Return the edges of an icosahedron whose faces are split into four n times.

    Five splits give 10,242 vertices, as many as the brain mesh fsaverage5 has.
    """
    a, b = 1.0, (1.0 + 5.0**0.5) / 2.0
    corners = [(-a, b, 0), (a, b, 0), (-a, -b, 0), (a, -b, 0), (0, -a, b), (0, a, b), (0, -a, -b)]
    corners += [(0, a, -b), (b, 0, -a), (b, 0, a), (-b, 0, -a), (-b, 0, a)]
    points = np.array(corners) / np.hypot(a, b)
    near = np.linalg.norm(points[:, None] - points[None], axis=2) < 1.1
    triangles = [
        (i, j, k)
        for i in range(12)
        for j in range(i)
        for k in range(j)
        if near[i, j] and near[j, k] and near[i, k]
    ]
    faces = np.array(triangles)
    for _ in range(n_splits):
        sides = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), 1)
        unique, place = np.unique(sides, axis=0, return_inverse=True)
        middles = points[unique].sum(axis=1)
        middles /= np.linalg.norm(middles, axis=1)[:, None]
        ab, bc, ca = (len(points) + place.reshape(-1)).reshape(3, -1)
        points = np.concatenate([points, middles])
        old = faces.T
        faces = np.concatenate(
            [np.stack(t, axis=1) for t in ((old[0], ab, ca), (old[1], bc, ab), (old[2], ca, bc))]
            + [np.stack((ab, bc, ca), axis=1)]
        )
    return _graph_of(faces, len(points))


def _graph_of(faces: Any, n: int) -> Graph:
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    return Graph(n, np.unique(np.sort(sides, axis=1), axis=0))


def _ladder(length: int) -> Graph:
    at = np.arange(length)
    rails = [np.stack([at[:-1] + k * length, at[1:] + k * length], axis=1) for k in (0, 1)]
    return Graph(2 * length, np.concatenate([*rails, np.stack([at, at + length], axis=1)]))


def _torus(side: int) -> Graph:
    at = np.arange(side * side).reshape(side, side)
    ways = [np.stack([at.ravel(), np.roll(at, -1, axis).ravel()], axis=1) for axis in (0, 1)]
    return Graph(side * side, np.concatenate(ways))


def _wide(graph: Graph, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    weights = 10.0 ** rng.uniform(-5, 5, graph.n_edges)
    c = 10.0 ** rng.uniform(-3, 3, graph.n_vertices)
    f = rng.standard_normal(graph.n_vertices)
    return Problem(Graph(graph.n_vertices, graph.edges, weights), SquaredLoss(f, c))


def _even(graph: Graph, weight: float, seed: int, missing: float = 0.0) -> Problem:
    rng = np.random.default_rng(seed)
    n = graph.n_vertices
    f = np.cumsum(rng.standard_normal(n) * (rng.random(n) < 0.01)) + 0.3 * rng.standard_normal(n)
    c = (rng.random(n) >= missing).astype(float) if missing else None
    return Problem(Graph(n, graph.edges, weight * graph.weights), SquaredLoss(f, c))


def _volume(side: int, weight: float, missing: float = 0.0) -> Problem:
    rng = np.random.default_rng(0)
    shape = (max(4, side // 4), side, side)
    axes = np.meshgrid(*[np.linspace(-1, 1, k) for k in shape], indexing="ij")
    ball = (sum(x**2 for x in axes) < 0.5) + 0.5 * (abs(axes[0]) + abs(axes[2]) < 0.4)
    f = (ball + 0.3 * rng.standard_normal(shape)).ravel()
    c = (rng.random(f.size) >= missing).astype(float) if missing else None
    return Problem(grid_graph(shape, weight), SquaredLoss(f, c))


def problems(size: float) -> Iterator[tuple[str, Make]]:
    """Yield names and functions that make the problems; size 1 has 10⁴ to 10⁶ vertices."""
    rng = np.random.default_rng(0)
    splits = max(2, 5 + round(np.log(size) / np.log(4)))
    n, side = max(200, int(10_000 * size)), max(12, int(256 * size**0.5))
    mesh = icosphere(splits)
    plane = _graph_of(Delaunay(rng.random((n, 2))).simplices, n)
    points = rng.random((n, 3))
    neighbours = knn_graph(points, 8)
    graphs = {
        "mesh": mesh,
        "Delaunay": plane,
        "ladder": _ladder(n // 2),
        "torus": _torus(int(n**0.5)),
        "neighbours": neighbours,
        "random": gallery.erdos_renyi_graph(n, 3 * n, 0),
        "tree": gallery.random_tree(n, 0),
        "grid": grid_graph((int(n**0.5),) * 2),
    }
    for name, graph in graphs.items():
        yield f"{name}, wide weights", lambda graph=graph: _wide(graph, 1)
        for weight in (0.1, 1.0, 10.0):
            yield f"{name}, weight {weight:g}", lambda g=graph, w=weight: _even(g, w, 2)
        yield f"{name}, masked", lambda graph=graph: _even(graph, 0.5, 3, 0.1)
    cube = max(12, int(128 * size ** (1 / 3)))
    for weight in (0.05, 0.3, 1.0):
        yield f"volume, weight {weight:g}", lambda w=weight: _volume(cube, w)
    yield "volume, masked", lambda: _volume(cube, 0.3, 0.1)
    image = gallery.piecewise_constant_image((side, side), rng=0)[0].ravel()
    for weight in (0.05, 0.3, 2.0):
        yield (
            f"image, weight {weight:g}",
            lambda w=weight: Problem(grid_graph((side, side), w), SquaredLoss(image)),
        )
    mask = (rng.random(image.size) > 0.1).astype(float)
    yield "image, masked", lambda: Problem(grid_graph((side, side), 0.3), SquaredLoss(image, mask))
    half = max(8, side // 2)
    small = gallery.piecewise_constant_image((half, half), rng=1)[0].ravel()
    grid = grid_graph((half, half), 0.3)
    labels = np.where(small > np.median(small), 1.0, -1.0)
    counts = rng.poisson(5 * abs(small) + 1).astype(float)
    cost = np.stack([small**2, (small - 1) ** 2, (small - 2) ** 2], axis=1)
    terms = {
        "absolute": AbsoluteLoss(small),
        "Huber": HuberLoss(small, 0.1),
        "logistic": LogisticLoss(labels),
        "Poisson": PoissonLoss(counts),
        "box": LinearBox(small - 0.5),
        "simplex": EntropicSimplex(cost, 0.1),
    }
    for name, term in terms.items():
        yield f"{name} loss", lambda term=term: Problem(grid, term)
    for weight in (0.3, 30.0, 1e4):
        yield (
            f"Huber penalty, weight {weight:g}",
            lambda w=weight: Problem(grid_graph((half, half), w), SquaredLoss(small), HuberTV(0.1)),
        )
    yield "Huber penalty, Poisson", lambda: Problem(grid, PoissonLoss(counts), HuberTV(0.1))


def measure(problem: Problem, limit: float, turns: int, **options: Any) -> float:
    """Return the processor time to the tolerance, infinite if it is not reached in time."""
    best, spent = np.inf, 0.0
    for _ in range(turns):
        start = time.process_time()
        result = solve(
            problem,
            n_threads=1,
            stop=lambda start=start: time.process_time() - start > limit,
            **options,
        )
        taken = time.process_time() - start
        if result.status != "optimal" and options["tol"] > 0.0:
            return np.inf
        if result.status in ("interrupted", "iteration_limit"):
            return np.inf
        best, spent = min(best, taken), spent + taken
        if spent > TOTAL:
            break
    return best


def row(name: str, problem: Problem, limit: float, turns: int) -> tuple[float, float]:
    """Print a line for a problem and return both ratios."""
    times = [measure(problem, limit, turns, tol=tol) for tol in TOLERANCES]
    tightest = [min(times[k:]) for k in range(len(times))]
    slower = max(max(a, SHORTEST) / max(b, SHORTEST) for a, b in zip(times, tightest, strict=True))
    losses: list[tuple[float, str]] = [(0.0, "")]
    for tol, taken in zip(TOLERANCES, times, strict=True):
        for method in METHODS:
            longest = min(limit, max(taken, SHORTEST))
            try:
                other = measure(problem, longest, turns, tol=tol, method=method)
            except ValueError:
                continue
            ratio = max(taken, SHORTEST) / max(other, SHORTEST)
            losses.append((ratio, f"{method} at {tol:g}"))
    loss, which = max(losses)
    mark = " *" if slower > MONOTONE or loss > COMPETITIVE else ""
    shown = " ".join(f"{1e3 * t:8.0f}" for t in times)
    print(f"{name:28} {shown}   {slower:6.2f} {loss:6.2f} {which}{mark}", flush=True)
    return slower, loss


def main(arguments: list[str] | None = None) -> int:
    """Run the requested measurements; return how many problems fail."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny problems, one turn")
    parser.add_argument("--only", nargs="+", default=[""], help="words in the names of problems")
    parser.add_argument("--size", type=float, default=1.0, help="factor of the number of vertices")
    parser.add_argument(
        "--limit", type=float, default=60.0, help="time limit of a solve in seconds"
    )
    given = parser.parse_args(arguments)
    size, turns = (0.03, 1) if given.quick else (given.size, MOST_TURNS)
    head = " ".join(f"{tol:8g}" for tol in TOLERANCES)
    print(f"{'milliseconds of auto to':28} {head}   slower  loses to")
    failures = 0
    for name, make in problems(size):
        if any(word in name for word in given.only):
            slower, loss = row(name, make(), given.limit, turns)
            failures += slower > MONOTONE or loss > COMPETITIVE
    print(f"{failures} problems fail")
    return 0 if given.quick else failures


if __name__ == "__main__":
    sys.exit(main())
