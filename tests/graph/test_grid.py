"""Grids by their definition, and their recognition for any order of the vertices."""

import itertools
import math
import pickle

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from graphtv import Graph, gallery, grid_graph, recognize_grid
from reference import grid_recognition

shapes = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


def shuffled(graph, seed=0):
    """The same graph with renumbered vertices and with edges in another order and orientation."""
    rng = np.random.default_rng(seed)
    edges = rng.permutation(graph.n_vertices)[graph.edges]
    return Graph(graph.n_vertices, rng.permuted(rng.permutation(edges), axis=1))


def without_hint(graph):
    return Graph(graph.n_vertices, graph.edges, graph.weights)


def assert_is_grid(graph, grid, shape):
    """Assert that the coordinates map the edges of the graph exactly to those of the lattice."""
    assert sorted(grid.shape) == sorted(shape)
    assert grid.coordinates.shape == (graph.n_vertices, len(shape))
    place = np.ravel_multi_index(tuple(grid.coordinates.T), grid.shape)
    assert_array_equal(np.sort(place), np.arange(graph.n_vertices))
    assert {frozenset(e) for e in place[graph.edges].tolist()} == {
        frozenset(e) for e in grid_graph(grid.shape).edges.tolist()
    }


@given(shapes)
def test_edges_by_definition(shape):
    """Axis by axis, in row-major order of the lower vertex."""
    points = list(itertools.product(*map(range, shape)))
    number = {point: k for k, point in enumerate(points)}
    edges = []
    for axis in range(len(shape)):
        for point in points:
            after = (*point[:axis], point[axis] + 1, *point[axis + 1 :])
            if after in number:
                edges.append((number[point], number[after]))
    graph = grid_graph(shape)
    assert graph.n_vertices == len(points)
    assert_array_equal(graph.edges, np.reshape(edges, (-1, 2)))
    assert_array_equal(graph.weights, np.ones(len(edges)))


@given(shapes, st.integers(0, 100))
def test_array_weights_sit_on_their_edges(shape, seed):
    rng = np.random.default_rng(seed)
    image = rng.random(shape)
    weights = [np.abs(np.diff(image, axis=axis)) for axis in range(len(shape))]
    graph = grid_graph(shape, weights)
    tails, heads = graph.edges.T
    assert_array_equal(graph.weights, np.abs(image.ravel()[heads] - image.ravel()[tails]))


def test_weights_per_axis():
    assert_array_equal(grid_graph((2, 3), 2).weights, [2] * 7)
    assert_array_equal(grid_graph((2, 3), [1, 5]).weights, [1] * 3 + [5] * 4)
    assert_array_equal(grid_graph((2, 3), np.array([1, 5])).weights, [1] * 3 + [5] * 4)
    mixed = grid_graph((2, 3), [[[1, 2, 3]], 5])
    assert_array_equal(mixed.weights, [1, 2, 3, 5, 5, 5, 5])
    assert_array_equal(grid_graph(3, [[1, 2]]).weights, [1, 2])


def test_zero_weights_are_dropped_and_the_hint_stays_true():
    graph = grid_graph((2, 3), [0, 5])
    assert_array_equal(graph.edges, [[0, 1], [1, 2], [3, 4], [4, 5]])
    assert graph._grid.shape == (2, 3)
    assert recognize_grid(graph) is None
    assert recognize_grid(grid_graph((2, 1, 3), [1, 0, 1])).shape == (2, 3)


@pytest.mark.parametrize("shape", [5, (5,), [5], np.int64(5), np.array([5])])
def test_one_dimension(shape):
    assert_array_equal(grid_graph(shape).edges, [[0, 1], [1, 2], [2, 3], [3, 4]])


