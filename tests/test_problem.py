"""Objectives of a problem: they bound each other and agree with an independent verifier."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import (
    AbsoluteLoss,
    EntropicSimplex,
    Graph,
    HuberLoss,
    HuberTV,
    LinearBox,
    LogisticLoss,
    PoissonLoss,
    Problem,
    SquaredLoss,
    TotalVariation,
    _core,
    grid_graph,
    tv_forest,
)
from graphtv.objective.proof import relative_gap
from reference.terms import certify

KINDS = ["squared", "absolute", "huber", "logistic", "poisson", "box", "simplex"]


def random_graph(rng, n, extra):
    """A connected graph on n > 1 vertices."""
    tree = [(int(rng.integers(i)), i) for i in range(1, n)]
    more = [(a, b) for a, b in rng.integers(n, size=(extra, 2)).tolist() if a != b]
    return Graph(n, tree + more, rng.random(len(tree) + len(more)) + 0.05)


def data_term(kind, rng, shape):
    f = rng.normal(size=shape).round(1)
    c = rng.random(shape) * (rng.random(shape) > 0.3)
    if kind == "logistic":
        f = np.sign(f)
        f[0], f[1], c[0], c[1] = 1.0, -1.0, 0.5, 0.7  # both labels are there
        return LogisticLoss(f, c)
    return {
        "squared": lambda: SquaredLoss(f, c),
        "absolute": lambda: AbsoluteLoss(f, c),
        "huber": lambda: HuberLoss(f, 0.4, c),
        "poisson": lambda: PoissonLoss(np.abs(f), c),
        "box": lambda: LinearBox(f, -c, c + 0.5),
        "simplex": lambda: EntropicSimplex(f, 0.3),
    }[kind]()


def random_primal(kind, rng, data):
    if kind == "simplex":
        u = rng.dirichlet(np.ones(data.shape[1]), size=data.shape[0])
        return u / u.sum(axis=1, keepdims=True)
    if kind == "box":
        return data.lower + rng.random(data.shape) * (data.upper - data.lower)
    u = 2 * rng.normal(size=data.shape)
    return np.abs(u) if kind == "poisson" else u


def random_dual(rng, shape):
    return np.clip(1.5 * rng.uniform(-1, 1, size=shape), -1, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("delta", [0.0, 0.25])
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1))
def test_objectives_agree_with_the_verifier(kind, delta, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    shape = (n, int(rng.integers(2, 4))) if kind == "simplex" or seed % 2 else (n,)
    graph = random_graph(rng, n, 4)
    problem = Problem(
        graph, data_term(kind, rng, shape), HuberTV(delta) if delta else TotalVariation()
    )
    u, p = random_primal(kind, rng, problem.data), random_dual(rng, problem.dual_shape)
    expected = certify(graph.gradient(), problem.data, u, p, delta, problem.term.domain)
    scale = 1e-13 * (1 + abs(expected.primal) + abs(expected.dual))
    assert problem.primal(u) == pytest.approx(expected.primal, abs=scale, rel=1e-13)
    assert problem.dual(p) == pytest.approx(expected.dual, abs=scale, rel=1e-13)
    assert problem.dual(p) <= problem.primal(u) + scale
    assert problem.gap(u, p) == pytest.approx(expected.gap, abs=2 * scale)
    expected = relative_gap(problem.primal(u), problem.dual(p))
    assert problem.relative_gap(u, p) == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_a_problem_worked_by_hand():
    # Two vertices at 0 and 3, edge weight 1: each moves by 1. Primal ½ + ½ + 1 = dual.
    problem = Problem(Graph(2, [[0, 1]]), SquaredLoss([0.0, 3.0]))
    assert problem.primal([1.0, 2.0]) == 2.0
    assert problem.dual([-1.0]) == 2.0
    assert problem.gap([1.0, 2.0], [-1.0]) == 0.0
    assert problem.relative_gap([1.0, 2.0], [-1.0]) == 0.0


def test_dual_is_minus_infinity_outside_the_box():
    problem = Problem(grid_graph((3,)), SquaredLoss([0.0, 1.0, 2.0]))
    assert problem.dual([0.0, 1.0]) > -np.inf
    assert problem.dual([0.0, np.nextafter(1.0, 2.0)]) == -np.inf
    assert problem.gap([0.0, 0.0, 0.0], [0.0, 1.5]) == np.inf
    assert problem.relative_gap([0.0, 0.0, 0.0], [0.0, 1.5]) == np.inf


def test_every_dual_point_is_finite_without_data():
    rng = np.random.default_rng(0)
    for kind in ("squared", "absolute", "huber", "poisson"):
        graph = random_graph(rng, 8, 6)
        c = np.array([0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0])
        f = rng.random(8)
        data = {
            "squared": SquaredLoss(f, c),
            "absolute": AbsoluteLoss(f, c),
            "huber": HuberLoss(f, 0.1, c),
            "poisson": PoissonLoss(f, c),
        }[kind]
        problem = Problem(graph, data)
        assert np.isfinite(problem.dual(rng.choice([-1.0, 1.0], size=graph.n_edges)))
        nothing = Problem(graph, type(data)(f, weights=np.zeros(8)))
        assert nothing.relative_gap(np.zeros(8), np.zeros(graph.n_edges)) == 0.0


def test_poisson_without_counts_has_the_minimiser_zero():
    problem = Problem(grid_graph((4,)), PoissonLoss(np.zeros(4)))
    assert problem.primal(np.zeros(4)) == 0.0
    assert problem.dual(np.zeros(3)) == 0.0
    assert Problem(grid_graph((2,)), PoissonLoss([0.0, 1.0])).primal([1.0, 0.0]) == np.inf
    assert Problem(grid_graph((2,)), PoissonLoss([0.0, 1.0])).primal([-1.0, 1.0]) == np.inf


def test_infinite_primal_values():
    problem = Problem(grid_graph((2,)), LinearBox([1.0, -1.0]))
    assert problem.primal([0.0, 1.0]) == 0.0
    assert problem.primal([0.0, 1.0 + 1e-12]) == np.inf
    assert problem.relative_gap([0.0, 2.0], [0.0]) == np.inf


@settings(max_examples=25)
@given(
    a=st.floats(-4, 4).map(lambda x: 10.0**x),
    b=st.floats(-4, 4).map(lambda x: 10.0**x),
    omega=st.floats(-6, 4).map(lambda x: 10.0**x),
)
def test_logistic_domain_holds_the_solution_of_one_edge(a, b, omega):
    """Apart, a/(1 + exp(u)) = ω = b/(1 + exp(-v)); together, at log(a/b)."""
    problem = Problem(Graph(2, [[0, 1]], omega), LogisticLoss([1.0, -1.0], [a, b]))
    low, high = problem.term.domain
    u = np.log(a / omega - 1) if a > omega else -np.inf
    v = -np.log(b / omega - 1) if b > omega else np.inf
    solution = [u, v] if u > v else [np.log(a / b)] * 2
    assert low <= min(solution) <= max(solution) <= high
    assert np.isfinite([low, high]).all()
    smooth = Problem(Graph(2, [[0, 1]], omega), LogisticLoss([1.0, -1.0], [a, b]), HuberTV(0.5))
    assert smooth.term.domain[1] >= np.log(a / b)


@pytest.mark.parametrize("delta", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(2))
def test_logistic_domain_holds_the_solution_of_a_graph(seed, delta):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 8, 3)
    data = data_term("logistic", rng, (8,))
    problem = Problem(graph, data, HuberTV(delta) if delta else TotalVariation())
    wide = data._restricted(-1e3, 1e3)
    u, p = primal_dual(graph, wide, delta, 4_000)
    low, high = problem.term.domain
    assert problem.relative_gap(u, p) < 1e-4
    assert low <= u.min()
    assert u.max() <= high


def primal_dual(graph, term, delta, n_iterations):
    """Chambolle and Pock's method, written directly."""
    K = graph.gradient()
    tau = sigma = 0.99 / np.sqrt(np.abs(K).sum(axis=1).max() * np.abs(K).sum(axis=0).max())
    u, p = np.zeros(K.shape[1]), np.zeros(K.shape[0])
    term.prox(u.copy(), np.ones(1), u)
    for _ in range(n_iterations):
        last = u.copy()
        term.prox(u - tau * (K.T @ p), np.array([tau]), u)
        p = np.clip((p + sigma * (K @ (2 * u - last))) / (1 + sigma * delta), -1, 1)
    return u, p


