"""TVClassifier: accuracy on real data, the conventions of scikit-learn, and bad input."""

import math
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelPropagation, LabelSpreading
from sklearn.utils.estimator_checks import parametrize_with_checks

from graphtv import Graph, Problem, TVClassifier
from graphtv.applications.learning import classifier
from graphtv.applications.learning.affinity import Neighbours, SmoothedNeighbours
from graphtv.gallery import three_moons
from scripts import load

ROOT = Path(__file__).parents[3]

EXPECTED_FAILURES = {
    "check_classifiers_classes": "it has -1 for a class, which means unlabelled here",
}


@pytest.mark.slow
@parametrize_with_checks(
    [TVClassifier(), TVClassifier(n_neighbors=3, label_cost=5.0)],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learn(estimator, check):
    check(estimator)


def hidden(y, fraction, seed):
    """Return y with all but a random fraction hidden; each class keeps at least one label."""
    rng = np.random.default_rng(seed)
    shown = np.zeros(len(y), dtype=bool)
    while len(np.unique(y[shown])) < len(np.unique(y)):
        shown[:] = False
        shown[rng.choice(len(y), round(fraction * len(y)), replace=False)] = True
    return np.where(shown, y, -1)


def path(weights):
    """Return the affinities of a path."""
    n = len(weights) + 1
    return sparse.diags_array([weights, weights], offsets=[1, -1], shape=(n, n)).tocsr()


# Accuracy


@pytest.mark.slow
def test_three_moons():
    accuracies = []
    for seed in range(5):
        X, y = three_moons(rng=seed)
        model = TVClassifier().fit(X, hidden(y, 0.05, seed))
        assert model.result_.status == "optimal"
        accuracies.append(np.mean(model.transduction_ == y))
    assert np.mean(accuracies) >= 0.985
    assert min(accuracies) >= 0.98


@pytest.mark.slow
def test_digits_ahead_of_label_spreading_and_propagation():
    X, y = load_digits(return_X_y=True)
    ours, spreading, propagation = [], [], []
    for seed in range(2):
        shown = hidden(y, 0.05, seed)
        for accuracies, model in (
            (ours, TVClassifier()),
            (spreading, LabelSpreading(kernel="knn", n_neighbors=7, alpha=0.9, max_iter=200)),
            (propagation, LabelPropagation(kernel="knn", n_neighbors=7, max_iter=500)),
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of theirs, on split components
                warnings.simplefilter("ignore", ConvergenceWarning)
                accuracies.append(np.mean(model.fit(X, shown).transduction_ == y))
    assert np.mean(ours) >= 0.96
    assert np.mean(ours) > max(np.mean(spreading), np.mean(propagation))


@pytest.mark.slow
def test_new_points_of_the_moons():
    X, y = three_moons(rng=1)
    new, truth = three_moons(rng=2)
    model = TVClassifier().fit(X, hidden(y, 0.05, 0))
    assert model.score(new, truth) >= 0.97
    assert np.array_equal(model.predict(X), model.transduction_)
    assert np.allclose(model.predict_proba(X), model.label_distributions_, atol=1e-12)


# The model


def test_a_path_is_cut_at_its_lightest_edge():
    model = TVClassifier(affinity="precomputed", tol=1e-6)
    model.fit(path([3.0, 2.0, 1.0, 2.0, 3.0]), [7, -1, -1, -1, -1, 9])
    assert model.transduction_.tolist() == [7, 7, 7, 9, 9, 9]
    assert model.classes_.tolist() == [7, 9]


def test_labels_are_kept_unless_they_have_a_price():
    affinity = np.ones((9, 9))
    y = [0, 0, 0, 1, 0, 0, 0, 0, -1]
    given_label = TVClassifier(affinity="precomputed").fit(affinity, y)
    assert given_label.transduction_.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0]
    assert given_label.label_distributions_[3, 1] > 1 - 1e-6
    doubted = TVClassifier(affinity="precomputed", label_cost=0.5).fit(affinity, y)
    assert doubted.transduction_.tolist() == [0] * 9


def test_the_result_is_a_certificate():
    X, y = make_blobs(60, centers=3, random_state=0)
    model = TVClassifier(tol=1e-4).fit(X, hidden(y, 0.2, 0))
    result = model.result_
    assert result.u.shape == (60, 3)
    assert result.relative_gap <= 1e-4
    assert model.n_iter_ == result.iterations
    assert np.allclose(model.label_distributions_.sum(axis=1), 1)
    assert model.graph_.n_vertices == 60
    degrees = model.graph_.to_sparse().sum(axis=1)
    assert np.median(degrees) == pytest.approx(1)


def test_components_without_labels_stay_undecided():
    blocks = [sparse.csr_array(np.ones((k, k))) for k in (3, 4)]
    affinity = sparse.block_diag([*blocks, sparse.csr_array((1, 1))], "csr")
    y = [2, -1, 5, -1, -1, -1, -1, -1]
    model = TVClassifier(affinity="precomputed")
    with pytest.warns(UserWarning, match="5 samples are not connected to any label"):
        model.fit(affinity, y)
    assert model.transduction_[3:].tolist() == [-1] * 5
    assert model.transduction_[[0, 2]].tolist() == [2, 5]
    assert np.all(model.label_distributions_[3:] == 0.5)
    # New samples: one linked to the first component, one to the second, one to none, one to both.
    new = np.zeros((4, 8))
    new[0, 0] = new[1, 4] = 1
    new[3, [2, 4]] = 1, 10
    assert model.predict(new).tolist() == [2, -1, -1, 5]
    assert np.allclose(model.predict_proba(new).sum(axis=1), 1)


def test_undecided_clusters_of_points():
    X = np.concatenate([np.arange(5.0), 100 + np.arange(5.0)])[:, None]
    with pytest.warns(UserWarning, match="5 samples"):
        model = TVClassifier(n_neighbors=2).fit(X, ["a", *["-1"] * 9])
    assert model.transduction_.tolist() == ["a"] * 5 + ["-1"] * 5
    assert model.predict([[2.5], [102.5]]).tolist() == ["a", "-1"]


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_order_names_and_scale_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, truth = make_blobs(40, centers=3, cluster_std=2.0, random_state=seed)
    y = hidden(truth, 0.25, seed)
    model = TVClassifier(n_neighbors=5, tol=1e-7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        u = model.fit(X, y).label_distributions_
        order, names = rng.permutation(40), rng.permutation(3)
        renamed = np.where(y == -1, -1, names[y])
        v = model.fit(1e3 * X[order], renamed[order]).label_distributions_
    assert np.allclose(u[order], v[:, names], atol=1e-2)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 6))
