"""Missing data have the same meaning for all functions: NaN, a masked entry, or a weight of 0."""

import numpy as np
import pytest

import graphtv
from graphtv import (
    AbsoluteLoss,
    Graph,
    HuberLoss,
    LogisticLoss,
    PoissonLoss,
    Problem,
    SquaredLoss,
    denoise_tv,
    fused_lasso,
    fused_lasso_path,
    gallery,
    grid_graph,
    solve,
    tv_chain,
    tv_forest,
)

NAN = float("nan")
GRAPH = grid_graph((4, 5), 0.3)
MISSING = np.zeros(20, dtype=bool)
MISSING[[0, 7, 8, 19]] = True
SIGNAL = np.where(np.arange(20) < 10, 1.0, 3.0) + np.random.default_rng(0).uniform(0, 0.5, 20)
LABELS = np.where(np.arange(20) % 7 < 4, 1.0, -1.0)
HOLES = np.where(MISSING, NAN, SIGNAL)
MASKED = np.ma.masked_array(np.where(MISSING, np.inf, SIGNAL), MISSING)
LOSSES = [SquaredLoss, AbsoluteLoss, HuberLoss, PoissonLoss, LogisticLoss]
NAMES = ["squared", "absolute", "huber", "poisson", "logistic"]


def data_of(loss):
    return LABELS if loss in (LogisticLoss, "logistic") else SIGNAL


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weights", [None, 2.0, np.linspace(0.5, 1.5, 20)])
def test_terms(loss, weights):
    data = data_of(loss)
    given = np.where(MISSING, 0.0, np.broadcast_to(1.0 if weights is None else weights, 20))
    expected = loss(data, weights=given)
    u = np.linspace(0.5, 2.5, 20)
    for missing in (np.where(MISSING, NAN, data), np.ma.masked_array(data, MISSING)):
        term = loss(missing, weights=weights)
        np.testing.assert_array_equal(term.weights, given)
        assert term.value(u) == expected.value(u)
        np.testing.assert_array_equal(term.prox(u, 0.5), expected.prox(u, 0.5))


def test_terms_with_channels():
    channels = np.stack([HOLES, SIGNAL[::-1]], axis=1)
    term = SquaredLoss(channels, weights=np.full(20, 2.0))
    np.testing.assert_array_equal(term.weights, np.where(np.isnan(channels), 0.0, 2.0))
    result = solve(Problem(GRAPH, term), tol=0)
    alone = fused_lasso(GRAPH, SIGNAL[::-1], vertex_weights=2.0, tol=0)
    np.testing.assert_allclose(result.u[:, 1], alone.u)
    assert result.status == "optimal"


@pytest.mark.parametrize("loss", NAMES)
def test_fused_lasso(loss):
    data, tol = data_of(loss), 1e-7
    weights = np.where(MISSING, 0.0, 1.0)
    expected = fused_lasso(GRAPH, data, vertex_weights=weights, loss=loss, tol=tol)
    for missing in (np.where(MISSING, NAN, data), np.ma.masked_array(data, MISSING)):
        found = fused_lasso(GRAPH, missing, loss=loss, tol=tol)
        np.testing.assert_array_equal(found.u, expected.u)
        assert found.primal == expected.primal


def test_fused_lasso_is_inpainting():
    image = HOLES.reshape(4, 5)
    problem = fused_lasso(grid_graph((4, 5)), HOLES, lam=0.3, tol=0)
    _, result = denoise_tv(image, 0.3, tol=0, return_result=True)
    assert problem.primal == pytest.approx(result.primal, rel=1e-12)
    np.testing.assert_allclose(problem.u[~MISSING], result.u[~MISSING], atol=1e-9)


def test_path_and_cross_validation():
    weights = np.where(MISSING, 0.0, 1.0)
    options = {"cv": 3, "lambdas": [0.1, 0.5, 1.0]}
    expected = fused_lasso_path(GRAPH, SIGNAL, vertex_weights=weights, **options)
    found = fused_lasso_path(GRAPH, HOLES, **options)
    np.testing.assert_array_equal(found.cv_errors, expected.cv_errors)
    assert found.best_lambda("bic") == expected.best_lambda("bic")


