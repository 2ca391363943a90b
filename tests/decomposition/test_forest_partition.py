"""A partition as an object: from custom labels, printed, pickled."""

import pickle

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from graphtv import ForestPartition, Graph, decompose
from graphtv.gallery import erdos_renyi_graph, path_graph
from partitions import as_networkx, assert_is_what_it_says, graphs


@given(graphs(), st.randoms(use_true_random=False))
def test_own_labels(graph, random):
    """For random forests of edges, from_labels accepts them if and only if none has a cycle."""
    labels = np.array([random.randrange(3) for _ in range(graph.n_edges)], dtype=int)
    labels = np.unique(labels, return_inverse=True)[1]
    cyclic = [
        k
        for k in range(labels.max(initial=-1) + 1)
        if not networkx.is_forest(as_networkx(graph.n_vertices, graph.edges[labels == k].tolist()))
    ]
    if cyclic:
        with pytest.raises(ValueError, match=f"cycle in forest {cyclic[0]}"):
            ForestPartition.from_labels(graph, labels)
    else:
        partition = ForestPartition.from_labels(graph, labels)
        assert partition.method == "custom"
        assert_array_equal(partition.labels, labels)
        assert_is_what_it_says(partition)


@pytest.mark.parametrize("dtype", [float, str, object, ">i8"])
def test_no_labels_of_any_type(dtype):
    partition = ForestPartition.from_labels(Graph(3, []), np.empty(0, dtype=dtype))
    assert partition.n_forests == 0
    assert partition.labels.dtype == np.int32


def test_own_labels_are_copied():
    labels = np.array([0, 1, 0], dtype=np.int32)
    partition = ForestPartition.from_labels(path_graph(4), labels)
    labels[0] = 1
    assert partition.labels.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 0], r"labels must have shape \(3,\), got \(2,\)"),
        ([0.0, 0.0, 0.0], "labels must hold integers, got dtype float64"),
        ([0, -1, 0], r"labels must lie in \[0, 3\), got -1 at index 1"),
        ([0, 2**40, 0], "labels must lie in"),
        ([0, 2, 0], "labels must be consecutive from 0, got 2 but no 1"),
        ([0, 0, 0], "cycle in forest 0"),
    ],
)
def test_bad_labels(labels, message):
    triangle = Graph(3, [(0, 1), (1, 2), (0, 2)])
    with pytest.raises(ValueError, match=message):
        ForestPartition.from_labels(triangle, labels)


def test_printed():
    partition = decompose(erdos_renyi_graph(100, 1500, rng=0), "nested")
    lines = str(partition).splitlines()
    assert lines[0] == "ForestPartition of 1500 edges on 100 vertices"
    assert f"L = {partition.n_forests}, the first l̂ = {partition.n_spanning}" in str(partition)
    assert lines[-2].strip() == "…"
    assert lines[-1].split()[:2] == [
        str(partition.n_forests - 1),
        str(partition.n_edges_per_forest[-1]),
    ]


def test_pickled():
    partition = decompose(erdos_renyi_graph(20, 40, rng=0), "matroid")
    copy = pickle.loads(pickle.dumps(partition))
    assert_array_equal(copy.labels, partition.labels)
    assert repr(copy) == repr(partition)
    for one in (partition, copy):
        for array in (one.labels, one.n_edges_per_forest, one.longest_path_per_forest):
            assert not array.flags.writeable