def test_weights_of_neighbours_are_those_of_the_formula(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 3))
    graph = Neighbours(X, k, 0.4).graph()
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    nearest = np.argsort(distance, axis=1)[:, : k + 1]
    sets = [set(row.tolist()) for row in nearest]
    scale = np.sort(distance, axis=1)[:, k]
    expected = np.zeros((12, 12))
    for i in range(12):
        for j in range(i):
            if i in sets[j] or j in sets[i]:
                kernel = math.exp(-(distance[i, j] ** 2) / (0.4**2 * scale[i] * scale[j]))
                expected[i, j] = kernel * len(sets[i] & sets[j]) / len(sets[i] | sets[j])
    expected += expected.T
    expected /= np.median(expected.sum(axis=1))
    assert np.allclose(graph.to_sparse().toarray(), expected, rtol=1e-8, atol=2e-12)


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), smoothing=st.floats(0, 1))
def test_points_go_to_the_mean_of_their_neighbours(seed, smoothing):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 3))
    weights = Neighbours(X, 3, 0.5).graph().to_sparse().toarray()
    means = weights @ X / weights.sum(axis=1, keepdims=True)
    moved = (1 - smoothing) * X + smoothing * means
    expected = Neighbours(moved, 3, 0.5).graph().to_sparse().toarray()
    smoothed = SmoothedNeighbours(X, 3, 0.5, smoothing)
    assert np.allclose(smoothed.graph().to_sparse().toarray(), expected, rtol=1e-6, atol=1e-10)
    new = smoothed.to_new(np.concatenate([X[:4], rng.standard_normal((5, 3))])).toarray()
    assert np.allclose(new.sum(axis=1), 1)
    assert np.array_equal(new[:4], np.eye(4, 12))


def test_a_start_changes_the_time_and_not_the_answer(monkeypatch):
    X, y = three_moons(60, dimension=3, rng=0)
    shown = hidden(y, 0.1, 0)
    cold = TVClassifier(tol=1e-6).fit(X, shown)
    monkeypatch.setattr(classifier, "LARGE", 100)
    warm = TVClassifier(tol=1e-6).fit(X, shown)
    assert warm.result_.preconditioner == "linear"
    assert np.allclose(warm.label_distributions_, cold.label_distributions_, atol=0.05)
    # Stopped at once, it already has the labels of direct neighbours.
    with pytest.warns(ConvergenceWarning):
        stopped = TVClassifier(tol=1e-8, max_iter=0).fit(X, shown)
    assert np.mean(stopped.transduction_ == y) >= 0.95
    kept = TVClassifier(solve_options={"warm_start": None, "preconditioner": "nested"})
    assert kept.fit(X, shown).result_.preconditioner == "nested"