@pytest.mark.parametrize("has_graph", [True, False])
def test_estimator(has_graph):
    ml = pytest.importorskip("graphtv.applications.fused.fused_lasso_estimator")
    X = np.argwhere(np.ones((4, 5))).astype(float)
    model = {"lam": 0.3, "graph": GRAPH} if has_graph else {"lam": 0.3, "n_neighbors": 3}
    expected = ml.FusedLasso(**model).fit(X, SIGNAL, sample_weight=np.where(MISSING, 0.0, 1.0))
    found = ml.FusedLasso(**model).fit(X, HOLES)
    np.testing.assert_array_equal(found.fitted_, expected.fitted_)
    both = np.stack([HOLES, SIGNAL], axis=1)
    if has_graph:
        fitted = ml.FusedLasso(**model).fit(X, both).fitted_
        # Where there is no data, the solution need not be unique.
        np.testing.assert_allclose(fitted[~MISSING, 0], expected.fitted_[~MISSING])
    else:
        with pytest.raises(ValueError, match=r"^y must be NaN in all columns .* of row 0$"):
            ml.FusedLasso(**model).fit(X, both)


def test_dask():
    da = pytest.importorskip("dask.array")
    rng = np.random.default_rng(0)
    image = np.repeat(rng.normal(size=(4, 4)), 16).reshape(4, 64).repeat(16, axis=0)
    image += 0.1 * rng.normal(size=image.shape)
    image[10:30, 20:25] = NAN
    weights = rng.uniform(0.5, 1.5, image.shape)
    for c in (None, weights):
        flat = None if c is None else c.ravel()
        expected = fused_lasso(
            grid_graph(image.shape), image.ravel(), lam=0.2, vertex_weights=flat, tol=1e-9
        )
        found = fused_lasso(
            "grid", da.from_array(image, chunks=32), lam=0.2, vertex_weights=c, tol=1e-6
        )
        assert found.status == "optimal"
        assert found.primal == pytest.approx(expected.primal, rel=2e-6)
    image[0, 0] = np.inf
    with pytest.raises(ValueError, match="signal must not be infinite"):
        fused_lasso("grid", da.from_array(image, chunks=32))


# Every public function that takes data: either NaN means missing data, or an error names it


def with_hole(values, where):
    changed = np.array(values, dtype=float)
    changed[where] = NAN
    return changed


CHAIN = np.array([0.0, 0.3, 2.0, 2.2, 2.1, 5.0])
TREE = Graph(6, [[0, 1], [1, 2], [1, 3], [3, 4], [3, 5]], 0.2)
POINTS = np.random.default_rng(1).random((20, 2))
COSTS = np.random.default_rng(2).random((20, 3))
IMAGE = SIGNAL.reshape(4, 5)
MARKS = np.diag([1, 2, 0, 0, 0])[:4]


def estimator(name, **options):
    return getattr(pytest.importorskip("graphtv"), name)(**options)


ACCEPTED = {
    "denoise_tv": lambda f: denoise_tv(f.reshape(4, 5), 0.3),
    "estimate_noise": lambda f: graphtv.estimate_noise(f.reshape(4, 5)),
    "suggest_weight": lambda f: graphtv.suggest_weight(f.reshape(4, 5)),
    "fused_lasso": lambda f: fused_lasso(GRAPH, f).u,
    "fused_lasso_path": lambda f: fused_lasso_path(GRAPH, f, n_lambdas=3).df,
    "cross_validation": lambda f: fused_lasso_path(GRAPH, f, n_lambdas=3, cv=3).cv_errors,
    "FusedLasso": lambda f: estimator("FusedLasso", lam=0.1).fit(POINTS, f).fitted_,
    "FusedLasso by cv": lambda f: estimator("FusedLasso", lam="cv").fit(POINTS, f).fitted_,
    "tv_chain": lambda f: tv_chain(f.reshape(4, 5), 0.3),
    "tv_forest": lambda f: tv_forest(grid_graph((20,), 0.3), f),
    "solve": lambda f: solve(Problem(GRAPH, SquaredLoss(f))).u,
}


