"""Arrays inside a message at an odd address, as between the workers of a cluster."""

import pickle
from typing import Any

import numpy as np
import pytest

from graphtv import (
    Graph,
    Problem,
    SquaredLoss,
    _core,
    decompose,
    denoise_tv,
    grid_graph,
    solve,
    tv_chain,
)
from graphtv.decomposition.partition import ForestPartition
from graphtv.gallery import erdos_renyi_graph


def through_a_message(value: Any) -> Any:
    """Return a copy whose arrays start one byte too late."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    shifted = [memoryview(b"\0" + buffer.raw())[1:] for buffer in buffers]
    return pickle.loads(pickled, buffers=shifted)


def test_the_message_is_what_it_says() -> None:
    assert not through_a_message(np.arange(5.0)).flags.aligned


@pytest.mark.parametrize("graph", [grid_graph((7, 8), 0.3), erdos_renyi_graph(40, 90, rng=1)])
def test_problems_results_and_partitions(graph: Any) -> None:
    problem = Problem(graph, SquaredLoss(np.random.default_rng(0).normal(size=graph.n_vertices)))
    expected = solve(problem)
    arrived = through_a_message(problem)
    assert arrived.graph.edges.flags.aligned
    assert arrived.graph.weights.flags.aligned
    assert not arrived.graph.edges.flags.writeable
    np.testing.assert_array_equal(solve(arrived).u, expected.u)
    again = solve(problem, warm_start=through_a_message(expected))
    np.testing.assert_allclose(again.u, expected.u, atol=1e-6)
    partition = decompose(graph)
    same = through_a_message(partition)
    assert isinstance(same, ForestPartition)
    assert all(value.flags.aligned for value in vars(same).values() if hasattr(value, "flags"))
    np.testing.assert_array_equal(same.labels, partition.labels)


def test_data_of_users() -> None:
    f = np.random.default_rng(0).normal(size=(7, 8))
    np.testing.assert_array_equal(denoise_tv(through_a_message(f), 0.2), denoise_tv(f, 0.2))
    problem = Problem(grid_graph(f.shape, 0.2), SquaredLoss(through_a_message(f)))
    np.testing.assert_array_equal(
        solve(problem).u, solve(Problem(grid_graph(f.shape, 0.2), SquaredLoss(f))).u
    )
    u, again = tv_chain(f.ravel(), 0.1), tv_chain(through_a_message(f.ravel()), 0.1)
    np.testing.assert_array_equal(again, u)


def test_nothing_may_lie_anywhere() -> None:
    for graph in (Graph(5, np.empty((0, 2), dtype=int)), grid_graph((1, 1))):
        problem = through_a_message(Problem(graph, SquaredLoss(np.zeros(graph.n_vertices))))
        assert solve(problem).status == "optimal"
        assert through_a_message(decompose(graph)).n_forests == decompose(graph).n_forests


def test_the_core_refuses_them() -> None:
    edges = through_a_message(np.zeros((1, 2), dtype=np.int32))
    with pytest.raises(ValueError, match="not aligned"):
        _core.recognize_grid(2, edges)
