"""A custom penalty in Python, and the same methods of the built-in ones."""

import gc
import pickle
import weakref

import numpy as np
import pytest

from graphtv import (
    EntropicSimplex,
    HuberTV,
    LogisticLoss,
    Penalty,
    Problem,
    SquaredLoss,
    TotalVariation,
    denoise_tv,
    grid_graph,
    knn_graph,
    solve,
)

SHRINK = 1 + 1e-15
"""Keeps a projection inside its ball in spite of rounding."""


class GroupNorms:
    """Σ_g ‖x_g‖ over groups of edges with all their channels: isotropic and coupled penalties."""

    def __init__(self, edge_groups):
        self.edge_groups = np.asarray(edge_groups)

    def norms(self, x):
        squares = np.square(x).reshape(len(x), -1).sum(axis=1)
        return np.sqrt(np.bincount(self.edge_groups, squares))

    def value(self, x):
        return self.norms(x).sum()

    def conjugate(self, p):
        return 0.0 if (self.norms(p) <= 1.0).all() else np.inf

    def prox_conjugate(self, v, step):
        assert step.shape == v.shape
        assert not step.flags.writeable
        first = np.unique(self.edge_groups, return_index=True)[1]
        assert (step == step[first][self.edge_groups]).all()  # one step per group
        scale = np.maximum(1.0, self.norms(v) * SHRINK)[self.edge_groups]
        return v / scale.reshape(-1, *(1 for _ in v.shape[1:]))


def edges_by_pixel(graph):
    """Return the pixel that each edge of a grid graph leaves in forward direction."""
    return graph.edges.min(axis=1)


@pytest.mark.parametrize("preconditioner", ["auto", "none", "diagonal"])
@pytest.mark.parametrize("channels", [(), (3,)])
@pytest.mark.parametrize("groups", [edges_by_pixel, lambda graph: np.arange(graph.n_edges)])
def test_groups_of_edges_and_channels(preconditioner, channels, groups):
    """Both objectives, computed here from the two points, prove that they are optimal."""
    rng = np.random.default_rng(0)
    axes = [rng.uniform(0.2, 0.6, shape) for shape in ((3, 5), (4, 4))]
    graph = grid_graph((4, 5), axes)
    f = rng.normal(size=(20, *channels))
    penalty = GroupNorms(groups(graph))
    problem = Problem(graph, SquaredLoss(f), penalty)
    result = solve(problem, preconditioner=preconditioner, tol=1e-9)
    assert (result.status, result.method) == ("optimal", "pdhg")
    K = graph.gradient()
    assert result.primal == pytest.approx(
        0.5 * np.sum((result.u - f) ** 2) + penalty.value(K @ result.u), rel=1e-12
    )
    assert penalty.conjugate(result.p) == 0.0
    s = -(K.T @ result.p)
    assert result.dual == pytest.approx(-np.sum(s * f + 0.5 * s**2), rel=1e-12)


def test_single_entries_are_total_variation():
    """For groups of one entry the balls are intervals."""
    graph = knn_graph(np.random.default_rng(1).normal(size=(30, 2)), 4)
    f = np.random.default_rng(2).normal(size=30)
    own = solve(Problem(graph, SquaredLoss(f), GroupNorms(np.arange(graph.n_edges))), tol=1e-9)
    ours = solve(Problem(graph, SquaredLoss(f)), tol=1e-12)
    assert own.primal == pytest.approx(ours.primal, rel=1e-8)
    np.testing.assert_allclose(own.u, ours.u, atol=own.error_bound + ours.error_bound)


def test_other_data_terms():
    rng = np.random.default_rng(3)
    graph = grid_graph((5, 4), 0.3)
    penalty = GroupNorms(edges_by_pixel(graph))
    result = solve(Problem(graph, EntropicSimplex(rng.random((20, 3))), penalty), tol=1e-8)
    assert result.status == "optimal"
    np.testing.assert_allclose(result.u.sum(axis=1), 1.0)
    with pytest.raises(ValueError, match=r"^penalty must be .* for a LogisticLoss"):
        Problem(graph, LogisticLoss(rng.choice([-1.0, 1.0], 20)), penalty)


