"""Elementary functions, nearest neighbours and random choices of the library."""

import math

import numpy as np
import pytest
from scipy.spatial import cKDTree

from graphtv._elementary import exp, expm1, geometric, log, log1p
from graphtv._nearest import nearest
from graphtv._ties import first_least, first_up_to, largest_classes


@pytest.mark.parametrize(
    ("function", "reference", "low", "high"),
    [
        (exp, np.exp, -745.0, 709.0),
        (log, np.log, 1e-310, 1e300),
        (log1p, np.log1p, -0.999, 1e3),
        (expm1, np.expm1, -40.0, 40.0),
    ],
)
def test_functions_agree_with_numpy(function, reference, low, high):
    x = low + (high - low) * np.random.default_rng(0).random((50, 40))
    np.testing.assert_allclose(function(x), reference(x), rtol=1e-15, atol=1e-322)
    assert function(x[:, ::2]).shape == (50, 20)
    assert function(1.0).shape == ()


def test_functions_at_the_ends():
    assert exp([-math.inf, math.inf, 0.0]).tolist() == [0.0, math.inf, 1.0]
    assert log([0.0, 1.0, math.inf]).tolist() == [-math.inf, 0.0, math.inf]
    assert log1p([-1.0, 0.0]).tolist() == [-math.inf, 0.0]
    assert np.isnan(log([-1.0])).all()
    assert np.isnan(exp([math.nan])).all()


def test_geometric_numbers_have_a_constant_ratio():
    np.testing.assert_allclose(geometric(1.0, 1e-3, 50), np.geomspace(1.0, 1e-3, 50), rtol=1e-14)
    assert geometric(2.0, 0.5, 3)[[0, -1]].tolist() == [2.0, 0.5]
    assert geometric(2.0, 0.5, 1).tolist() == [2.0]


def obvious(points, k):
    """Return the neighbours by all distances; ties go to the next in cyclic order."""
    n = len(points)
    found = []
    for i in range(n):
        d = np.sqrt(np.square(points - points[i]).sum(axis=1))
        others = [(i + step) % n for step in range(1, n)]
        found.append(sorted(others, key=lambda j, d=d: d[j])[:k])  # a stable sort
    return np.array(found)


@pytest.mark.parametrize("k", [1, 3, 6, 11])
def test_nearest_neighbours_of_points_with_ties(k):
    lattice = np.stack(np.meshgrid(np.arange(9), np.arange(7)), axis=-1).reshape(-1, 2) * 0.1
    doubles = np.repeat(np.random.default_rng(1).random((12, 3)), 5, axis=0)
    for points in (lattice, doubles, np.random.default_rng(2).random((60, 4))):
        own = np.arange(len(points))
        distances, indices = nearest(cKDTree(points).query, points, points, k, own)
        np.testing.assert_array_equal(indices, obvious(points, k))
        assert (np.diff(distances, axis=1) >= 0).all()


def test_the_search_may_list_ties_in_any_order():
    points = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    turned = np.random.default_rng(3).permutation(len(points))
    tree = cKDTree(points[turned])

    def search(queries, count):
        distances, indices = tree.query(queries, count)
        return distances * (1.0 + 1e-15), turned[indices]

    own = np.arange(len(points))
    _, indices = nearest(search, points, points, 6, own)
    np.testing.assert_array_equal(indices, obvious(points, 6))


def test_many_points_in_one_place_have_neighbours_there():
    points = np.zeros((500, 2))
    own = np.arange(500)
    distances, indices = nearest(cKDTree(points).query, points, points, 4, own)
    assert (distances == 0.0).all()
    assert not (indices == own[:, None]).any()
    assert all(len(set(row)) == 4 for row in indices.tolist())


def test_new_points_take_the_first_of_equals():
    points = np.array([[1.0], [-1.0], [1.0]])
    _, indices = nearest(cKDTree(points).query, points, np.zeros((1, 1)), 1)
    assert indices.tolist() == [[0]]


def test_rounding_does_not_choose():
    values = np.array([3.0, 2.0 * (1.0 + 1e-13), 2.0, 5.0])
    assert first_least(values) == 1
    assert first_least(np.array([3.0, 2.001, 2.0])) == 2
    assert first_least(np.array([np.inf, np.inf])) == 0
    assert first_least(np.array([-1.0, -1.0 - 1e-13, -0.5])) == 0
    assert first_up_to(values, 2.5) == 1
    shares = [[0.2, 0.4 - 1e-14, 0.4], [0.1, 0.2, 0.7]]
    assert largest_classes(shares).tolist() == [1, 2]
