"""Forest partitions: acyclic, complete, and with correct attributes."""

import signal

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal

from graphtv import ForestPartition, Graph, _core, decompose, grid_graph
from graphtv.decomposition.partition import METHODS, ORDERS, SPANNING
from graphtv.gallery import erdos_renyi_graph, genrmf, path_graph, random_tree, star_graph
from partitions import as_networkx, assert_is_what_it_says, forests_of, graphs, kappa
from reference import partition as reference

ANY_GRAPH = [
    ("linear", {"order": "weight"}),
    ("linear", {"order": "paper"}),
    *(("nested", {"spanning": spanning}) for spanning in SPANNING),
    ("matroid", {}),
    ("auto", {}),
]


@pytest.mark.parametrize(("method", "options"), ANY_GRAPH)
@given(graphs())
@settings(max_examples=60)
def test_every_method_says_the_truth(method, options, graph):
    partition = decompose(graph, method, **options)
    assert_is_what_it_says(partition)
    assert partition.n_forests > 0 or graph.n_edges == 0
    if partition.method == "linear":
        assert partition.is_linear
    if partition.method in ("nested", "matroid"):
        assert partition.is_nested
        assert partition.n_spanning > 0 or graph.n_edges == 0


@given(graphs())
def test_theorem_3(graph):
    if graph.n_edges:
        for method in ("nested", "matroid"):
            partition = decompose(graph, method)
            assert partition.condition_number == pytest.approx(kappa(partition))


@given(graphs(max_vertices=7))
@settings(max_examples=150)
def test_matroid_is_optimal(graph):
    """L is the arboricity and l̂ the packing number, by the formulas of Nash-Williams and Tutte."""
    edges = graph.edges.tolist()
    partition = decompose(graph, "matroid")
    assert partition.n_forests == reference.arboricity(graph.n_vertices, edges)
    assert partition.n_spanning == reference.spanning_forest_packing(graph.n_vertices, edges)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ratio", [1.5, 2.5, 4, 8])
def test_matroid_sizes_do_not_depend_on_the_order(ratio, seed):
    """|F_k| = r_k - r_{k-1}: the graph determines the sizes, and no partition packs better."""
    n = 300
    edges = erdos_renyi_graph(n, int(ratio * n), rng=seed).edges
    rng = np.random.default_rng(seed)
    sizes = []
    for _ in range(3):
        partition = decompose(Graph(n, edges, rng.random(len(edges))), "matroid")
        assert partition.is_nested
        sizes.append(partition.n_edges_per_forest.tolist())
    assert sizes[0] == sizes[1] == sizes[2]
    greedy = decompose(Graph(n, edges), "nested").n_edges_per_forest.cumsum()
    assert (np.cumsum(sizes[0]) >= greedy[: len(sizes[0])]).all()


def test_matroid_of_complete_graphs():
    for n in range(2, 30):
        pairs = np.stack(np.triu_indices(n, 1), axis=1)
        partition = decompose(Graph(n, pairs), "matroid")
        assert partition.n_forests == (n + 1) // 2
        assert partition.n_spanning == n // 2


