"""Problems h(Au) + R(u) + F(Ku): agreement with a conic solver, certificates, arguments."""

import operator
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import aslinearoperator

import graphtv
from graphtv import AbsoluteLoss, Graph, Problem, SquaredLoss, grid_graph, solve
from graphtv.applications.imaging.convolution import Convolution

cp = pytest.importorskip("cvxpy")

N, SHAPE = 24, (5, 6)
RNG = np.random.default_rng(3)
MATRIX = RNG.standard_normal((N, 30)) / np.sqrt(N)
TRUTH = np.repeat(RNG.standard_normal(5), 6)
DATA = MATRIX @ TRUTH + 0.05 * RNG.standard_normal(N)
COUNTS = RNG.poisson(10 * np.abs(MATRIX) @ np.abs(TRUTH)).astype(float)
WEIGHTS = RNG.uniform(0.5, 2.0, N)
GRAPH = graphtv.grid_graph(SHAPE, 0.05)

LOSSES = {
    "squared": (
        graphtv.SquaredLoss(DATA, WEIGHTS),
        MATRIX,
        lambda x: 0.5 * cp.sum(cp.multiply(WEIGHTS, cp.square(x - DATA))),
    ),
    "huber": (
        graphtv.HuberLoss(DATA, 0.1, WEIGHTS),
        MATRIX,
        lambda x: 0.5 * cp.sum(cp.multiply(WEIGHTS, cp.huber(x - DATA, 0.1))),
    ),
    "absolute": (
        graphtv.AbsoluteLoss(DATA, WEIGHTS),
        MATRIX,
        lambda x: cp.sum(cp.multiply(WEIGHTS, cp.abs(x - DATA))),
    ),
    "quantile": (
        graphtv.QuantileLoss(DATA, 0.3),
        MATRIX,
        lambda x: cp.sum(0.3 * cp.pos(DATA - x) + 0.7 * cp.pos(x - DATA)),
    ),
    "logistic": (
        graphtv.LogisticLoss(np.sign(DATA), WEIGHTS),
        MATRIX,
        lambda x: cp.sum(cp.multiply(WEIGHTS, cp.logistic(-cp.multiply(np.sign(DATA), x)))),
    ),
    "poisson": (
        graphtv.PoissonLoss(COUNTS),
        np.abs(MATRIX),
        lambda x: cp.sum(x - cp.multiply(COUNTS, cp.log(x))),
    ),
}
CONSTRAINTS = [
    {},
    {"lower": -0.5, "upper": 0.4},
    {"lower": 0.0},
    {"sparsity": 0.05},
    {"upper": 0.5, "sparsity": 0.02},
]


def reference(loss, matrix, lower=None, upper=None, sparsity=0.0):
    u = cp.Variable(matrix.shape[1])
    bounds = [u >= lower] if lower is not None else []
    bounds += [u <= upper] if upper is not None else []
    penalty = cp.norm1(GRAPH.gradient() @ u) + sparsity * cp.norm1(u)
    return cp.Problem(cp.Minimize(loss(matrix @ u) + penalty), bounds).solve(solver="CLARABEL")


@pytest.mark.slow
@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
@pytest.mark.parametrize("name", LOSSES)
def test_agrees_with_a_conic_solver(name, constraint):
    loss, matrix, conic = LOSSES[name]
    problem = Problem(GRAPH, loss, operator=matrix, **constraint)
    result = solve(problem, tol=1e-5, max_iterations=40_000)
    best = reference(conic, matrix, **constraint)
    slack = 1e-6 * abs(best)
    assert result.status == "optimal"
    assert result.dual - slack <= best <= result.primal + slack
    assert result.primal <= best + 1.1e-5 * abs(best) + slack
    assert np.abs(result.p).max() <= 1.0
    assert problem.primal(result.u) == pytest.approx(result.primal, rel=1e-12)
    assert result.residual_dual.shape == loss.shape
    assert result.operator_calls > 0


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, aslinearoperator])
def test_kinds_of_operators_agree(kind):
    loss, matrix, _ = LOSSES["squared"]
    dense = solve(Problem(GRAPH, loss, operator=matrix), tol=1e-8)
    other = solve(Problem(GRAPH, loss, operator=kind(matrix)), tol=1e-8)
    np.testing.assert_allclose(other.primal, dense.primal, rtol=2e-8)
    assert bool(other.assumptions) == (kind is aslinearoperator)