@pytest.mark.filterwarnings("ignore:FusedLasso. cv chooses")
@pytest.mark.parametrize("name", ACCEPTED)
def test_nan_and_masked_entries_are_missing_data(name):
    found = ACCEPTED[name](HOLES)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found, ACCEPTED[name](MASKED))


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("cost", lambda: graphtv.segment(GRAPH, with_hole(COSTS, (3, 1)))),
        ("cost", lambda: graphtv.LinearBox(with_hole(SIGNAL, 3))),
        ("cost", lambda: graphtv.EntropicSimplex(with_hole(COSTS, (3, 1)))),
        ("image", lambda: graphtv.segment_image(with_hole(IMAGE, (1, 1)), MARKS)),
        ("X", lambda: estimator("TVClassifier").fit(with_hole(POINTS, (3, 1)), LABELS)),
        ("y", lambda: estimator("TVClassifier").fit(POINTS, with_hole(LABELS, 3))),
        ("X", lambda: estimator("FusedLasso").fit(with_hole(POINTS, (3, 1)), SIGNAL)),
        ("points", lambda: graphtv.knn_graph(with_hole(POINTS, (3, 1)))),
        ("weights", lambda: Graph(3, [[0, 1], [1, 2]], [NAN, 1.0])),
        ("weights", lambda: tv_chain(CHAIN, with_hole(np.ones(5), 2))),
        ("weights", lambda: SquaredLoss(SIGNAL, with_hole(np.ones(20), 2))),
        ("vertex_weights", lambda: fused_lasso(GRAPH, SIGNAL, vertex_weights=with_hole(SIGNAL, 2))),
        ("source_capacities", lambda: graphtv.min_cut(GRAPH, with_hole(SIGNAL, 2), SIGNAL)),
        ("signal", lambda: tv_chain(with_hole(CHAIN, 2), 0.3, huber=0.1)),
        ("signal", lambda: tv_forest(TREE, with_hole(CHAIN, 2), huber=0.1)),
        ("signal", lambda: tv_chain(np.full((2, 3), NAN), 0.3)),
        ("signal", lambda: tv_chain(np.array([[1.0, 2.0], [NAN, NAN]]), 0.3)),
        ("signal", lambda: tv_forest(TREE, np.full(6, NAN))),
        ("signal", lambda: fused_lasso(GRAPH, np.full(20, NAN))),
        ("u", lambda: Problem(GRAPH, SquaredLoss(SIGNAL)).primal(with_hole(SIGNAL, 2))),
    ],
)
def test_where_nan_has_no_meaning_an_error_names_the_argument(argument, call):
    with pytest.raises(ValueError, match=rf"\b{argument}\b"):
        call()


def test_segmentation_without_costs():
    holes = with_hole(COSTS, [3, 7])
    zeros = np.where(np.isnan(holes), 0.0, holes)
    expected, found = graphtv.segment(GRAPH, zeros), graphtv.segment(GRAPH, holes)
    np.testing.assert_array_equal(found.u, expected.u)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("seed", range(40))
