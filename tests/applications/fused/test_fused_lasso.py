"""The fused lasso against a conic solver, brute force, and data with known structure."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from graphtv import Graph, Problem, SquaredLoss, datasets, fused_lasso, gallery, grid_graph, solve
from graphtv.applications.fused.fused_model import LOSSES, FusedModel, make_loss
from graphtv.applications.fused.sparse_loss import SparseLoss
from graphtv.graph.components import connected_components

DATA = os.environ.get("GRAPHTV_DATA")
N = 14


def graph_of(seed=1):
    rng = np.random.default_rng(seed)
    return gallery.erdos_renyi_graph(N, 28, seed, rng.uniform(0.05, 0.8, 28))


def signal_of(loss, rng, n=N):
    if loss == "logistic":
        return rng.permutation(np.resize([1.0, -1.0, 1.0], n))
    if loss == "poisson":
        return rng.poisson(2.0, n).astype(float)
    return 2.0 * rng.normal(size=n) + 0.5


def conic_optimum(graph, f, c, lam, mu, loss):
    """The optimum by CVXPY; the Huber loss has width 0.7."""
    cvxpy = pytest.importorskip("cvxpy")
    u = cvxpy.Variable(len(f))
    seen = np.flatnonzero(f > 0)
    terms = {
        "squared": lambda: 0.5 * c @ cvxpy.square(u - f),
        "absolute": lambda: c @ cvxpy.abs(u - f),
        "huber": lambda: 0.5 * c @ cvxpy.huber(u - f, 0.7),
        "logistic": lambda: c @ cvxpy.logistic(cvxpy.multiply(-f, u)),
        "poisson": lambda: c @ u - (c * f)[seen] @ cvxpy.log(u[seen]),
    }
    penalty = lam * cvxpy.norm1(graph.gradient() @ u) + mu @ cvxpy.abs(u)
    bounds = [u >= 0] if loss == "poisson" else []
    problem = cvxpy.Problem(cvxpy.Minimize(terms[loss]() + penalty), bounds)
    problem.solve(solver=cvxpy.CLARABEL)
    return problem.value


def test_lam_by_position():
    graph, f = graph_of(), np.arange(N) % 5.0
    by_name = fused_lasso(graph, f, lam=0.5).u
    np.testing.assert_array_equal(fused_lasso(graph, f, 0.5).u, by_name)


@pytest.mark.parametrize("mu", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_agrees_with_a_conic_solver(loss, weighted, mu):
    rng = np.random.default_rng([LOSSES.index(loss), weighted])
    graph, f = graph_of(), signal_of(loss, rng)
    c = rng.uniform(0.3, 2.0, N) if weighted else np.ones(N)
    result = fused_lasso(
        graph, f, lam=0.5, vertex_weights=c if weighted else None, sparsity=mu, loss=loss, delta=0.7
    )
    optimum = conic_optimum(graph, f, c, 0.5, np.full(N, mu), loss)
    assert result.status == "optimal"
    assert result.relative_gap <= 1e-6
    slack = 2e-6 * max(abs(optimum), 1.0)
    assert result.dual - slack <= optimum <= result.primal + slack
    assert result.primal - optimum <= slack


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber"])
def test_sparsity_per_vertex_and_missing_data(loss):
    rng = np.random.default_rng(7)
    graph, f = graph_of(), signal_of(loss, rng)
    c, mu = rng.uniform(0.3, 2.0, N), rng.uniform(0.0, 0.6, N)
    c[[0, 5, 9]] = mu[[1, 5]] = 0.0
    result = fused_lasso(
        graph, f, lam=0.4, vertex_weights=c, sparsity=mu, loss=loss, delta=0.7, tol=1e-7
    )
    optimum = conic_optimum(graph, f, c, 0.4, mu, loss)
    assert result.status == "optimal"
    assert result.primal == pytest.approx(optimum, rel=1e-6)


def test_all_values_shrink_although_the_data_is_far_from_0():
    """Data in [5, 6], and a sparsity weight that moves every value below the range of the data."""
    graph = graph_of()
    f, mu = np.linspace(5.0, 6.0, N), np.full(N, 3.0)
    for loss in ("squared", "huber", "absolute"):
        c = np.linspace(0.5, 2.0, N)
        result = fused_lasso(graph, f, vertex_weights=c, sparsity=3.0, loss=loss, delta=0.7)
        assert result.primal == pytest.approx(conic_optimum(graph, f, c, 1.0, mu, loss), rel=2e-6)
        assert result.u.min() < 5.0


@given(st.integers(0, 10_000), st.floats(0.05, 2.0), st.floats(0.01, 2.0))
@settings(max_examples=40)
def test_soft_threshold_of_the_solution_without_sparsity(seed, lam, mu):
    rng = np.random.default_rng(seed)
    graph, f = graph_of(seed % 5), rng.normal(size=N)
    c = rng.uniform(0.2, 3.0, N)
    plain = fused_lasso(graph, f, lam=lam, vertex_weights=c, tol=0)
    result = fused_lasso(graph, f, lam=lam, vertex_weights=c, sparsity=mu * c, tol=0)
    expected = np.sign(plain.u) * np.maximum(np.abs(plain.u) - mu, 0)
    assert result.status == "optimal"
    assert result.u == pytest.approx(expected, abs=1e-9)
    # The certificate covers the whole problem. It is recomputed here from the formulas.
    K = graph.gradient() * lam
    primal = c @ (result.u - f) ** 2 / 2 + np.abs(K @ result.u).sum() + mu * c @ np.abs(result.u)
    s = -K.T @ result.p / c + f  # H_i* at -(Kᵀp)_i is c/2 (S_μ(s)² - f²)
    dual = -c @ (np.maximum(np.abs(s) - mu, 0) ** 2 - f**2) / 2
    assert result.primal == pytest.approx(primal, rel=1e-12)
    assert result.dual == pytest.approx(dual, rel=1e-12, abs=1e-12)
    assert np.abs(result.p).max() <= 1


@given(st.integers(0, 10_000), st.floats(0.02, 2.0), st.floats(0.02, 2.0))
@settings(max_examples=60)
def test_both_sides_of_0_meet_exactly(seed, lam, scale):
    rng = np.random.default_rng(seed)
    graph, f = graph_of(seed % 5), rng.normal(size=N) + rng.normal()
    c, mu = rng.uniform(0.2, 3.0, N), scale * rng.uniform(0.1, 1.0, N)
    if seed % 2:
        c[rng.permutation(N)[:5]] = 0.0  # and some vertices have no data
    model = FusedModel.of(graph, f, c, "squared", 1.0, mu)
    assert model.is_exact
    result = model.solve(lam, tol=0)
    assert "both sides" in result.reason
    assert result.relative_gap <= 1e-12
    # Stationarity, from the formulas: c (f - u) - Kᵀp is in μ ∂|u|.
    force = c * (f - result.u) - lam * graph.gradient().T @ result.p
    moving = result.u != 0
    assert (np.abs(force) <= mu + 1e-5).all()
    assert force[moving] == pytest.approx((mu * np.sign(result.u))[moving], abs=1e-5)
    other = solve(model.problem(lam), tol=1e-7)  # by PDHG, from the same data term
    assert other.dual - 1e-9 <= result.primal <= other.primal + 1e-9


@given(
    st.sampled_from(["squared", "absolute", "huber", "logistic"]),
    st.integers(0, 10_000),
    st.floats(0.1, 10.0),
)
@settings(max_examples=60)
def test_sparse_loss_is_a_convex_function_with_its_conjugate_and_prox(loss, seed, step):
    rng = np.random.default_rng(seed)
    f = signal_of(loss, rng)
    c, mu = rng.uniform(0.3, 2.0, N), rng.uniform(0.1, 1.0, N)
    inner = make_loss(f, c, loss, 0.7)
    term = SparseLoss(inner, mu)
    v = 3.0 * rng.normal(size=N)
    u = term.prox(v, np.full(N, step))
    # Moreau: (v - u)/step is a subgradient at u, of the term over its range, which holds 0 and u.
    s = (v - u) / step
    assert term.value(u) + term.conjugate(s) == pytest.approx(s @ u, rel=1e-8, abs=1e-8)
    for other in (u + 0.01 * rng.normal(size=N), np.zeros(N)):
        inside = np.clip(other, min(u.min(), 0.0), max(u.max(), 0.0))
        assert term.value(inside) + term.conjugate(s) >= s @ inside - 1e-9
    value = inner.value(u) + mu @ np.abs(u)
    assert term.value(u) == pytest.approx(value, rel=1e-12)


def test_labels_of_one_kind_have_a_solution_with_sparsity():
    graph = grid_graph((5,))
    with pytest.raises(ValueError, match="all labels"):
        fused_lasso(graph, np.ones(5), loss="logistic")
    result = fused_lasso(graph, np.ones(5), loss="logistic", sparsity=0.25)
    assert result.u == pytest.approx(np.full(5, np.log(3.0)), abs=1e-3)  # c (1 - σ(u)) = μ


def test_nothing_and_next_to_nothing():
    none = Graph(0, np.empty((0, 2), dtype=int))
    assert fused_lasso(none, np.empty(0), sparsity=0.1, tol=0).u.shape == (0,)
    blind = fused_lasso(grid_graph((4,)), np.arange(4.0), vertex_weights=0.0, sparsity=0.3, tol=0)
    assert blind.u.tolist() == [0.0] * 4
    one = fused_lasso(grid_graph((4,)), np.arange(4.0), vertex_weights=[0, 0, 0, 1], sparsity=0.3)
    assert one.u == pytest.approx(np.full(4, 1.8), abs=1e-3)  # 3 - 4 · 0.3
    weights = np.linspace(0.1, 2.0, 1600)
    late = fused_lasso(
        grid_graph((40, 40)), np.sin(weights * 99), vertex_weights=weights, sparsity=1, time_limit=0
    )
    assert late.status == "time_limit"
    assert late.dual <= late.primal


def test_graphs_in_every_form():
    rng = np.random.default_rng(0)
    graph, f = graph_of(), rng.normal(size=N)
    expected = fused_lasso(graph, f, tol=0).u
    forms = [
        graph.to_sparse(),
        sparse.csc_matrix(graph.to_sparse()),
        (graph.edges, graph.weights),
        (graph.edges.tolist(), graph.weights.tolist()),
        graph.to_networkx(),
        graph.to_igraph(),
    ]
    for form in forms:
        assert fused_lasso(form, f, tol=0).u == pytest.approx(expected, abs=1e-12)
    unit = fused_lasso(Graph(N, graph.edges), f, tol=0).u
    for form in (graph.edges, graph.edges.tolist()):
        assert fused_lasso(form, f, tol=0).u == pytest.approx(unit, abs=1e-12)


def test_lam_scales_the_weights_and_options_reach_the_solver(capsys):
    rng = np.random.default_rng(0)
    graph, f = graph_of(), rng.normal(size=N)
    scaled = Graph(N, graph.edges, 0.3 * graph.weights)
    expected = solve(Problem(scaled, SquaredLoss(f)), tol=0)
    result = fused_lasso(graph, f, lam=0.3, tol=0, verbose=True, warm_start=expected)
    assert result.u == pytest.approx(expected.u, abs=1e-12)
    assert "optimal" in capsys.readouterr().out
    stopped = fused_lasso(graph, f, lam=0.3, callback=lambda info: True)
    assert stopped.status in ("interrupted", "optimal")
    rough = fused_lasso(grid_graph((40, 40)), rng.normal(size=1600), tol=0.3, sparsity=0.1)
    assert rough.status == "optimal"
    assert rough.relative_gap <= 0.3


def test_channels_are_fused_independently():
    rng = np.random.default_rng(3)
    graph, f = graph_of(), rng.normal(size=(N, 2))
    both = fused_lasso(graph, f, sparsity=0.2, tol=0)
    for k in range(2):
        assert both.u[:, k] == pytest.approx(
            fused_lasso(graph, f[:, k], sparsity=0.2, tol=0).u, abs=1e-10
        )
    weights = rng.uniform(0.5, 2.0, N)
    both = fused_lasso(graph, f, vertex_weights=weights, sparsity=0.2, tol=1e-9)
    one = fused_lasso(graph, f[:, 0], vertex_weights=weights, sparsity=0.2, tol=1e-9)
    assert both.u[:, 0] == pytest.approx(one.u, abs=2e-3)


@pytest.mark.parametrize(
    ("name", "value", "arguments"),
    [
        ("graph", "7", {"graph": 7}),
        ("graph", "13", {"graph": grid_graph((13,))}),
        ("edges", "14", {"graph": [[0, 14]]}),
        ("edges", r"\(2, 3\)", {"graph": np.zeros((2, 3), dtype=int)}),
        ("signal", "NaN everywhere", {"signal": [np.nan] * N}),
        ("signal", "NaN everywhere in channel 1", {"signal": [[1.0, np.nan]] * N}),
        ("signal", "inf", {"signal": [np.inf] * N}),
        ("signal", r"\(2, 2, 2\)", {"signal": np.zeros((2, 2, 2))}),
        ("lam", "0", {"lam": 0.0}),
        ("lam", "-1", {"lam": -1}),
        ("lam", "inf", {"lam": np.inf}),
        ("vertex_weights", "-1", {"vertex_weights": [-1.0] * N}),
        ("vertex_weights", r"\(3,\)", {"vertex_weights": [1.0, 2.0, 3.0]}),
        ("sparsity", "-0.5", {"sparsity": -0.5}),
        ("sparsity", r"\(2,\)", {"sparsity": [0.1, 0.2]}),
        ("sparsity", "index 3", {"loss": "logistic", "sparsity": [1.0] * 3 + [0.0] * 11}),
        ("loss", "'cubic'", {"loss": "cubic"}),
        ("delta", "0", {"loss": "huber", "delta": 0.0}),
        ("labels", "0.5", {"loss": "logistic", "signal": [0.5] * N}),
        ("counts", "-1", {"loss": "poisson", "signal": [-1.0] * N}),
        ("tol", "-1", {"tol": -1.0}),
    ],
)
def test_bad_input_names_the_argument_and_the_value(name, value, arguments):
    given = {"graph": graph_of(), "signal": np.resize([1.0, -1.0], N), **arguments}
    with pytest.raises(ValueError, match=rf"{name}.*{value}"):
        fused_lasso(given.pop("graph"), given.pop("signal"), **given)


def test_counties_of_the_united_states():
    counties = datasets.us_counties()
    graph, unemployment, coordinates, names, states, fips = counties
    assert (graph.n_vertices, graph.n_edges) == (3109, 8864)
    assert len(set(fips.tolist())) == 3109
    assert len(set(states.tolist())) == 49  # the 48 contiguous states and the District of Columbia
    count, component = connected_components(graph)
    assert count == 2
    alone = np.flatnonzero(component == np.argmin(np.bincount(component)))
    assert names[alone].tolist() == ["Caldwell County, Missouri"]
    assert (unemployment.min(), unemployment.max()) == (1.2, 30.1)
    assert names[unemployment.argmax()] == "Imperial County, California"
    assert ((coordinates > [-125, 24]) & (coordinates < [-66, 50])).all()
    result = fused_lasso(graph, unemployment, lam=1.8, tol=0)
    assert result.relative_gap <= 1e-12
    assert result.u[alone] == unemployment[alone]
    # Michigan was hit hardest and the Plains hardly at all: the regions show it.
    assert np.median(result.u[states == "MI"]) > 12.0
    assert np.median(result.u[states == "NE"]) < 5.5


@pytest.mark.skipif(DATA is None, reason="GRAPHTV_DATA is not set")
def test_recovers_the_truth_on_the_example_of_gfl():
    folder = Path(DATA) / "gfl_example"
    noisy, truth = (np.loadtxt(folder / f"{name}.csv").ravel() for name in ("data", "truth"))
    edges = np.loadtxt(folder / "edges.csv", delimiter=",", dtype=int)
    result = fused_lasso(edges, noisy, lam=0.21, tol=0)
    assert result.relative_gap <= 1e-12
    before, after = (np.sqrt(np.mean((u - truth) ** 2)) for u in (noisy, result.u))
    assert before > 0.35
    assert after < 0.145


def test_constants_and_slopes_of_every_loss():
    """The best constant beats nearby values, and the slopes agree with finite differences."""
    rng = np.random.default_rng(5)
    for loss in LOSSES:
        graph, f = graph_of(), signal_of(loss, rng)
        for mu in (0.0, 0.1, 0.4, 5.0):
            model = FusedModel.of(graph, f, rng.uniform(0.5, 2.0, N), loss, 0.7, mu)
            m, value = model.constants(), model.problem(1.0).data.value
            for label in range(connected_components(graph)[0]):
                here = connected_components(graph)[1] == label
                assert np.ptp(m[here]) == 0
                for shift in (-1e-3, 1e-3):
                    if loss != "poisson" or m[here][0] + shift >= 0:
                        assert value(m + shift * here) >= value(m) - 1e-12
        u = np.abs(rng.normal(size=N)) + 0.1
        ahead, behind = u + 1e-6, u - 1e-6
        for i in range(N):
            step = np.where(np.arange(N) == i, ahead, u), np.where(np.arange(N) == i, behind, u)
            slope = (model.loss.value(step[0]) - model.loss.value(step[1])) / 2e-6
            assert model.loss.derivative(u)[i] == pytest.approx(slope, abs=1e-4)
