"""Nearest neighbours against all pairs of points."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from graphtv import knn_graph

TINY = np.finfo(float).tiny


def distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def kth_distances(points, k):
    """Return the distance of each point to the k-th nearest of the others."""
    d = distances(points)
    np.fill_diagonal(d, np.inf)
    return np.sort(d, axis=1)[:, k - 1]


@given(st.integers(2, 30), st.integers(1, 4), st.integers(0, 1000), st.data())
def test_by_definition(n, dimension, seed, data):
    points = np.random.default_rng(seed).standard_normal((n, dimension))
    k = data.draw(st.integers(1, n - 1))
    graph = knn_graph(points, k)
    d, kth = distances(points), kth_distances(points, k)
    near = d <= np.maximum(kth[:, None], kth[None])  # i is a neighbour of j, or j of i
    assert_array_equal(graph.edges, np.argwhere(np.triu(near, 1)))
    i, j = graph.edges.T
    weights = np.exp(-((d[i, j] / np.maximum(kth[i], kth[j])) ** 2))
    assert_allclose(graph.weights, weights, rtol=1e-10)


@given(
    hnp.arrays(float, st.tuples(st.integers(2, 40), st.just(2)), elements=st.integers(0, 2)),
    st.data(),
)
def test_coinciding_points(points, data):
    """Each point still has at least k neighbours, and none is farther than the k-th of an end."""
    n = len(points)
    k = data.draw(st.integers(1, n - 1))
    graph = knn_graph(points, k)
    assert (graph.edges[:, 0] < graph.edges[:, 1]).all()
    assert (np.bincount(graph.edges.ravel(), minlength=n) >= k).all()
    assert graph.n_edges <= n * k
    i, j = graph.edges.T
    kth = kth_distances(points, k)
    d = distances(points)[i, j]
    assert (d <= np.maximum(kth[i], kth[j]) + 1e-12).all()
    assert (graph.weights[d == 0] == 1).all()
    assert (graph.weights[d > 0] < 1).all()


def test_default_bandwidth_among_doubles():
    doubles = np.zeros((10, 1))
    assert_array_equal(knn_graph(doubles, 2).weights, 1)
    points = np.append(doubles, [[3.0]], axis=0)
    weights = knn_graph(points, 1).weights
    assert weights.min() == pytest.approx(math.exp(-1))


@given(
    hnp.arrays(
        float,
        st.tuples(st.integers(2, 40), st.integers(1, 3)),
        elements=st.floats(-1e300, 1e300) | st.integers(-2, 2).map(float),
    ),
    st.data(),
)
def test_default_weights_are_of_one_order_of_magnitude(points, data):
    """For any density, no edge is much lighter than the others."""
    graph = knn_graph(points, data.draw(st.integers(1, len(points) - 1)))
    assert graph.weights.max() <= 1
    assert graph.weights.min() >= math.exp(-1) * (1 - 1e-15)


def test_bandwidth():
    points = np.array([[0.0], [1.0], [3.0]])
    for unbounded in (math.inf, np.float32("inf")):
        assert_array_equal(knn_graph(points, 1, bandwidth=unbounded).weights, [1, 1])
    assert_array_equal(knn_graph(points, 1, bandwidth=np.float64(np.inf)).weights, [1, 1])
    assert_allclose(knn_graph(points, 1, bandwidth=2).weights, np.exp([-1 / 4, -1]), rtol=1e-15)


@pytest.mark.parametrize("bandwidth", [1e-3, 1e-200, 5e-324])
def test_a_small_bandwidth_keeps_every_edge(bandwidth):
    graph = knn_graph([[0.0], [0.0], [1e3], [3e3]], 1, bandwidth)
    assert_array_equal(np.sort(graph.weights), [TINY, TINY, 1])


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_any_scale(scale):
    points = np.random.default_rng(0).standard_normal((30, 3))
    plain, scaled = knn_graph(points, 4), knn_graph(scale * points, 4)
    assert_array_equal(scaled.edges, plain.edges)
    assert_allclose(scaled.weights, plain.weights, rtol=1e-9)


def test_deterministic():
    points = np.random.default_rng(0).integers(0, 4, (200, 3))
    assert knn_graph(points) == knn_graph(points.astype(">f4")) == knn_graph(points.tolist())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.0], [1.0]], 2), "n_neighbors must be below the number of points 2, got 2"),
        (([[0.0], [1.0]], 0), "n_neighbors must be at least 1, got 0"),
        (([[0.0], [1.0]], 1.5), r"n_neighbors must be an integer, got 1\.5"),
        ((np.empty((0, 2)),), "n_neighbors must be below the number of points 0, got 10"),
        ((np.empty((20, 0)),), r"points must have shape \(n, dimension\), got \(20, 0\)"),
        ((np.arange(20.0),), r"points must have shape \(n, dimension\), got \(20,\)"),
        (([[0.0], [np.nan]], 1), r"points must be finite, got nan at index \(1, 0\)"),
        (([["a"], ["b"]], 1), "points must hold real numbers"),
        (([[0.0], [1.0]], 1, 0), r"bandwidth must be above 0, got 0\.0"),
        (([[0.0], [1.0]], 1, -math.inf), "bandwidth must be finite, got -inf"),
        (([[0.0], [1.0]], 1, math.nan), "bandwidth must be finite, got nan"),
        (([[0.0], [1.0]], 1, "wide"), "bandwidth must hold real numbers"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        knn_graph(*arguments)
