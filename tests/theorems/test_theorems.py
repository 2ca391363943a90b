"""The theorems of Möllenhoff et al. (AISTATS 2018), in numbers.

Everything here is dense and from the definitions: Π_l = ∇_lᵀ(∇_l∇_lᵀ)⁺∇_l, Π = Σ_l Π_l and
κ(T^-½ K)² = λ_max(Π) / λ_min>0(Π).
"""

import itertools
import math

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from graphtv import ForestPartition, Graph, condition_number, decompose, gallery, grid_graph
from graphtv.decomposition.partition import SPANNING


def incidence(graph):
    return np.sign(graph.gradient().toarray())


def projections(graph, labels):
    """Π_l for each part, which need not be a forest."""
    nabla = incidence(graph)
    parts = [nabla[labels == label] for label in range(labels.max() + 1)]
    return [part.T @ np.linalg.pinv(part @ part.T, hermitian=True) @ part for part in parts]


def rank(matrix):
    return int(np.linalg.matrix_rank(matrix, tol=1e-8))


def spectrum(graph, labels):
    """The nonzero eigenvalues of Π, ascending."""
    values = np.linalg.eigvalsh(sum(projections(graph, labels)))
    return values[graph.n_vertices - rank(incidence(graph)) :]


def kappa(graph, labels):
    values = spectrum(graph, labels)
    return math.sqrt(values[-1] / values[0])


@st.composite
def graphs(draw, max_vertices=10, min_edges=1, max_edges=30):
    n = draw(st.integers(3, max_vertices))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    edges = st.lists(
        st.sampled_from(pairs), min_size=min(min_edges, len(pairs)), max_size=max_edges, unique=True
    )
    return Graph(n, draw(edges))


@st.composite
def two_parts(draw):
    """A graph and a partition of its edges into two nonempty parts of any kind."""
    graph = draw(graphs(min_edges=2))
    labels = draw(st.lists(st.integers(0, 1), min_size=graph.n_edges, max_size=graph.n_edges))
    assume(0 < sum(labels) < graph.n_edges)
    return graph, np.array(labels)


def shared_dimension(first, second):
    """dim(ran Π₁ ∩ ran Π₂) = rank Π₁ + rank Π₂ - rank [Π₁ Π₂]."""
    return rank(first) + rank(second) - rank(np.hstack([first, second]))


# Equations 5 and 6: projections and their sum ---------------------------------------------------


@given(graphs(), st.sampled_from(["linear", "nested", "matroid"]))
def test_each_projection_subtracts_the_mean_of_each_tree(graph, method):
    labels = decompose(graph, method).labels
    for label, projection in enumerate(projections(graph, labels)):
        np.testing.assert_allclose(projection, projection.T, atol=1e-12)
        np.testing.assert_allclose(projection @ projection, projection, atol=1e-12)
        edges = graph.edges[labels == label]
        links = scipy.sparse.coo_array((np.ones(len(edges)), edges.T), shape=projection.shape)
        _, trees = scipy.sparse.csgraph.connected_components(links, directed=False)
        same = trees[:, np.newaxis] == trees
        means = same / same.sum(axis=1)
        np.testing.assert_allclose(projection, np.eye(graph.n_vertices) - means, atol=1e-12)


@given(graphs(), st.sampled_from(["linear", "nested", "matroid"]))
def test_largest_eigenvalue_is_at_most_the_number_of_forests(graph, method):
    partition = decompose(graph, method)
    assert spectrum(graph, partition.labels)[-1] <= partition.n_forests + 1e-9


@given(graphs(), st.sampled_from(["linear", "nested", "matroid"]), st.data())
def test_condition_number_is_that_of_the_projections_whatever_the_weights(graph, method, data):
    exponents = st.lists(st.integers(-20, 20), min_size=graph.n_edges, max_size=graph.n_edges)
    weighted = Graph(graph.n_vertices, graph.edges, 2.0 ** np.array(data.draw(exponents)))
    labels = decompose(graph, method).labels
    expected = kappa(graph, labels)
    partition = ForestPartition.from_labels(weighted, labels)
    for how in ("auto", "dense", "iterative"):
        assert condition_number(weighted, partition, method=how) == pytest.approx(expected)


