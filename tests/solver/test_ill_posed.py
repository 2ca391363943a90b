"""Problems without data, without a unique or any solution, or with numbers of extreme size."""

import numpy as np
import pytest

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
    gallery,
    grid_graph,
    solve,
)
from instances import FORESTS, PENALTIES, make_problem, ways
from reference.certificate import certificate
from verify import verify

PDHG = [("pdhg", name) for name in ("none", "diagonal", *FORESTS)]
DESCENT = [("descent", name) for name in FORESTS]
EXACT = [("exact", "auto"), ("auto", "auto")]
LOSSES = (SquaredLoss, AbsoluteLoss, HuberLoss)
pieces = Graph(7, [(0, 1), (1, 2), (3, 4), (4, 5)], [0.5, 0.25, 1.0, 2.0])  # and an isolated vertex


def run(problem, way, **options):
    result = solve(problem, method=way[0], preconditioner=way[1], **options)
    verify(result, problem)
    return result


@pytest.mark.parametrize("way", [*PDHG, *EXACT], ids="-".join)
@pytest.mark.parametrize("loss", [SquaredLoss, HuberLoss, PoissonLoss])
def test_a_component_without_data(way, loss):
    """Any constant is a solution there; the result is in the range of the data."""
    f, c = np.array([1.0, 4.0, 2.0, 9.0, 9.0, 9.0, 9.0]), np.array([1.0, 1, 1, 0, 0, 0, 0])
    problem = Problem(pieces, loss(f, weights=c))
    result = run(problem, way, tol=1e-8)
    assert result.status == "optimal"
    assert np.ptp(result.u[3:6]) < 1e-3
    assert ((result.u >= 1 - 1e-6) & (result.u <= 4 + 1e-6)).all()
    alone = solve(Problem(Graph(3, [(0, 1), (1, 2)], [0.5, 0.25]), loss(f[:3])), tol=1e-8)
    assert result.primal == pytest.approx(alone.primal, rel=1e-7)


@pytest.mark.parametrize("way", PDHG, ids="-".join)
def test_a_component_without_data_under_the_absolute_loss(way):
    f, c = np.array([1.0, 4.0, 2.0, 9.0, 9.0, 9.0, 9.0]), np.array([1.0, 1, 1, 0, 0, 0, 0])
    result = run(Problem(pieces, AbsoluteLoss(f, c)), way, tol=1e-8)
    assert result.status == "optimal"


@pytest.mark.parametrize("way", [*PDHG, ("auto", "auto")], ids="-".join)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_no_data_at_all(way, penalty):
    nothing = np.zeros(7)
    for data in (
        *(loss(np.arange(7.0), weights=nothing) for loss in (*LOSSES, PoissonLoss)),
        LogisticLoss(nothing),
        LogisticLoss(np.ones(7), nothing),
        LinearBox(nothing),
    ):
        result = run(Problem(pieces, data, PENALTIES[penalty]), way)
        assert result.status == "optimal"
        assert result.primal == result.dual == result.gap == result.relative_gap == 0
        assert (result.u == result.u[0]).all()


@pytest.mark.parametrize("way", [*PDHG, *EXACT], ids="-".join)
def test_poisson_counts_of_zero(way):
    graph = grid_graph((3, 4), 0.3)
    rng = np.random.default_rng(0)
    zeros = run(Problem(graph, PoissonLoss(np.zeros(12))), way)
    assert zeros.status == "optimal"
    np.testing.assert_allclose(zeros.u, 0, atol=1e-6)
    some = np.where(rng.random(12) < 0.5, 0.0, rng.poisson(5, 12))
    result = run(Problem(graph, PoissonLoss(some)), way, tol=1e-7)
    assert result.status == "optimal"
    assert (result.u >= 0).all()
    lone = Problem(Graph(3, [(0, 1)], 0.1), PoissonLoss([0.0, 3.0, 0.0]))
    result = run(lone, way, tol=1e-7)
    assert result.status == "optimal"
    assert result.u[2] == 0