def test_logistic_labels_that_agree_are_an_error():
    graph = Graph(4, [[0, 1], [2, 3]])
    with pytest.raises(ValueError, match=r"data .*component of vertex 2 are -1"):
        Problem(graph, LogisticLoss([1.0, -1.0, -1.0, 0.0]))
    labels = np.array([[1.0, 1.0], [-1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match=r"data .*vertex 0 in channel 1 are 1"):
        Problem(graph, LogisticLoss(labels))
    weightless = Problem(graph, LogisticLoss([1.0, -1.0, -1.0, 0.0], [1.0, 1.0, 0.0, 1.0]))
    assert weightless.primal([0.0] * 4) == pytest.approx(2 * np.log(2))
    assert Problem(graph, LogisticLoss(np.zeros(4))).term.domain == (0.0, 0.0)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "simplex"])
@pytest.mark.parametrize("seed", range(3))
def test_polish_ends_what_an_iteration_began(kind, seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 30, 20)
    data = data_term(kind, rng, (30,))
    problem = Problem(graph, data)
    u, p = primal_dual(graph, problem.term, 0.0, 3_000)
    polished = np.empty(30)
    arguments = (problem.term, graph.edges, graph.weights, p, 1e-9, polished)
    assert _core.polish(*arguments, _core.Watch(np.inf))
    assert problem.gap(polished, p) <= problem.gap(u, p) + 1e-14
    # The rest of the gap is due to the dual point, which is slow without strong convexity.
    assert problem.relative_gap(polished, p) < (1e-6 if kind == "squared" else 1e-2)
    assert not _core.polish(*arguments, _core.Watch(0.0))


