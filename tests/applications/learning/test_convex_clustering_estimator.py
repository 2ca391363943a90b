"""Convex clustering as a scikit-learn estimator."""

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from graphtv import ConvexClustering, knn_graph  # noqa: E402


@pytest.mark.slow
@parametrize_with_checks([ConvexClustering(), ConvexClustering(n_clusters=2)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:lam='auto' finds a single cluster:UserWarning")
@pytest.mark.filterwarnings("ignore:no λ with n_clusters:UserWarning")
@pytest.mark.filterwarnings("ignore:the standard deviations:UserWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(centre, 0.3, (20, 2)) for centre in (0.0, 2.0, 5.0)])


def test_attributes(points):
    model = ConvexClustering(tol=1e-5).fit(points)
    assert model.n_clusters_ == 3
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1, 2], 20))
    np.testing.assert_allclose(
        model.cluster_centers_, [points[20 * k : 20 * k + 20].mean(axis=0) for k in range(3)]
    )
    assert model.result_.status == "optimal"
    assert model.lam_ == model.result_.lam
    np.testing.assert_array_equal(model.predict(points), model.labels_)
    np.testing.assert_array_equal(model.predict([[0.1, 0.1], [4.8, 5.0]]), [0, 2])
    assert ConvexClustering(n_clusters=2, tol=1e-5).fit(points).n_clusters_ == 2
    given = ConvexClustering(0.5, graph=knn_graph(points, 5)).fit(points)
    assert given.graph_.n_edges == knn_graph(points, 5).n_edges


def test_warnings(points):
    with pytest.warns(UserWarning, match="little influence; scale X"):
        ConvexClustering(1.0).fit(points * [1.0, 1e3])
    scaled = make_pipeline(StandardScaler(), ConvexClustering(tol=1e-5))
    np.testing.assert_array_equal(scaled.fit_predict(points * [1.0, 1e3]), np.repeat([0, 1, 2], 20))
    with pytest.warns(ConvergenceWarning, match="iteration_limit"):
        ConvexClustering(0.3, solve_options={"max_iterations": 1}).fit(points)
    with pytest.raises(ValueError, match=r"^solve_options must be a dict"):
        ConvexClustering(solve_options=3).fit(points)
    with pytest.raises(TypeError, match="unexpected keyword argument 'tolerance'"):
        ConvexClustering(solve_options={"tolerance": 3}).fit(points)
