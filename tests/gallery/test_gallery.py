"""The gallery: each graph by its definition, the same for the same seed."""

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from graphtv import FlowNetwork, gallery, knn_graph

TREES = [
    *(gallery.path_graph(n) for n in (1, 2, 9)),
    *(gallery.star_graph(n) for n in (1, 2, 9)),
    *(gallery.caterpillar_graph(*size) for size in ((1, 0), (4, 0), (1, 3), (5, 2))),
    *(gallery.broom_graph(*size) for size in ((1, 0), (4, 0), (1, 3), (5, 2))),
    *(gallery.random_tree(n, seed) for n in (1, 2, 50) for seed in (0, 1)),
]


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_trees(tree):
    assert networkx.is_tree(tree.to_networkx())


def degrees(graph):
    return np.bincount(graph.edges.ravel(), minlength=graph.n_vertices).tolist()


def test_shapes_of_trees():
    assert degrees(gallery.path_graph(4)) == [1, 2, 2, 1]
    assert degrees(gallery.star_graph(4)) == [3, 1, 1, 1]
    assert degrees(gallery.caterpillar_graph(3, 2)) == [3, 4, 3] + [1] * 6
    assert degrees(gallery.broom_graph(3, 4)) == [1, 2, 5] + [1] * 4
    assert gallery.path_graph(0).n_vertices == gallery.star_graph(0).n_vertices == 0
    assert_array_equal(gallery.path_graph(3, [1, 2]).weights, [1, 2])