def test_weights_cancel_in_the_projections():
    graph = gallery.erdos_renyi_graph(12, 30, rng=1)
    labels = decompose(graph, "linear").labels
    weights = 10.0 ** np.random.default_rng(0).uniform(-2, 2, graph.n_edges)
    K = weights[:, np.newaxis] * incidence(graph)
    for label, projection in enumerate(projections(graph, labels)):
        part = K[labels == label]
        weighted = part.T @ scipy.linalg.solve(part @ part.T, part, assume_a="pos")
        np.testing.assert_allclose(weighted, projection, atol=1e-8)


# Theorem 1: a lower bound for two parts ---------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=300)
@given(two_parts())
def test_theorem_1(problem):
    graph, labels = problem
    first, second = projections(graph, labels)
    overlap = shared_dimension(first, second) > 0
    larger_than_one = rank(incidence(graph)) > min(rank(first), rank(second))
    value = kappa(graph, labels)
    if overlap and larger_than_one:
        assert value >= math.sqrt(2) - 1e-9
    if overlap:
        assert spectrum(graph, labels)[-1] == pytest.approx(2)
    if larger_than_one:
        assert spectrum(graph, labels)[0] <= 1 + 1e-9


def test_theorem_1_needs_both_of_its_conditions():
    # Too sparse: without a cycle nothing overlaps. Too dense: both parts have full rank.
    path = gallery.path_graph(3)
    assert kappa(path, np.array([0, 1])) > math.sqrt(2)
    apart = Graph(4, [(0, 1), (2, 3)])
    assert kappa(apart, np.array([0, 1])) == pytest.approx(1)
    complete = Graph(5, [(i, j) for i in range(5) for j in range(i)])
    cycle = {(1, 0), (2, 1), (3, 2), (4, 3), (4, 0)}
    labels = np.array([tuple(edge) in cycle for edge in complete.edges.tolist()], dtype=int)
    assert kappa(complete, labels) == pytest.approx(1)


# Theorem 2: sufficient conditions for √2 --------------------------------------------------------


def meets_theorem_2(graph, labels):
    first, second = projections(graph, labels)
    product = first @ second
    n, r = graph.n_vertices, rank(incidence(graph))
    commute = np.allclose(product, second @ first, atol=1e-10)
    # ker Π ⊆ ker Π₁Π₂, so the second condition says that the latter is larger.
    kernel = n - rank(product) > n - r
    return commute and kernel and shared_dimension(first, second) > 0


@pytest.mark.slow
@settings(max_examples=300)
@example((grid_graph((3, 4)), decompose(grid_graph((3, 4)), "chains").labels))
@example((Graph(3, [(0, 1), (1, 2), (2, 0)]), np.array([0, 0, 1])))
@given(two_parts())
def test_theorem_2(problem):
    graph, labels = problem
    if meets_theorem_2(graph, labels):
        assert kappa(graph, labels) == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (3, 4), (5, 4), (2, 7)])
def test_chains_meet_theorem_2(shape):
    graph = grid_graph(shape)
    assert meets_theorem_2(graph, decompose(graph, "chains").labels)


# Theorem 3: nested forests ----------------------------------------------------------------------


def n_spanning(graph, labels):
    """Return l̂ from the ranks, after checking that the ranges are nested."""
    parts = projections(graph, labels)
    for outer, inner in itertools.pairwise(parts):
        np.testing.assert_allclose(outer @ inner, inner, atol=1e-10)
    full = rank(incidence(graph))
    return sum(rank(part) == full for part in parts)