def test_labels_of_one_kind_have_no_answer():
    graph = grid_graph((2, 3))
    for labels in (np.ones(6), -np.ones(6), [1, 0, 0, 0, 0, 0]):
        with pytest.raises(ValueError, match=r"^data has no minimiser on this graph: .*are -?1"):
            Problem(graph, LogisticLoss(labels))
    with pytest.raises(ValueError, match="component of vertex 3"):
        Problem(pieces, LogisticLoss([1, -1, 0, 1, 1, 1, 0]))
    with pytest.raises(ValueError, match="in channel 1"):
        Problem(graph, LogisticLoss(np.array([[1, 1], [-1, 1], [0, 0], [0, 0], [0, 0], [0, 0]])))
    with pytest.raises(ValueError, match="no minimiser"):  # the other label has no weight
        Problem(graph, LogisticLoss([1, -1, 0, 0, 0, 0], [1, 0, 1, 1, 1, 1]))


@pytest.mark.parametrize("way", [*PDHG[1:], *EXACT], ids="-".join)
def test_labels_that_are_all_but_lost(way):
    """One label against many, and weights that differ by six orders of magnitude."""
    graph = gallery.path_graph(6, [1e-2, 1.0, 1e-2, 1.0, 1e-2])
    labels, weights = [1, 1, 1, 1, 1, -1], [1e3, 1.0, 1.0, 1.0, 1.0, 1e-3]
    result = run(Problem(graph, LogisticLoss(labels, weights)), way, tol=1e-6)
    assert result.status == "optimal"


@pytest.mark.slow
@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1 / 3, 1e5 + 0.1])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_constant_signal_is_its_own_answer(value, penalty):
    """The minimum is 0, where any error in the last bit violates a relative gap."""
    for graph in (grid_graph((3, 4), 0.7), pieces, gallery.erdos_renyi_graph(9, 20, 0, 1.3)):
        f = np.full(graph.n_vertices, value)
        c = np.linspace(0.1, 2.0, graph.n_vertices)
        for loss in LOSSES:
            for weights in (None, c):
                problem = Problem(graph, loss(f, weights=weights), PENALTIES[penalty])
                term = {SquaredLoss: "weighted", HuberLoss: "huber"}.get(loss, "absolute")
                for way in ways(term, "pieces", penalty):
                    result = run(problem, way)
                    assert result.status == "optimal", (way, result)
                    assert result.primal == result.dual == result.relative_gap == 0
                    np.testing.assert_array_equal(result.u, f)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_constant_signal_with_gaps(loss, penalty):
    """One value per component, and arbitrary values where there is no data."""
    graph = Graph(15, [*grid_graph((3, 4)).edges, (12, 13), (13, 14)], 0.7)
    c = np.array([*np.tile([1.0, 0.0, 3.0], 4), 0.0, 0.3, 0.0])
    expected = np.array([0.1] * 12 + [1 / 3] * 3)
    f = np.where(c > 0, expected, 9.9)
    problem = Problem(graph, loss(f, weights=c), PENALTIES[penalty])
    for way in [*PDHG, ("auto", "auto")]:
        result = run(problem, way)
        assert result.status == "optimal"
        np.testing.assert_array_equal(result.u, expected)


@pytest.mark.parametrize("way", [*PDHG, *DESCENT, *EXACT], ids="-".join)
@pytest.mark.parametrize("exponent", [-100, -50, 50, 100])
def test_numbers_of_extreme_size(way, exponent):
    """(f, ω) to (αf, αω): the solution is multiplied by α."""
    if way[1] in ("none", "diagonal"):  # their steps do not scale, so they must balance them
        exponent /= 20
    size = 10.0**exponent
    for kind in ("random", "pieces"):
        problem = make_problem("squared", kind)
        graph, f = problem.graph, problem.data.signal
        expected = solve(problem, tol=1e-10)
        scaled = Graph(graph.n_vertices, graph.edges, size * graph.weights)
        result = solve(
            Problem(scaled, SquaredLoss(size * f)), method=way[0], preconditioner=way[1], tol=1e-8
        )
        assert result.status == "optimal"
        np.testing.assert_allclose(result.u / size, expected.u, atol=1e-3)
        assert result.error_bound >= 0
        exact = certificate(scaled.gradient(), size * f, result.u, result.p, exact=True)
        assert float(exact.gap / exact.primal) <= 1.1e-8
        assert result.primal == pytest.approx(float(exact.primal), rel=1e-12)
        assert result.dual == pytest.approx(float(exact.dual), rel=1e-12)