def test_exact_solvers_with_missing_data(seed, offset):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    kinds = (gallery.path_graph, gallery.star_graph, lambda n: gallery.random_tree(n, seed))
    kind = seed % 3
    edges = kinds[kind](n).edges
    if seed % 2:
        edges = edges[rng.random(len(edges)) < 0.8]
    weights = rng.choice([0.5, 1.0, 2.0], len(edges)) if seed % 4 < 2 else rng.random(len(edges))
    graph = Graph(n, edges, weights)
    f = offset + (rng.integers(-3, 4, n) if seed % 5 < 2 else rng.normal(size=n))
    f[rng.random(n) < rng.random()] = NAN
    f[rng.integers(n)] = offset
    problem = Problem(graph, SquaredLoss(f))
    u, p = tv_forest(graph, f, return_dual=True)
    best = solve(problem, tol=0)
    assert problem.primal(u) <= best.primal + 1e-12 * (1.0 + best.primal)
    assert problem.gap(u, p) <= 1e-12 * (1.0 + abs(offset)) * (1.0 + best.primal)
    known = ~np.isnan(f)
    np.testing.assert_allclose(u[known], best.u[known], rtol=1e-12, atol=1e-6)
    if kind == 0 and seed % 2 == 0:
        chain = tv_chain(np.stack([f, f[::-1]]), np.stack([weights, weights[::-1]]))
        assert problem.primal(chain[0]) == pytest.approx(best.primal, rel=1e-9, abs=1e-9)
        assert problem.primal(chain[1][::-1]) == pytest.approx(best.primal, rel=1e-9, abs=1e-9)


def test_columns_have_their_own_missing_data():
    both = np.stack([with_hole(CHAIN, 2), with_hole(CHAIN[::-1], [0, 5])], axis=1)
    found, p = tv_forest(TREE, both, return_dual=True)
    for column, dual, given in zip(found.T, p.T, both.T, strict=True):
        alone, alone_p = tv_forest(TREE, given, return_dual=True)
        np.testing.assert_array_equal(column, alone)
        np.testing.assert_array_equal(dual, alone_p)


def test_a_single_vertex_without_data():
    np.testing.assert_array_equal(tv_chain([[3.0]], 1.0), [[3.0]])
    with pytest.raises(ValueError, match="signal must contain a number"):
        tv_chain([NAN], 1.0)
    np.testing.assert_array_equal(tv_forest(Graph(3, [[0, 1]]), [1.0, NAN, NAN]), [1.0, 1.0, 1.0])


# Labels


PATH = Graph(6, [[i, i + 1] for i in range(5)], 0.2)
SIGNS = [1.0, 1.0, -1.0, 1.0, -1.0, -1.0]
CLASSES = [1, 1, 0, 1, 0, 0]


@pytest.mark.parametrize("labels", [CLASSES, np.array(CLASSES, bool), np.array(CLASSES, "f4")])
def test_two_classes(labels):
    expected = fused_lasso(PATH, SIGNS, loss="logistic").u
    np.testing.assert_array_equal(fused_lasso(PATH, labels, loss="logistic").u, expected)


def test_two_classes_with_missing_labels():
    expected = fused_lasso(PATH, [1, 0, -1, 1, -1, -1], loss="logistic").u
    for missing in ([1, NAN, 0, 1, 0, 0], [1, NAN, -1, 1, -1, -1]):
        np.testing.assert_array_equal(fused_lasso(PATH, missing, loss="logistic").u, expected)
    masked = np.ma.masked_array(np.array(CLASSES, bool), [False, True] + 4 * [False])
    np.testing.assert_array_equal(fused_lasso(PATH, masked, loss="logistic").u, expected)


def test_booleans_are_signs_in_the_term_too():
    np.testing.assert_array_equal(LogisticLoss(np.array(CLASSES, bool)).labels, SIGNS)
    np.testing.assert_array_equal(LogisticLoss([True, False]).labels, [1.0, -1.0])


def test_a_term_says_that_0_is_no_label():
    with pytest.raises(ValueError, match="0 means no label, so give two classes as booleans"):
        Problem(PATH, LogisticLoss(CLASSES))
    with pytest.raises(ValueError, match=r"go to infinity there$"):
        Problem(PATH, LogisticLoss([1] * 6))


@pytest.mark.parametrize("labels", [[1] * 6, [True] * 6, [False] * 6, [1, NAN, 1, 1, 1, 1]])
def test_one_class_is_an_error(labels):
    with pytest.raises(ValueError, match="no minimiser"):
        fused_lasso(PATH, labels, loss="logistic")