def test_a_warm_start_is_projected():
    graph = grid_graph((4, 4), 0.5)
    problem = Problem(graph, SquaredLoss(np.arange(16.0)), GroupNorms(edges_by_pixel(graph)))
    wild = (np.zeros(16), np.full(graph.n_edges, 7.0))
    result = solve(problem, warm_start=wild, max_iterations=0)
    assert np.isfinite(result.dual)
    assert solve(problem, warm_start=wild, tol=1e-8).status == "optimal"


def test_what_needs_single_edges_says_so():
    graph = grid_graph((4, 4))
    problem = Problem(graph, SquaredLoss(np.zeros(16)), GroupNorms(edges_by_pixel(graph)))
    for method in ("descent", "exact"):
        with pytest.raises(ValueError, match=rf"^method must not be '{method}': .*TotalVariation"):
            solve(problem, method=method)
    with pytest.raises(ValueError, match=r"^preconditioner must be 'none' or 'diagonal'"):
        solve(problem, preconditioner="chains")


def test_what_is_no_penalty():
    graph, data = grid_graph((3,)), SquaredLoss(np.zeros(3))
    for wrong in (None, 1.0, "tv", TotalVariation, object()):
        with pytest.raises(ValueError, match=r"^penalty must be a penalty such as TotalVar"):
            Problem(graph, data, wrong)
    for wrong in ([0, 1, 2], [0.0, 1.0]):
        with pytest.raises(ValueError, match=r"^penalty\.edge_groups must be 2 integers"):
            Problem(graph, data, GroupNorms(wrong))


def test_what_a_users_penalty_returns_is_checked():
    class Broken(GroupNorms):
        def value(self, x):
            raise KeyError("mine")

        def conjugate(self, p):
            return np.nan

        def prox_conjugate(self, v, step):
            return v[:-1]

    broken = Problem(grid_graph((3,)), SquaredLoss(np.ones(3)), Broken([0, 1]))
    with pytest.raises(KeyError, match="mine"):
        broken.primal(np.zeros(3))
    with pytest.raises(ValueError, match=r"penalty\.conjugate must return a number, got nan"):
        broken.dual(np.zeros(2))
    with pytest.raises(ValueError, match=r"penalty\.prox_conjugate.*shape \(2,\), got \(1,\)"):
        broken.core_penalty.prox_conjugate(np.zeros(2), np.ones(1), np.zeros(2))


def test_a_users_penalty_in_a_cycle_is_collected():
    penalty = GroupNorms([0])
    penalty.problem = Problem(grid_graph((2,)), SquaredLoss(np.zeros(2)), penalty)
    alive = weakref.ref(penalty)
    del penalty
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("penalty", [TotalVariation(), HuberTV(0.3)])
@pytest.mark.parametrize("channels", [(), (2,)])
def test_our_penalties_have_the_same_methods(penalty, channels):
    assert isinstance(penalty, Penalty)
    assert pickle.loads(pickle.dumps(penalty)) == penalty
    rng = np.random.default_rng(4)
    graph = knn_graph(rng.normal(size=(9, 2)), 3)
    u = rng.normal(size=(9, *channels))
    problem = Problem(graph, SquaredLoss(np.zeros(u.shape)), penalty)
    x = graph.gradient() @ u
    assert penalty.value(x) == pytest.approx(problem.primal(u) - problem.data.value(u))
    v, step = rng.normal(0, 2, x.shape), np.full(x.shape, 0.7)
    p = penalty.prox_conjugate(v, step)
    out = np.empty(v.size)
    flat = np.ascontiguousarray(v.T).ravel()
    problem.core_penalty.prox_conjugate(flat, np.full(graph.n_edges, 0.7), out)
    np.testing.assert_allclose(out, np.ascontiguousarray(p.T).ravel(), rtol=1e-15)
    # Moreau: (v - p)/step is a subgradient of F* at p.
    y = (v - p) / step
    assert penalty.value(y) + penalty.conjugate(p) == pytest.approx(np.sum(y * p))
    assert penalty.conjugate(1.5 * np.sign(v)) == np.inf


def test_the_documented_example():
    assert "prox_conjugate" in Penalty.__doc__
    assert repr(TotalVariation()) == "TotalVariation()"


def test_tiles_need_single_edges():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"^penalty must be TotalVariation.* for a dask array"):
        denoise_tv(da.zeros((8, 8), chunks=4), penalty=GroupNorms(np.arange(112)))
