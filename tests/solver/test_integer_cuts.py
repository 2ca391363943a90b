"""With tol=0 and integer data, `optimal` means a minimum cut, however large the capacities are."""

import itertools

import numpy as np
import pytest

from graphtv import Graph, HuberTV, LinearBox, Problem, SquaredLoss, grid_graph, solve
from graphtv.solver.termination import EXACT_GAP, exact_gap


def values_of_cuts(graph, cost):
    """The value of every cut, in integers."""
    edges = [(*e, int(w)) for e, w in zip(graph.edges.tolist(), graph.weights, strict=True)]
    costs = [int(c) for c in cost]
    for side in itertools.product((0, 1), repeat=graph.n_vertices):
        yield (
            sum(c for c, x in zip(costs, side, strict=True) if x)
            + sum(w for i, j, w in edges if side[i] != side[j])
        )


def value_at(graph, cost, u):
    """The value of a level set of u."""
    side = [int(x > 0.5) for x in u]
    return sum(int(c) for c, x in zip(cost, side, strict=True) if x) + sum(
        int(w) for (i, j), w in zip(graph.edges, graph.weights, strict=True) if side[i] != side[j]
    )


@pytest.mark.parametrize("largest", [10**6, 10**13, 10**15, 10**16, 10**18])
def test_optimal_cuts_are_minimal(largest):
    """Of 750 such problems from 1e13 on, 6 had a cut that is not minimal and status `optimal`."""
    n_optimal = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, round(np.log10(largest))])
        n = int(rng.integers(3, 9))
        edges = rng.integers(0, n, (int(rng.integers(n, 3 * n)), 2))
        edges = edges[edges[:, 0] != edges[:, 1]]
        sizes = np.where(rng.random(len(edges)) < 0.4, float(largest), 1.0)
        graph = Graph(n, edges, sizes * rng.integers(1, 5, len(edges)))
        cost = np.where(rng.random(n) < 0.3, float(largest), 1.0) * rng.integers(-4, 5, n)
        result = solve(Problem(graph, LinearBox(cost)), tol=0.0, n_threads=1)
        if result.status == "optimal":
            n_optimal += 1
            assert value_at(graph, cost, result.u) == min(values_of_cuts(graph, cost))
    assert n_optimal >= 30


def test_the_gap_is_below_half_a_unit():
    graph = grid_graph((3,), 2.0**40)
    for cost in ([1.0, 2.0**50, -5.0], [2.0**50, 2.0**51, -(2.0**50)]):
        size = float(np.abs(cost).sum())
        unit = 1.0 if 1.0 in cost else 2.0**40
        assert exact_gap(Problem(graph, LinearBox(cost))) == min(EXACT_GAP, 0.5 * unit / size)


@pytest.mark.parametrize(
    "problem",
    [
        Problem(grid_graph((3,)), LinearBox([1.0, -7.0, 3.0])),
        Problem(grid_graph((3,)), LinearBox([1e15, -7.5, 3.0])),
        Problem(grid_graph((3,)), LinearBox([1e15, -7.0, 3.0], upper=0.5)),
        Problem(grid_graph((3,)), LinearBox([1e15, -7.0, 3.0]), HuberTV(0.1)),
        Problem(grid_graph((3,)), SquaredLoss([1e15, -7.0, 3.0])),
        Problem(grid_graph((3,)), LinearBox([1e300, -7.0, 3.0], upper=1e300)),
    ],
)
def test_others_have_the_usual_gap(problem):
    assert exact_gap(problem) == EXACT_GAP