@pytest.mark.parametrize("exponent", [-100, -8, 8, 100])
@pytest.mark.parametrize("loss", [AbsoluteLoss, HuberLoss, PoissonLoss, LinearBox])
def test_other_terms_of_extreme_size(loss, exponent):
    if loss is AbsoluteLoss:  # whose steps must find the scale of the signal by balancing
        exponent = np.clip(exponent, -8, 8)
    size = 10.0**exponent
    graph = gallery.erdos_renyi_graph(10, 20, 0, 0.3)
    f = np.random.default_rng(0).random(10)
    args = {HuberLoss: (0.3,)}.get(loss, ())
    sized = {HuberLoss: (0.3 * size,)}.get(loss, ())
    expected = solve(Problem(graph, loss(f, *args)), tol=1e-9)
    power = 1
    if loss is HuberLoss:  # is quadratic near 0, so the weights must scale, too
        graph = Graph(10, graph.edges, size * graph.weights)
        power = 2
    if loss is LinearBox:
        graph = Graph(10, graph.edges, size * graph.weights)
    result = solve(Problem(graph, loss(size * f, *sized)), tol=1e-7)
    assert result.status == "optimal"
    if loss is not PoissonLoss:  # which has a logarithm
        assert result.primal / size**power == pytest.approx(expected.primal, rel=1e-6)


@pytest.mark.parametrize("way", [*PDHG[1:], *DESCENT, *EXACT], ids="-".join)
def test_weights_of_very_different_size(way):
    rng = np.random.default_rng(1)
    graph = gallery.erdos_renyi_graph(12, 24, 1, 10.0 ** rng.uniform(-6, 3, 24))
    problem = Problem(graph, SquaredLoss(rng.normal(size=12), 10.0 ** rng.uniform(-2, 2, 12)))
    best = solve(problem, method="descent", tol=1e-12)
    result = run(problem, way, tol=1e-6)
    assert result.status == "optimal"
    assert result.primal == pytest.approx(best.primal, rel=1e-5)


@pytest.mark.parametrize("way", [*PDHG, *DESCENT, *EXACT], ids="-".join)
@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_nothing_at_all(way, shape):
    graph = Graph(0, np.empty((0, 2), dtype=int))
    for penalty in PENALTIES.values():
        if way[0] == "exact" and penalty is not PENALTIES["tv"]:
            continue
        result = solve(
            Problem(graph, SquaredLoss(np.empty(shape)), penalty),
            method=way[0],
            preconditioner=way[1],
        )
        assert result.status == "optimal"
        assert result.u.shape == shape
        assert result.p.shape == shape
        assert result.primal == result.dual == result.relative_gap == 0


@pytest.mark.parametrize(
    "data",
    [
        AbsoluteLoss(np.empty(0)),
        HuberLoss(np.empty(0)),
        LogisticLoss(np.empty(0)),
        PoissonLoss(np.empty(0)),
        LinearBox(np.empty(0)),
        EntropicSimplex(np.empty((0, 2))),
    ],
    ids=lambda data: type(data).__name__,
)
def test_nothing_at_all_for_every_term(data):
    graph = Graph(0, np.empty((0, 2), dtype=int))
    for penalty in PENALTIES.values():
        result = solve(Problem(graph, data, penalty))
        assert result.status == "optimal"
        assert result.u.size == result.p.size == 0


