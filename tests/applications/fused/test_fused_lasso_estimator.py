"""The scikit-learn estimator: the conventions of scikit-learn, and its purpose."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from densities import DENSITIES, gaussian, sample, uneven_axes  # noqa: E402
from graphtv import (  # noqa: E402
    FusedLasso,
    Graph,
    datasets,
    fused_lasso,
    fused_lasso_path,
    grid_graph,
    knn_graph,
)

END_OF_PATH = "ignore:FusedLasso.*chooses:UserWarning"

SAMPLE_CV = {
    "check_sample_weight_equivalence_on_dense_data": (
        "gives cv three copies of every sample, each in another fold; samples at one place are one"
        " vertex, which is held out as a whole or not at all"
    )
}


def expected_failed_checks(estimator):
    """None, except one check of cross-validation."""
    return SAMPLE_CV if estimator.lam == "cv" else {}


@pytest.mark.slow
@parametrize_with_checks(
    [FusedLasso(n_lambdas=20), FusedLasso(lam=0.5), FusedLasso("cv", n_lambdas=5, cv=2)],
    expected_failed_checks=expected_failed_checks,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings(END_OF_PATH)  # whose targets are noise
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def steps_in_the_plane(n=400, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    truth = np.where(X[:, 0] > 0.5, 2.0, -1.0) + (X[:, 1] > 0.6)
    return X, truth + noise * rng.normal(size=n), truth


def error(u, truth):
    return np.sqrt(np.mean((u - truth) ** 2))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("lam", ["bic", "aic", "gcv", "cv", "cv_1se"])
def test_default_graph_and_path_on_a_gaussian_density(lam, seed):
    X, y = sample(gaussian, 2000 if lam == "bic" else 500, seed)
    model = FusedLasso(lam).fit(X, y)
    assert model.score(X, y) > 0.8
    assert model.result_.status == "optimal"


@pytest.mark.slow
@pytest.mark.parametrize("density", DENSITIES, ids=lambda density: density.__name__)
@pytest.mark.parametrize("seed", [0, 1])
def test_default_graph_and_path_on_any_density(density, seed):
    X, y = sample(density, 1200, seed)
    new, target = sample(density, 1200, seed, noise=0.0)
    model = FusedLasso().fit(X, y)
    assert model.score(X, y) > 0.8
    assert model.score(new, target) > 0.8


@pytest.mark.slow
def test_features_of_different_units():
    X, y = sample(uneven_axes, 1200, 0)
    model = FusedLasso().fit(X, y)
    assert model.feature_scales_[1] / model.feature_scales_[0] == 1024
    same = FusedLasso(standardize=True).fit(X, y)
    assert (same.predict(X[::-1]) == model.predict(X[::-1])).all()
    with pytest.warns(UserWarning, match="bic chooses λ_max = .*: the fit is constant"):
        raw = FusedLasso(standardize=False).fit(X, y)
    assert (raw.feature_scales_ == 1).all()
    # A bandwidth has the unit of X.
    assert (FusedLasso(0.1, bandwidth=1.0).fit(X, y).feature_scales_ == 1).all()
    # The unit of a feature does not matter, up to the rounding to powers of two.
    for scales in ([2.0**40, 2.0**-300], [1e-300, 1e300], [0.0, 1.0]):
        scaled = FusedLasso(standardize=True).fit(X[:, [0]] * scales, y)
        assert scaled.score(X[:, [0]] * scales, y) > 0.8
    with pytest.raises(ValueError, match="standardize must be True, False or 'auto', got 'yes'"):
        FusedLasso(standardize="yes").fit(X, y)


def test_warns_where_the_best_weight_is_at_an_end_of_the_path():
    X, y, _ = steps_in_the_plane()
    noise = np.random.default_rng(0).normal(size=len(y))
    with pytest.warns(UserWarning, match="FusedLasso: bic chooses λ_max = .*constant"):
        FusedLasso().fit(X, noise)
    graph = knn_graph(X)
    assert fused_lasso_path(graph, y).end_of_path() is None
    least = fused_lasso_path(graph, y, [1.0, 2.0, 4.0]).end_of_path()
    assert least == "bic chooses the smallest λ of the path, 1: the best may be smaller"
    largest = fused_lasso_path(graph, y, [1e-3, 2e-3, 4e-3]).end_of_path()
    assert largest == "bic chooses the largest λ of the path, 0.004: the best may be larger"
    assert fused_lasso_path(graph, y, [1e-3]).end_of_path() is None
    assert fused_lasso_path(graph, np.ones(len(y))).end_of_path() is None
    # Two components, each with one value: λ_max is best, and there is no warning.
    apart = np.repeat([0.0, 5.0], 200)
    both = fused_lasso_path(knn_graph(X + 1000 * apart[:, None]), apart + 0.1 * noise)
    assert (both.best_index(), both.end_of_path()) == (0, None)


@pytest.mark.slow
@pytest.mark.filterwarnings(END_OF_PATH)
@pytest.mark.parametrize("lam", ["bic", "aic", "gcv", "cv", "cv_1se"])
def test_recovers_steps_with_a_certificate(lam):
    X, y, truth = steps_in_the_plane()
    model = FusedLasso(lam, n_lambdas=25, cv=4).fit(X, y)
    assert model.result_.status == "optimal"
    assert model.result_.relative_gap <= 1e-12
    # Cross-validation is for prediction, and medians of many neighbours predict well on their own.
    assert error(model.fitted_, truth) < (0.9 if "cv" in lam else 0.6) * error(y, truth)
    assert (model.predict(X) == model.fitted_).all()
    assert model.df_ == len(np.unique(model.labels_)) == model.path_.df[model.path_.best_index(lam)]
    assert model.lam_ == model.path_.best_lambda(lam)
    new, _, expected = steps_in_the_plane(seed=1)
    assert error(model.predict(new), expected) < 0.5
    assert model.score(new, expected) > 0.9


def test_a_given_lam_is_fused_lasso_on_the_graph_of_neighbours():
    X, y, _ = steps_in_the_plane(200)
    model = FusedLasso(0.3, n_neighbors=5, bandwidth=0.2, sparsity=0.1).fit(X, y)
    order = np.lexsort(X.T[::-1])
    expected = fused_lasso(knn_graph(X[order], 5, 0.2), y[order], lam=0.3, sparsity=0.1, tol=0)
    assert model.fitted_[order] == pytest.approx(expected.u, abs=1e-9)
    assert not hasattr(model, "path_")


def test_a_given_graph_in_any_form():
    counties = datasets.us_counties()
    graph, y, X = counties.graph, counties.unemployment, counties.coordinates
    expected = fused_lasso(graph, y, lam=2.0, tol=0).u
    for form in (graph, graph.to_sparse(), graph.edges, (graph.edges, graph.weights)):
        model = FusedLasso(2.0, graph=form).fit(X, y)
        assert model.fitted_ == pytest.approx(expected, abs=1e-9)
    assert model.predict([X[17]])[0] == model.fitted_[17]
    alone = FusedLasso(2.0, graph=graph).fit(None, y)
    assert alone.fitted_ == pytest.approx(expected, abs=1e-9)
    with pytest.raises(ValueError, match="X must be passed to fit for predictions, got None"):
        alone.predict(X)


def test_weights_are_multiplicities():
    X, y, _ = steps_in_the_plane(80)
    weights = np.random.default_rng(2).integers(0, 4, 80)
    weighted = FusedLasso(0.3).fit(X, y, sample_weight=weights)
    repeated = FusedLasso(0.3).fit(X.repeat(weights, axis=0), y.repeat(weights))
    assert weighted.predict(X) == pytest.approx(repeated.predict(X), abs=1e-9)
    assert len(weighted.fitted_) == 80
    assert weighted.graph_.n_vertices == repeated.graph_.n_vertices == np.sum(weights > 0)
    # On a custom graph a sample of weight 0 is a vertex without data.
    path = FusedLasso(0.1, graph=grid_graph((3,))).fit(None, [0.0, 9.0, 1.0], [1, 0, 1])
    assert path.fitted_[0] == pytest.approx(0.1)
    assert 0.1 - 1e-9 <= path.fitted_[1] <= 0.9 + 1e-9


def test_lives_with_pipelines_searches_clones_and_pickles():
    X, y, _ = steps_in_the_plane(150)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), FusedLasso(1.0)),
        {"fusedlasso__lam": [0.01, 0.3, 30.0]},
        cv=KFold(3, shuffle=True, random_state=0),
    ).fit(X, y)
    assert search.best_params_["fusedlasso__lam"] == 0.3
    model = FusedLasso(0.3, graph=grid_graph((150,))).fit(X, y)
    assert clone(model).get_params()["lam"] == 0.3
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()
    assert again.result_.gap == model.result_.gap


@pytest.mark.filterwarnings("ignore:FusedLasso:UserWarning")
def test_random_states_are_those_of_scikit_learn():
    X, y, _ = steps_in_the_plane(60)

    def errors(state):
        return FusedLasso("cv", n_lambdas=3, cv=3, random_state=state).fit(X, y).path_.cv_errors

    np.testing.assert_array_equal(errors(0), errors(np.random.default_rng(0)))
    state = np.random.RandomState(0)
    np.testing.assert_array_equal(errors(np.random.RandomState(0)), errors(state))
    assert (errors(0) != errors(state)).any()
    with pytest.raises(ValueError, match="random_state must be an integer, got 'x'"):
        errors("x")


def test_several_outputs_and_losses():
    X, y, _ = steps_in_the_plane(100)
    both = FusedLasso(0.3).fit(X, np.stack([y, -y], axis=1))
    assert both.predict(X)[:, 1] == pytest.approx(-FusedLasso(0.3).fit(X, y).predict(X), abs=1e-9)
    assert both.labels_.shape == (100, 2)
    for loss, data in {
        "absolute": y,
        "huber": y,
        "logistic": np.where(y > 0.5, 1, -1),
        "poisson": np.round(np.exp(y)),
    }.items():
        model = FusedLasso(0.3, loss=loss, tol=1e-5).fit(X, data)
        assert model.result_.status == "optimal"
    outlier = y.copy()
    outlier[0] = 1e3
    robust = FusedLasso(0.3, loss="absolute").fit(X, outlier)
    assert error(robust.fitted_, FusedLasso(0.3, loss="absolute").fit(X, y).fitted_) < 0.05


@pytest.mark.filterwarnings(END_OF_PATH)
def test_folds_as_scikit_learn_has_them():
    X, y, _ = steps_in_the_plane(60)
    folds = np.arange(60) % 3
    splitter = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    models = [FusedLasso("cv", n_lambdas=5, cv=cv).fit(X, y) for cv in (folds, splitter)]
    assert models[0].path_.cv_errors == pytest.approx(models[1].path_.cv_errors)
    assert len(FusedLasso("cv", n_lambdas=5, cv=KFold(4)).fit(X, y).path_.cv_errors) == 4
    with pytest.raises(ValueError, match="cv must have test sets that do not overlap"):
        FusedLasso("cv", cv=splitter + splitter[:1]).fit(X, y)


@pytest.mark.filterwarnings(END_OF_PATH)
def test_verbose_prints_a_line_per_weight(capsys):
    X, y, _ = steps_in_the_plane(60)
    FusedLasso("cv", n_lambdas=5, cv=3, verbose=True).fit(X, y)
    assert len(capsys.readouterr().out.splitlines()) == 1 + 5 + 3


@pytest.mark.parametrize(
    ("name", "value", "arguments"),
    [
        ("lam", "'best'", {"lam": "best"}),
        ("lam", "-1", {"lam": -1.0}),
        ("graph", "30", {"graph": grid_graph((5,))}),
        ("n_neighbors", "0", {"n_neighbors": 0}),
        ("bandwidth", "-2", {"bandwidth": -2.0}),
        ("loss", "'cubic'", {"loss": "cubic"}),
        ("sparsity", "-1", {"sparsity": -1.0}),
        ("n_lambdas", "0", {"n_lambdas": 0}),
        ("cv", "1", {"lam": "cv", "cv": 1}),
        ("tol", "-1", {"tol": -1.0}),
    ],
)
def test_bad_parameters_name_themselves(name, value, arguments):
    X, y, _ = steps_in_the_plane(30)
    with pytest.raises(ValueError, match=rf"{name}.*{value}"):
        FusedLasso(**arguments).fit(X, y)
    with pytest.raises(ValueError, match=r"sample_weight.*-1"):
        FusedLasso().fit(X, y, sample_weight=-np.ones(30))


def test_one_place_is_one_vertex():
    model = FusedLasso(1.0).fit(np.zeros((4, 2)), [1.0, 2.0, 3.0, 4.0])
    assert model.graph_ == Graph(1, np.empty((0, 2), dtype=int))
    assert model.fitted_.tolist() == [2.5] * 4


def test_graphtv_without_scikit_learn():
    script = """
import sys
sys.modules["sklearn"] = None
import graphtv
assert "FusedLasso" in dir(graphtv)
try:
    graphtv.FusedLasso
except ImportError as error:
    assert 'pip install "graphtv[ml]"' in str(error), error
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    unused = "import graphtv, sys; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", unused], check=True)
