"""PDHG against its reference, against the optimum, and with different numbers of threads."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from graphtv import (
    PDHG,
    AbsoluteLoss,
    Graph,
    HuberLoss,
    HuberTV,
    LinearBox,
    LogisticLoss,
    Problem,
    SquaredLoss,
    _core,
    decompose,
    grid_graph,
    solve,
)
from graphtv.decomposition.partition import ForestPartition
from graphtv.decomposition.preconditioner import as_preconditioner
from graphtv.gallery import erdos_renyi_graph, examples, piecewise_constant_image
from reference import pdhg as reference
from reference.certificate import certificate
from reference.tv import tv_quadratic

Array = NDArray[np.float64]

PRECONDITIONERS = ("none", "diagonal", "linear", "nested", "matroid", "chains")
SCHEMES = ("fixed", "accelerated", "balanced", "restarted")


def small_graph(preconditioner: str, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    graph = grid_graph((4, 5)) if preconditioner == "chains" else erdos_renyi_graph(18, 40, seed)
    return Graph(graph.n_vertices, graph.edges, rng.uniform(0.1, 1.0, graph.n_edges))


def squared(signal: Array) -> _core.DataTerm:
    columns = signal.reshape(len(signal), -1)
    flat = np.ascontiguousarray(columns.T).ravel()
    return _core.SquaredTerm(*columns.shape, flat, np.ones(1))


def engine(
    graph: Graph, data: _core.DataTerm, preconditioner: Any, scheme: str, **options: Any
) -> _core.Pdhg:
    delta = options.pop("delta", 0.0)
    chosen = as_preconditioner(preconditioner, graph, alpha=options.pop("alpha", 1.0))
    forests = None
    if chosen.partition is not None:
        forests = _core.Forests(
            graph.n_vertices,
            graph.edges,
            graph.weights,
            chosen.partition.labels,
            chosen.n_forests,
            delta,
            np.empty(0),
        )
    defaults = {"primal_step": 0.0, "dual_step": 0.0, "primal_weight": 1.0, "gamma": 0.0}
    return _core.Pdhg(
        graph.n_vertices,
        graph.edges,
        graph.weights,
        data,
        _core.EdgewisePenalty(delta),
        forests,
        chosen.alpha,
        scheme,
        **{**defaults, "n_threads": 1, **options},
    )


def pair(solver: _core.Pdhg, graph: Graph, n_channels: int = 1) -> tuple[Array, Array]:
    u, p = np.empty(graph.n_vertices * n_channels), np.empty(graph.n_edges * n_channels)
    solver.u(u)
    solver.dual(p)
    return u, p


def twin_name(graph: Graph, preconditioner: str) -> Any:
    chosen = as_preconditioner(preconditioner, graph)
    return preconditioner if chosen.partition is None else chosen.partition.labels


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_iterates_are_those_of_the_twin(preconditioner: str, scheme: str, delta: float) -> None:
    graph = small_graph(preconditioner)
    f = np.random.default_rng(1).standard_normal(graph.n_vertices)
    gamma = 0.0 if scheme in ("fixed", "restarted") else 0.25
    alpha = 0.5 if delta > 0 else 1.0
    solver = engine(
        graph, squared(f), preconditioner, scheme, gamma=gamma, delta=delta, alpha=alpha
    )
    norm = solver.squared_operator_norm
    twin = reference.pdhg(
        graph.gradient(),
        lambda v, steps: (v + steps * f) / (1.0 + steps),
        f,
        twin_name(graph, preconditioner),
        scheme=scheme,
        s=norm**0.5,
        t=norm**0.5,
        gamma=gamma,
        delta=delta,
        alpha=alpha,
    )
    watch = _core.Watch(np.inf)
    for expected in itertools.islice(twin, 40):
        done = solver.step(watch)
        u, p = pair(solver, graph)
        np.testing.assert_allclose(u, expected.u, rtol=0, atol=1e-10)
        np.testing.assert_allclose(p, expected.p, rtol=0, atol=1e-9)
        assert done.restarted == expected.restarted
        assert (done.primal_step, done.dual_step) == pytest.approx((expected.s, expected.t))


@pytest.mark.parametrize("scheme", [*SCHEMES, "auto"])
@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_objectives_are_certified_and_meet(preconditioner: str, scheme: str, delta: float) -> None:
    graph = small_graph(preconditioner, seed=2)
    f = np.random.default_rng(3).standard_normal(graph.n_vertices)
    gamma = 1.0 if scheme in ("balanced", "auto") else 0.25 if scheme == "accelerated" else 0.0
    solver = engine(graph, squared(f), preconditioner, scheme, gamma=gamma, delta=delta)
    watch = _core.Watch(np.inf)
    for _ in range(2000):
        solver.step(watch)
    u, p = pair(solver, graph)
    assert np.abs(p).max() <= 1.0
    primal, dual = solver.evaluate()
    verified = certificate(graph.gradient(), f, u, p, huber=delta)
    assert (primal, dual) == pytest.approx((verified.primal, verified.dual), rel=1e-12)
    assert -1e-13 <= verified.gap <= (1e-6 if scheme in ("accelerated", "fixed") else 1e-9) * primal
    best, _ = tv_quadratic(graph.gradient(), f, huber=delta)
    np.testing.assert_allclose(u, best, atol=1e-2 * np.abs(best).max())


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_started_at_the_optimum_it_stays(preconditioner: str, scheme: str) -> None:
    graph = small_graph(preconditioner, seed=4)
    f = np.random.default_rng(5).standard_normal(graph.n_vertices)
    u, p = tv_quadratic(graph.gradient(), f)
    solver = engine(graph, squared(f), preconditioner, scheme, gamma=0.25)
    solver.start_from(u, p)
    primal, dual = solver.evaluate()
    assert primal - dual <= 1e-12 * primal
    watch = _core.Watch(np.inf)
    for _ in range(30):
        solver.step(watch)
        primal, dual = solver.evaluate()
        assert primal - dual <= 1e-11 * primal
    here, _ = pair(solver, graph)
    np.testing.assert_allclose(here, u, atol=1e-10)


def test_proximal_gradient_is_the_case_of_unit_primal_step() -> None:
    """Eq. (4) of the paper: p ← prox of p - (tT)⁻¹K(Kᵀp - f)."""
    graph = small_graph("nested")
    K = graph.gradient()
    f = np.random.default_rng(0).standard_normal(graph.n_vertices)
    partition = decompose(graph, "nested")
    metric = reference.metric(K, partition.labels)
    t = float(partition.n_forests)
    solver = engine(graph, squared(f), partition, "fixed", primal_step=1.0)
    watch = _core.Watch(np.inf)
    solver.start_from(f, np.zeros(graph.n_edges))
    p = np.zeros(graph.n_edges)
    for _ in range(20):
        p = reference.dual_step(p, K @ (f - K.T @ p), t, metric, 0.0)
        solver.step(watch)
        np.testing.assert_allclose(pair(solver, graph)[1], p, atol=1e-9)


@pytest.mark.parametrize("preconditioner", ["none", "diagonal", "linear", "nested"])
@pytest.mark.parametrize("scheme", ["accelerated", "restarted"])
def test_channels_of_a_separable_term_share_only_their_steps(
    preconditioner: str, scheme: str
) -> None:
    graph = small_graph(preconditioner, seed=6)
    f = np.random.default_rng(7).standard_normal(graph.n_vertices)
    one = engine(graph, squared(f), preconditioner, scheme, gamma=0.25)
    three = engine(graph, squared(np.stack([f] * 3, axis=1)), preconditioner, scheme, gamma=0.25)
    watch = _core.Watch(np.inf)
    for _ in range(25):
        one.step(watch)
        three.step(watch)
    u, p = pair(one, graph)
    us, ps = pair(three, graph, 3)
    np.testing.assert_allclose(us.reshape(3, -1), np.stack([u] * 3), atol=1e-9)
    np.testing.assert_allclose(ps.reshape(3, -1), np.stack([p] * 3), atol=1e-8)


@pytest.mark.parametrize("preconditioner", ["none", "diagonal", "chains", "nested"])
@pytest.mark.parametrize("scheme", ["balanced", "restarted"])
def test_threads_do_not_change_a_bit(preconditioner: str, scheme: str) -> None:
    graph = grid_graph((130, 150), 0.2)
    f = np.random.default_rng(8).standard_normal((graph.n_vertices, 2))
    results = []
    for n_threads in (1, 2, 4):
        solver = engine(graph, squared(f), preconditioner, scheme, gamma=1.0, n_threads=n_threads)
        watch = _core.Watch(np.inf)
        for _ in range(40):
            solver.step(watch)
        results.append((*pair(solver, graph, 2), solver.evaluate()))
    for u, p, values in results[1:]:
        np.testing.assert_array_equal(u, results[0][0])
        np.testing.assert_array_equal(p, results[0][1])
        assert values == results[0][2]


def test_an_expired_watch_leaves_a_feasible_pair() -> None:
    graph = grid_graph((60, 60), 0.2)
    f = np.random.default_rng(9).standard_normal(graph.n_vertices)
    solver = engine(graph, squared(f), "chains", "restarted")
    watch = _core.Watch(np.inf)
    for _ in range(10):
        solver.step(watch)
    before = pair(solver, graph)
    assert not solver.step(_core.Watch(0.0)).completed
    for expected, found in zip(before, pair(solver, graph), strict=True):
        np.testing.assert_array_equal(found, expected)
    for _ in range(10):
        assert solver.step(watch).completed
    u, p = pair(solver, graph)
    verified = certificate(graph.gradient(), f, u, p)
    assert solver.evaluate() == pytest.approx((verified.primal, verified.dual), rel=1e-12)


def test_edgeless_graphs_and_lone_vertices() -> None:
    lonely = Graph(3, np.empty((0, 2), dtype=np.int32))
    f = np.array([1.0, -2.0, 3.0])
    for preconditioner in ("none", "diagonal", "nested"):
        solver = engine(lonely, squared(f), preconditioner, "fixed")
        solver.step(_core.Watch(np.inf))
        assert solver.evaluate() == pytest.approx((0.0, 0.0))
        np.testing.assert_allclose(pair(solver, lonely)[0], f)


def test_terms_without_strong_convexity_restart_to_the_optimum() -> None:
    graph = small_graph("linear", seed=10)
    f = np.random.default_rng(11).standard_normal(graph.n_vertices)
    data = _core.QuantileTerm(graph.n_vertices, 1, f, np.ones(1), np.ones(1))
    for preconditioner in ("none", "diagonal", "linear", "nested"):
        solver = engine(graph, data, preconditioner, "restarted")
        watch = _core.Watch(np.inf)
        restarts = sum(solver.step(watch).restarted for _ in range(1500))
        primal, dual = solver.evaluate()
        assert restarts > 3
        assert -1e-12 <= primal - dual <= 1e-7 * primal


class TestAutomaticScheme:
    @staticmethod
    def count(problem: Problem, scheme: str, preconditioner: str, most: int) -> int:
        result = solve(
            problem,
            method=PDHG(scheme=scheme),
            preconditioner=preconditioner,
            max_iterations=most,
            n_threads=1,
        )
        return result.iterations if result.status == "optimal" else most + 1

    def test_steady_progress_is_not_restarted(self) -> None:
        roads = examples.roads()
        found = self.count(roads, "auto", "none", 2000)
        assert 400 < found <= 2000
        assert found == self.count(roads, "balanced", "none", 2000)

    @pytest.mark.parametrize("width", [0.01, 10.0])
    def test_without_progress_it_restarts_from_the_start(self, width: float) -> None:
        f = piecewise_constant_image((32, 32), rng=1)[0].ravel()
        stiff = Problem(grid_graph((32, 32), 1e4), SquaredLoss(f), HuberTV(width))
        assert self.count(stiff, "balanced", "diagonal", 4000) > 4000
        restarted = self.count(stiff, "restarted", "diagonal", 4000)
        assert restarted <= 4000
        # 200 iterations show that there is no progress.
        assert self.count(stiff, "auto", "diagonal", 4000) <= 1.5 * restarted + 200

    def test_a_point_to_rounding_is_kept(self) -> None:
        graph = small_graph("linear", seed=4)
        f = np.random.default_rng(5).standard_normal(graph.n_vertices)
        solver, watch = engine(graph, squared(f), "none", "auto", gamma=1.0), _core.Watch(np.inf)
        for _ in range(800):
            solver.step(watch)
        primal, dual = solver.evaluate()
        for _ in range(801):  # beyond several checks of progress
            assert not solver.step(watch).restarted
            later = solver.evaluate()
            assert later[0] - later[1] <= primal - dual + 1e-12 * primal

    def test_a_given_start_is_not_forgotten(self) -> None:
        f = piecewise_constant_image((32, 32), rng=1)[0].ravel()
        stiff = Problem(grid_graph((32, 32), 1e4), SquaredLoss(f), HuberTV(0.1))
        good = solve(stiff, tol=1e-5)
        options = {"method": "pdhg", "preconditioner": "diagonal", "tol": 1e-9}
        found = solve(stiff, **options, warm_start=good, max_iterations=300)
        assert found.relative_gap <= 1e-5


def test_logistic_loss_starts_at_a_good_weight() -> None:
    image = piecewise_constant_image((256, 256), rng=0)[0][::2, ::2].ravel()
    labels = np.where(image > np.median(image), 1, -1)
    problem = Problem(grid_graph((128, 128), 0.2), LogisticLoss(labels))
    result = solve(problem, method="pdhg", preconditioner="chains", tol=1e-3)
    assert result.status == "optimal"
    assert result.iterations <= 40


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("preconditioner", ["chains", "diagonal"])
def test_p_that_moves_alone_keeps_its_digits(preconditioner: str, scale: float) -> None:
    """The solution is f, where u starts: increasing steps left p with rounding errors."""
    problem = Problem(
        grid_graph((64, 64), 0.2),
        AbsoluteLoss(scale * piecewise_constant_image((64, 64), rng=0)[0].ravel()),
    )
    result = solve(problem, method="pdhg", preconditioner=preconditioner, tol=1e-12)
    assert result.status == "optimal"
    assert result.iterations < 200


@pytest.mark.parametrize("preconditioner", ["chains", "diagonal"])
@pytest.mark.parametrize("exponent", [-200, -40, 40, 200])
def test_the_unit_of_the_data_does_not_matter(preconditioner: str, exponent: int) -> None:
    """Powers of two are exact, so the iterations are the same. They used to fail at 2^±100."""
    rng = np.random.default_rng(3)
    f, unit = rng.normal(size=144), 2.0**exponent

    def iterations(data: Any, weight: float) -> int:
        problem = Problem(grid_graph((12, 12), weight), data)
        result = solve(problem, method="pdhg", preconditioner=preconditioner, tol=1e-6)
        assert result.status == "optimal"
        return result.iterations

    # f and u in other units.
    assert iterations(AbsoluteLoss(unit * f), 0.6) == iterations(AbsoluteLoss(f), 0.6)
    huber = iterations(HuberLoss(f, 0.1), 0.05)
    assert iterations(HuberLoss(unit * f, unit * 0.1), unit * 0.05) == huber
    # The whole objective in other units.
    assert iterations(LinearBox(unit * f), unit * 0.5) == iterations(LinearBox(f), 0.5)


def test_few_data_far_away_do_not_matter() -> None:
    f = np.random.default_rng(0).normal(size=1024)
    f[100] = 1e8
    problem = Problem(grid_graph((32, 32), 0.5), AbsoluteLoss(f))
    result = solve(problem, method="pdhg", tol=1e-6)
    assert result.status == "optimal"
    assert result.iterations < 500


@pytest.mark.parametrize("kind", ["squared", "absolute", "channels"])
def test_reconditioning_keeps_the_pair_and_gets_there_sooner(kind: str) -> None:
    rng = np.random.default_rng(12)
    graph = erdos_renyi_graph(600, 1800, 12)
    graph = Graph(graph.n_vertices, graph.edges, rng.uniform(0.03, 0.3, graph.n_edges))
    n_channels = 2 if kind == "channels" else 1
    f = rng.standard_normal((graph.n_vertices, n_channels))
    data = squared(f)
    if kind == "absolute":
        one = np.ones(1)
        data = _core.QuantileTerm(graph.n_vertices, 1, f[:, 0].copy(), one, one)
    scheme, gamma = ("restarted", 0.0) if kind == "absolute" else ("balanced", 1.0)
    iterations = []
    for reconditions in (False, True):
        solver = engine(graph, data, "nested", scheme, gamma=gamma, reconditions=reconditions)
        watch = _core.Watch(np.inf)
        gap, iteration = np.inf, 0
        while gap > 1e-9 and iteration < 3000:
            iteration += 1
            step = solver.step(watch)
            primal, dual = solver.evaluate()
            if step.restarted and kind != "absolute":  # the pair itself has not changed
                u, p = pair(solver, graph, n_channels)
                assert np.abs(p).max() <= 1.0
                shape = (n_channels, -1)
                verified = certificate(graph.gradient(), f, u.reshape(shape).T, p.reshape(shape).T)
                assert (primal, dual) == pytest.approx((verified.primal, verified.dual), rel=1e-12)
            gap = (primal - dual) / primal
        iterations.append(iteration)
        assert gap <= 1e-9
        assert solver.n_sweeps >= iteration * n_channels * 2
    assert iterations[1] < (0.8 if kind == "squared" else 1.0) * iterations[0]


class TestPreconditioner:
    def test_names(self) -> None:
        graph = grid_graph((3, 4), 0.5)
        for name in ("none", "diagonal", "chains", "linear", "nested", "matroid"):
            chosen = as_preconditioner(name, graph)
            assert chosen.name == name
            assert (chosen.partition is None) == (name in ("none", "diagonal"))
            assert name in repr(chosen)
            assert as_preconditioner(chosen, graph) is chosen
        auto = as_preconditioner("auto", graph)
        assert auto.name == "chains"
        assert auto.condition_number == pytest.approx(2**0.5)
        assert "grid of shape" in auto.reason

    def test_a_partition_of_ones_own(self) -> None:
        graph = grid_graph((3, 3))
        partition = ForestPartition.from_labels(graph, decompose(graph, "linear").labels)
        assert as_preconditioner(partition, graph).partition is partition
        assert as_preconditioner(partition, grid_graph((3, 3), 2.0)).name == "custom"

    @pytest.mark.parametrize("bad", ["best", 3, None, np.zeros(3)])
    def test_anything_else_is_an_error(self, bad: Any) -> None:
        with pytest.raises(ValueError, match="preconditioner must be one of none, diagonal"):
            as_preconditioner(bad, grid_graph((3, 3)))

    def test_another_graph_is_an_error(self) -> None:
        partition = decompose(grid_graph((3, 4)), "nested")
        with pytest.raises(ValueError, match="preconditioner must be a partition of the problem"):
            as_preconditioner(partition, grid_graph((4, 3)))
        with pytest.raises(ValueError, match="preconditioner must not be 'chains'"):
            as_preconditioner("chains", erdos_renyi_graph(20, 60))

    def test_alpha(self) -> None:
        assert as_preconditioner("diagonal", grid_graph((3, 3)), alpha=0.5).alpha == 0.5
        with pytest.raises(ValueError, match=r"alpha must lie in \[0, 2\], got 3.0"):
            as_preconditioner("diagonal", grid_graph((3, 3)), alpha=3)


@pytest.mark.slow
def test_short_epochs_do_not_move_the_weight_far():
    """Two epochs of two iterations moved it by nine orders of magnitude, and the run stalled."""
    rng, n = np.random.default_rng(5), 6400
    steps = np.cumsum(rng.standard_normal(n) * (rng.random(n) < 0.01))
    f = steps + 0.3 * rng.standard_normal(n)
    problem = Problem(grid_graph((80, 80), 100.0), HuberLoss(f, 0.1), HuberTV(0.3))
    result = solve(problem, method="pdhg", preconditioner="diagonal", n_threads=1)
    assert result.status == "optimal"
