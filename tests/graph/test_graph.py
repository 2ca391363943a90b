"""Graphs: simple after construction, their gradient, conversions and errors."""

import copy
import pickle
import sys

import igraph
import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.sparse import csgraph

from graphtv import Graph
from graphtv.gallery import erdos_renyi_graph
from graphtv.graph.components import connected_components, count_pieces
from reference.simplify import simplify


@st.composite
def multigraphs(draw):
    n = draw(st.integers(1, 8))
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=40))
    weight = st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, 1e-300, 5e-324, 1e300])
    weights = draw(st.lists(weight, min_size=len(edges), max_size=len(edges)))
    return n, edges, weights


@given(multigraphs())
def test_simplified_as_by_a_dictionary(multigraph):
    n, edges, weights = multigraph
    graph = Graph(n, edges, weights)
    simple, sums = simplify(edges, weights)
    assert graph.n_vertices == n
    assert graph.n_edges == len(simple)
    assert_array_equal(graph.edges, np.reshape(simple, (-1, 2)))
    assert_array_equal(graph.weights, sums)  # summed in the same order: the same bits


@given(multigraphs())
def test_a_simple_graph_is_left_alone(multigraph):
    graph = Graph(*multigraph)
    assert Graph(graph.n_vertices, graph.edges, graph.weights) == graph


@pytest.mark.slow
def test_a_large_multigraph():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 300, (50_000, 2))
    weights = rng.integers(0, 3, 50_000).astype(float)
    simple, sums = simplify(edges.tolist(), weights.tolist())
    graph = Graph(300, edges, weights)
    assert_array_equal(graph.edges, simple)
    assert_array_equal(graph.weights, sums)


def test_arrays_are_owned_contiguous_and_read_only():
    edges, weights = np.array([[0, 1], [1, 2]], dtype=np.int32), np.array([1.0, 2.0])
    graph = Graph(3, edges, weights)
    edges[0, 0] = 2
    weights[0] = 7
    assert_array_equal(graph.edges, [[0, 1], [1, 2]])
    assert_array_equal(graph.weights, [1, 2])
    assert graph.edges.dtype == np.int32
    assert graph.weights.dtype == np.float64
    for array in (graph.edges, graph.weights):
        assert array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        graph.edges = edges


EDGES = [[0, 1], [2, 1], [3, 0]]


