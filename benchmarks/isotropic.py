"""Isotropic and coupled total variation against fast gradient projection and scikit-image.

    python benchmarks/isotropic.py [--size 512] [--only camera]

All run on one thread in the same process. Times are processor times, the best of `REPEATS`. The
library recomputes the objectives of all methods. The accuracy of the others is their relative
distance from the dual objective of a run to 1e-9 (or as far as the time limit allows). That of
graphtv is its certified gap, which is larger.

Fast gradient projection (FGP, Beck and Teboulle 2009) with restart is written for this race, in C++
and in single precision, with one vectorised pass over the image per iteration
(`races/peers/ball_gradient.cpp`). No package offers it. Its time includes no certificate, and no
search for the number of iterations.
"""

from __future__ import annotations

import argparse
import ctypes
import time
from functools import partial

import numpy as np
from skimage import data
from skimage.restoration import denoise_tv_chambolle

from graphtv import (
    CoupledTV,
    Graph,
    IsotropicTV,
    Problem,
    SquaredLoss,
    grid_graph,
    knn_graph,
    solve,
)
from races.peers import fast_gradient

NOISE, REPEATS, LIMIT = 0.1, 3, 10.0
TOLERANCES = (1e-3, 1e-6, 1e-8)
FLAGS = (
    *fast_gradient.FLAGS,
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fassociative-math",
    "-fno-signed-zeros",
)


def seconds_of(function):
    """Return the least processor time of a call, and its result."""
    best = np.inf
    for _ in range(REPEATS):
        start = time.process_time()
        result = function()
        best = min(best, time.process_time() - start)
        if best > 5.0:
            break
    return best, result


class FastGradient:
    """FGP with restart for a grid with 1 or 3 channels."""

    def __init__(self, f, n_channels, weight, penalty):
        source = fast_gradient.SOURCE.with_name("ball_gradient.cpp")
        self._code = fast_gradient.library(source, FLAGS)
        lengths = f.shape[:-1] if n_channels > 1 else f.shape
        rows = f.reshape(-1, n_channels).T
        self._f = np.ascontiguousarray(rows, dtype=np.float32)
        self._u = np.empty_like(self._f)
        self._sizes = (1, *lengths)[-3:]
        margin = self._sizes[1] * self._sizes[2] + 1
        n_flows = len(lengths) * n_channels * (self._f.shape[1] + margin)
        self._x = np.zeros(n_flows, dtype=np.float32)
        self._y, self._t = self._x.copy(), np.ones(1)
        self._norms = isinstance(penalty, IsotropicTV), getattr(penalty, "coupled", True)
        self._weight, self._shape = weight, f.shape
        self.iterations, self.seconds = 0, 0.0

    def run(self, iterations):
        """Continue, and return u."""
        arrays = [self._f, self._u, self._x, self._y, self._t]
        start = time.process_time()
        self._code.ball_grid(
            *map(fast_gradient.pointer, arrays),
            *self._sizes,
            len(self._f),
            *map(int, self._norms),
            ctypes.c_float(self._weight),
            iterations,
        )
        self.seconds += time.process_time() - start
        self.iterations += iterations
        return self._u.T.astype(float).reshape(self._shape)


class GraphGradient:
    """FGP with restart for coupled channels on a graph."""

    def __init__(self, f, graph):
        source = fast_gradient.SOURCE.with_name("ball_gradient.cpp")
        self._code = fast_gradient.library(source, FLAGS)
        self._f = np.ascontiguousarray(f, dtype=np.float32)
        self._u = np.empty_like(self._f)
        self._x = np.zeros((graph.n_edges, f.shape[1]), dtype=np.float32)
        self._y, self._t = self._x.copy(), np.ones(1)
        self._edges = np.ascontiguousarray(graph.edges, dtype=np.int32)
        self._weights = graph.weights.astype(np.float32)
        degrees = np.bincount(self._edges.ravel(), minlength=len(f))
        self._steps = (1.0 / degrees[self._edges].sum(axis=1)).astype(np.float32)
        self.iterations, self.seconds = 0, 0.0

    def run(self, iterations):
        """Iterate on, and return u."""
        n, n_channels = self._f.shape
        arrays = [self._f, self._u, self._x, self._y, self._t]
        start = time.process_time()
        self._code.ball_graph(
            *map(fast_gradient.pointer, arrays),
            ctypes.c_int64(n),
            ctypes.c_int64(len(self._edges)),
            n_channels,
            *map(fast_gradient.pointer, [self._edges, self._weights, self._steps]),
            iterations,
        )
        self.seconds += time.process_time() - start
        self.iterations += iterations
        return self._u.astype(float)


