"""Paths of the fused lasso: λ_max, degrees of freedom, criteria, cross-validation."""

import os
from fractions import Fraction
from pathlib import Path

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import (
    FusedLassoPath,
    Graph,
    datasets,
    fused_lasso,
    fused_lasso_path,
    gallery,
    grid_graph,
)
from graphtv.applications.fused.cross_validation import as_folds, spread_folds
from graphtv.applications.fused.degrees_of_freedom import degrees_of_freedom, fused_components
from graphtv.applications.fused.fused_model import LOSSES, FusedModel
from graphtv.applications.fused.lambda_max import lambda_max
from graphtv.applications.fused.medians import Medians
from scripts import load

DATA = os.environ.get("GRAPHTV_DATA")
ROOT = Path(__file__).parents[3]
N = 24


def graph_of(seed):
    rng = np.random.default_rng(seed)
    return gallery.erdos_renyi_graph(N, 40, seed, rng.uniform(0.2, 1.0, 40))


def signal_of(loss, rng, n=N):
    if loss == "logistic":
        return np.resize([1.0, -1.0, 1.0], n)
    return rng.poisson(3.0, n).astype(float) if loss == "poisson" else rng.normal(size=n)


def pieces_by_brute_force(graph, u):
    """Connected sets of equal values, as NetworkX finds them."""
    G = networkx.Graph()
    G.add_nodes_from(range(graph.n_vertices))
    G.add_edges_from((i, j) for i, j in graph.edges.tolist() if abs(u[i] - u[j]) < 1e-9)
    return list(networkx.connected_components(G))


@given(st.sampled_from(["squared", "huber", "logistic", "poisson"]), st.integers(0, 1000))
@settings(max_examples=25)
def test_lambda_max_is_the_least_that_fuses_everything(loss, seed):
    rng = np.random.default_rng(seed)
    graph = gallery.random_tree(N, seed, rng.uniform(0.2, 1.0, N - 1)) if seed % 3 else graph_of(1)
    weights = rng.uniform(0.5, 2.0, N)
    model = FusedModel.of(graph, signal_of(loss, rng), weights, loss, 0.7, 0.0)
    if loss == "logistic" and seed % 3 == 0:
        return  # random graphs may have a component with labels of one kind
    least = lambda_max(model).value
    above, below = (model.solve(least * factor, tol=0) for factor in (1 + 1e-7, 0.98))
    assert above.u == pytest.approx(model.constants(), abs=1e-6)
    assert np.abs(below.u - model.constants()).max() > 1e-6


@pytest.mark.parametrize("loss", ["squared", "huber", "logistic", "poisson"])
@pytest.mark.parametrize("channels", [(), (2,)])
def test_the_flow_that_proves_lambda_max_solves_the_problem_there(loss, channels):
    rng = np.random.default_rng(5)
    graph = grid_graph((6, 6), 0.7)
    columns = [signal_of(loss, rng, 36) for _ in range(*channels or (1,))]
    f = np.stack(columns, axis=1).reshape(36, *channels)
    model = FusedModel.of(graph, f, rng.uniform(0.5, 2.0, 36), loss, 0.7, 0.0)
    least, start = lambda_max(model)
    assert model.problem(least).relative_gap(*start) <= 1e-9


def test_lambda_max_against_all_cuts():
    """λ_max = max_S |r(S)| / ω(∂S), by enumeration of all sets of ten vertices."""
    rng = np.random.default_rng(4)
    for seed in range(5):
        graph = gallery.erdos_renyi_graph(10, 20, seed, rng.uniform(0.2, 1.0, 20))
        if networkx.number_connected_components(graph.to_networkx()) > 1:
            continue
        f = rng.normal(size=10)
        r = f - f.mean()
        sets = (np.arange(1, 2**10 - 1)[:, None] >> np.arange(10)) & 1
        tail, head = graph.edges.T
        cut = np.abs(sets[:, tail] - sets[:, head]) @ graph.weights
        expected = np.max(np.abs(sets @ r) / cut)
        model = FusedModel.of(graph, f, None, "squared", 1.0, 0.0)
        assert lambda_max(model).value == pytest.approx(expected, rel=1e-12)


