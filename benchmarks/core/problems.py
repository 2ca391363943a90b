"""The core problems, small enough to run at every commit.

``asv continuous --config benchmarks/asv.conf.json main HEAD`` compares two commits. The number of
iterations is the same on every machine. The time of a solve is also counted in passes over the
edges: its processor time divided by that of one pass in NumPy, measured alternately in one process.
"""

import time

import numpy as np

from graphtv import (
    AbsoluteLoss,
    EntropicSimplex,
    HuberTV,
    Problem,
    SquaredLoss,
    decompose,
    gallery,
    grid_graph,
    knn_graph,
    solve,
    tv_chain,
    tv_forest,
)

REPEATS = 5


def image_problem(shape, loss=SquaredLoss, **options):
    noisy, _ = gallery.piecewise_constant_image(shape, 1, noise=0.2)
    return Problem(grid_graph(noisy.shape, 0.2), loss(noisy), **options)


def neighbours_problem():
    points, _ = gallery.three_moons(600, dimension=5, rng=1)
    return Problem(knn_graph(points), SquaredLoss(points[:, 0]))


def random_graph_problem():
    graph = gallery.erdos_renyi_graph(2000, 8000, 1)
    return Problem(graph, SquaredLoss(np.random.default_rng(2).standard_normal(2000)))


def classes_problem():
    cost = np.random.default_rng(3).random((48 * 48, 3))
    return Problem(grid_graph((48, 48), 0.2), EntropicSimplex(cost, 0.5))


PROBLEMS = {
    "image, 1e-6": (lambda: image_problem((128, 128)), {}),
    "image, exact": (lambda: image_problem((128, 128)), {"tol": 0}),
    "image, PDHG on chains": (
        lambda: image_problem((64, 64)),
        {"tol": 1e-4, "method": "pdhg", "preconditioner": "chains"},
    ),
    "image, absolute loss": (lambda: image_problem((48, 48), AbsoluteLoss), {"tol": 1e-4}),
    "image, Huber penalty": (
        lambda: image_problem((64, 64), penalty=HuberTV(0.05)),
        {"tol": 1e-5},
    ),
    "volume, exact": (lambda: image_problem((20, 20, 20)), {"tol": 0}),
    "nearest neighbours, exact": (neighbours_problem, {"tol": 0}),
    "random graph, exact": (random_graph_problem, {"tol": 0}),
    "classes, 1e-3": (classes_problem, {"tol": 1e-3}),
}


def seconds(function):
    """Return the processor time of one call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def passes(function, edges, u):
    """Return the time of a call in passes over the edges, the best of several of each."""
    i, j = np.ascontiguousarray(edges.T)

    def one_pass():
        for _ in range(10):
            np.abs(u[i] - u[j]).sum()

    times = [(seconds(function), seconds(one_pass) / 10) for _ in range(REPEATS)]
    return min(mine for mine, _ in times) / min(theirs for _, theirs in times)


class Solve:
    """The solver on each problem."""

    params = tuple(PROBLEMS)
    param_names = ("problem",)
    timer = time.process_time

    def setup(self, name):
        make, options = PROBLEMS[name]
        self.problem, self.options = make(), {"n_threads": 1, **options}

    def solve(self):
        result = solve(self.problem, **self.options)
        assert result.status == "optimal"
        return result

    def time_solve(self, name):
        self.solve()

    def track_iterations(self, name):
        return self.solve().iterations

    def track_passes(self, name):
        graph = self.problem.graph
        return passes(self.solve, graph.edges, np.zeros(graph.n_vertices))

    track_passes.unit = "passes over the edges"


class Forests:
    """Exact total variation on chains and trees, and a decomposition."""

    timer = time.process_time

    def setup(self):
        self.signal = np.random.default_rng(1).standard_normal(100_000)
        self.chain = gallery.path_graph(len(self.signal))
        self.tree = gallery.random_tree(20_000, 1)
        self.graph = gallery.delaunay_graph(2000, 4000, 1)[0]

    def time_tv_chain(self):
        tv_chain(self.signal, 1.0, n_threads=1)

    def time_tv_forest(self):
        tv_forest(self.tree, self.signal[:20_000], n_threads=1)

    def time_decompose_matroid(self):
        decompose(self.graph, "matroid")

    def track_passes_tv_chain(self):
        return passes(self.time_tv_chain, self.chain.edges, self.signal)

    def track_passes_tv_forest(self):
        return passes(self.time_tv_forest, self.tree.edges, self.signal)

    def track_passes_decompose_matroid(self):
        return passes(self.time_decompose_matroid, self.graph.edges, self.signal)
