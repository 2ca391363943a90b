"""Condition numbers against their definition, and both methods against each other."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import (
    ForestPartition,
    Graph,
    condition_number,
    decompose,
    gallery,
    grid_graph,
)
from graphtv.decomposition import condition, laplacian
from graphtv.decomposition.condition import METHODS
from graphtv.decomposition.laplacian import conjugate_gradients


def finite_condition(matrix, rank):
    """σ_max / σ_rank, straight from the definition."""
    values = np.linalg.svd(matrix, compute_uv=False)
    return values[0] / values[rank - 1]


def root_of_pseudoinverse(matrix):
    values, vectors = np.linalg.eigh(matrix)
    keep = values > 1e-9 * values.max()
    return (vectors[:, keep] / np.sqrt(values[keep])) @ vectors[:, keep].T


def by_definition(graph, preconditioner, alpha=1.0):
    K = graph.gradient().toarray()
    rank = np.linalg.matrix_rank(np.sign(K))
    if preconditioner == "none":
        return finite_condition(K, rank)
    if preconditioner == "diagonal":
        size = np.abs(K)
        powers = np.where(size > 0, size, 1.0)
        S = np.where(size > 0, powers ** (2 - alpha), 0.0).sum(axis=0)
        T = np.where(size > 0, powers**alpha, 0.0).sum(axis=1)
        touched = S > 0
        return finite_condition(K[:, touched] / np.sqrt(S[touched]) / np.sqrt(T)[:, None], rank)
    T = np.zeros((len(K), len(K)))
    for label in range(preconditioner.n_forests):
        rows = np.flatnonzero(preconditioner.labels == label)
        T[np.ix_(rows, rows)] = K[rows] @ K[rows].T
    return finite_condition(root_of_pseudoinverse(T) @ K, rank)


@st.composite
def graphs(draw, max_vertices=12):
    """Small graphs, often with several components and isolated vertices."""
    n = draw(st.integers(2, max_vertices))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    edges = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=30, unique=True))
    exponents = draw(st.lists(st.integers(-4, 4), min_size=len(edges), max_size=len(edges)))
    return Graph(n, edges, 2.0 ** np.array(exponents))


@given(graphs(), st.sampled_from([0.0, 0.5, 1.0, 2.0]))
def test_agrees_with_the_definition(graph, alpha):
    for method in ("dense", "iterative"):
        none = condition_number(graph, "none", method=method)
        assert none == pytest.approx(by_definition(graph, "none"), rel=1e-7)
        diagonal = condition_number(graph, "diagonal", alpha=alpha, method=method)
        assert diagonal == pytest.approx(by_definition(graph, "diagonal", alpha), rel=1e-7)
        for kind in ("linear", "nested"):
            partition = decompose(graph, kind)
            value = condition_number(graph, partition, method=method)
            assert value == pytest.approx(by_definition(graph, partition), rel=1e-7)
            assert condition_number(graph, kind, method=method) == value


@settings(max_examples=30)
@given(graphs(), st.sampled_from(["none", "diagonal", "linear"]))
def test_factorised_and_conjugate_gradients_agree(graph, preconditioner):
    factorised = condition_number(graph, preconditioner, method="iterative")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(laplacian, "BAND_LIMIT", 0)
        iterated = condition_number(graph, preconditioner, method="iterative")
    assert iterated == pytest.approx(factorised, rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("orders", [0, 6])
@pytest.mark.parametrize("preconditioner", ["none", "diagonal", "linear", "nested"])
@pytest.mark.parametrize("band_limit", [laplacian.BAND_LIMIT, 0])
def test_dense_and_iterative_agree(monkeypatch, orders, preconditioner, band_limit):
    monkeypatch.setattr(laplacian, "BAND_LIMIT", band_limit)
    rng = np.random.default_rng(5)
    for graph in (
        Graph(300, rng.integers(0, 300, (700, 2))),
        Graph(300, [(i, i + 1) for i in range(298)]),
        Graph(300, [(0, i) for i in range(1, 300)]),
        grid_graph((13, 17)),
    ):
        weights = 10.0 ** rng.uniform(0, orders, graph.n_edges)
        weighted = Graph(graph.n_vertices, graph.edges, weights)
        dense = condition_number(weighted, preconditioner, method="dense")
        iterative = condition_number(weighted, preconditioner, method="iterative")
        assert iterative == pytest.approx(dense, rel=1e-6)


def test_traces_of_large_singular_values_in_what_lanczos_returns_do_not_count(monkeypatch):
    """With scipy 1.14 they happened to be 3e-7 of the vector, and κ was a sixth of its value."""

    def noisy(*arguments, **options):
        values, vectors = eigsh(*arguments, **options)
        noise = np.random.default_rng(1).standard_normal(vectors.shape)
        return values, vectors + 1e-6 * noise / np.linalg.norm(noise)

    eigsh = condition.eigsh
    monkeypatch.setattr(condition, "eigsh", noisy)
    weights = 10.0 ** np.random.default_rng(5).uniform(0, 6, 298)
    path = gallery.path_graph(299, weights)
    for preconditioner in ("none", "diagonal"):
        dense = condition_number(path, preconditioner, method="dense")
        iterative = condition_number(path, preconditioner, method="iterative")
        assert iterative == pytest.approx(dense, rel=1e-6)


@pytest.mark.slow
def test_long_path_meets_the_closed_form():
    # κ(∇) of a path: the eigenvalues are 2 - 2cos(πk/n).
    n = 20_000
    path = Graph(n, np.stack([np.arange(n - 1), np.arange(1, n)], axis=1))
    expected = 1 / math.tan(math.pi / (2 * n))
    assert condition_number(path, "none") == pytest.approx(expected, rel=1e-6)


def test_scale_of_the_weights_is_irrelevant():
    graph = grid_graph((5, 6))
    for factor in (1e-200, 1e200):
        scaled = Graph(graph.n_vertices, graph.edges, factor)
        for method in ("dense", "iterative"):
            assert condition_number(scaled, "none", method=method) == pytest.approx(
                condition_number(graph, "none", method=method), rel=1e-12
            )


@pytest.mark.parametrize("method", ["dense", "iterative"])
def test_two_parts_held_together_by_a_weak_edge(method):
    """The edge is far below the rounding error of its neighbours, but κ is not."""
    triangles = [[0, 1], [1, 2], [0, 2], [2, 3], [3, 4], [4, 5], [3, 5]]
    for weak in (1e-7, 1e-12, 1e-30):
        weights = [1, 1, 1, weak, 1, 1, 1]
        # σ_max = √3 of a triangle; the indicator of one triangle has ‖Ku‖ = weak, ‖u - ū‖² = 3/2.
        expected = math.sqrt(3 * 1.5) / weak
        graph = Graph(6, triangles, weights)
        assert condition_number(graph, "none", method=method) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("method", ["dense", "iterative"])
@pytest.mark.parametrize("preconditioner", ["none", "diagonal"])
def test_weights_beyond_floating_point(preconditioner, method):
    graph = Graph(3, [[0, 1], [1, 2]], [1e300, 1e-300])
    with pytest.raises(ValueError, match=r"graph must have weights .* got 1e-300 and 1e\+300"):
        condition_number(graph, preconditioner, alpha=0.5, method=method)


def test_is_deterministic():
    graph = Graph(900, np.random.default_rng(3).integers(0, 900, (2500, 2)))
    for preconditioner in ("none", "diagonal", "linear"):
        assert condition_number(graph, preconditioner) == condition_number(graph, preconditioner)


def test_auto_takes_the_theorem():
    graph = grid_graph((40, 50))
    assert condition_number(graph, "chains") == math.sqrt(2)
    partition = decompose(graph, "nested")
    expected = math.sqrt(partition.n_forests / partition.n_spanning)
    assert condition_number(graph, partition) == expected
    assert condition_number(graph, partition, method="iterative") == pytest.approx(expected)


def test_a_partition_fits_any_weights_of_its_graph():
    graph = grid_graph((4, 4))
    reweighted = Graph(graph.n_vertices, graph.edges, 3.0)
    partition = decompose(graph, "linear")
    assert condition_number(reweighted, partition) == condition_number(graph, partition)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("graph", "none"), {}, "graph must be a graphtv.Graph, got 'graph'"),
        ((grid_graph(3), "amg"), {}, "preconditioner must be one of .*, got 'amg'"),
        ((grid_graph(3), None), {}, "preconditioner must be one of .*, got None"),
        ((grid_graph(3), "none"), {"method": "fast"}, "method must be one of .*, got 'fast'"),
        ((grid_graph(3), "diagonal"), {"alpha": -0.5}, r"alpha must be at least 0.0, got -0.5"),
        ((grid_graph(3), "diagonal"), {"alpha": 2.5}, "alpha must be at most 2, got 2.5"),
        ((grid_graph(3), "diagonal"), {"alpha": math.nan}, "alpha must be finite, got nan"),
        ((Graph(3, []), "none"), {}, "graph must have an edge"),
        ((Graph(3, []), decompose(Graph(3, []))), {}, "graph must have an edge"),
        ((grid_graph(3), decompose(grid_graph(4))), {}, "preconditioner must be a partition of"),
    ],
)
def test_bad_arguments(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        condition_number(*arguments, **options)


def test_every_method_is_a_preconditioner():
    graph = grid_graph((4, 5))
    assert all(condition_number(graph, method) >= 1 for method in METHODS)
    assert condition_number(graph, ForestPartition.from_labels(graph, np.arange(graph.n_edges))) > 1


def test_conjugate_gradients_ignore_what_lies_in_the_kernel():
    # On a nested partition, Lanczos soon solves with vectors that are nearly in the kernel.
    gradient = gallery.erdos_renyi_graph(400, 1600, rng=1).gradient()
    matrix = (gradient.T @ gradient).tocsr()
    components = np.zeros(400, dtype=np.int32)
    assert np.linalg.matrix_rank(matrix.toarray()) == 399
    dipole = np.zeros(400)
    dipole[:2] = 1.0, -1.0
    solve = conjugate_gradients(gradient, matrix, 1, components)
    np.testing.assert_allclose(matrix @ solve(dipole + 0.1), dipole, atol=1e-8)