def test_polish_of_an_exact_dual_point_is_exact():
    rng = np.random.default_rng(5)
    tree = random_graph(rng, 2000, 0)
    f = rng.normal(size=(2000, 2))
    u, p = tv_forest(tree, f, return_dual=True)
    problem = Problem(tree, SquaredLoss(f))
    polished = np.empty(f.size)
    flat = np.ascontiguousarray(p.T).ravel()
    watch = _core.Watch(np.inf)
    assert _core.polish(problem.term, tree.edges, tree.weights, flat, 1e-9, polished, watch)
    np.testing.assert_allclose(polished.reshape(2, -1).T, u, atol=1e-13)


def test_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(6)
    graph = grid_graph((150, 150), 0.3)
    problem = Problem(graph, SquaredLoss(rng.normal(size=(22_500, 3))), HuberTV(0.1))
    u, p = rng.normal(size=67_500), rng.uniform(-1, 1, size=3 * graph.n_edges)
    for n_threads in (2, 4, 8):
        assert problem.objective.primal(u, n_threads) == problem.objective.primal(u)
        assert problem.objective.dual(p, n_threads) == problem.objective.dual(p)


def test_graphs_without_edges_or_vertices():
    problem = Problem(Graph(3, []), SquaredLoss([1.0, 2.0, 3.0]))
    assert problem.relative_gap([1.0, 2.0, 3.0], []) == 0.0
    empty = Problem(Graph(0, []), SquaredLoss([]))
    assert empty.gap([], []) == 0.0
    columns = Problem(Graph(0, []), SquaredLoss(np.zeros((0, 2))))
    assert columns.gap(np.zeros((0, 2)), np.zeros((0, 2))) == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_problems_can_be_pickled(kind):
    rng = np.random.default_rng(7)
    problem = Problem(random_graph(rng, 9, 4), data_term(kind, rng, (9, 2)), HuberTV(0.5))
    again = pickle.loads(pickle.dumps(problem))
    assert repr(again) == repr(problem)
    u, p = random_primal(kind, rng, problem.data), random_dual(rng, problem.dual_shape)
    assert again.primal(u) == problem.primal(u)
    assert again.dual(p) == problem.dual(p)


def test_relative_gap_of_values():
    assert relative_gap(0.0, 0.0) == 0.0
    assert relative_gap(2.0, 1.0) == 0.5
    assert relative_gap(-1.0, -2.0) == 0.5
    assert relative_gap(1.0, 1.0 + 1e-16) == 0.0
    assert relative_gap(np.inf, 1.0) == np.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g, d: Problem("graph", d), "graph must be a graphtv.Graph"),
        (lambda g, d: Problem(g, [1.0, 2.0, 3.0]), "data must be a data term"),
        (lambda g, d: Problem(g, SquaredLoss), "data must be a data term"),
        (
            lambda g, d: Problem(g, SquaredLoss([1.0])),
            r"data must have 3 vertices .*got shape \(1,\)",
        ),
        (lambda g, d: Problem(g, d, "tv"), "penalty must be .*'tv'"),
        (lambda g, d: Problem(g, d, HuberTV), "penalty must be"),
        (lambda g, d: Problem(g, d).primal([1.0]), r"u must have shape \(3,\), got \(1,\)"),
        (lambda g, d: Problem(g, d).primal(np.zeros((3, 1))), r"u must have shape \(3,\)"),
        (lambda g, d: Problem(g, d).dual([1.0]), r"p must have shape \(2,\), got \(1,\)"),
        (lambda g, d: Problem(g, d).dual([np.nan, 0.0]), "p must be finite"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call(grid_graph((3,)), SquaredLoss([1.0, 2.0, 3.0]))
