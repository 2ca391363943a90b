"""No method takes more than 12 doubles per vertex and 3 per edge beyond graph and signal.

Isotropic and coupled total variation of images take at most 16 doubles per pixel and channel.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphtv import Graph, Problem, SquaredLoss, _core, decompose, knn_graph, solve
from graphtv.gallery import erdos_renyi_graph

NOISE = 1.06
"""Overhead of the allocator and the interpreter on problems of this size."""

CHILD = """
import ctypes, sys
import numpy as np
from graphtv import Problem, SquaredLoss, solve
from graphtv.gallery import erdos_renyi_graph

def line(name):
    return next(x for x in open("/proc/self/status") if x.startswith(name)).split()[1]

def run(n, density, options):
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.03, 0.3, density * n) * 3 / density
    graph = erdos_renyi_graph(n, density * n, 0, weights)
    problem = Problem(graph, SquaredLoss(rng.standard_normal(n)))
    ctypes.CDLL(None).malloc_trim(0)
    open("/proc/self/clear_refs", "w").write("5")
    before = int(line("VmHWM"))
    solve(problem, n_threads=1, **options)
    return 1024 * (int(line("VmHWM")) - before) / (8 * (12 * n + 3 * graph.n_edges))

options = eval(sys.argv[3])
run(100, int(sys.argv[2]), options)
print(run(int(sys.argv[1]), int(sys.argv[2]), options))
"""

CHILD_OF_GROUPS = """
import ctypes, sys
import numpy as np
from graphtv import CoupledTV, IsotropicTV, Problem, SquaredLoss, grid_graph, solve

def line(name):
    return next(x for x in open("/proc/self/status") if x.startswith(name)).split()[1]

def run(shape, channels, penalty, tol):
    data = np.random.default_rng(0).random((*shape, *channels))
    problem = Problem(grid_graph(shape, 0.1), SquaredLoss(data), penalty)
    ctypes.CDLL(None).malloc_trim(0)
    open("/proc/self/clear_refs", "w").write("5")
    before = int(line("VmHWM"))
    solve(problem, n_threads=1, tol=tol)
    return 1024 * (int(line("VmHWM")) - before) / (8 * 16 * data.size)

shape, channels, penalty, tol = eval(sys.argv[1])
run((8,) * len(shape), channels, penalty, tol)
print(run(shape, channels, penalty, tol))
"""


def random_graph(n_vertices, density):
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.03, 0.3, density * n_vertices)
    return erdos_renyi_graph(n_vertices, density * n_vertices, 0, weights)


def plane(n_vertices):
    graph = knn_graph(np.random.default_rng(2).uniform(size=(n_vertices, 2)), 6)
    return Graph(n_vertices, graph.edges, graph.weights)


@pytest.mark.parametrize(
    "graph", [random_graph(100_000, 3), random_graph(40_000, 10), plane(60_000)], ids=repr
)
def test_arrays_of_descent_over_linear_forests(graph):
    n, m = graph.n_vertices, graph.n_edges
    partition = decompose(graph, "linear")
    forests = _core.Forests(
        n, graph.edges, graph.weights, partition.labels, partition.n_forests, 0.0, np.empty(0)
    )
    signal = np.random.default_rng(3).standard_normal(n)
    descent = _core.BlockDescent(forests, signal, np.empty(0))
    descent.step(_core.Watch(np.inf), 1, 1)
    held = 8 * n + 2 * m  # a point for Ctrl-C
    allowed = 8 * (12 * n + 3 * m)
    assert forests.n_bytes + descent.n_bytes + held + 8 * n <= allowed
    before = descent.n_bytes
    descent.rest()
    answer, adjoint = 8 * (n + m), 16 * n
    assert descent.n_bytes < before - 4 * m
    assert forests.n_bytes + descent.n_bytes + held + answer + adjoint <= allowed


def test_a_descent_that_rested_goes_on():
    graph = random_graph(500, 4)
    problem = Problem(graph, SquaredLoss(np.random.default_rng(4).standard_normal(500)))
    partition = decompose(graph, "linear")
    forests = _core.Forests(
        500, graph.edges, graph.weights, partition.labels, partition.n_forests, 0.0, np.empty(0)
    )
    descent = _core.BlockDescent(forests, problem.data.signal, np.empty(0))
    watch, u, p = _core.Watch(np.inf), np.empty(500), np.empty(graph.n_edges)
    values = []
    for _ in range(4):
        for _ in range(30):
            descent.step(watch, 1, 1)
        descent.rest()
        descent.u(u)
        descent.dual(p)
        values.append(problem.dual(p))
        np.testing.assert_allclose(problem.data.signal - graph.gradient().T @ p, u, atol=1e-12)
    assert values == sorted(values)
    exact = solve(problem, tol=0.0)
    assert values[-1] >= exact.dual * (1.0 - 1e-7)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
@pytest.mark.parametrize(
    ("density", "options"),
    [
        (10, {"method": "descent", "preconditioner": "linear", "tol": 0.0, "max_iterations": 5}),
        (3, {"method": "descent", "preconditioner": "linear", "tol": 0.0, "max_iterations": 5}),
        (10, {"tol": 1e-6}),
        (10, {"tol": 0.0}),
    ],
)
def test_peak_of_a_run(density, options):
    n_vertices = 60_000 if density == 10 else 150_000
    assert peak(CHILD, str(n_vertices), str(density), repr(options)) <= NOISE


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize(
    "image",
    [
        "(700, 700), (), IsotropicTV()",
        "(400, 400), (3,), CoupledTV()",
        "(400, 400), (3,), IsotropicTV()",
        "(400, 400), (3,), IsotropicTV(coupled=True)",
    ],
)
def test_peak_of_isotropic_and_coupled_images(image, tol):
    assert peak(CHILD_OF_GROUPS, f"{image}, {tol}") <= NOISE


def peak(program, *arguments):
    """The largest memory of a run, relative to what is allowed."""
    child = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "MALLOC_ARENA_MAX": "1"},
    )
    return float(child.stdout)