def test_many_axes_of_length_one():
    graph = grid_graph((1,) * 100 + (3,))
    assert_array_equal(graph.edges, [[0, 1], [1, 2]])
    assert recognize_grid(graph).shape == (3,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((),), r"shape must have at least one axis, got \(\)"),
        ((0,), "shape must be at least 1, got 0"),
        (((3, -1),), "shape must be at least 1, got -1"),
        (((3, 2.0),), r"shape must be an integer, got 2\.0"),
        (((3, [2]),), r"shape must be an integer, got \[2\]"),
        (([[3, 2]],), "shape must be an integer"),
        (("32",), "shape must be an integer, got '3'"),
        ((None,), "shape must be an integer, got None"),
        (((2**16, 2**15),), "shape must have at most 2147483647 vertices"),
        (((2**15, 2**15, 2**15),), "shape must have at most 2147483647 vertices"),
        (((1024, 1024, 1023),), "shape must have at most 2147483647 edges"),
        (((2, 3), -1), r"weights must not be negative, got -1\.0"),
        (((2, 3), np.nan), "weights must be finite, got nan"),
        (((2, 3), [1, 2, 3]), "one entry for each of the 2 axes, got 3"),
        (((2, 3), [1, -2]), r"weights\[1\] must not be negative, got -2\.0"),
        (((2, 3), [1, np.ones((2, 3))]), r"weights\[1\] .*shape \(2, 2\), got shape \(2, 3\)"),
        (((2, 3), [1, [[1, 2], [3]]]), r"weights\[1\] must be an array"),
        (((2, 3), "ab"), r"weights\[0\] must hold real numbers"),
        (((2, 3), sparse.csr_array(np.eye(2))), "weights must hold real numbers, got dtype object"),
        ((sparse.csr_array(np.eye(2)),), "shape must be an integer"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        grid_graph(*arguments)


@given(shapes, st.integers(0, 2**32))
def test_recognises_shuffled_grids(shape, seed):
    graph = shuffled(grid_graph(shape), seed)
    grid = recognize_grid(graph)
    assert_is_grid(graph, grid, [length for length in shape if length > 1] or [1])
    twin_shape, twin_coordinates = grid_recognition.recognize_grid(graph)
    assert grid.shape == twin_shape
    assert_array_equal(grid.coordinates, twin_coordinates)


@given(shapes)
def test_a_row_major_grid_keeps_its_coordinates(shape):
    """The hint of grid_graph is only a shortcut and changes nothing."""
    graph = grid_graph(shape)
    known, found = recognize_grid(graph), recognize_grid(without_hint(graph))
    assert known.shape == found.shape
    assert_array_equal(known.coordinates, found.coordinates)


@pytest.mark.parametrize("shape", [(2,) * 10, (1000,), (2, 500), (30, 40), (9, 10, 11), (3,) * 6])
def test_recognises_larger_grids(shape):
    graph = shuffled(grid_graph(shape))
    assert_is_grid(graph, recognize_grid(graph), shape)


@given(shapes.filter(lambda shape: 2 < math.prod(shape) <= 60), st.data())
def test_a_grid_with_an_edge_removed_added_or_moved(shape, data):
    """It is no longer a grid, with exceptions such as the square minus an edge, a path."""
    graph = grid_graph(shape)
    n, edges = graph.n_vertices, graph.edges.tolist()
    absent = sorted(set(itertools.combinations(range(n), 2)) - set(map(tuple, edges)))
    removed = data.draw(st.sampled_from(edges))
    added = list(data.draw(st.sampled_from(absent)))
    rest = [edge for edge in edges if edge != removed]
    for changed in (rest, [*edges, added], [*rest, added]):
        other = Graph(n, changed)
        assert (recognize_grid(other) is not None) == is_some_grid(other)


def is_some_grid(graph):
    """Decide by isomorphism with every grid of as many vertices and edges."""
    candidates = (grid_graph(shape) for shape in factorisations(graph.n_vertices))
    return any(
        candidate.n_edges == graph.n_edges
        and networkx.is_isomorphic(candidate.to_networkx(), graph.to_networkx())
        for candidate in candidates
    )


def factorisations(n, smallest=2):
    """Yield the factorisations of n into nondecreasing factors, each at least `smallest`."""
    if n == 1 and smallest == 2:
        yield (1,)
    for factor in range(smallest, n + 1):
        if n == factor:
            yield (n,)
        elif n % factor == 0:
            for rest in factorisations(n // factor, factor):
                yield (factor, *rest)


@given(st.integers(1, 9), st.data())
def test_small_graphs_are_grids_iff_isomorphic_to_one(n, data):
    pairs = list(itertools.combinations(range(n), 2))
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True, max_size=12)) if pairs else []
    graph = Graph(n, edges)
    grid = recognize_grid(graph)
    assert (grid is not None) == is_some_grid(graph)
    assert (grid_recognition.recognize_grid(graph) is not None) == (grid is not None)