@given(st.integers(0, 12), st.integers(0, 100), st.data())
def test_erdos_renyi_has_exactly_as_many_edges(n, seed, data):
    m = data.draw(st.integers(0, n * (n - 1) // 2))
    graph = gallery.erdos_renyi_graph(n, m, seed)
    assert (graph.n_vertices, graph.n_edges) == (n, m)
    assert_array_equal(graph.weights, 1)  # a pair drawn twice would have weight 2


@pytest.mark.parametrize("n", [4, 5])
def test_erdos_renyi_is_uniform(n):
    counts = np.zeros((n, n))
    for seed in range(2000):
        counts += gallery.erdos_renyi_graph(n, 2, seed).to_sparse().toarray()
    pairs = counts[np.triu_indices(n, 1)]
    mean = 4000 / len(pairs)
    assert np.abs(pairs - mean).max() < 5 * np.sqrt(mean)


def max_flow(instance):
    G = networkx.DiGraph()
    G.add_nodes_from(range(instance.n_vertices))
    for (i, j), capacity in zip(instance.arcs.tolist(), instance.capacities, strict=True):
        assert not G.has_edge(i, j)
        G.add_edge(i, j, capacity=capacity)
    return networkx.maximum_flow_value(G, instance.source, instance.sink)


def cut(instance, side):
    tails, heads = instance.arcs.T
    return instance.capacities[side[tails] & ~side[heads]].sum()


@pytest.mark.parametrize(
    "instance",
    [
        gallery.genrmf(2, 2),
        gallery.genrmf(3, 1),
        gallery.genrmf(2, 3, 1, 5, rng=1),
        gallery.washington_rlg(3, 3, rng=2),
        gallery.washington_rlg(4, 2, 7),
        FlowNetwork(
            5,
            np.array([[2, 1], [1, 3], [3, 1], [3, 0], [2, 0], [1, 2], [0, 3], [1, 3], [2, 4]]),
            np.array([5.0, 4, 1, 3, 9, 8, 7, 2, 6]),
            2,
            0,
        ),
    ],
    ids=repr,
)
def test_rof_energy_is_the_cut(instance):
    """On indicators, -⟨f, x⟩ + TV(x) is the value of the cut up to a constant."""
    graph, signal = instance.rof()
    inner = ~np.isin(instance.arcs, [instance.source, instance.sink]).any(axis=1)
    kept = np.unique(instance.arcs[inner])
    assert graph.n_vertices == len(kept)
    assert degrees(graph) == [] or min(degrees(graph)) > 0
    tails, heads = graph.edges.T
    rng = np.random.default_rng(0)
    side = np.zeros(instance.n_vertices, dtype=bool)
    side[instance.source] = True
    constant = cut(instance, side)
    for _ in range(20):
        x = rng.integers(0, 2, len(kept))
        side[kept] = x
        energy = (graph.weights * np.abs(x[tails] - x[heads])).sum() - signal @ x
        assert cut(instance, side) == pytest.approx(constant + energy, rel=1e-12)


def test_rmf_by_definition():
    a, b = 3, 4
    instance = gallery.genrmf(a, b, 2, 7, rng=3)
    tails, heads = instance.arcs.T
    within = tails // a**2 == heads // a**2
    assert (instance.n_vertices, instance.source, instance.sink) == (36, 0, 35)
    assert within.sum() == b * 4 * a * (a - 1)
    assert (instance.capacities[within] == 7 * a**2).all()
    assert_array_equal(tails[~within], np.arange((b - 1) * a**2))
    assert_array_equal(np.sort(heads[~within]), np.arange(a**2, b * a**2))
    assert_array_equal(heads[~within] // a**2, tails[~within] // a**2 + 1)
    assert set(instance.capacities[~within]) <= {2, 3, 4, 5, 6, 7}
    assert 0 < max_flow(instance) <= a**2 * 7


def test_washington_by_definition():
    rows, columns = 4, 30
    instance = gallery.washington_rlg(rows, columns, 9, rng=3)
    s, t = instance.source, instance.sink
    tails, heads = instance.arcs.T
    level = tails < s
    level &= heads < s
    assert_array_equal(tails[level], np.repeat(np.arange(rows * (columns - 1)), 3))
    assert_array_equal(heads[level] // rows, tails[level] // rows + 1)
    assert all(len(set(three)) == 3 for three in heads[level].reshape(-1, 3).tolist())
    assert set(heads[level] % rows) == set(range(rows))
    assert set(instance.capacities[level]) == set(range(1, 10))
    assert (instance.capacities[~level] == 27).all()
    assert_array_equal(heads[tails == s], np.arange(rows))
    assert_array_equal(tails[heads == t], np.arange(rows * (columns - 1), rows * columns))
    assert max_flow(instance) > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("instance", "n_vertices", "n_edges", "ratio"),
    [
        (gallery.genrmf(64, 8), 32 * 1024, 93_184, 2.84),
        (gallery.genrmf(16, 256), 64 * 1024, 188_160, 2.87),
        (gallery.washington_rlg(64, 1024), 64 * 1024, 196_416, 2.997),
    ],
    ids=["rmf-wide.n2", "rmf-long.n2", "wash-rlg-long.n1024"],
)
def test_sizes_of_the_paper(instance, n_vertices, n_edges, ratio):
    """V/1024 and E/V of its table of maximum flows; a pair of arcs is one edge."""
    terminals = [instance.source, instance.sink] if instance.n_vertices > n_vertices else []
    inner = ~np.isin(instance.arcs, terminals).any(axis=1)
    edges = np.unique(np.sort(instance.arcs[inner], axis=1), axis=0)
    assert instance.n_vertices - len(terminals) == n_vertices
    assert len(edges) == n_edges
    assert n_edges / n_vertices == pytest.approx(ratio, abs=0.005)
    graph, signal = instance.rof()
    assert abs(graph.n_edges - n_edges) <= 6
    assert signal.shape == (graph.n_vertices,)


def test_three_moons():
    points, labels = gallery.three_moons(50, noise=0, dimension=4)
    assert points.shape == (150, 4)
    assert_array_equal(labels, np.repeat([0, 1, 2], 50))
    assert_array_equal(points[:, 2:], 0)
    for label, (x, y, radius, side) in enumerate([(0, 0, 1, 1), (3, 0, 1, 1), (1.5, 0.4, 1.5, -1)]):
        offsets = points[labels == label, :2] - (x, y)
        np.testing.assert_allclose(np.linalg.norm(offsets, axis=1), radius)
        assert (side * offsets[:, 1] >= 0).all()


def test_three_moons_are_three_clusters():
    points, labels = gallery.three_moons(200)
    assert points.shape == (600, 100)
    assert points[:, 2:].std() == pytest.approx(0.14, rel=0.02)
    graph = knn_graph(points)
    i, j = graph.edges.T
    assert (labels[i] == labels[j]).mean() > 0.9


@pytest.mark.parametrize("shape", [40, (20, 30), (6, 7, 8)])
def test_piecewise_constant_image(shape):
    noisy, truth = gallery.piecewise_constant_image(shape, rng=1, noise=0.2, n_regions=5)
    assert noisy.shape == truth.shape == (shape if isinstance(shape, tuple) else (shape,))
    assert 2 <= len(np.unique(truth)) <= 6
    assert truth.min() >= 0
    assert truth.max() <= 1
    assert (noisy - truth).std() == pytest.approx(0.2, rel=0.3)
    clean, same = gallery.piecewise_constant_image(shape, rng=1, noise=0, n_regions=5)
    assert_array_equal(clean, truth)
    assert_array_equal(same, truth)


SEEDED = [
    lambda seed: gallery.random_tree(20, seed).edges,
    lambda seed: gallery.erdos_renyi_graph(20, 30, seed).edges,
    lambda seed: gallery.genrmf(3, 3, rng=seed).capacities,
    lambda seed: gallery.washington_rlg(3, 3, rng=seed).capacities,
    lambda seed: gallery.three_moons(5, rng=seed)[0],
    lambda seed: gallery.piecewise_constant_image(20, rng=seed)[0],
]


@pytest.mark.parametrize("make", SEEDED)
def test_seeds(make):
    assert_array_equal(make(5), make(5))
    assert not np.array_equal(make(5), make(6))
    assert_array_equal(make(np.random.default_rng(5)), make(5))
    assert not np.array_equal(make(None), make(None))
    for bad in (-1, 0.5, True, "x"):
        with pytest.raises(ValueError, match="rng must be"):
            make(bad)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gallery.path_graph(-1), "n_vertices must be at least 0, got -1"),
        (lambda: gallery.caterpillar_graph(0, 2), "spine must be at least 1, got 0"),
        (lambda: gallery.caterpillar_graph(2**16, 2**16), "legs must be at most"),
        (lambda: gallery.broom_graph(2, -1), "bristles must be at least 0, got -1"),
        (lambda: gallery.erdos_renyi_graph(4, 7), "n_edges must be at most 6, got 7"),
        (lambda: gallery.genrmf(1, 1), "the number of vertices a²b must be at least 2, got 1"),
        (lambda: gallery.genrmf(2**12, 2**12), "the number of vertices a²b must be at most"),
        (lambda: gallery.genrmf(2, 2, 5, 4), "c2 must be at least 5, got 4"),
        (lambda: gallery.washington_rlg(2, 5), "rows must be at least 3, got 2"),
        (lambda: gallery.washington_rlg(3, 5, 0), "capacity must be at least 1, got 0"),
        (lambda: gallery.three_moons(5, noise=-1), r"noise must be at least 0, got -1\.0"),
        (lambda: gallery.three_moons(5, dimension=1), "dimension must be at least 2, got 1"),
        (lambda: gallery.piecewise_constant_image(0), "shape must be at least 1, got 0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_delaunay_graph_is_planar_connected_and_as_large_as_asked():
    graph, positions = gallery.delaunay_graph(96, 150, rng=1)
    assert (graph.n_vertices, graph.n_edges) == (96, 150)
    assert positions.shape == (96, 2)
    assert np.linalg.matrix_rank(graph.gradient().toarray()) == 95
    again, _ = gallery.delaunay_graph(96, 150, rng=1)
    np.testing.assert_array_equal(again.edges, graph.edges)
    tree, _ = gallery.delaunay_graph(20, 19, rng=3)
    assert np.linalg.matrix_rank(tree.gradient().toarray()) == 19
    with pytest.raises(ValueError, match="n_edges must be at least 19, got 18"):
        gallery.delaunay_graph(20, 18)
    with pytest.raises(ValueError, match=r"n_edges must be at most .*, got 60"):
        gallery.delaunay_graph(20, 60)