def test_matroid_with_a_dense_core_on_a_long_path():
    n, core = 2000, 20
    path = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    clique = np.stack(np.triu_indices(core, 2), axis=1)
    graph = Graph(n, np.concatenate([path, clique]))
    partition = decompose(graph, "matroid")
    assert (partition.n_forests, partition.n_spanning) == (core // 2, 1)


def test_matroid_of_genrmf():
    graph, _ = genrmf(16, 8).rof()
    partition = decompose(graph, "matroid")
    assert partition.is_nested
    assert partition.n_forests == 3
    assert partition.n_forests <= decompose(graph, "nested").n_forests


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
def test_matroid_can_be_interrupted():
    def interrupt(*_):
        raise KeyboardInterrupt

    graph = erdos_renyi_graph(100_000, 300_000, rng=0)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            decompose(graph, "matroid")
    finally:
        signal.signal(signal.SIGALRM, before)


@given(graphs())
def test_nested_is_successive_spanning_forests(graph):
    by_weight = graph.edges[np.argsort(-graph.weights, kind="stable")].tolist()
    expected = reference.nested_forests(graph.n_vertices, [(i, j) for i, j in by_weight])
    assert list(map(set, forests_of(decompose(graph, "nested")))) == list(map(set, expected))


@given(graphs())
def test_nested_forests_have_maximum_weight(graph):
    if graph.n_edges:
        partition = decompose(graph, "nested")
        whole = networkx.empty_graph(graph.n_vertices)
        whole.add_weighted_edges_from(
            (i, j, w) for (i, j), w in zip(graph.edges.tolist(), graph.weights, strict=True)
        )
        best = networkx.maximum_spanning_tree(whole).size(weight="weight")
        assert graph.weights[partition.labels == 0].sum() == pytest.approx(best)


@given(graphs())
def test_linear_is_what_each_forest_can_take(graph):
    by_weight = [tuple(e) for e in graph.edges[np.argsort(-graph.weights, kind="stable")].tolist()]
    expected = reference.linear_forests(graph.n_vertices, by_weight)
    assert list(map(set, forests_of(decompose(graph, "linear")))) == list(map(set, expected))


@given(graphs(max_vertices=8))
def test_linear_of_the_paper(graph):
    """With few edges every pass takes more than a twentieth: this is the paper's procedure."""
    by_weight = [tuple(e) for e in graph.edges[np.argsort(-graph.weights, kind="stable")].tolist()]
    expected = reference.linear_forests_of_paper(graph.n_vertices, by_weight)
    found = forests_of(decompose(graph, "linear", order="paper"))
    assert list(map(set, found)) == list(map(set, expected))


def test_a_breadth_first_forest_has_shortest_paths():
    graph = grid_graph((9, 11))
    partition = decompose(graph, "nested", spanning="breadth_first")
    tree = as_networkx(graph.n_vertices, forests_of(partition)[0])
    depths = networkx.single_source_shortest_path_length(tree, 0)
    assert all(depth == sum(divmod(v, 11)) for v, depth in depths.items())


def test_a_depth_first_forest_has_no_cross_edges():
    graph = erdos_renyi_graph(60, 150, rng=3)
    partition = decompose(graph, "nested", spanning="depth_first")
    tree = as_networkx(graph.n_vertices, forests_of(partition)[0])
    for component in networkx.connected_components(tree):
        root = min(component)
        paths = networkx.single_source_shortest_path(tree, root)
        for i, j in graph.edges.tolist():
            if i in component:
                assert i in paths[j] or j in paths[i]


def test_random_forests_are_seeded():
    graph = erdos_renyi_graph(200, 800, rng=0)
    first, again, other = (
        decompose(graph, "nested", spanning="random", rng=seed).labels for seed in (1, 1, 2)
    )
    assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize(("method", "options"), ANY_GRAPH)
def test_deterministic(method, options):
    graph = erdos_renyi_graph(200, 800, rng=0)
    first = decompose(graph, method, **options).labels
    assert_array_equal(first, decompose(graph, method, **options).labels)


@pytest.mark.parametrize("shape", [(7,), (2, 2), (3, 5), (4, 1, 3), (2, 3, 4), (1, 1)])
def test_chains(shape):
    graph = grid_graph(shape)
    partition = decompose(graph, "chains")
    axes = [length for length in shape if length > 1]
    assert_is_what_it_says(partition)
    assert partition.is_linear
    assert partition.n_forests == len(axes)
    assert_array_equal(partition.longest_path_per_forest, axes)
    if axes:
        assert partition.condition_number == pytest.approx(np.sqrt(len(axes)))
        assert partition.condition_number == pytest.approx(kappa(partition))
        assert decompose(graph).method == "chains"


def test_chains_of_a_shuffled_grid():
    grid = grid_graph((5, 6))
    numbers = np.random.default_rng(0).permutation(grid.n_vertices)
    graph = Graph(grid.n_vertices, numbers[grid.edges])
    partition = decompose(graph)
    assert partition.method == "chains"
    assert sorted(partition.longest_path_per_forest) == [5, 6]
    assert_is_what_it_says(partition)


def test_chains_of_a_grid_with_holes_have_no_theorem():
    weights = [np.ones((3, 4)), np.ones((4, 3))]
    weights[0][1, 2] = 0
    partition = decompose(grid_graph((4, 4), weights), "chains")
    assert_is_what_it_says(partition)
    assert partition.is_linear
    assert partition.condition_number is None


def test_auto():
    edges = erdos_renyi_graph(500, 1500, rng=0).edges
    uneven = Graph(500, edges, np.geomspace(1, 1e4, 1500))
    hub = Graph(500, np.concatenate([edges, [(0, i) for i in range(1, 500)]]))
    assert decompose(Graph(500, edges)).method == "linear"
    assert decompose(uneven).method == "linear"
    assert decompose(path_graph(9)).method == "chains"
    for graph, reason in [
        (hub, "degree"),
        (random_tree(50, rng=1), "forest"),
        (star_graph(50), "forest"),
        (Graph(4, []), "no edges"),
    ]:
        partition = decompose(graph)
        assert partition.method == "nested"
        assert reason in partition.reason
        assert reason in repr(partition)
    assert decompose(random_tree(50, rng=1)).n_forests == 1


@given(graphs())
def test_degeneracy(graph):
    cores = networkx.core_number(as_networkx(graph.n_vertices, graph.edges.tolist()))
    assert _core.degeneracy(graph.n_vertices, graph.edges) == max(cores.values(), default=0)


@pytest.mark.parametrize("n_vertices", [0, 1, 5])
@pytest.mark.parametrize("method", [m for m in METHODS if m != "chains"])
def test_no_edges(method, n_vertices):
    partition = decompose(Graph(n_vertices, []), method)
    assert (partition.n_forests, partition.n_spanning) == (0, 0)
    assert partition.labels.shape == (0,)
    assert partition.condition_number is None
    assert "L = 0" in repr(partition)


def test_hubs_of_large_degree():
    """A star, and one whose leaves are all inside a path: quadratic work would not finish."""
    n = 200_000
    spokes = np.stack([np.zeros(n, dtype=int), np.arange(1, n + 1)], axis=1)
    inner = [(spokes[:, 1], spokes[:, 1] + n), (spokes[:, 1], spokes[:, 1] + 2 * n)]
    edges = np.concatenate([*(np.stack(ends, axis=1) for ends in inner), spokes])
    for order in ORDERS:
        star = decompose(star_graph(n + 1), "linear", order=order)
        assert star.n_forests == n // 2
        spoked = decompose(Graph(3 * n + 1, edges), "linear", order=order)
        assert spoked.is_linear
        assert spoked.n_forests == n // 2 + 1
    for method in ("nested", "matroid"):
        assert decompose(star_graph(n + 1), method).n_forests == 1


@pytest.mark.slow
def test_long_paths_need_no_stack():
    n = 300_000
    rng = np.random.default_rng(0)
    numbers = rng.permutation(n)
    path = Graph(n, np.stack([numbers[:-1], numbers[1:]], axis=1), rng.random(n - 1))
    for method, options in ANY_GRAPH:
        partition = decompose(path, method, **options)
        assert (partition.n_forests, partition.n_spanning) == (1, 1)
        assert_array_equal(partition.longest_path_per_forest, [n])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "best"}, "method must be one of .*'matroid'.*, got 'best'"),
        ({"method": None}, "method must be one of"),
        ({"method": "chains"}, "method must not be 'chains' unless the graph is a grid.*'linear'"),
        ({"spanning": "bfs"}, "spanning must be one of .*'breadth_first'.*, got 'bfs'"),
        ({"order": "random"}, "order must be one of 'weight', 'paper', got 'random'"),
        ({"rng": -1}, "rng must be at least 0, got -1"),
        ({"rng": 0.5}, "rng must be an integer, got 0.5"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        decompose(Graph(3, [(0, 1), (1, 2), (0, 2)]), **options)


def test_not_a_graph():
    with pytest.raises(ValueError, match=r"graph must be a graphtv\.Graph"):
        decompose([[0, 1]])
    with pytest.raises(ValueError, match=r"graph must be a graphtv\.Graph"):
        ForestPartition.from_labels([[0, 1]], [0])


def test_heaviest_first_is_a_stable_sort():
    rng = np.random.default_rng(0)
    for weights in (
        rng.integers(0, 4, 1000).astype(float),
        10.0 ** rng.uniform(-300, 300, 1000),
        np.full(5, 2.0),
        np.empty(0),
    ):
        order = _core.heaviest_first(weights)
        np.testing.assert_array_equal(order, np.argsort(-weights, kind="stable"))


def test_decompositions_end_with_their_watch():
    graph = grid_graph((30, 30))
    late = _core.Watch(0.0)
    order = _core.heaviest_first(graph.weights)
    for build in (_core.linear_forests, _core.nested_forests):
        with pytest.raises(_core.Expired):
            build(graph.n_vertices, graph.edges, order, late)
    with pytest.raises(_core.Expired):
        _core.degeneracy(graph.n_vertices, graph.edges, late)