def test_doubles_and_single_points():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0]], 20, axis=0)
    y = np.full(40, -1)
    y[[0, 20]] = 0, 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # duplicates may be disconnected
        model = TVClassifier(n_neighbors=25).fit(X, y)
    assert model.transduction_.tolist() == [0] * 20 + [1] * 20
    alone = TVClassifier().fit([[1.0, 2.0]], [4])
    assert alone.predict([[0.0, 0.0]]).tolist() == [4]


# What X and y may be


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok"])
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
def test_forms_of_an_affinity(form, container):
    rng = np.random.default_rng(0)
    dense = np.triu(rng.random((12, 12)) * (rng.random((12, 12)) < 0.6), 1) + np.eye(12)
    y = [0, 1, 2, *[-1] * 9]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        expected = TVClassifier(affinity="precomputed").fit(dense + dense.T, y)
        model = TVClassifier(affinity="precomputed").fit(container(dense).asformat(form), y)
    # Half the affinities are the same in units of the median degree: asymmetric means averaged.
    assert np.allclose(model.graph_.weights, expected.graph_.weights)
    assert np.array_equal(model.transduction_, expected.transduction_)
    assert model.predict(container(dense).asformat(form)).shape == (12,)
    assert model.n_features_in_ == 12


@pytest.mark.filterwarnings("ignore:4 samples are not connected to any label")  # by 'min'
@pytest.mark.parametrize("rule", ["mean", "max", "min"])
def test_neighbours_that_are_not_mutual(rule):
    from sklearn.neighbors import kneighbors_graph

    points, truth = make_blobs(180, centers=3, random_state=0, cluster_std=0.6)
    y = np.where(np.arange(len(truth)) % 10 == 0, truth, -1)
    nearest = kneighbors_graph(points, 12)
    model = TVClassifier(affinity="precomputed", symmetrize=rule).fit(nearest, y)
    graph = Graph.from_sparse(nearest, symmetrize=rule)
    assert np.array_equal(model.graph_.edges, graph.edges)
    assert np.ptp(model.graph_.weights / graph.weights) < 1e-12
    assert np.mean(model.transduction_ == truth) > 0.9


def test_a_large_affinity_is_not_made_dense():
    n = 20_000  # dense, 3.2 GB
    model = TVClassifier(affinity="precomputed", epsilon=1e-6)
    y = np.full(n, -1)
    y[[0, -1]] = 0, 1
    weights = np.ones(n - 1)
    weights[n // 2] = 0.1
    model.fit(path(weights), y)
    assert np.array_equal(model.transduction_, np.arange(n) > n // 2)


@pytest.mark.parametrize(
    ("labels", "mark"),
    [
        (np.array(["cat", "-1", "-1", "-1", "-1", "dog"]), "-1"),
        (np.array(["cat", -1, -1, -1, -1, "dog"], dtype=object), -1),
        (np.array([3.0, -1, -1, -1, -1, 4.0]), -1),
        (np.array([3, -1, -1, -1, -1, 4], dtype=np.int8), -1),
        ([3, -1, -1, -1, -1, 4], -1),
    ],
)
def test_labels_of_any_type(labels, mark):
    model = TVClassifier(affinity="precomputed").fit(path([2.0, 2.0, 1.0, 2.0, 2.0]), labels)
    first, last = labels[0], labels[-1]
    assert model.transduction_.tolist() == [first] * 3 + [last] * 3
    moved = np.array([*labels[:-2], last, mark], dtype=np.asarray(labels).dtype)
    with pytest.warns(UserWarning, match="1 samples"):
        model.fit(path([2.0, 2.0, 1.0, 2.0, 0.0]), moved)
    assert model.transduction_.tolist() == [first] * 3 + [last] * 2 + [mark]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"affinity": "rbf"}, "affinity must be one of 'knn', 'precomputed', got 'rbf'"),
        ({"n_neighbors": 0}, "n_neighbors must be at least 1, got 0"),
        ({"bandwidth": -1.0}, "bandwidth must be above 0"),
        ({"bandwidth": math.nan}, "bandwidth must be finite"),
        ({"smoothing": -0.1}, "smoothing must be at least 0"),
        ({"smoothing": 1.5}, "smoothing must be at most 1, got 1.5"),
        ({"epsilon": 0.0}, "epsilon must be above 0"),
        ({"label_cost": 0.0}, "label_cost must be above 0"),
        ({"tol": -1e-3}, "tol must be at least 0"),
        ({"max_iter": 1.5}, "max_iter must be an integer, got 1.5"),
        ({"verbose": "yes"}, "verbose must be True or False, got 'yes'"),
        ({"solve_options": 3}, "solve_options must be a dict or None, got 3"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        TVClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((3, 4)), r"X must be square if affinity is 'precomputed', got \(3, 4\)"),
        ([[0, -1, 0], [1, 0, 1], [0, 1, 0]], r"nonnegative, got -1.0 at index \(0, 1\)"),
        (sparse.csr_array([[0, 1, 0], [1, 0, np.nan], [0, 1, 0]]), r"finite, got nan .*\(1, 2\)"),
        ([[0, np.inf, 0], [1, 0, 1], [0, 1, 0]], r"finite, got inf at index \(0, 1\)"),
        (np.ones((3, 3), dtype=complex), "X must hold real numbers, got dtype complex128"),
    ],
)
def test_bad_affinities(X, message):
    with pytest.raises(ValueError, match=message):
        TVClassifier(affinity="precomputed").fit(X, [0, -1, 1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([-1, -1, -1], "y must have at least one label, got -1 for all"),
        ([0, 1], "y must have a label for each of the 3 samples, got 2"),
        ([0.5, 1.5, -1], "Unknown label type"),
        (np.array(["a", 1, -1], dtype=object), "y must hold labels of one type|Unknown label type"),
    ],
)
def test_bad_labels(y, message):
    with pytest.raises(ValueError, match=message):
        TVClassifier(affinity="precomputed").fit(np.ones((3, 3)), y)