@given(graphs(), st.sampled_from(SPANNING))
def test_theorem_3_for_greedy_nested_forests(graph, spanning):
    partition = decompose(graph, "nested", spanning=spanning)
    spanned = n_spanning(graph, partition.labels)
    assert partition.is_nested
    assert partition.n_spanning == spanned
    expected = math.sqrt(partition.n_forests / spanned)
    assert kappa(graph, partition.labels) == pytest.approx(expected)
    assert condition_number(graph, partition) == pytest.approx(expected, rel=1e-14)
    values = spectrum(graph, partition.labels)
    assert values[-1] == pytest.approx(partition.n_forests)
    assert values[0] == pytest.approx(spanned)


@given(graphs())
def test_theorem_3_for_matroid_partitions(graph):
    partition = decompose(graph, "matroid")
    greedy = decompose(graph, "nested")
    expected = math.sqrt(partition.n_forests / n_spanning(graph, partition.labels))
    assert kappa(graph, partition.labels) == pytest.approx(expected)
    assert partition.n_forests <= greedy.n_forests
    # The matroid partition has the smallest κ of all nested partitions, including greedy ones.
    assert expected <= kappa(graph, greedy.labels) + 1e-9


@pytest.mark.parametrize("method", ["nested", "matroid"])
def test_theorem_3_where_every_forest_spans(method):
    # K₄ is two spanning trees, l̂ = L = 2; a tree is one; a forest of several parts is one too.
    complete = Graph(4, [(0, 1), (1, 2), (2, 3), (0, 2), (0, 3), (1, 3)])
    labels = np.array([0, 0, 0, 1, 1, 1])
    assert ForestPartition.from_labels(complete, labels).n_spanning == 2
    assert kappa(complete, labels) == pytest.approx(1)
    assert condition_number(complete, "matroid") == 1
    for forest in (gallery.random_tree(9), Graph(6, [(0, 1), (1, 2), (4, 5)])):
        assert condition_number(forest, method) == 1
        assert kappa(forest, decompose(forest, method).labels) == pytest.approx(1)


# Theorem 4: chains on a grid --------------------------------------------------------------------

SHAPES = [(3, 3), (3, 7), (6, 5), (3, 3, 3), (4, 3, 5), (3, 3, 3, 3)]


@pytest.mark.parametrize("shape", SHAPES)
def test_theorem_4_chains(shape):
    graph = grid_graph(shape)
    labels = decompose(graph, "chains").labels
    values = spectrum(graph, labels)
    # The chains' projections commute, so Π has the eigenvalues 1, …, d and no other.
    assert set(np.round(values, 9)) == set(range(1, len(shape) + 1))
    assert kappa(graph, labels) == pytest.approx(math.sqrt(len(shape)))
    for method in ("auto", "dense", "iterative"):
        value = condition_number(graph, "chains", method=method)
        assert value == pytest.approx(math.sqrt(len(shape)))


@pytest.mark.parametrize("shape", [*SHAPES, (40, 50)])
def test_theorem_4_without_preconditioner(shape):
    graph = grid_graph(shape)
    value = condition_number(graph, "none")
    bound = math.sqrt(len(shape)) * max(shape) / math.sqrt(math.pi**2 / 2)
    largest = sum(1 + math.cos(math.pi / n) for n in shape)
    smallest = 1 - math.cos(math.pi / max(shape))
    assert value == pytest.approx(math.sqrt(largest / smallest), rel=1e-6)
    assert value >= bound


def test_chains_do_not_feel_the_size_of_the_grid():
    graph = grid_graph((60, 90))
    assert condition_number(graph, "chains", method="iterative") == pytest.approx(math.sqrt(2))
    assert condition_number(graph, "none") > 60


# Table 1: random graphs of 512 vertices ---------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("ratio", "n_forests"), [(0.68, 1), (1.11, 2), (2.36, 3), (2.98, 4)])
def test_matroid_column_of_the_table(ratio, n_forests):
    graph = gallery.erdos_renyi_graph(512, round(512 * ratio), rng=4)
    squares = {
        method: condition_number(graph, method) ** 2
        for method in ("none", "linear", "nested", "matroid")
    }
    assert squares["matroid"] <= squares["nested"]
    assert squares["matroid"] <= squares["linear"] <= squares["none"]
    if ratio > 1:
        assert squares["matroid"] == pytest.approx(n_forests)