@pytest.mark.parametrize(
    "penalty",
    [graphtv.HuberTV(0.01), graphtv.IsotropicTV(), graphtv.CoupledTV()],
    ids=str,
)
def test_other_penalties(penalty):
    rng = np.random.default_rng(5)
    data = graphtv.SquaredLoss(rng.standard_normal((N, 2)))
    result = solve(Problem(GRAPH, data, penalty, MATRIX), tol=1e-5)
    assert result.status == "optimal"
    assert result.u.shape == (30, 2)


def test_bounds_without_an_operator():
    rng = np.random.default_rng(6)
    signal = rng.standard_normal(SHAPE)
    problem = Problem(GRAPH, graphtv.SquaredLoss(signal), lower=0.0, sparsity=0.1)
    result = solve(problem, tol=1e-8)
    assert result.u.shape == SHAPE
    # Clip and threshold of the solution without them, since they are the same at all vertices.
    free = solve(Problem(GRAPH, graphtv.SquaredLoss(signal)), tol=0)
    np.testing.assert_allclose(result.u, np.maximum(free.u - 0.1, 0.0), atol=1e-4)


def test_warm_start_and_pickle():
    import pickle

    loss, matrix, _ = LOSSES["squared"]
    problem = pickle.loads(pickle.dumps(Problem(GRAPH, loss, operator=matrix, lower=0.0)))
    cold = solve(problem, tol=1e-7)
    warm = solve(problem, tol=1e-7, warm_start=cold)
    assert warm.iterations <= 1
    assert "operator of shape (24, 30), lower=0" in repr(problem)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"operator": np.ones((N, 3))}, "operator must have 30 columns"),
        ({"operator": np.ones((3, 30))}, "data must have 3 rows"),
        ({"operator": MATRIX, "lower": 2.0, "upper": 1.0}, "lower must not exceed upper"),
        ({"operator": MATRIX, "sparsity": -1.0}, "sparsity"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        Problem(GRAPH, LOSSES["squared"][0], **arguments)


def test_wrong_data_and_options():
    with pytest.raises(ValueError, match="data must be SquaredLoss"):
        Problem(GRAPH, graphtv.LinearBox(np.zeros(N)), operator=MATRIX)
    problem = Problem(GRAPH, LOSSES["squared"][0], operator=MATRIX)
    with pytest.raises(ValueError, match="method must be 'auto' or 'pdhg'"):
        solve(problem, method="exact")
    with pytest.raises(ValueError, match="preconditioner must be 'auto'"):
        solve(problem, preconditioner="chains")
    with pytest.raises(ValueError, match="q must be given"):
        problem.dual(np.zeros(GRAPH.n_edges))


@pytest.mark.parametrize("loss", [SquaredLoss, AbsoluteLoss])
@pytest.mark.parametrize("exponent", [-80, -1, 20])
def test_the_unit_of_the_data_does_not_matter(loss, exponent):
    """Iterates with an operator change by the same power of two, bit by bit."""
    rng = np.random.default_rng(0)
    A, f, unit = rng.normal(size=(12, 8)), rng.normal(size=12), 2.0**exponent
    edges = grid_graph((8,)).edges
    found = [
        solve(
            Problem(
                Graph(8, edges, np.full(7, scale ** (loss is SquaredLoss))),
                loss(scale * f),
                operator=A,
            ),
            max_iterations=60,
            n_threads=1,
        )
        for scale in (1.0, unit)
    ]
    assert (found[1].u == unit * found[0].u).all()
    assert found[1].relative_gap == pytest.approx(found[0].relative_gap, rel=1e-9)


def exact_gap(problem, matrix, data, result, box=None):
    """The gap of the squared loss in rational numbers; `box` bounds u where Aᵀq + Kᵀp ≠ 0."""
    graph = problem.graph
    exact = [[Fraction(float(a)) for a in row] for row in matrix]
    u, p, q, f = (
        [Fraction(float(x)) for x in values]
        for values in (result.u, result.p, result.residual_dual, data)
    )
    x = [sum(map(operator.mul, row, u), start=Fraction(0)) for row in exact]
    slope = [
        sum((row[i] * qi for row, qi in zip(exact, q, strict=True)), Fraction(0))
        for i in range(len(u))
    ]
    tv, first = Fraction(0), graph.edges[0][0]
    sign = 1 if graph.gradient().toarray()[0, first] > 0.0 else -1
    for (i, j), weight, flow in zip(graph.edges.tolist(), graph.weights, p, strict=True):
        w = Fraction(float(weight))
        tv += w * abs(u[i] - u[j])
        slope[i] += sign * w * flow
        slope[j] -= sign * w * flow
    primal = sum(((a - b) ** 2 for a, b in zip(x, f, strict=True)), Fraction(0)) / 2 + tv
    dual = -sum((qi * qi / 2 + qi * fi for qi, fi in zip(q, f, strict=True)), Fraction(0))
    low, high = (Fraction(float(end)) for end in box)
    dual += sum((min(low * s, high * s) for s in slope), Fraction(0))
    return primal - dual, primal


@pytest.mark.parametrize("bounds", [{}, {"lower": -0.5, "upper": 0.4}], ids=str)
@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_the_certificate_holds_in_rational_numbers(bounds, tol):
    _, matrix, _ = LOSSES["squared"]
    problem = Problem(GRAPH, graphtv.SquaredLoss(DATA), operator=matrix, **bounds)
    result = solve(problem, tol=tol)
    found = problem.composite.solution_range
    gap, primal = exact_gap(problem, matrix, DATA, result, (found.lower, found.upper))
    assert np.abs(result.p).max() <= 1.0
    assert 0 <= gap <= Fraction(result.relative_gap) * primal * Fraction(1001, 1000)


OPERATORS = {
    "zero": np.zeros((N, 30)),
    "null space with constants": MATRIX - MATRIX.mean(axis=1, keepdims=True),
    "rank one": np.outer(np.ones(N), np.arange(30.0)) / 30,
    "tiny": 1e-8 * MATRIX,
}


@pytest.mark.parametrize("name", OPERATORS)
def test_unusual_operators(name):
    problem = Problem(GRAPH, graphtv.SquaredLoss(DATA), operator=OPERATORS[name])
    result = solve(problem, tol=1e-5, max_iterations=5_000)
    assert result.status == "optimal"
    if name in ("zero", "tiny"):
        assert np.ptp(result.u) == 0.0


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("kind", [np.asarray, aslinearoperator])
def test_the_norm_of_the_operator_does_not_matter(scale, kind):
    plain = solve(Problem(GRAPH, graphtv.SquaredLoss(DATA), operator=MATRIX), tol=1e-7)
    loss = graphtv.SquaredLoss(scale * DATA, scale**-2)
    other = solve(Problem(GRAPH, loss, operator=kind(scale * MATRIX)), tol=1e-7)
    assert other.status == "optimal"
    assert other.primal == pytest.approx(plain.primal, rel=2e-7)
    assert other.iterations <= 2 * plain.iterations


class Failing:
    """An operator that fails after a few products."""

    shape, dtype = MATRIX.shape, MATRIX.dtype

    def __init__(self, fails):
        self.calls, self.fails = 0, fails

    def matvec(self, x):
        self.calls += 1
        return self.fails(MATRIX @ x) if self.calls > 10 else MATRIX @ x

    def rmatvec(self, y):
        return MATRIX.T @ y


def test_an_operator_that_fails_during_the_run():
    def broken(_):
        raise RuntimeError("no detector")

    def unknown(x):
        return np.full_like(x, np.nan)

    for fails, kind, message in (
        (broken, RuntimeError, "no detector"),
        (unknown, ValueError, r"operator.matvec must return finite numbers, got nan at index 0"),
    ):
        with pytest.raises(kind, match=message):
            solve(Problem(GRAPH, graphtv.SquaredLoss(DATA), operator=Failing(fails)), tol=1e-9)


def test_rounding_of_products_is_a_small_part_of_the_gap():
    """A bound of u that grows with the number of pixels would make certificates useless."""
    blur = Convolution(np.ones((3, 3)) / 9, (64, 64), "reflect")
    data = graphtv.SquaredLoss(np.random.default_rng(0).random(64**2))
    problem = Problem(graphtv.grid_graph((64, 64), 1e-3), data, operator=blur)
    result = solve(problem, tol=1e-2, max_iterations=5)
    _, proof = problem._proof(result.u, result.p, result.residual_dual)
    assert proof.gap_rounding <= 1e-6 * proof.primal


def test_callback_history_and_limits():
    loss, matrix, _ = LOSSES["squared"]
    problem = Problem(GRAPH, loss, operator=matrix)
    seen = []
    result = solve(problem, tol=1e-9, callback=lambda info: seen.append(info.iteration))
    assert seen == [record.iteration for record in result.history]
    assert solve(problem, tol=1e-12, callback=lambda _: True).status == "interrupted"
    assert solve(problem, tol=1e-12, max_iterations=3).status == "iteration_limit"
    assert solve(problem, tol=1e-12, time_limit=1e-9).status == "time_limit"
    # A few products more than two per iteration: the start, certificates, and the end.
    assert result.operator_calls <= 2 * result.iterations + 6 * len(result.history) + 12