def test_bad_new_affinities():
    model = TVClassifier(affinity="precomputed").fit(np.ones((3, 3)), [0, 1, -1])
    with pytest.raises(ValueError, match="X must have a column for each of the 3 samples"):
        model.predict(np.ones((2, 2)))
    with pytest.raises(ValueError, match="X must be nonnegative"):
        model.predict(-np.ones((2, 3)))


# Conventions


def test_limits_are_reported():
    X, y = three_moons(50)
    with pytest.warns(ConvergenceWarning, match="iteration_limit"):
        model = TVClassifier(max_iter=1, tol=1e-9).fit(X, hidden(y, 0.1, 0))
    assert model.result_.status == "iteration_limit"


def test_progress(capsys):
    seen = []
    X, y = make_blobs(40, centers=2, random_state=1)
    TVClassifier(verbose=True, solve_options={"callback": seen.append}).fit(X, hidden(y, 0.2, 0))
    shown = capsys.readouterr().out
    assert "40 vertices" in shown
    assert "8 of 40 samples have one of 2 labels" in shown
    assert "rel.gap" in shown
    assert seen


def test_pipelines_searches_and_pickles():
    X, y = make_blobs(90, centers=3, random_state=3)
    pipeline = make_pipeline(StandardScaler(), TVClassifier())
    search = GridSearchCV(pipeline, {"tvclassifier__n_neighbors": [3, 7]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    model = search.best_estimator_[-1]
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(X), model.predict(X))
    assert clone(model).get_params() == model.get_params()


def test_cross_validation_cuts_affinities_both_ways():
    X, y = make_blobs(60, centers=2, random_state=0)
    affinity = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    scores = cross_val_score(TVClassifier(affinity="precomputed"), affinity, y, cv=3)
    assert scores.min() > 0.8


def test_a_problem_of_ones_own_agrees():
    # The certificate belongs to exactly the problem that the documentation describes.
    model = TVClassifier(affinity="precomputed").fit(path([1.0, 1.0]), [0, -1, 1])
    from graphtv import EntropicSimplex

    problem = Problem(model.graph_, EntropicSimplex(model._cost(np.array([0, -1, 1])), 0.01))
    assert problem.primal(model.result_.u) == pytest.approx(model.result_.primal)


def test_import_without_scikit_learn():
    code = (
        "import sys; sys.modules['sklearn'] = None; import graphtv\n"
        "try: graphtv.TVClassifier\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "graphtv[ml]"' in run.stdout


@pytest.mark.slow
def test_gallery(tmp_path):
    load("docs/gallery/transduction.py").main(tmp_path / "transduction.png", quick=True)
    assert (tmp_path / "transduction.png").stat().st_size > 0


@pytest.mark.slow
def test_benchmark():
    command = [sys.executable, ROOT / "benchmarks" / "classification.py", "--quick"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "3000 rows" in run.stdout
