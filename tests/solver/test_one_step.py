"""Problems that one step solves give the same result with and without the loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtv import (
    AbsoluteLoss,
    Graph,
    HuberLoss,
    HuberTV,
    LinearBox,
    Problem,
    SquaredLoss,
    TotalVariation,
    gallery,
    grid_graph,
    solve,
)

TIMES = ("setup_time", "solve_time", "history", "stages")


def watched(problem, **options):
    """Return the result of the loop, which runs if somebody watches."""
    return solve(problem, callback=lambda info: None, **options)


def assert_same(one, other):
    for name, value in vars(one).items():
        if name not in TIMES and name != "_unrounded":
            np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)
    assert [record._replace(time=0) for record in one.history] == [
        record._replace(time=0) for record in other.history
    ]
    assert [stage._replace(seconds=0) for stage in one.stages] == [
        stage._replace(seconds=0) for stage in other.stages
    ]


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, 60))
    kind = draw(st.sampled_from(["chain", "tree", "forest", "grid", "cycle and points"]))
    if kind == "grid":
        graph = grid_graph((draw(st.integers(2, 8)), draw(st.integers(2, 8))), 0.3)
    elif kind == "tree":
        graph = gallery.random_tree(n, 1)
    elif kind == "chain":
        graph = grid_graph((n,), [rng.random(n - 1) + 0.01])
    elif kind == "forest":
        keep = rng.random(max(n - 1, 0)) < 0.7
        graph = Graph(n, np.stack([np.arange(n - 1), np.arange(1, n)], 1)[keep])
    else:
        graph = Graph(n + 3, [[0, 1], [1, 2], [2, 0]])
    n = graph.n_vertices
    offset = draw(st.sampled_from([0.0, 1e6, -1e-300]))
    scale = draw(st.sampled_from([0.0, 1.0, 1e-200, 1e100]))
    channels = draw(st.sampled_from([(), (1,), (3,)]))
    signal = offset + scale * rng.normal(size=(n, *channels))
    weight = draw(st.sampled_from([None, 2.0, "each"]))
    weights = rng.random(n) + 0.1 if weight == "each" else weight
    loss = draw(st.sampled_from([SquaredLoss, HuberLoss, AbsoluteLoss]))
    data = loss(signal, weights=weights)
    penalty = draw(st.sampled_from([TotalVariation(), HuberTV(0.1)]))
    return Problem(graph, data, penalty)


@given(problems(), st.sampled_from([1e-2, 1e-6, 0.0]))
def test_one_step_gives_the_result_of_the_loop(problem, tol):
    assert_same(
        solve(problem, tol=tol, max_iterations=300), watched(problem, tol=tol, max_iterations=300)
    )


def test_small_cuts_are_solved_by_the_loop():
    problem = Problem(grid_graph((3,)), LinearBox([-1.0, 0.2, 0.7], 0.0, 1.0))
    assert_same(solve(problem, tol=0), watched(problem, tol=0))


@pytest.mark.parametrize("limits", [{"max_iterations": 0}, {"time_limit": 0.0}])
def test_limits_are_kept(limits):
    problem = Problem(grid_graph((5,)), SquaredLoss([0.0, 3.0, 1.0, 4.0, 1.0]))
    assert solve(problem, **limits).status != "optimal"


def test_the_minimum_zero_is_found_without_iterations():
    result = solve(Problem(grid_graph((5,)), SquaredLoss(np.full(5, 0.1))))
    assert (result.iterations, result.primal, result.status) == (0, 0.0, "optimal")
