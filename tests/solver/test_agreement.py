"""All methods, preconditioners and data layouts agree on the optimum."""

import numpy as np
import pytest

from graphtv import (
    AbsoluteLoss,
    EntropicSimplex,
    Graph,
    HuberLoss,
    LogisticLoss,
    PoissonLoss,
    Problem,
    QuantileLoss,
    SquaredLoss,
    decompose,
    solve,
    tv_forest,
)
from instances import GRAPHS, PENALTIES, TERMS, make_graph, make_problem, one_forest_per_edge, ways
from reference.tv import tv_quadratic

TOLERANCE = 1e-7


def assert_agree(results, tolerance=TOLERANCE):
    """All certified intervals [dual, primal] have a common point."""
    assert {result.status for result in results.values()} == {"optimal"}
    scale = max(abs(result.primal) for result in results.values())
    highest_bound = max(result.dual for result in results.values())
    for way, result in results.items():
        assert result.primal >= highest_bound - 1e-12 * scale, way
        assert result.primal - highest_bound <= 3 * tolerance * scale + 1e-30, way
    strong = [r for r in results.values() if r.error_bound is not None]
    for one in strong[1:]:
        distance = np.linalg.norm(one.u - strong[0].u)
        assert distance <= one.error_bound + strong[0].error_bound + 1e-12


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("term", TERMS)
def test_all_ways_agree(term, penalty, graph):
    if term == "quartic" and graph in ("edgeless", "vertex"):
        pytest.skip("floats end a bit away from a minimum of 0")
    problem = make_problem(term, graph, penalty, seed=1)
    assert_agree(
        {
            way: solve(problem, method=way[0], preconditioner=way[1], tol=TOLERANCE)
            for way in ways(term, graph, penalty)
        }
    )


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("term", TERMS)
def test_all_ways_agree_on_vectors(term, penalty):
    problem = make_problem(term, "pieces", penalty, channels=(3,), seed=2)
    assert problem.shape == (12, 3)
    results = {
        way: solve(problem, method=way[0], preconditioner=way[1], tol=TOLERANCE)
        for way in ways(term, "pieces", penalty)
    }
    assert_agree(results)


@pytest.mark.parametrize("term", [term for term in TERMS if term not in ("simplex", "quartic")])
def test_channels_of_a_separable_term_are_problems_of_their_own(term):
    together = make_problem(term, "random", channels=(3,), seed=3)
    data = together.data
    parts = []
    for k in range(3):
        if term in ("box", "boxes"):
            one = type(data)(data.cost[:, k], data.lower[:, k], data.upper[:, k])
        elif term == "huber":
            one = HuberLoss(data.signal[:, k], data.delta, data.weights[:, k])
        elif term == "quantile":
            one = QuantileLoss(data.signal[:, k], data.tau, data.weights[:, k])
        else:
            name = {"logistic": "labels", "poisson": "counts"}.get(term, "signal")
            one = type(data)(getattr(data, name)[:, k], data.weights[:, k])
        parts.append(solve(Problem(together.graph, one), tol=1e-9))
    for method in ("pdhg", "auto"):
        result = solve(together, method=method, tol=1e-9)
        assert result.primal == pytest.approx(sum(part.primal for part in parts), rel=1e-8)
        if term in ("squared", "weighted"):
            expected = np.stack([part.u for part in parts], axis=1)
            np.testing.assert_allclose(result.u, expected, atol=1e-4)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_known_minimiser(penalty):
    for graph_kind in ("grid", "random", "dense", "pieces"):
        for seed in range(3):
            problem = make_problem("weighted", graph_kind, penalty, seed=seed)
            data, delta = problem.data, problem.penalty.delta
            best, _ = tv_quadratic(problem.graph.gradient(), data.signal, data.weights, huber=delta)
            for method, preconditioner in ways("weighted", graph_kind, penalty):
                result = solve(problem, method=method, preconditioner=preconditioner, tol=1e-11)
                np.testing.assert_allclose(result.u, best, atol=1e-5)


