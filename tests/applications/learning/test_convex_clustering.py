"""Convex clustering: the problem that is solved, and its clusters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import (
    CoupledTV,
    Graph,
    Problem,
    SquaredLoss,
    convex_clustering,
    convex_clustering_path,
    fused_lasso,
    knn_graph,
)
from graphtv.applications.graph_input import scaled
from graphtv.applications.learning.clustering_graph import clustering_graph
from graphtv.graph.components import connected_components
from verify import verify


def blobs(seed=0, n=20, d=2, spread=0.3, centres=(0.0, 2.0, 5.0)):
    rng = np.random.default_rng(seed)
    points = np.concatenate([rng.normal(centre, spread, (n, d)) for centre in centres])
    return points, np.repeat(np.arange(len(centres)), n)


def same_partition(a, b):
    pairs = {(int(x), int(y)) for x, y in zip(a, b, strict=True)}
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


@pytest.mark.parametrize("lam", [0.02, 0.2, 2.0, 50.0])
def test_the_problem_that_is_solved(lam):
    points, _ = blobs()
    result = convex_clustering(points, lam=lam, tol=1e-7)
    problem = Problem(scaled(result.graph, lam), SquaredLoss(points), CoupledTV())
    verify(result, problem)
    assert result.status == "optimal"
    # Clusters are connected, u is constant on each, and differs across all other edges.
    a, b = result.graph.edges.T
    inside = result.labels[a] == result.labels[b]
    assert ((result.u[a] == result.u[b]).all(axis=1) == inside).all()
    count, pieces = connected_components(result.graph, inside)
    assert count == result.n_clusters == len(result.centroids)
    np.testing.assert_array_equal(pieces, result.labels)
    np.testing.assert_array_equal(result.centroids[result.labels], result.u)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_against_cvxpy(seed):
    cvxpy = pytest.importorskip("cvxpy")
    points, _ = blobs(seed, n=6, d=3)
    lam = [0.05, 0.3, 1.0, 3.0, 10.0][seed]
    result = convex_clustering(points, lam=lam, n_neighbors=4, tol=1e-9)
    u = cvxpy.Variable(points.shape)
    differences = result.graph.gradient().toarray() @ u
    cost = 0.5 * cvxpy.sum_squares(u - points) + lam * cvxpy.sum(cvxpy.norm(differences, axis=1))
    value = cvxpy.Problem(cvxpy.Minimize(cost)).solve(solver="CLARABEL")
    assert result.primal == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(result.u, u.value, atol=1e-3)
    close = np.linalg.norm(
        u.value[result.graph.edges[:, 0]] - u.value[result.graph.edges[:, 1]], axis=1
    )
    _, labels = connected_components(result.graph, close < 1e-4)
    assert same_partition(labels, result.labels)


def test_given_graphs():
    points, truth = blobs()
    graph = knn_graph(points, 5)
    result = convex_clustering(points, graph, 0.5, tol=1e-8)
    network_lasso = fused_lasso(graph, points, lam=0.5, coupled=True, tol=1e-8)
    assert (
        np.linalg.norm(result.u - network_lasso.u) <= result.error_bound + network_lasso.error_bound
    )
    as_matrix = convex_clustering(points, graph.to_sparse(), 0.5, tol=1e-8)
    np.testing.assert_array_equal(as_matrix.labels, result.labels)
    apart = Graph(60, [[i, i + 1] for i in range(59) if truth[i] == truth[i + 1]])
    everything = convex_clustering(points, apart, 1e4)
    np.testing.assert_array_equal(everything.labels, truth)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_default_choice_finds_blobs_in_any_unit(scale, offset):
    points, truth = blobs(n=25)
    result = convex_clustering(scale * (points + offset), tol=1e-5)
    assert same_partition(result.labels, truth)
    two = convex_clustering(scale * (points + offset), n_clusters=2, tol=1e-5)
    assert two.n_clusters == 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_default_choice_on_ordinary_data(seed):
    datasets = pytest.importorskip("sklearn.datasets")
    moons = datasets.make_moons(300, noise=0.06, random_state=seed)
    wide = datasets.make_blobs(
        250, centers=5, n_features=10, cluster_std=2.0, random_state=seed, center_box=(-20, 20)
    )
    uneven = datasets.make_blobs(
        [100, 40, 20], centers=[[0, 0], [8, 0], [0, 8]], cluster_std=[1.0, 0.5, 0.3],
        random_state=seed,
    )  # fmt: skip
    for points, truth in (moons, wide, uneven):
        assert same_partition(convex_clustering(points, tol=1e-5).labels, truth)
    points, truth = datasets.load_iris(return_X_y=True)
    found = convex_clustering(points, tol=1e-5)  # setosa, and the other two together
    assert same_partition(found.labels, truth > 0)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 20.0), st.integers(1, 12), st.integers(1, 4))
def test_properties_of_random_points(seed, lam, n, d):
    rng = np.random.default_rng(seed)
    points = rng.integers(-3, 4, (n, d)).astype(float)  # with coinciding points
    graph = clustering_graph(points, 4, 0.5)
    assert connected_components(graph)[0] == 1
    result = convex_clustering(points, graph, lam, tol=1e-6)
    assert result.status == "optimal"
    np.testing.assert_allclose(result.u.mean(axis=0), points.mean(axis=0), atol=1e-9)
    order = rng.permutation(n)
    rank = np.argsort(order)
    turned = Graph(n, rank[graph.edges], graph.weights)
    again = convex_clustering(points[order] + 7.0, turned, lam, tol=1e-6)
    slack = result.error_bound + again.error_bound + 1e-9
    assert np.linalg.norm(again.u - 7.0 - result.u[order]) <= slack


def test_coinciding_points_and_small_samples():
    assert convex_clustering([[1.0, 2.0]]).labels.tolist() == [0]
    with pytest.warns(UserWarning, match="single cluster"):
        same = convex_clustering(np.ones((30, 2)))
    assert same.n_clusters == 1
    twice = convex_clustering(np.repeat([[0.0], [1.0], [5.0]], 8, axis=0), lam=1e-3)
    assert twice.n_clusters == 3


def test_number_of_clusters():
    points, truth = blobs()
    for k in (1, 2, 3, 5, 60):
        assert convex_clustering(points, n_clusters=k, tol=1e-5).n_clusters == k
    square = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    with pytest.warns(UserWarning, match=r"^no λ with n_clusters=3 was found: .* 4 clusters"):
        convex_clustering(square, [[0, 1], [1, 3], [3, 2], [2, 0]], n_clusters=3)
    apart = Graph(60, [[i, i + 1] for i in range(59) if truth[i] == truth[i + 1]])
    with pytest.warns(UserWarning, match="the result has 3 clusters"):
        convex_clustering(points, apart, n_clusters=1, tol=1e-5)


def test_the_same_bits_for_any_number_of_threads():
    points, _ = blobs(n=200, d=5)
    one, two = (convex_clustering(points, lam=1.0, n_threads=k, tol=1e-5) for k in (1, 2))
    np.testing.assert_array_equal(one.u, two.u)
    np.testing.assert_array_equal(one.p, two.p)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"X": np.zeros(3)}, r"X must have shape \(n, n_features\), got \(3,\)"),
        ({"X": np.full((3, 2), np.nan)}, "X must be finite"),
        ({"lam": 0.0}, "lam must be above 0"),
        ({"lam": "bic"}, "lam must be a number or 'auto', got 'bic'"),
        ({"lam": 1.0, "n_clusters": 2}, "lam must be 'auto' if n_clusters is given, got 1.0"),
        ({"n_clusters": 0}, "n_clusters must be at least 1"),
        ({"n_clusters": 9}, "n_clusters must be at most 4"),
        ({"n_neighbors": 0}, "n_neighbors must be at least 1"),
        ({"bandwidth": 0.01}, "bandwidth must be at least 0.1"),
        ({"graph": Graph(3, [[0, 1]])}, "graph must have 4 vertices"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        convex_clustering(**{"X": np.eye(4), **options})
    with pytest.raises(TypeError, match=r"^convex_clustering\(\) got an unexpected keyword"):
        convex_clustering(np.eye(3), lamda=1.0)


def test_paths():
    points, truth = blobs()
    path = convex_clustering_path(points, n_lambdas=15, tol=1e-5)
    assert len(path) == 15
    assert path.n_clusters[0] == 1
    assert path.n_clusters[-1] > 3
    assert (np.diff(path.lambdas) < 0).all()
    assert (path.relative_gap <= 1e-5).all()
    assert same_partition(path.best().labels, truth)
    assert "← longest run" in repr(path)
    assert path.u.shape == (15, 60, 2)
    given_values = convex_clustering_path(points, lambdas=[0.1, 10.0, 1.0], tol=1e-5)
    assert given_values.lambdas.tolist() == [10.0, 1.0, 0.1]
    for lam, warm in zip(given_values.lambdas, given_values.results, strict=True):
        cold = convex_clustering(points, lam=lam, tol=1e-5)
        np.testing.assert_array_equal(warm.labels, cold.labels)
    with pytest.raises(ValueError, match=r"^lambdas must be above 0"):
        convex_clustering_path(points, lambdas=[1.0, -1.0])
    with pytest.raises(ValueError, match=r"^ratio must be below 1"):
        convex_clustering_path(points, ratio=2.0)


def test_linkage_is_that_of_scipy():
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    points, truth = blobs()
    path = convex_clustering_path(points, n_lambdas=15, tol=1e-5)
    rows = path.linkage()
    assert hierarchy.is_valid_linkage(rows)
    assert rows[-1, 3] == len(points)
    cut = hierarchy.fcluster(rows, 3, "maxclust")
    assert same_partition(cut, truth)
    # Cut at a λ of the path, it has at most the clusters of the solution there.
    for lam, result in zip(path.lambdas, path.results, strict=True):
        cut = hierarchy.fcluster(rows, lam, "distance")
        assert len(set(cut.tolist())) <= result.n_clusters
        assert len(set(zip(cut.tolist(), result.labels.tolist(), strict=True))) == result.n_clusters
    apart = Graph(60, [[i, i + 1] for i in range(59) if truth[i] == truth[i + 1]])
    never = convex_clustering_path(points, apart, n_lambdas=3, tol=1e-5).linkage()
    assert np.isinf(never[-2:, 2]).all()
    assert np.isfinite(never[:-2, 2]).all()