def product_with_cycle(length, other):
    """Return the product of a cycle and a path or cycle (negative: cycle) of `other` vertices."""
    second = networkx.cycle_graph(-other) if other < 0 else networkx.path_graph(other)
    product = networkx.cartesian_product(networkx.cycle_graph(length), second)
    return Graph.from_networkx(product)


@pytest.mark.parametrize(
    "graph",
    [
        Graph(0, []),
        Graph(2, []),
        Graph(6, [[0, 1], [1, 2], [3, 4], [4, 5]]),
        Graph(5, [[0, 1], [1, 2], [2, 3], [3, 0]]),
        Graph(8, np.concatenate([grid_graph((2, 2)).edges, grid_graph((2, 2)).edges + 4])),
        product_with_cycle(5, -7),
        product_with_cycle(4, -5),
        product_with_cycle(6, 4),
        product_with_cycle(3, 3),
        *(Graph.from_networkx(networkx.cycle_graph(n)) for n in (3, 5, 6, 8, 100)),
        *(Graph.from_networkx(networkx.complete_graph(n)) for n in (3, 4, 8, 40)),
        Graph.from_networkx(networkx.complete_bipartite_graph(4, 4)),
        Graph.from_networkx(networkx.petersen_graph()),
        *(gallery.star_graph(n) for n in (4, 5, 100)),
        gallery.caterpillar_graph(5, 1),
        gallery.broom_graph(5, 2),
        *(gallery.random_tree(64, seed) for seed in range(5)),
        *(gallery.erdos_renyi_graph(36, 60, seed) for seed in range(5)),
    ],
    ids=repr,
)
def test_refuses(graph):
    assert recognize_grid(shuffled(graph)) is None


def test_small_grids_in_disguise():
    """A star with three vertices is a path, and the cycle of four is a square."""
    assert recognize_grid(gallery.star_graph(3)).shape == (3,)
    assert recognize_grid(Graph(4, [[0, 1], [1, 2], [2, 3], [3, 0]])).shape == (2, 2)
    assert recognize_grid(product_with_cycle(4, -4)).shape == (2, 2, 2, 2)
    assert recognize_grid(product_with_cycle(4, 5)).shape == (2, 2, 5)


def test_recognises_graphs_only():
    with pytest.raises(ValueError, match=r"graph must be a graphtv\.Graph, got 'grid'"):
        recognize_grid("grid")


def test_structure_is_read_only_and_pickles():
    for graph in (grid_graph((3, 4)), without_hint(grid_graph((3, 4)))):
        grid = recognize_grid(graph)
        same = pickle.loads(pickle.dumps(grid))
        assert repr(same) == repr(grid) == "GridStructure(shape=(3, 4))"
        assert_array_equal(same.coordinates, grid.coordinates)
        for one in (grid, same):
            assert one.coordinates.dtype == np.int32
            assert not one.coordinates.flags.writeable
    assert pickle.loads(pickle.dumps(grid_graph((3, 4))))._grid.shape == (3, 4)