def read_only(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "edges",
    [
        EDGES,
        tuple(map(tuple, EDGES)),
        np.array(EDGES, dtype=np.int64),
        np.array(EDGES, dtype=np.uint64),
        np.array(EDGES, dtype=np.uint8),
        np.array(EDGES, dtype=">i4"),
        np.array(EDGES, order="F"),
        np.repeat(EDGES, 2, axis=0)[::2],
        read_only(np.array(EDGES, dtype=np.int32)),
    ],
)
@pytest.mark.parametrize(
    "weights",
    [
        [1, 2, 3],
        np.array([1, 2, 3], dtype=">f8"),
        np.array([1, 2, 3], dtype=np.float32),
        np.array([1, 2, 3], dtype=np.uint16),
        np.array([1.0, 0, 2, 0, 3, 0])[::2],
        read_only(np.array([1.0, 2, 3])),
    ],
)
def test_takes_all_sorts_of_arrays(edges, weights):
    graph = Graph(4, edges, weights)
    assert_array_equal(graph.edges, EDGES)
    assert_array_equal(graph.weights, [1, 2, 3])


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("edges", [[], np.empty((0, 2), dtype=int), np.empty((0, 2))])
@pytest.mark.parametrize("weights", [1.0, []])
def test_no_edges(n, edges, weights):
    graph = Graph(n, edges, weights)
    assert (graph.n_vertices, graph.n_edges) == (n, 0)
    assert graph.edges.shape == (0, 2)
    assert graph.weights.shape == (0,)
    assert graph.gradient().shape == (0, n)
    for same in (
        Graph.from_sparse(graph.to_sparse()),
        Graph.from_networkx(graph.to_networkx()),
        Graph.from_igraph(graph.to_igraph()),
        pickle.loads(pickle.dumps(graph)),
    ):
        assert same == graph


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, []), "n_vertices must be at least 0, got -1"),
        ((2.0, []), r"n_vertices must be an integer, got 2\.0"),
        ((True, []), "n_vertices must be an integer, got True"),
        ((2**31, []), "n_vertices must be at most 2147483647, got 2147483648"),
        (("3", []), "n_vertices must be an integer, got '3'"),
        ((3, [0, 1]), r"edges must have shape \(m, 2\), got \(2,\)"),
        ((3, [[0, 1, 2]]), r"edges must have shape \(m, 2\), got \(1, 3\)"),
        ((3, [[0, 1], [2]]), "edges must be an array"),
        ((3, [[0.0, 1.0]]), "edges must hold integers, got dtype float64"),
        ((3, [[True, False]]), "edges must hold integers, got dtype bool"),
        ((3, [[0, 1j]]), "edges must hold integers, got dtype complex128"),
        ((3, np.array([[0, 1]], dtype=object)), "edges must hold integers, got dtype object"),
        ((3, [["0", "1"]]), "edges must hold integers"),
        ((3, None), "edges must have shape"),
        ((3, [[0, 1], [1, 3]]), r"edges must lie in \[0, 3\), got 3 in row 1"),
        ((3, [[0, 1], [-1, 2]]), r"edges must lie in \[0, 3\), got -1 in row 1"),
        ((3, np.array([[0, 2**63]], dtype=np.uint64)), "got 9223372036854775808 in row 0"),
        ((0, [[0, 0]]), r"edges must lie in \[0, 0\)"),
        ((3, [[0, 1]], -1.0), r"weights must not be negative, got -1\.0"),
        ((3, [[0, 1], [1, 2]], [1, np.nan]), "weights must be finite, got nan at index 1"),
        ((3, [[0, 1], [1, 2]], [np.inf, 1]), "weights must be finite, got inf at index 0"),
        ((3, [[0, 1], [1, 2]], [1, -2]), r"weights must not be negative, got -2\.0 at index 1"),
        ((3, [[0, 1], [1, 2]], [1]), r"weights must be a number or have shape \(2,\)"),
        ((3, [[0, 1], [1, 2]], [[1], [2]]), r"weights must be a number or have shape \(2,\)"),
        ((3, [[0, 1]], 1j), "weights must hold real numbers, got dtype complex128"),
        ((3, [[0, 1]], "heavy"), "weights must hold real numbers"),
        ((3, [[0, 1]], [None]), "weights must hold real numbers, got dtype object"),
        ((3, [[0, 1], [1, 2]], [1, [2]]), "weights must be an array"),
        ((3, [[1, 2], [0, 1], [2, 1]], [1e308] * 3), r"finite sum, got inf over.*\(1, 2\)"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        Graph(*arguments)


@given(multigraphs())
def test_gradient(multigraph):
    graph = Graph(*multigraph)
    u = np.random.default_rng(0).standard_normal(graph.n_vertices)
    gradient = graph.gradient()
    assert isinstance(gradient, sparse.csr_array)
    assert gradient.has_canonical_format
    tails, heads = graph.edges.T
    assert_array_equal(gradient @ u, graph.weights * u[tails] - graph.weights * u[heads])


@given(multigraphs())
def test_to_and_from_others(multigraph):
    graph = Graph(*multigraph)
    matrix = graph.to_sparse()
    assert isinstance(matrix, sparse.csr_array)
    assert (matrix != matrix.T).nnz == 0
    low_high = np.sort(graph.edges, axis=1)
    there_and_back = Graph.from_igraph(graph.to_igraph())
    assert_array_equal(np.sort(there_and_back.edges, axis=1), low_high)
    assert_array_equal(there_and_back.weights, graph.weights)
    order = np.lexsort(low_high.T[::-1])
    same = Graph(graph.n_vertices, low_high[order], graph.weights[order])
    assert Graph.from_sparse(matrix) == same
    there_and_back = Graph.from_networkx(graph.to_networkx()).to_sparse()
    assert (there_and_back != matrix).nnz == 0


@pytest.mark.parametrize(
    "make",
    [
        getattr(sparse, f"{f}_{kind}")
        for f in ("csr", "csc", "coo", "dok", "lil", "bsr", "dia")
        for kind in ("array", "matrix")
    ]
    + [sparse.csr_array.toarray],
)
def test_from_sparse_of_any_format(make):
    graph = erdos_renyi_graph(12, 20, weights=np.arange(1, 21))
    matrix = graph.to_sparse() + sparse.csr_array(7 * np.eye(12))
    assert (Graph.from_sparse(make(matrix)).to_sparse() != graph.to_sparse()).nnz == 0


def test_from_sparse_sums_duplicates_and_drops_zeros_and_the_diagonal():
    rows, columns = [0, 1, 0, 1, 1, 2, 2], [1, 0, 1, 0, 2, 1, 2]
    values = [2, 1, -1, 0, 0, 0, np.nan]
    matrix = sparse.coo_array((values, (rows, columns)), shape=(3, 3))
    graph = Graph.from_sparse(matrix)
    assert_array_equal(graph.edges, [[0, 1]])
    assert_array_equal(graph.weights, [1])
    assert matrix.nnz == 7  # the caller's matrix is unchanged


@given(
    hnp.arrays(float, st.integers(0, 7).map(lambda n: (n, n)), elements=st.sampled_from([0, 1, 3])),
    st.sampled_from(["mean", "max", "min"]),
    st.booleans(),
)
def test_from_sparse_symmetrizes(matrix, rule, is_sparse):
    both = np.stack([matrix, matrix.T])
    expected = {"mean": np.mean, "max": np.max, "min": np.min}[rule](both, axis=0)
    np.fill_diagonal(expected, 0)
    graph = Graph.from_sparse(sparse.csc_array(matrix) if is_sparse else matrix, symmetrize=rule)
    assert_array_equal(graph.to_sparse().toarray(), expected)
    assert (np.lexsort(graph.edges.T[::-1]) == np.arange(graph.n_edges)).all()


def test_from_sparse_names_symmetrize():
    huge = np.array([[0, 1.5e308], [1.7e308, 0]])
    with pytest.raises(
        ValueError, match=r"must be symmetric, .*; pass symmetrize='mean', 'max' or"
    ):
        Graph.from_sparse(huge)
    assert Graph.from_sparse(huge, "mean").weights == pytest.approx(1.6e308)
    with pytest.raises(ValueError, match="symmetrize must be one of 'mean', 'max', 'min', got 'x'"):
        Graph.from_sparse(huge, symmetrize="x")


def test_from_sparse_forgives_rounding_alone():
    matrix = np.array([[0, 1], [1 + 4e-16, 0]])
    assert_array_equal(Graph.from_sparse(matrix).weights, [1])
    rng = np.random.default_rng(0)
    weights = rng.random((50, 50))
    weights += weights.T
    scale = rng.random(50)
    assert Graph.from_sparse(scale[:, None] * weights * scale).n_edges == 50 * 49 // 2
    matrix[1, 0] = 1 + 1e-14
    with pytest.raises(ValueError, match="matrix must be symmetric"):
        Graph.from_sparse(matrix)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), r"matrix must be square, got shape \(2, 3\)"),
        (np.ones(4), "matrix must be square"),
        (sparse.csr_array((2, 3)), "matrix must be square"),
        (np.eye(2) * 1j, "matrix must hold real numbers, got dtype complex128"),
        (np.array([["a"]]), "matrix must hold real numbers"),
        (None, "matrix must be square"),
        ([[0, 1], [2]], "matrix must be an array"),
        ([[0, 2], [1, 0]], r"symmetric, got 2\.0 at index \(0, 1\) and 1\.0 at index \(1, 0\)"),
        ([[0, 0], [1, 0]], r"symmetric, got 0\.0 at index \(0, 1\) and 1\.0 at index \(1, 0\)"),
        ([[0, -1], [-1, 0]], r"nonnegative, got -1\.0 at index \(0, 1\)"),
        ([[0, np.nan], [np.nan, 0]], r"finite, got nan at index \(0, 1\)"),
        ([[0, np.inf], [np.inf, 0]], r"finite, got inf at index \(0, 1\)"),
    ],
)
def test_from_sparse_bad_input(matrix, message):
    with pytest.raises(ValueError, match=message):
        Graph.from_sparse(matrix)