@given(st.integers(0, 10_000), st.integers(0, 60))
@settings(max_examples=50)
def test_lambda_max_where_weights_differ_by_orders_of_magnitude(seed, orders):
    """On a tree only the two sides of an edge matter; weights are large elsewhere."""
    rng = np.random.default_rng(seed)
    weights = 10.0 ** -rng.uniform(0, orders, 2 * N - 2)
    trees = [gallery.random_tree(N, seed + k).edges + k * N for k in (0, 1)]
    graph = Graph(2 * N, np.concatenate(trees), weights)
    f = rng.integers(-9, 9, 2 * N).astype(float)
    expected = []
    for k in (0, 1):
        tree = gallery.random_tree(N, seed + k).to_networkx()
        part = f[k * N : (k + 1) * N]
        for e, edge in enumerate(list(map(tuple, trees[k] - k * N))):
            tree.remove_edge(*edge)
            side = list(networkx.node_connected_component(tree, edge[0]))
            excess = Fraction(int(part[side].sum())) - Fraction(int(part.sum()) * len(side), N)
            expected.append(abs(excess) / Fraction(weights[k * (N - 1) + e]))
            tree.add_edge(*edge)
    model = FusedModel.of(graph, f, None, "squared", 1.0, 0.0)
    assert lambda_max(model).value == pytest.approx(float(max(expected)), rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_lambda_max_is_a_bound_for_the_absolute_loss_and_with_sparsity(loss):
    rng = np.random.default_rng(3)
    graph = grid_graph((6, 6))
    for sparsity in (0.0, 0.2, rng.uniform(0.1, 0.9, 36), 2.0):
        f = signal_of(loss, rng, 36) + (loss in ("squared", "absolute", "huber"))
        model = FusedModel.of(graph, f, rng.uniform(0.5, 2.0, 36), loss, 0.7, sparsity)
        least = lambda_max(model).value
        result = model.solve(least * (1 + 1e-6), tol=1e-9)
        constants = model.constants()
        assert np.ptp(constants) == 0
        value = model.problem(1.0).data.value(constants)
        assert result.dual <= value + 1e-9 * abs(value)
        assert result.primal == pytest.approx(value, rel=1e-7)
        if loss != "absolute" and constants[0] != 0:  # and no smaller value does
            assert model.solve(0.9 * least, tol=1e-9).primal < value * (1 - np.sign(value) * 1e-7)


def test_constant_data_have_a_path_of_one_piece():
    path = fused_lasso_path(grid_graph((4, 4)), np.full(16, 2.5), n_lambdas=4)
    assert path.lambda_max == 0
    assert (path.df == 1).all()
    assert (path.u == 2.5).all()
    assert path.best("bic").u.tolist() == [2.5] * 16
    edgeless = fused_lasso_path(Graph(3, np.empty((0, 2), dtype=int)), [1.0, 2.0, 3.0], n_lambdas=2)
    assert (edgeless.df == 3).all()


@pytest.mark.parametrize("sparsity", [0.0, 0.4])
@pytest.mark.parametrize("loss", ["squared", "huber", "logistic", "poisson"])
def test_path_agrees_with_separate_solves(loss, sparsity):
    rng = np.random.default_rng(11)
    graph, f = grid_graph((6, 5)), signal_of(loss, rng, 30)
    weights = None if loss == "squared" else rng.uniform(0.5, 2.0, 30)
    options = {"loss": loss, "vertex_weights": weights, "sparsity": sparsity, "delta": 0.7}
    path = fused_lasso_path(graph, f, n_lambdas=6, ratio=0.05, **options)
    assert len(path) == len(path.results) == 6
    assert (np.diff(path.lambdas) < 0).all()
    assert path.lambdas[0] == path.lambda_max
    exact = sparsity == 0.0 or loss in ("squared", "poisson")
    assert path.relative_gap.max() <= (1e-12 if exact else 1e-6)
    for lam, result in zip(path.lambdas, path.results, strict=True):
        alone = fused_lasso(graph, f, lam=lam, tol=0 if exact else 1e-6, **options)
        assert result.primal == pytest.approx(alone.primal, rel=1e-9 if exact else 3e-6)
        if exact:
            assert result.u == pytest.approx(alone.u, abs=1e-5)


@given(st.integers(0, 10_000), st.floats(0.01, 1.0), st.sampled_from([0.0, 0.3]))
@settings(max_examples=30)
def test_degrees_of_freedom_against_brute_force(seed, lam, sparsity):
    rng = np.random.default_rng(seed)
    graph, f = graph_of(seed % 7), rng.normal(size=N)
    model = FusedModel.of(graph, f, None, "squared", 1.0, sparsity)
    result = model.solve(lam, tol=0)
    pieces = pieces_by_brute_force(graph, result.u)
    labels = fused_components(graph, result)
    assert sorted(map(sorted, pieces)) == sorted(
        np.flatnonzero(labels == k).tolist() for k in range(labels.max() + 1)
    )
    nonzero = [piece for piece in pieces if not sparsity or abs(result.u[min(piece)]) > 1e-9]
    assert degrees_of_freedom(model, result) == len(nonzero)


@pytest.mark.parametrize("sparsity", [0.0, 0.3])
def test_degrees_of_freedom_are_the_divergence_of_the_fit(sparsity):
    """Stein: df = E Σ ∂u_i/∂f_i, and the fit is piecewise linear in the data."""
    rng = np.random.default_rng(2)
    graph, f, step = graph_of(3), rng.normal(size=N), 1e-6
    model = FusedModel.of(graph, f, None, "squared", 1.0, sparsity)
    result = model.solve(0.3, tol=0)
    divergence = 0.0
    for i in range(N):
        moved = f + step * (np.arange(N) == i)
        again = fused_lasso(graph, moved, lam=0.3, sparsity=sparsity, tol=0)
        divergence += (again.u[i] - result.u[i]) / step
    assert degrees_of_freedom(model, result) == pytest.approx(divergence, abs=1e-3)


def test_pieces_at_a_tolerance_are_those_that_may_be_one():
    rng = np.random.default_rng(0)
    image, _ = gallery.piecewise_constant_image((24, 24), rng=3, noise=0.1)
    graph = grid_graph((24, 24))
    model = FusedModel.of(graph, image.ravel(), None, "squared", 1.0, 0.0)
    exact, rough = model.solve(0.5, tol=0), model.solve(0.5, tol=1e-3)
    certain = fused_components(graph, rough)
    tail, head = graph.edges.T
    apart = certain[tail] != certain[head]
    assert (exact.u[tail] != exact.u[head])[apart].all()  # as proved
    assert degrees_of_freedom(model, rough) <= degrees_of_freedom(model, exact)
    vertices = rng.permutation(576)[:5]
    assert (fused_components(graph, exact)[vertices] >= 0).all()


def test_vertices_without_data_are_no_degrees_of_freedom():
    graph = Graph(5, [[0, 1], [2, 3]])
    path = fused_lasso_path(
        graph, [1.0, 1.0, 0.0, 0.0, 9.0], [0.1], vertex_weights=[1.0, 1.0, 0.0, 0.0, 1.0]
    )
    assert path.df.tolist() == [2]
    assert path.n_observations == 3


def test_criteria_follow_their_formulas():
    rng = np.random.default_rng(1)
    f = np.repeat([0.0, 3.0, 1.0], 30) + 0.3 * rng.normal(size=90)
    c = rng.uniform(0.5, 2.0, 90)
    path = fused_lasso_path(
        grid_graph((90,)), f, n_lambdas=20, vertex_weights=c, noise_variance=0.1
    )
    rss = ((path.u - f) ** 2) @ c
    assert path.deviance == pytest.approx(rss / 0.1)
    assert path.aic == pytest.approx(rss / 0.1 + 2 * path.df)
    assert path.bic == pytest.approx(rss / 0.1 + np.log(90) * path.df)
    assert path.gcv == pytest.approx(rss / 0.1 / 90 / (1 - path.df / 90) ** 2)
    assert path.best("bic") is path.results[np.argmin(path.bic)]
    assert path.best_lambda("aic") == path.lambdas[np.argmin(path.aic)]
    assert fused_lasso_path(
        grid_graph((90,)), f, [1.0], vertex_weights=c
    ).noise_variance == pytest.approx(0.09 * np.average(c), rel=0.5)
    text = repr(path)
    assert text.startswith("FusedLassoPath of 20 λ, 90 observations, relative gap ≤")
    assert text.count("←") >= 1
    assert "← bic" in text or "bic" in text.rpartition("←")[2]


def test_deviance_of_other_losses():
    counts = np.array([0.0, 2.0, 5.0, 1.0])
    path = fused_lasso_path(grid_graph((4,)), counts, [1e-9], loss="poisson")
    assert path.deviance == pytest.approx([0.0], abs=1e-6)  # a perfect fit
    path = fused_lasso_path(grid_graph((4,)), [1.0, -1.0, 1.0, -1.0], [10.0], loss="logistic")
    assert path.deviance == pytest.approx([8 * np.log(2)])
    assert path.noise_variance == 1
    path = fused_lasso_path(
        grid_graph((4,)), [0.0, 0.0, 0.0, 1.0], [9.0], loss="absolute", noise_variance=2.0
    )
    assert path.deviance == pytest.approx([2.0], rel=1e-5)


def test_cross_validation_finds_a_good_weight(capsys):
    noisy, truth = gallery.piecewise_constant_image((20, 20), rng=2, noise=0.15)
    path = fused_lasso_path(grid_graph((20, 20)), noisy.ravel(), n_lambdas=12, cv=4, verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 12 + 4
    assert lines[0].startswith("λ_max")
    assert lines[-1].startswith("fold  4/4: 100 vertices held out")
    assert path.cv_errors.shape == (4, 12)
    errors = np.mean((path.u - truth.ravel()) ** 2, axis=1)
    assert errors[path.best_index("cv")] <= 2 * errors.min()
    assert errors[path.best_index("cv")] < 0.4 * np.mean((noisy - truth) ** 2)
    assert path.best_lambda("cv_1se") >= path.best_lambda("cv")
    assert "cv" in repr(path)
    # By hand: the error of one fold at one λ is that of a solution without its data.
    model = FusedModel.of(grid_graph((20, 20)), noisy.ravel(), None, "squared", 1.0, 0.0)
    held, lam = as_folds(4, model, 0) == 2, path.lambdas[5]
    blind = model.without(held)
    fit = blind.solve(lam, tol=0)
    settled = Medians(blind.graph, held).settle(fit.u)
    assert (settled[~held] == fit.u[~held]).all()
    assert blind.problem(lam).primal(settled) == pytest.approx(fit.primal, rel=1e-9)
    expected = np.mean((settled - noisy.ravel())[held] ** 2) / 2
    assert path.cv_errors[2, 5] == pytest.approx(expected, rel=0.02)


@given(st.integers(0, 1000))
@settings(max_examples=30)
def test_medians_nearest_to_the_mean(seed):
    rng = np.random.default_rng(seed)
    graph = graph_of(seed % 9)
    weights = graph.weights if seed % 2 else np.ones(graph.n_edges)
    graph, u = Graph(N, graph.edges, weights), rng.integers(0, 5, N).astype(float)
    i = int(rng.integers(N))
    near, omega = graph.to_sparse()[[i]].indices, graph.to_sparse()[[i]].data
    settled = Medians(graph, np.arange(N) == i).settle(u)
    assert (np.delete(settled, i) == np.delete(u, i)).all()
    if len(near) == 0:
        assert settled[i] == u[i]
        return
    cost = np.abs(u[near][:, None] - u[near]).T @ omega  # minimal at a neighbour
    best = u[near][cost <= cost.min() + 1e-9]
    mean = u[near] @ omega / omega.sum()
    assert settled[i] == pytest.approx(np.clip(mean, best.min(), best.max()))


@given(st.integers(1, 12), st.integers(0, 1000), st.sampled_from([0, 10, 100, 300]))
@settings(max_examples=60)
def test_medians_where_weights_differ_by_orders_of_magnitude(n, seed, orders):
    """Vertices without data take values of lowest cost, for any weights of the others."""
    rng = np.random.default_rng(seed)
    joined = np.argwhere(rng.random((n, n)) < 0.4) + np.array([0, n])
    scales = 10.0 ** -rng.uniform(0, orders, n)
    graph = Graph(2 * n, joined, scales[joined[:, 0]] * rng.integers(1, 4, len(joined)))
    u = rng.integers(0, 5, 2 * n).astype(float)
    settled = Medians(graph, np.arange(2 * n) < n).settle(u)
    for i in range(n):
        row = graph.to_sparse()[[i]]
        if row.nnz == 0:
            assert settled[i] == u[i]
            continue
        terms = [(Fraction(w), Fraction(v)) for w, v in zip(row.data, u[row.indices], strict=True)]
        costs = [sum(w * abs(v - x) for w, v in terms) for _, x in terms]
        here = sum(w * abs(v - Fraction(settled[i])) for w, v in terms)
        assert here <= min(costs) * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("sparsity", [0.0, 0.05])
@pytest.mark.parametrize("loss", LOSSES)
def test_cross_validation_with_every_loss(loss, sparsity):
    rng = np.random.default_rng(6)
    f = np.repeat([1.0, 6.0], 32)
    f = rng.poisson(f) if loss == "poisson" else f + rng.normal(size=64)
    f = np.where(f > 4.0, 1.0, -1.0) if loss == "logistic" else f
    path = fused_lasso_path(
        grid_graph((8, 8)), f, [0.1, 1.0, 100.0], loss=loss, sparsity=sparsity, cv=4, tol=1e-6
    )
    assert not np.isnan(path.cv_errors).any()
    assert np.isfinite(path.cv_errors[:, :2]).all()  # with a mean of 0, counts are impossible
    assert path.best_index("cv") > 0  # a single piece predicts badly


def test_folds_are_even_everywhere_and_keep_what_cannot_be_predicted():
    graph = grid_graph((30, 30))
    folds = spread_folds(graph, 5, 0)
    assert np.bincount(folds).tolist() == [180] * 5
    blocks = folds.reshape(5, 6, 5, 6).transpose(0, 2, 1, 3).reshape(25, 36)
    counts = np.stack([np.bincount(block, minlength=5) for block in blocks])
    assert counts.max() <= 16  # of 36 in a block: 7.2 on average
    assert (spread_folds(graph, 5, 0) == folds).all()
    assert (spread_folds(graph, 5, 1) != folds).any()

    counties = datasets.us_counties()
    model = FusedModel.of(counties.graph, counties.unemployment, None, "squared", 1.0, 0.0)
    folds = as_folds(5, model, 0)
    assert (
        np.flatnonzero(folds < 0).tolist()
        == np.flatnonzero(counties.names == "Caldwell County, Missouri").tolist()
    )
    # Both labels must stay on a component.
    labels = FusedModel.of(grid_graph((6,)), [1, -1, 1, -1, 1, 1], None, "logistic", 1.0, 0.0)
    assert as_folds(np.array([0, 1, 2, 1, 2, 2]), labels, None).tolist() == [0, -1, 2, -1, 2, 2]


@pytest.mark.parametrize(
    ("name", "value", "arguments"),
    [
        ("lambdas", "0", {"lambdas": [1.0, 0.0]}),
        ("lambdas", r"\(0,\)", {"lambdas": []}),
        ("lambdas", "nan", {"lambdas": [np.nan]}),
        ("n_lambdas", "0", {"n_lambdas": 0}),
        ("ratio", "1", {"ratio": 1.0}),
        ("ratio", "-1", {"ratio": -1.0}),
        ("noise_variance", "0", {"noise_variance": 0.0}),
        ("cv", "1", {"cv": 1}),
        ("cv", "25", {"cv": 26}),
        ("cv", "0.5", {"cv": [0.5] * 25}),
        ("cv", "0, 0", {"cv": [0] * 25}),
        ("rng", "'x'", {"cv": 3, "rng": "x"}),
        ("verbose", "2", {"verbose": 2}),
        ("warm_start", "path", {"warm_start": None}),
    ],
)
def test_bad_input_names_the_argument_and_the_value(name, value, arguments):
    with pytest.raises(ValueError, match=rf"{name}.*{value}"):
        fused_lasso_path(grid_graph((5, 5)), np.arange(25.0), **arguments)


def test_a_path_without_folds_has_no_cross_validation():
    path = fused_lasso_path(grid_graph((5,)), np.arange(5.0), [1.0])
    assert isinstance(path, FusedLassoPath)
    with pytest.raises(ValueError, match="cv=None"):
        path.best("cv")
    with pytest.raises(ValueError, match="'cp'"):
        path.best("cp")


def test_a_callback_ends_the_path():
    noisy, _ = gallery.piecewise_constant_image((20, 20), rng=2, noise=0.15)
    with pytest.raises(KeyboardInterrupt):
        fused_lasso_path(
            grid_graph((20, 20)), noisy.ravel(), [0.1, 0.2], callback=lambda info: True
        )


@pytest.mark.skipif(DATA is None, reason="GRAPHTV_DATA is not set")
def test_path_on_the_example_of_gfl():
    folder = Path(DATA) / "gfl_example"
    noisy, truth = (np.loadtxt(folder / f"{name}.csv").ravel() for name in ("data", "truth"))
    edges = np.loadtxt(folder / "edges.csv", delimiter=",", dtype=int)
    path = fused_lasso_path(edges, noisy, np.geomspace(0.05, 2.0, 10))
    assert path.relative_gap.max() <= 1e-12
    assert path.noise_variance == pytest.approx(np.var(noisy - truth), rel=0.05)
    errors = np.sqrt(np.mean((path.u - truth) ** 2, axis=1))
    assert errors.min() < 0.15
    assert errors[path.best_index("bic")] < 0.21
    assert errors[path.best_index("gcv")] < 0.16


@pytest.mark.slow
def test_gallery_example(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    path = load("docs/gallery/fused_lasso.py").main(tmp_path / "counties.png", n_lambdas=6)
    assert (tmp_path / "counties.png").stat().st_size > 50_000
    assert path.relative_gap.max() <= 1e-12
    assert path.df[0] == 2  # the mainland, and the county without neighbours
    assert 30 < path.df[path.best_index("bic")] < 1000
    assert "← bic" in capsys.readouterr().out


@pytest.mark.parametrize("outlier", [1.0, 1e6, 1e12])
@pytest.mark.parametrize("shape", [(60,), (6, 10)])
def test_an_outlier_fuses_no_other_pieces(shape, outlier):
    """Differences of 1e-10 of the range were ignored, and the range is that of the outlier."""
    n = int(np.prod(shape))
    rng = np.random.default_rng(0)
    f = np.where(np.arange(n) < n // 2, 0.0, 1.0) + np.round(0.2 * rng.normal(size=n), 3)
    graph = grid_graph(shape, 0.05)
    f[-1] = 50.0 * outlier
    result = fused_lasso(graph, f, tol=0)
    expected = fused_lasso(graph, np.append(f[:-1], 50.0), tol=0)
    pieces, wanted = fused_components(graph, result), fused_components(graph, expected)
    np.testing.assert_array_equal(pieces, wanted)


@pytest.mark.parametrize("shape", [(300,), (20, 15)])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_the_pieces_of_an_exact_solution_have_one_value(shape, loss):
    n = int(np.prod(shape))
    graph = grid_graph(shape, 0.3)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        f = np.arange(n) * 5 // n + 0.3 * rng.normal(size=n)
        result = fused_lasso(graph, f, loss=loss, tol=0)
        pieces = fused_components(graph, result)
        for piece in np.unique(pieces):
            assert len(np.unique(result.u[pieces == piece])) == 1


def test_integers_whose_pieces_have_equal_means():
    """Rounding of two means must not make one piece two."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        f = rng.integers(0, 5, 400).astype(float)
        result = fused_lasso(grid_graph((400,)), f, lam=0.3, tol=0)
        pieces = fused_components(grid_graph((400,)), result)
        jumps = np.abs(np.diff(result.u)) > 1e-9
        assert pieces.max() == jumps.sum()