def fgp(start, target, problem, optimum):
    """Return the iterations and the least seconds to the accuracy, or None."""
    found = None
    for _ in range(REPEATS):
        run = start()
        while problem.primal(run.run(max(4, run.iterations // 16))) - optimum > target * optimum:
            if run.seconds > LIMIT:
                return found
        if found is None or run.seconds < found[1]:
            found = run.iterations, run.seconds
    return found


def chambolle(f, weight, target, problem, optimum):
    """Return the iterations and seconds of scikit-image to the accuracy, by doubling."""
    iterations = 50
    while True:
        seconds, u = seconds_of(
            lambda n=iterations: denoise_tv_chambolle(f, weight, eps=0.0, max_num_iter=n)
        )
        if problem.primal(u) - optimum <= target * optimum:
            return iterations, seconds
        if seconds > LIMIT / 2:
            return None
        iterations *= 2


def balls(size):
    """Return a volume of overlapping balls."""
    places = np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, size)] * 3, indexing="ij"), axis=-1)
    rng = np.random.default_rng(1)
    volume = np.zeros((size,) * 3)
    for centre in rng.uniform(-0.7, 0.7, (12, 3)):
        radius = rng.uniform(0.1, 0.5)
        volume += 0.5 * (np.sum((places - centre) ** 2, axis=-1) < radius**2)
    return volume


def regions(n):
    """Return noisy colours of regions at random points of a square, and their graph."""
    rng = np.random.default_rng(0)
    points, centres = rng.uniform(size=(n, 2)), rng.uniform(size=(40, 2))
    nearest = np.argmin([np.sum((points - x) ** 2, axis=1) for x in centres], axis=0)
    f = rng.uniform(size=(40, 3))[nearest] + rng.normal(0.0, NOISE, (n, 3))
    return f, knn_graph(points), 0.05


def clusters(n):
    """Return points around 20 centres in 10 dimensions, and their graph."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(20, 10))
    f = centres[rng.integers(20, size=n)] + rng.normal(0.0, 0.2, (n, 10))
    return f, knn_graph(f), 0.05


def main() -> None:
    """Print a table of seconds, iterations and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--only", default="", help="the beginning of the name of a problem")
    options = parser.parse_args()
    size, rng = options.size, np.random.default_rng(0)
    grey, colour = data.camera()[:size, :size] / 255, data.astronaut()[:size, :size] / 255
    volume = balls(max(size // 8, 8))
    grey, colour, volume = (
        image + rng.normal(0.0, NOISE, image.shape) for image in (grey, colour, volume)
    )
    cases = [
        ("camera, isotropic", grey, 1, 0.1, IsotropicTV()),
        ("camera, isotropic", grey, 1, 1.0, IsotropicTV()),
        ("astronaut, coupled", colour, 3, 0.1, CoupledTV()),
        ("astronaut, isotropic coupled", colour, 3, 0.1, IsotropicTV(coupled=True)),
        ("volume, isotropic", volume, 1, 0.1, IsotropicTV()),
    ]
    tasks = [
        (name, weight, grid_graph(f.shape[:-1] if n > 1 else f.shape, weight), f, penalty)
        for name, f, n, weight, penalty in cases
    ]
    starts = [partial(FastGradient, f, n, weight, penalty) for _, f, n, weight, penalty in cases]
    for name, (f, graph, weight) in (
        ("kNN graph, coupled", regions(size**2 * 100 // 262)),
        ("convex clustering", clusters(size**2 * 10 // 262)),
    ):
        graph = Graph(graph.n_vertices, graph.edges, weight * graph.weights)
        tasks.append((name, weight, graph, f, CoupledTV()))
        starts.append(partial(GraphGradient, f, graph))
    print("| image | weight | accuracy | graphtv | FGP | scikit-image |")
    print("|---|---|---|---|---|---|")
    for (name, weight, graph, f, penalty), start in zip(tasks, starts, strict=True):
        if not name.startswith(options.only):
            continue
        problem = Problem(graph, SquaredLoss(f), penalty)
        optimum = solve(problem, tol=1e-9, time_limit=LIMIT, n_threads=1).dual
        for tolerance in TOLERANCES:
            seconds, ours = seconds_of(
                lambda tolerance=tolerance, problem=problem: solve(
                    problem, tol=tolerance, n_threads=1, time_limit=LIMIT
                )
            )
            row = [f"{seconds:.3f} s, {ours.iterations} iterations"]
            if ours.status != "optimal":
                row[0] += f", gap {ours.relative_gap:.1e}"
            peers = [fgp(start, tolerance, problem, optimum)]
            if penalty == IsotropicTV():
                peers.append(chambolle(f, weight, tolerance, problem, optimum))
            row += [
                f"not in {LIMIT:g} s"
                if found is None
                else f"{found[1] / seconds:.2g}×, {found[0]} iterations"
                for found in peers
            ]
            cells = " | ".join([*row, *["–"] * (3 - len(row))])
            print(f"| {name} | {weight:g} | {tolerance:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