@pytest.mark.parametrize("way", [*PDHG, *DESCENT, *EXACT], ids="-".join)
@pytest.mark.parametrize("channels", [(), (2,)])
def test_graphs_without_edges_with_a_warm_start(way, channels):
    graph = Graph(3, np.empty((0, 2), dtype=int))
    f = np.arange(3.0 * (channels or (1,))[0]).reshape(3, *channels)
    start = np.zeros_like(f), np.empty((0, *channels))
    result = run(Problem(graph, SquaredLoss(f)), way, warm_start=start)
    assert result.status == "optimal"
    np.testing.assert_array_equal(result.u, f)


@pytest.mark.parametrize("way", [*PDHG, *DESCENT, *EXACT], ids="-".join)
@pytest.mark.parametrize("n_vertices", [2, 3, 5])
def test_a_single_edge(way, n_vertices):
    """½(u - f)² twice and ω|u₀ - u₁|: both ends move by ω, or meet."""
    for i, j in [(0, 1), (1, 0), (n_vertices - 1, 0)]:
        f = np.arange(float(n_vertices))
        for weight in (0.1, 10.0):
            problem = Problem(Graph(n_vertices, [(i, j)], weight), SquaredLoss(f))
            result = run(problem, way, tol=1e-9)
            assert result.status == "optimal"
            expected = f.copy()
            middle, half = (f[i] + f[j]) / 2, max(abs(f[i] - f[j]) / 2 - weight, 0.0)
            expected[[i, j]] = middle + np.sign(f[[i, j]] - middle) * half
            np.testing.assert_allclose(result.u, expected, atol=1e-4)


@pytest.mark.parametrize("way", PDHG, ids="-".join)
def test_boxes_that_leave_no_choice(way):
    graph = grid_graph((2, 3))
    fixed = np.arange(6.0)
    result = run(Problem(graph, LinearBox(np.ones(6), fixed, fixed)), way)
    assert result.status == "optimal"
    np.testing.assert_array_equal(result.u, fixed)


def test_one_class_on_the_simplex():
    problem = Problem(grid_graph((2, 3)), EntropicSimplex(np.arange(6.0)[:, None]))
    result = run(problem, ("auto", "auto"))
    assert result.status == "optimal"
    np.testing.assert_allclose(result.u, 1.0)


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1e3])
def test_simplices_near_and_far_from_their_corners(epsilon):
    cost = np.random.default_rng(0).normal(size=(9, 4))
    problem = Problem(grid_graph((3, 3), 0.2), EntropicSimplex(cost, epsilon))
    result = run(problem, ("auto", "auto"), tol=1e-6)
    assert result.status == "optimal"
    assert (result.u >= 0).all()
    np.testing.assert_allclose(result.u.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e6, 1e9])
def test_rounding_off_of_extreme_width(delta):
    problem = make_problem("weighted", "random")
    problem = Problem(problem.graph, problem.data, HuberTV(delta))
    for way in [*PDHG, *DESCENT, ("auto", "auto")]:
        result = run(problem, way, tol=1e-6)
        assert result.status == "optimal", way


def test_a_point_that_has_arrived_does_not_spoil_the_other():
    """The primal point is exact after 34 iterations; rounding errors of the dual must not grow."""
    graph = Graph(
        11,
        [(8, 4), (5, 7), (5, 10)],
        [0.021286511307927688, 0.058344889788511406, 4.125748586790282],
    )
    rng = np.random.default_rng([1726, 3])
    f = np.round(rng.normal(size=11), 2)
    for gap in range(11):
        c = np.where(np.arange(11) == gap, 0.0, 1.5)
        result = run(Problem(graph, AbsoluteLoss(f, c)), ("pdhg", "nested"), tol=1e-12)
        assert result.status == "optimal"


def test_poisson_counts_without_weight_next_to_zeros():
    # Where u = 0, a count of weight 0 must not give 0 · ∞.
    graph = grid_graph((4,))
    problem = Problem(graph, PoissonLoss([0.0, 5.0, 0.0, 3.0], weights=[2.0, 0.0, 2.0, 1.0]))
    result = solve(problem, tol=0.0)
    verify(result, problem)
    assert result.status == "optimal"
    np.testing.assert_allclose(result.u[:3], 0.0)