def test_from_networkx():
    G = networkx.MultiGraph()
    G.add_nodes_from("cab")
    G.add_edge("a", "b", weight=2)
    G.add_edge("b", "a")
    G.add_edge("c", "a", weight=0.5, length=3)
    G.add_edge("c", "c", weight=9)
    graph = Graph.from_networkx(G)
    assert {frozenset(e) for e in graph.edges.tolist()} == {frozenset((0, 1)), frozenset((1, 2))}
    assert graph.to_sparse()[[0, 1], [1, 2]].tolist() == [0.5, 3]
    assert Graph.from_networkx(G, weight="length").to_sparse()[0, 1] == 3
    assert Graph.from_networkx(G, weight=None).to_sparse()[1, 2] == 2


def test_from_igraph():
    G = igraph.Graph(n=4, edges=[(2, 1), (1, 2), (0, 1)])
    graph = Graph.from_igraph(G)
    assert_array_equal(np.sort(graph.edges, axis=1), [[1, 2], [0, 1]])
    assert_array_equal(graph.weights, [2, 1])
    G.es["weight"] = [5, None, 2]
    assert_array_equal(Graph.from_igraph(G).weights, [6, 2])
    assert_array_equal(Graph.from_igraph(G, weight=None).weights, [2, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Graph.from_networkx(networkx.DiGraph()), "G must be undirected"),
        (lambda: Graph.from_networkx([[0, 1]]), "G must be a networkx graph, got list"),
        (lambda: Graph.from_igraph(igraph.Graph(directed=True)), "G must be undirected"),
        (lambda: Graph.from_igraph(networkx.Graph()), "G must be an igraph graph, got Graph"),
        (
            lambda: Graph.from_networkx(networkx.Graph([(0, 1, {"weight": -1})])),
            "the edge attribute 'weight' of G must not be negative",
        ),
        (
            lambda: Graph.from_networkx(networkx.Graph([(0, 1, {"weight": "x"})])),
            "the edge attribute 'weight' of G must hold real numbers",
        ),
        (
            lambda: Graph.from_networkx(networkx.path_graph(3), weight=["weight"]),
            r"weight must name an edge attribute or be None, got \['weight'\]",
        ),
        (
            lambda: Graph.from_igraph(igraph.Graph(2, [(0, 1)]), weight=2.0),
            r"weight must name an edge attribute or be None, got 2\.0",
        ),
    ],
)
def test_from_others_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("package", ["networkx", "igraph"])
def test_a_missing_package_names_its_extra(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    graph = Graph(2, [[0, 1]])
    with pytest.raises(ImportError, match=r'pip install "graphtv\[graphs\]"'):
        getattr(graph, f"to_{package}")()


def test_copies_equal_and_stay_read_only():
    graph = erdos_renyi_graph(10, 20)
    for same in (pickle.loads(pickle.dumps(graph)), copy.copy(graph), copy.deepcopy(graph)):
        assert same == graph
        assert hash(same) == hash(graph)
        assert not same.edges.flags.writeable
        assert not same.weights.flags.writeable
    assert graph != Graph(11, graph.edges)
    assert graph != Graph(10, graph.edges, 2.0)
    assert graph != Graph(10, graph.edges[::-1])
    assert graph != "graph"


def test_repr():
    assert repr(Graph(3, [[0, 1]])) == "Graph(3 vertices, 1 edges)"


@pytest.mark.parametrize("seed", range(5))
def test_components_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    graph = Graph(n, rng.integers(0, n, (n, 2)))
    kept = rng.random(graph.n_edges) < 0.6
    for keep in (None, kept):
        edges = graph.edges if keep is None else graph.edges[keep]
        links = sparse.coo_array((np.ones(len(edges)), edges.T), shape=(n, n))
        count, labels = csgraph.connected_components(links, directed=False)
        found, pieces = connected_components(graph, keep)
        assert found == count
        np.testing.assert_array_equal(pieces, labels)
    u = rng.integers(0, 3, n).astype(float)
    tails, heads = graph.edges.T
    assert count_pieces(graph, u) == connected_components(graph, u[tails] == u[heads])[0]
