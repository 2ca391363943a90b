"""Regression on a graph: the conventions of scikit-learn, agreement with CVXPY, and its purpose."""

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from scipy import sparse  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from graphtv import (  # noqa: E402
    FusedLinearRegression,
    FusedLogisticRegression,
    Graph,
    gallery,
    grid_graph,
)
from graphtv.applications.regression.design import CentredMatrix  # noqa: E402

END_OF_PATH = "ignore:Fused.*chooses:UserWarning"


@pytest.mark.slow
@parametrize_with_checks(
    [
        FusedLinearRegression(lam=0.1, tol=1e-8),
        FusedLinearRegression(n_lambdas=4, cv=2),
        FusedLogisticRegression(lam=0.1, tol=1e-8),
        FusedLogisticRegression(n_lambdas=4, cv=2),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings(END_OF_PATH)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # separable classes
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def stripes(n_samples=60, n_features=90, noise=0.1, seed=0):
    """Return samples, targets and the coefficients of three pieces."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0.0, 1.0, -0.5], n_features // 3)
    X = rng.normal(size=(n_samples, n_features))
    return X, X @ truth + 3.0 + noise * rng.normal(size=n_samples), truth


def objective(model, X, y, lam, weights=None):
    """Return the objective of a fitted model, computed from the definition."""
    weights = np.ones(len(y)) if weights is None else weights
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    margin = X @ w + b
    if isinstance(model, FusedLinearRegression):
        loss = 0.5 * weights @ (margin - y) ** 2
    else:
        signs = np.where(y == model.classes_[1], 1.0, -1.0)
        loss = weights @ np.logaddexp(0.0, -signs * margin)
    tail, head = model.graph_.edges.T
    variation = model.graph_.weights @ np.abs(w[tail] - w[head])
    return loss + lam * variation + model.sparsity * np.abs(w).sum()


def optimum(kind, graph, X, y, lam, sparsity, fit_intercept, weights):
    """Return the smallest objective, by a conic solver."""
    cvxpy = pytest.importorskip("cvxpy")
    w, b = cvxpy.Variable(X.shape[1]), cvxpy.Variable()
    margin = X @ w + (b if fit_intercept else 0.0)
    if kind is FusedLinearRegression:
        loss = 0.5 * cvxpy.sum(cvxpy.multiply(weights, cvxpy.square(margin - y)))
    else:
        loss = cvxpy.sum(cvxpy.multiply(weights, cvxpy.logistic(cvxpy.multiply(-y, margin))))
    variation = cvxpy.norm1(graph.gradient() @ w) if graph.n_edges else 0.0
    problem = cvxpy.Problem(cvxpy.Minimize(loss + lam * variation + sparsity * cvxpy.norm1(w)))
    return problem.solve(solver=cvxpy.CLARABEL)


@pytest.mark.slow
@given(
    st.sampled_from([FusedLinearRegression, FusedLogisticRegression]),
    st.integers(0, 10**6),
    st.sampled_from([0.05, 0.5, 5.0]),
    st.sampled_from([0.0, 0.3]),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=25, deadline=None)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # stalled
def test_the_objective_is_optimal(kind, seed, lam, sparsity, fit_intercept, is_sparse):
    rng = np.random.default_rng(seed)
    n_samples, n_features = int(rng.integers(4, 20)), int(rng.integers(1, 12))
    m = int(rng.integers(0, n_features * (n_features - 1) // 2 + 1))
    graph = gallery.erdos_renyi_graph(n_features, m, seed)
    X = rng.normal(size=(n_samples, n_features)) + rng.normal()
    y = rng.normal(size=n_samples)
    if kind is FusedLogisticRegression:
        y = np.where(rng.random(n_samples) < 0.5, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        X = np.concatenate([X, X])  # both classes at every point: there is a minimiser
        y = np.concatenate([y, -y])
        n_samples *= 2
    weights = rng.uniform(0.5, 2.0, n_samples)
    options = {"tol": 1e-7, "solve_options": {"max_iterations": 10**6}}
    model = kind(graph, lam, sparsity=sparsity, fit_intercept=fit_intercept, **options)
    model.fit(sparse.csr_array(X) if is_sparse else X, y, weights)
    best = optimum(kind, graph, X, y, lam, sparsity, fit_intercept, weights)
    found = objective(model, X, y, lam, weights)
    scale = max(abs(best), 1e-3)
    assert found <= best + 1e-5 * scale
    for result in model.results_:
        assert result.status in ("optimal", "stalled")
        assert result.dual <= best + 1e-5 * scale


@pytest.mark.slow
def test_recovers_piecewise_constant_coefficients():
    X, y, truth = stripes(noise=0.7)
    model = FusedLinearRegression(n_lambdas=12).fit(X, y)
    assert np.abs(model.coef_ - truth).mean() < 0.15
    assert abs(model.intercept_ - 3.0) < 0.3
    assert model.result_.status == "optimal"
    assert 3 <= model.n_pieces_ < 40
    assert len(model.path_) == 12
    assert model.path_.n_pieces[0] == 1
    assert f"{model.lam_:10.4g}" in repr(model.path_)


def test_a_graph_is_used():
    """Two far ends of the features are neighbours on a ring."""
    rng = np.random.default_rng(1)
    truth = np.concatenate([np.ones(10), np.zeros(40), np.ones(10)])
    X = rng.normal(size=(40, 60))
    y = X @ truth + 0.1 * rng.normal(size=40)
    ring = Graph(60, [(i, (i + 1) % 60) for i in range(60)])
    model = FusedLinearRegression(ring, 2.0, fit_intercept=False, tol=1e-6).fit(X, y)
    assert model.n_pieces_ <= 8
    assert model.intercept_ == 0.0
    assert np.abs(model.coef_ - truth).max() < 0.2


def test_mask_of_an_image():
    rng = np.random.default_rng(2)
    mask = np.hypot(*(np.indices((12, 14)) - 6)) < 6
    truth = np.where(np.indices((12, 14))[0] < 6, 1.0, 0.0)[mask]
    images = rng.normal(size=(80, 12, 14))
    y = images[:, mask] @ truth > 0
    model = FusedLogisticRegression.from_mask(mask, 2.0).fit(images[:, mask], y)
    assert model.graph_.n_vertices == mask.sum()
    assert model.score(images[:, mask], y) > 0.9
    assert model.predict_proba(images[:, mask]).sum(axis=1) == pytest.approx(1.0)
    inner = grid_graph((12, 14))
    assert model.graph_.n_edges == mask.ravel()[inner.edges].all(axis=1).sum()
    with pytest.raises(ValueError, match="mask must have dtype bool"):
        FusedLogisticRegression.from_mask([[1, 0]])
    with pytest.raises(ValueError, match="mask must contain a pixel"):
        FusedLogisticRegression.from_mask(np.zeros((3, 3), dtype=bool))


def test_more_than_two_classes():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 30))
    scores = np.stack([X[:, k : k + 10].sum(axis=1) for k in (0, 10, 20)], axis=1)
    y = np.array(["a", "b", "c"])[scores.argmax(axis=1)]
    model = FusedLogisticRegression(lam=1.0).fit(X, y)
    assert model.coef_.shape == (3, 30)
    assert model.score(X, y) > 0.9
    assert len(model.results_) == 3


@pytest.mark.parametrize("kind", [FusedLinearRegression, FusedLogisticRegression])
def test_sparse_and_dense_agree(kind):
    X, y, _ = stripes(n_features=30)
    X = np.where(np.abs(X) > 1.0, X, 0.0) + (np.arange(30) == 3)
    y = y if kind is FusedLinearRegression else y > 3.0
    dense = kind(lam=0.5, tol=1e-9).fit(X, y)
    thin = kind(lam=0.5, tol=1e-9).fit(sparse.csr_array(X), y)
    assert thin.coef_ == pytest.approx(dense.coef_, abs=1e-3)
    assert thin.intercept_ == pytest.approx(dense.intercept_, abs=1e-3)


def test_zero_weights_leave_samples_out():
    X, y, _ = stripes(n_features=30)
    weights = np.where(np.arange(60) < 40, 2.0, 0.0)
    whole = FusedLinearRegression(lam=1.0, tol=1e-9).fit(X, y, weights)
    part = FusedLinearRegression(lam=0.5, tol=1e-9).fit(X[:40], y[:40])
    assert whole.coef_ == pytest.approx(part.coef_, abs=1e-4)
    with pytest.raises(ValueError, match="at least one non-zero number"):
        FusedLinearRegression(lam=1.0).fit(X, y, np.zeros(60))


def test_in_a_grid_search():
    X, y, _ = stripes(n_features=30, noise=3.0)
    grid = {"lam": [0.01, 20.0, 1e4]}
    search = GridSearchCV(FusedLinearRegression(), grid, cv=KFold(3)).fit(X, y)
    assert search.best_params_["lam"] == 20.0
    assert clone(search.best_estimator_).lam == 20.0


def test_sparsity_gives_zeros():
    X, y, truth = stripes()
    model = FusedLinearRegression(lam=5.0, sparsity=1.0, tol=1e-6).fit(X, y)
    zero = np.abs(model.coef_) < 1e-6
    assert zero[truth == 0].mean() > 0.8
    assert not zero[truth == 1].any()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_path_that_is_too_short_warns():
    X, y, _ = stripes(noise=0.0)
    with pytest.warns(UserWarning, match="FusedLinearRegression: cv chooses the smallest λ"):
        FusedLinearRegression(n_lambdas=3, ratio=0.5).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lam": "bic"}, "lam must be a number or 'cv', got 'bic'"),
        ({"lam": 0.0}, "lam must be"),
        ({"sparsity": -1.0}, "sparsity must be"),
        ({"ratio": 1.0}, "ratio must be below 1"),
        ({"n_lambdas": 0}, "n_lambdas must be"),
        ({"graph": grid_graph((7,))}, "graph must have 30 vertices"),
        ({"solve_options": 3}, "solve_options must be a dict"),
        ({"fit_intercept": "yes"}, "fit_intercept must be"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y, _ = stripes(n_features=30)
    with pytest.raises(ValueError, match=message):
        FusedLinearRegression(**parameters).fit(X, y)


def test_one_class():
    with pytest.raises(ValueError, match="y must have two classes"):
        FusedLogisticRegression(lam=1.0).fit(np.eye(3), np.ones(3))


def test_separable_classes_warn():
    """The loss tends to 0 as equal coefficients grow, which costs no total variation."""
    X, y = np.array([[-2.0, -1.0], [-1.0, -2.0], [1.0, 2.0], [2.0, 1.0]]), [0, 0, 1, 1]
    model = FusedLogisticRegression(lam=1.0, solve_options={"max_iterations": 50})
    with pytest.warns(ConvergenceWarning, match="there is no best fit without sparsity"):
        model.fit(X, y)


def test_one_class_of_positive_weight():
    X, y = np.arange(6.0).reshape(3, 2), np.array([0, 1, 1])
    with pytest.raises(ValueError, match="sample_weight must be positive in two classes or more"):
        FusedLogisticRegression(lam=1.0).fit(X, y, [0.0, 1.0, 1.0])


def test_sparsity_on_a_dense_graph_converges():
    """Proximal steps must become exact: the threshold is not progress of the outer method."""
    rng = np.random.default_rng(46155)
    graph = gallery.erdos_renyi_graph(9, 34, 0)
    X, y = rng.normal(size=(13, 9)) - 1.0, rng.normal(size=13)
    model = FusedLinearRegression(graph, 0.5, sparsity=0.3, fit_intercept=False, tol=1e-7)
    result = model.fit(X, y).result_
    assert result.status == "optimal"
    assert result.iterations < 1000


def badly_scaled(seed):
    """Return 30 samples of 20 features, whose sizes differ by up to 10⁶."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 20)) * 10.0 ** rng.uniform(-3.0, 3.0, 20)
    return X, X @ np.repeat([0.0, 1.0, -1.0, 0.0], 5) + 0.1 * rng.normal(size=30)


@pytest.mark.parametrize("to_format", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.filterwarnings("ignore:FusedLinearRegression. cv chooses")
@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_badly_scaled_columns(to_format, seed):
    """Entries of u have steps of their own: with one step the fits take thousands of iterations."""
    X, y = badly_scaled(seed)
    model = FusedLinearRegression(n_lambdas=6, cv=2).fit(to_format(X), y)
    results = [result for row in model.path_.results for result in row]
    assert all(result.status == "optimal" for result in results)
    assert max(result.iterations for result in results) < 200


def test_badly_scaled_columns_with_sparsity():
    X, y = badly_scaled(2)
    lam = 1e-3 * float(np.abs(X.T @ y).max())
    result = FusedLinearRegression(lam=lam, sparsity=0.1 * lam).fit(X, y).result_
    assert (result.status, result.method) == ("optimal", "pdhg")
    assert "columns" in result.reason


def test_a_fit_that_misses_the_tolerance_warns():
    X, y = badly_scaled(0)
    model = FusedLinearRegression(lam=1.0, solve_options={"max_iterations": 2})
    with pytest.warns(ConvergenceWarning, match="FusedLinearRegression: the fit has a relative"):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("n_samples", "message"),
    [
        (1, "X must have 2 samples or more if lam is 'cv', got 1 sample"),
        (3, "cv must not exceed the 3 samples of X, got 5"),
    ],
)
def test_too_few_samples_for_folds(n_samples, message):
    X = np.arange(4.0 * n_samples).reshape(n_samples, 4)
    with pytest.raises(ValueError, match=message):
        FusedLinearRegression().fit(X, X[:, 0])


@pytest.mark.parametrize("has_intercept", [False, True])
def test_column_squares_of_centred_columns(has_intercept):
    rng = np.random.default_rng(1)
    X, weights = rng.normal(size=(6, 3)) + 2.0, rng.uniform(size=6)
    means = X.mean(axis=0)
    A = CentredMatrix(sparse.csr_array(X), means, has_intercept)
    columns = np.column_stack([X - means, np.ones((6, int(has_intercept)))])
    np.testing.assert_allclose(A.column_squares(weights), weights @ columns**2)