def test_trees_agree_with_the_direct_solver():
    for kind in ("path", "tree", "pieces"):
        graph = make_graph(kind, 4)
        if kind == "pieces":  # its triangle is a cycle
            graph = type(graph)(graph.n_vertices, graph.edges[1:], graph.weights[1:])
            if decompose(graph).n_forests > 1:
                continue
        f = np.random.default_rng(4).normal(size=graph.n_vertices)
        expected, dual = tv_forest(graph, f, return_dual=True)
        for method in ("descent", "exact", "auto"):
            result = solve(Problem(graph, SquaredLoss(f)), method=method, tol=0)
            np.testing.assert_allclose(result.u, expected, atol=1e-12)
            assert result.status == "optimal"
        started = solve(Problem(graph, SquaredLoss(f)), warm_start=(expected, dual), tol=1e-12)
        assert started.iterations == 0


def test_a_mask_is_a_weight_of_zero_and_hides_the_signal():
    rng = np.random.default_rng(6)
    # A grid with gaps, and another piece without any data.
    grid = make_graph("grid", 6)
    graph = Graph(23, [*grid.edges, (20, 21), (21, 22)], [*grid.weights, 0.5, 0.5])
    f, mask = rng.normal(size=23), (rng.random(23) > 0.4) & (np.arange(23) < 20)
    other = np.where(mask, f, 1e3 * rng.normal(size=23))
    for term in (SquaredLoss, AbsoluteLoss, HuberLoss):
        args = [
            (signal, *([0.5] if term is HuberLoss else []), mask * 2.0) for signal in (f, other)
        ]
        one, two = (solve(Problem(graph, term(*a)), tol=1e-8) for a in args)
        np.testing.assert_array_equal(one.u, two.u)
        assert one.primal == two.primal
    counts = np.abs(f)
    one, two = (
        solve(Problem(graph, PoissonLoss(c, mask * 2.0)), tol=1e-8) for c in (counts, np.abs(other))
    )
    np.testing.assert_array_equal(one.u, two.u)
    y = np.sign(f)
    one, two = (
        solve(Problem(graph, data), tol=1e-8)
        for data in (LogisticLoss(y * mask), LogisticLoss(y, mask * 1.0))
    )
    assert one.primal == pytest.approx(two.primal, rel=1e-7)


def test_weights_in_all_their_forms_mean_the_same():
    graph = make_graph("random", 7)
    f = np.random.default_rng(7).normal(size=(14, 2))
    forms = [2.0, np.full(14, 2.0), np.full((14, 2), 2.0), np.full((14, 2), 2.0, dtype=np.float32)]
    for method in ("descent", "pdhg", "auto"):
        results = [solve(Problem(graph, SquaredLoss(f, c)), method=method) for c in forms]
        for result in results[1:]:
            np.testing.assert_allclose(result.u, results[0].u, rtol=0, atol=1e-12)


def test_dtypes_and_layouts_of_the_signal_do_not_matter():
    graph = make_graph("random", 8)
    f = np.random.default_rng(8).integers(-4, 5, size=(14, 3))
    expected = solve(Problem(graph, SquaredLoss(f.astype(float))))
    for other in (
        f,
        f.astype(np.int8),
        f.astype(np.float32),
        np.asfortranarray(f, float),
        f.tolist(),
    ):
        result = solve(Problem(graph, SquaredLoss(other)))
        np.testing.assert_array_equal(result.u, expected.u)
        assert result.u.flags.writeable


def test_two_classes_on_the_simplex_are_a_logistic_like_problem():
    """By the symmetry u ↦ 1 - u: swapping the classes swaps the channels."""
    problem = make_problem("simplex", "random", channels=(2,))
    cost = problem.data.cost
    swapped = Problem(problem.graph, EntropicSimplex(cost[:, ::-1], 0.5))
    one, two = solve(problem, tol=1e-9), solve(swapped, tol=1e-9)
    np.testing.assert_allclose(one.u, two.u[:, ::-1], atol=1e-4)
    np.testing.assert_allclose(one.u.sum(axis=1), 1.0, atol=1e-12)


def test_every_partition_of_the_edges_leads_to_the_same_place():
    problem = make_problem("squared", "dense")
    rng = np.random.default_rng(9)
    graph = problem.graph
    expected = solve(problem, method="descent", preconditioner="nested", tol=1e-11)
    from graphtv import ForestPartition

    partitions = [one_forest_per_edge(graph)]
    nested = decompose(graph, "nested")
    order = rng.permutation(nested.n_forests)
    partitions.append(ForestPartition.from_labels(graph, order[nested.labels]))
    for partition in partitions:
        for method in ("descent", "pdhg"):
            result = solve(problem, method=method, preconditioner=partition, tol=1e-11)
            np.testing.assert_allclose(result.u, expected.u, atol=1e-5)
