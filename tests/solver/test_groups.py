"""Isotropic and coupled total variation: certificates, limits, symmetries."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import (
    CoupledTV,
    Graph,
    HuberTV,
    IsotropicTV,
    Problem,
    SquaredLoss,
    TotalVariation,
    _core,
    gallery,
    grid_graph,
    knn_graph,
    solve,
)
from graphtv.solver.group_descent import GroupDescent
from instances import MAKERS, make_graph
from verify import verify

PENALTIES = (
    CoupledTV(),
    CoupledTV(delta=0.3),
    IsotropicTV(),
    IsotropicTV(coupled=True),
    IsotropicTV(coupled=True, delta=0.2),
)


def make(kind, penalty, channels=(3,), seed=0, graph=None):
    graph = make_graph("grid", seed) if graph is None else graph
    rng = np.random.default_rng([seed, 7])
    data = MAKERS[kind](graph, rng, (graph.n_vertices, *channels))
    return Problem(graph, data, penalty)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("kind", MAKERS)
def test_every_claim_is_true(kind, penalty):
    for channels in ((), (3,)):
        problem = make(kind, penalty, channels)
        for preconditioner in ("auto", "none", "diagonal"):
            result = solve(problem, preconditioner=preconditioner, tol=1e-7)
            assert result.status == "optimal", result
            verify(result, problem)


@pytest.mark.parametrize("n_channels", [1, 2, 3, 4, 5, 7, 8, 9, 13])
@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_any_number_of_coupled_channels(n_channels, scale):
    graph = make_graph("random", 3)
    rng = np.random.default_rng(n_channels)
    signal = rng.normal(size=(graph.n_vertices, n_channels))
    signal[0] *= scale  # an outlier
    problem = Problem(graph, SquaredLoss(signal), CoupledTV())
    result = solve(problem, method="descent", tol=1e-9)
    assert result.status == "optimal", result
    verify(result, problem)
    turned = np.linalg.qr(rng.normal(size=(n_channels, n_channels)))[0]
    rotated = solve(Problem(graph, SquaredLoss(signal @ turned), CoupledTV()), tol=1e-9)
    bound = result.error_bound + rotated.error_bound + 1e-9 * np.linalg.norm(signal)
    assert np.linalg.norm(result.u @ turned - rotated.u) <= bound


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_claims_of_unfinished_runs(penalty):
    for iterations in (0, 1, 2, 7):
        problem = make("squared", penalty)
        result = solve(problem, tol=1e-13, max_iterations=iterations)
        assert result.iterations <= iterations
        verify(result, problem)


def test_the_definition():
    """Both objectives of a small image, by hand."""
    graph = grid_graph((2, 2), [[[2.0, 1.0]], [[0.5], [3.0]]])
    u = np.array([[[0.0, 1.0], [3.0, 1.0]], [[4.0, -2.0], [8.0, 0.0]]])
    # x of (0,0)-(1,0), (0,1)-(1,1), (0,0)-(0,1), (1,0)-(1,1)
    x = np.array([[-8.0, 6.0], [-5.0, 1.0], [-1.5, 0.0], [-12.0, -6.0]])
    data = SquaredLoss(u)
    corner, right, below = x[[0, 2]], x[1], x[3]
    norm = np.linalg.norm
    cases = {
        CoupledTV(): norm(x, axis=1).sum(),
        IsotropicTV(): sum(norm(y.reshape(-1, 2), axis=0).sum() for y in (corner, right, below)),
        IsotropicTV(coupled=True): sum(norm(y) for y in (corner, right, below)),
    }
    for penalty, value in cases.items():
        assert Problem(graph, data, penalty).primal(u) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("delta", [0.0, 0.3])
def test_one_axis_or_one_channel_is_total_variation(delta):
    rng = np.random.default_rng(0)
    plain = HuberTV(delta) if delta else TotalVariation()
    line, f = grid_graph((1, 40), 0.3), rng.normal(size=(40, 2))
    graph, g = make_graph("random"), rng.normal(size=14)
    for graph_, data, penalty in (
        (line, f, IsotropicTV(delta=delta)),
        (line, f[:, :1], IsotropicTV(coupled=True, delta=delta)),
        (graph, g, CoupledTV(delta)),
        (graph, g[:, None], CoupledTV(delta)),
    ):
        own = solve(Problem(graph_, SquaredLoss(data), penalty), tol=1e-12)
        ours = solve(Problem(graph_, SquaredLoss(data), plain), tol=1e-12)
        assert own.method == ours.method
        np.testing.assert_array_equal(own.u, ours.u)
        np.testing.assert_array_equal(own.p, ours.p)


def test_equal_channels_couple_like_one():
    """C equal channels have norms √C times those of one, like the weight √C/C per channel."""
    f = np.random.default_rng(1).normal(size=(6, 7))
    one = solve(Problem(grid_graph((6, 7), 0.2), SquaredLoss(f), IsotropicTV()), tol=1e-10)
    four = Problem(
        grid_graph((6, 7), 0.4), SquaredLoss(np.dstack([f] * 4)), IsotropicTV(coupled=True)
    )
    four = solve(four, tol=1e-10)
    for channel in range(4):
        np.testing.assert_allclose(four.u[..., channel], one.u, atol=2e-4)


@pytest.mark.parametrize("penalty", [CoupledTV(), IsotropicTV(coupled=True)], ids=repr)
@given(st.integers(0, 10**6), st.floats(0.05, 2.0), st.floats(-5.0, 5.0))
@settings(max_examples=15, deadline=None)
def test_rotated_channels_rotate_the_solution(penalty, seed, weight, shift):
    """Norms do not change if channels are rotated or data are shifted."""
    rng = np.random.default_rng(seed)
    graph, f = grid_graph((4, 5), weight), rng.normal(size=(20, 3))
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    before = solve(Problem(graph, SquaredLoss(f), penalty), tol=1e-9)
    after = solve(Problem(graph, SquaredLoss(f @ rotation + shift), penalty), tol=1e-9)
    slack = before.error_bound + after.error_bound
    assert np.linalg.norm(before.u @ rotation + shift - after.u) <= slack + 1e-12


@pytest.mark.parametrize(
    "penalty", [CoupledTV(), IsotropicTV(), IsotropicTV(coupled=True)], ids=repr
)
def test_transposed_images_have_transposed_solutions(penalty):
    f = np.random.default_rng(2).normal(size=(7, 9, 2))
    graph, turned = grid_graph((7, 9), 0.4), grid_graph((9, 7), 0.4)
    before = solve(Problem(graph, SquaredLoss(f), penalty), tol=1e-10)
    after = solve(Problem(turned, SquaredLoss(f.swapaxes(0, 1)), penalty), tol=1e-10)
    slack = before.error_bound + after.error_bound
    assert np.linalg.norm(before.u.swapaxes(0, 1) - after.u) <= slack


def test_a_quarter_turn_leaves_a_symmetric_solution():
    """Coupled edges have no preferred direction: a rotated image has the rotated solution."""
    f = np.random.default_rng(3).normal(size=(8, 8, 3))
    graph = grid_graph((8, 8), 0.4)
    before = solve(Problem(graph, SquaredLoss(f), CoupledTV()), tol=1e-10)
    after = solve(Problem(graph, SquaredLoss(np.rot90(f).copy()), CoupledTV()), tol=1e-10)
    slack = before.error_bound + after.error_bound
    assert np.linalg.norm(np.rot90(before.u) - after.u) <= slack


def test_a_missing_edge_drops_out():
    """Next to a hole in the grid, the norm is over the remaining edges."""
    weights = [np.full((3, 5), 0.5), np.full((4, 4), 0.5)]
    weights[0][1, 2] = weights[1][1, 1] = weights[1][2, 2] = 0.0
    problem = make("squared", IsotropicTV(), graph=grid_graph((4, 5), weights))
    assert problem.graph.n_edges == 28
    result = solve(problem, tol=1e-9)
    assert result.status == "optimal"
    verify(result, problem)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_threads_and_scales_do_not_matter(penalty):
    problem = make("squared", penalty, graph=grid_graph((40, 50), 0.5))
    results = [solve(problem, n_threads=k, tol=1e-5) for k in (1, 3)]
    np.testing.assert_array_equal(results[0].u, results[1].u)
    np.testing.assert_array_equal(results[0].p, results[1].p)
    small = make("squared", penalty)
    for factor in (1e-200, 1e150):
        graph = Graph._from_simple(
            small.graph.n_vertices,
            small.graph.edges,
            small.graph.weights * factor,
            small.graph._grid,
        )
        scaled = type(penalty)(**{**vars(penalty), "delta": penalty.delta * factor**2})
        if penalty.delta and not 0 < scaled.delta < np.inf:
            continue
        result = solve(Problem(graph, SquaredLoss(small.data.signal * factor), scaled), tol=1e-8)
        assert result.status == "optimal"
        reference = solve(small, tol=1e-8)
        np.testing.assert_allclose(result.u / factor, reference.u, atol=1e-3)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_warm_starts_and_infeasible_points(penalty):
    problem = make("squared", penalty)
    result = solve(problem, tol=1e-9)
    again = solve(problem, tol=1e-8, warm_start=result)
    assert again.status == "optimal"
    assert again.iterations <= 1
    wild = (np.zeros(problem.shape), np.full(problem.dual_shape, 1e3))
    assert solve(problem, warm_start=wild, tol=1e-8).status == "optimal"
    assert problem.dual(np.full(problem.dual_shape, 0.9)) == -np.inf


def test_the_ball_is_exact():
    """Points on the sphere are feasible, points beyond it by one bit are not."""
    problem = Problem(grid_graph((2, 2)), SquaredLoss(np.zeros((2, 2))), IsotropicTV())
    core = problem.core_penalty
    for p, is_feasible in (
        ([1.0, 1.0, 0.0, 1.0], True),
        ([1.0, 0.0, 1e-30, 0.0], False),
        ([1e-30, 0.0, 1.0, 0.0], False),
        ([np.nextafter(1.0, 2.0), 0.0, 0.0, 0.0], False),
        ([np.nextafter(1.0, 0.0), 0.0, 1e-8, 0.0], True),
        ([np.nextafter(1.0, 0.0), 0.0, 1.1e-8, 0.0], True),
        ([np.nextafter(1.0, 0.0), 0.0, 1.6e-8, 0.0], False),
    ):
        assert np.isfinite(core.conjugate(np.array(p))) == is_feasible, p
    rng = np.random.default_rng(0)
    for scale in (1e-300, 1.0, 1.5, 1e200, np.inf):
        p = rng.normal(size=4) * scale
        core.project(p)
        assert np.isfinite(core.conjugate(p)), (scale, p)
        rounded = np.empty(4, dtype=np.int16)
        core.round(p, rounded)
        assert np.isfinite(core.conjugate(rounded))


def test_bad_input():
    with pytest.raises(ValueError, match=r"^delta must be"):
        CoupledTV(delta=-1.0)
    with pytest.raises(ValueError, match=r"^coupled must be"):
        IsotropicTV(coupled="yes")
    graph = gallery.erdos_renyi_graph(14, 28, 0)
    with pytest.raises(ValueError, match=r"^graph must be a grid .* for IsotropicTV"):
        Problem(graph, SquaredLoss(np.zeros(14)), IsotropicTV())
    for method in ("value", "conjugate"):
        with pytest.raises(ValueError, match="without a grid"):
            getattr(IsotropicTV(), method)(np.zeros(3))
    with pytest.raises(ValueError, match=r"^step must be"):
        CoupledTV().prox_conjugate(np.zeros((3, 2)), np.ones(2))


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_copies(penalty):
    assert pickle.loads(pickle.dumps(penalty)) == penalty
    problem = make("squared", penalty)
    copy = pickle.loads(pickle.dumps(problem))
    assert copy.primal(problem.data.signal) == problem.primal(problem.data.signal)


def test_the_methods_of_coupled_tv():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(5, 3))
    for penalty in (CoupledTV(), CoupledTV(delta=0.7)):
        norm = np.linalg.norm(x, axis=1)
        delta = penalty.delta
        h = np.where(norm < delta, norm**2 / (2 * delta or 1), norm - delta / 2)
        assert penalty.value(x) == pytest.approx(h.sum())
        p = penalty.prox_conjugate(x, 0.5)
        assert penalty.conjugate(p) == pytest.approx(delta / 2 * np.sum(p**2))
        assert penalty.conjugate(3.0 * x) == np.inf
        # Moreau's identity: the rest is the proximal map of F.
        rest = (x - p) / 0.5
        assert penalty.value(rest) + penalty.conjugate(p) == pytest.approx(np.sum(rest * p))


# Descent over groups


GRIDS = [(4, 5), (2, 4), (7, 4), (5, 13), (16, 9), (3, 4, 5), (2, 2, 4), (5, 3, 9), (4, 6, 8)]


@pytest.mark.parametrize("penalty", [CoupledTV(), IsotropicTV(), IsotropicTV(True)], ids=repr)
@pytest.mark.parametrize("shape", GRIDS, ids=str)
def test_descent_on_grids_of_any_shape(shape, penalty):
    """Also with holes, with a common weight of the data, and in single precision."""
    rng = np.random.default_rng(8)
    weights = [
        np.full(tuple(n - (k == axis) for k, n in enumerate(shape)), 0.3)
        for axis in range(len(shape))
    ]
    whole = grid_graph(shape, weights)
    for part in weights:
        part[rng.random(part.shape) < 0.2] = 0.0
    for graph in (whole, grid_graph(shape, weights)):
        for data in (rng.normal(size=(*shape, 2)), rng.normal(size=shape)):
            for c in (1.0, 2.5):
                problem = Problem(graph, SquaredLoss(data, c), penalty)
                if problem.delta is not None:
                    continue
                result = solve(problem, method="descent", tol=1e-9)
                assert (result.status, result.method) == ("optimal", "descent")
                verify(result, problem)
                rough = solve(problem, method="descent", tol=1e-3)
                assert rough.status == "optimal"
                verify(rough, problem)
                reference = solve(problem, method="pdhg", tol=1e-9)
                slack = reference.error_bound + result.error_bound
                assert np.linalg.norm(result.u - reference.u) <= slack


def test_descent_with_weights_per_pixel_or_vertex():
    rng = np.random.default_rng(9)
    by_pixel = rng.uniform(0.1, 1.0, (8, 9))
    even = grid_graph((8, 9), [by_pixel[:-1], by_pixel[:, :-1]])
    f = rng.normal(size=(8, 9, 2))
    result = solve(Problem(even, SquaredLoss(f), IsotropicTV(coupled=True)), tol=1e-9)
    assert (result.status, result.method) == ("optimal", "descent")
    uneven = grid_graph((8, 9), [1.0, 0.5])
    problem = Problem(uneven, SquaredLoss(f), IsotropicTV())
    assert solve(problem).method == "pdhg"
    with pytest.raises(ValueError, match=r"^method must not be 'descent': .* edges of a pixel"):
        solve(problem, method="descent")
    graph = gallery.erdos_renyi_graph(30, 80, 0, rng.uniform(0.1, 0.5, 80))
    for c in (None, rng.uniform(0.5, 2.0, 30)):
        for channels in (2, 3, 5):
            problem = Problem(graph, SquaredLoss(rng.normal(size=(30, channels)), c), CoupledTV())
            result = solve(problem, tol=1e-9)
            assert (result.status, result.method) == ("optimal", "descent")
            verify(result, problem)
    by_entry = rng.uniform(0.5, 2.0, (30, 2))
    problem = Problem(graph, SquaredLoss(rng.normal(size=(30, 2)), by_entry), CoupledTV())
    assert solve(problem).method == "pdhg"


def test_descent_has_all_that_runs_have():
    """Limits, interrupts, warm starts, history, the same bits for any number of threads."""
    rng = np.random.default_rng(10)
    problem = Problem(
        grid_graph((150, 170), 1.0), SquaredLoss(rng.normal(size=(150, 170))), IsotropicTV()
    )
    results = [solve(problem, n_threads=k, tol=1e-5) for k in (1, 2, 3)]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].u, other.u)
        np.testing.assert_array_equal(results[0].p, other.p)
    gaps = [record.relative_gap for record in results[0].history]
    assert gaps[-1] <= 1e-5 < gaps[0]
    assert [stage.method for stage in results[0].stages] == ["descent"]
    again = solve(problem, warm_start=results[0], tol=1e-5)
    assert again.iterations == 0
    limited = solve(problem, tol=1e-12, max_iterations=10)
    assert (limited.status, limited.iterations) == ("iteration_limit", 10)
    verified = problem.relative_gap(limited.u, limited.p)
    assert verified == pytest.approx(limited.relative_gap, rel=1e-12)
    late = solve(problem, tol=1e-14, time_limit=0.1)
    assert late.status == "time_limit"
    assert np.isfinite(late.dual)
    stopped = solve(problem, tol=1e-14, callback=lambda info: info.iteration >= 20)
    assert stopped.status == "interrupted"


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_log_history_and_time_limits(penalty, capsys):
    problem = make("squared", penalty, graph=grid_graph((20, 30), 0.5))
    infos = []
    result = solve(problem, tol=1e-7, verbose=True, callback=infos.append)
    table = capsys.readouterr().out
    assert result.status in table
    assert type(penalty).__name__ in table
    assert infos
    assert result.history[-1].iteration == result.iterations
    assert result.history[-1].relative_gap == pytest.approx(result.relative_gap, rel=1e-3)
    assert result.history["dual"][-1] == pytest.approx(result.dual, rel=1e-12)
    assert (np.diff(result.history["iteration"]) >= 0).all()
    assert sum(stage.iterations for stage in result.stages) == result.iterations
    late = solve(problem, tol=1e-7, time_limit=0.0)
    assert late.status == "time_limit"
    verify(late, problem)
    near = Problem(problem.graph, SquaredLoss(problem.data.signal + 1e-3), penalty)
    warm = solve(near, tol=1e-7, warm_start=result)
    assert warm.iterations <= solve(near, tol=1e-7).iterations
    verify(warm, near)


def test_extreme_weights():
    rng = np.random.default_rng(11)
    f = rng.normal(size=(6, 8))
    for weight in (1e-12, 1e-6, 1e3, 1e6):
        for tol in (1e-3, 1e-8):
            problem = Problem(grid_graph((6, 8), weight), SquaredLoss(f), IsotropicTV())
            result = solve(problem, tol=tol)
            assert result.status == "optimal", (weight, tol, result)
            verify(result, problem)


def test_parts_that_p_fuses_get_their_means():
    graph = grid_graph((1, 5), 1.0)
    problem = Problem(graph, SquaredLoss(np.zeros((5, 2))), CoupledTV())
    # Edges 0-1 and 3-4 are inside the ball, 1-2 and 2-3 are on it.
    p = np.array([[0.1, 0.2], [0.6, 0.8], [0.0, 1.0], [0.5, 0.5]])
    u = np.array([[1.0, 3.0, 7.0, 2.0, 8.0], [0.0, 4.0, 5.0, 6.0, 6.5]])
    flat, weights = u.reshape(-1).copy(), np.array([1.0, 3.0, 1.0, 2.0, 1.0])
    problem.core_penalty.fuse(5, graph.edges, p.T.reshape(-1).copy(), 1e-4, weights, flat)
    expected = [[2.5, 2.5, 7.0, 4.0, 4.0], [3.0, 3.0, 5.0, 18.5 / 3, 18.5 / 3]]
    np.testing.assert_allclose(flat.reshape(2, 5), expected, rtol=1e-15)


def test_slow_descent_over_edges_ends_with_pdhg():
    rng = np.random.default_rng(12)
    graph = gallery.erdos_renyi_graph(3000, 6000, 0, 0.4)
    problem = Problem(graph, SquaredLoss(rng.normal(size=(3000, 3))), CoupledTV())
    result = solve(problem, tol=1e-9)
    assert result.status == "optimal"
    assert [stage.method for stage in result.stages] == ["descent", "pdhg"]
    assert problem.relative_gap(result.u, result.p) <= 1e-9


@pytest.mark.parametrize("coupled", [False, True])
def test_single_precision_knows_the_objectives_of_its_smoothed_point(coupled):
    rng = np.random.default_rng(3)
    if coupled:
        graph, f, penalty = knn_graph(rng.uniform(size=(300, 2)), 5), (300, 3), CoupledTV()
    else:
        graph, f, penalty = grid_graph((17, 23)), (17, 23), IsotropicTV()
    problem = Problem(graph, SquaredLoss(rng.normal(size=f)), penalty)
    kernel = "coupled" if coupled else "stars"
    watch = _core.Watch(100.0)
    single, double = (
        GroupDescent(problem, kernel, is_single, watch, 1, None) for is_single in (True, False)
    )
    for descent in (single, double):
        while descent.iterations < 12:
            descent.advance(4)
    primal, dual = single.evaluate()
    assert primal == pytest.approx(problem.objective.primal(single.primal_point()), rel=1e-5)
    assert dual == pytest.approx(problem.objective.dual(single.dual_point()), rel=1e-5)
    assert primal < double.evaluate()[0]  # the same dual point, but u is not smoothed
