"""Graphs for forest partitions, and checks of the attributes of a partition."""

from itertools import pairwise

import networkx
import numpy as np
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from graphtv import Graph
from reference import partition as reference


@st.composite
def graphs(draw, max_vertices=12):
    """Graphs of all densities, connected or not, with isolated vertices and equal weights."""
    n = draw(st.integers(0, max_vertices))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    if not pairs:
        return Graph(n, [])
    edges = draw(
        st.one_of(
            st.lists(st.sampled_from(pairs), unique=True),
            st.lists(st.sampled_from(pairs), unique=True).map(
                lambda few: [pair for pair in pairs if pair not in few]
            ),
        )
    )
    weight = st.sampled_from([1e-3, 0.5, 1.0, 2.0, 1e3])
    weights = draw(st.lists(weight, min_size=len(edges), max_size=len(edges)))
    return Graph(n, edges, weights)


def forests_of(partition):
    """The edges of each forest."""
    edges = partition.graph.edges
    return [
        [(int(i), int(j)) for i, j in edges[partition.labels == k]]
        for k in range(partition.n_forests)
    ]


def as_networkx(n_vertices, edges):
    graph = networkx.empty_graph(n_vertices)
    graph.add_edges_from(edges)
    return graph


def assert_is_what_it_says(partition):
    """Check every attribute against the labels, with NetworkX."""
    n = partition.graph.n_vertices
    assert partition.labels.shape == (partition.graph.n_edges,)
    assert partition.labels.dtype == np.int32
    assert not partition.labels.flags.writeable
    assert_array_equal(np.unique(partition.labels), np.arange(partition.n_forests))

    forests = [as_networkx(n, edges) for edges in forests_of(partition)]
    trees = [networkx.number_connected_components(forest) for forest in forests]
    whole = as_networkx(n, partition.graph.edges.tolist())
    n_components = networkx.number_connected_components(whole)
    for k, forest in enumerate(forests):
        assert networkx.is_forest(forest)
        nontrivial = [c for c in networkx.connected_components(forest) if len(c) > 1]
        longest = max(networkx.diameter(forest.subgraph(c)) + 1 for c in nontrivial)
        assert partition.n_edges_per_forest[k] == forest.number_of_edges()
        assert partition.n_trees_per_forest[k] == len(nontrivial)
        assert partition.longest_path_per_forest[k] == longest

    linear = all(degree <= 2 for forest in forests for _, degree in forest.degree)
    nested = all(
        networkx.has_path(before, i, j)
        for before, forest in pairwise(forests)
        for i, j in forest.edges
    )
    spanning = [count == n_components for count in trees]
    assert partition.is_linear == linear
    assert partition.is_nested == nested
    assert partition.n_spanning == [*spanning, False].index(False)


def kappa(partition):
    """κ(T^-1/2 K) from the eigenvalues of Π = Σ_l (I - mean over each tree of forest l)."""
    n = partition.graph.n_vertices
    total = np.zeros((n, n))
    for edges in forests_of(partition):
        names = np.array(reference.components(n, edges))
        same = (names[:, None] == names).astype(float)
        total += np.eye(n) - same / same.sum(axis=1)
    values = np.linalg.eigvalsh(total)
    return np.sqrt(values[-1] / values[values > 1e-9][0])
