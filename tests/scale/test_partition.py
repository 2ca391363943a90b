"""Partitions: equal sizes, short borders."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtv import Graph, PartitionedGraph, grid_graph
from graphtv.scale.partition import partition


@given(
    n=st.integers(1, 60), m=st.integers(0, 100), n_parts=st.integers(1, 9), seed=st.integers(0, 99)
)
def test_parts_are_of_equal_size(n: int, m: int, n_parts: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph(n, rng.integers(0, n, (m, 2)))
    for points in (None, rng.random((n, 2))):
        sizes = np.bincount(partition(graph, n_parts, points=points), minlength=n_parts)
        assert len(sizes) == n_parts
        assert np.ptp(sizes) <= 2
        assert sizes.max() <= -(-n // n_parts) + 1


def test_borders_are_short() -> None:
    graph = grid_graph((64, 64))
    points = np.indices((64, 64)).reshape(2, -1).T
    best = PartitionedGraph(graph, 16, points=points)
    assert best.n_across == 2 * 3 * 64
    assert PartitionedGraph(graph, 16).n_across < 3 * best.n_across
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(4096)
    other = Graph(4096, shuffled[graph.edges])
    assert PartitionedGraph(other, 16).n_across < 3 * best.n_across


def test_metis() -> None:
    pytest.importorskip("pymetis")
    parts = PartitionedGraph(grid_graph((64, 64)), 16, method="metis")
    assert parts.n_across < 600
    assert max(parts.sizes) < 300
