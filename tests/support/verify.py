"""Verifies a result by recomputing all its claims, without the sums of the library."""

import numpy as np
from scipy.sparse.csgraph import connected_components

from graphtv import CoupledTV, IsotropicTV
from reference import terms as twins

STATUSES = {"optimal", "iteration_limit", "time_limit", "interrupted", "stalled"}


def groups_of(problem):
    """The pairs (edge, channel) whose norm the penalty takes, from its definition."""
    penalty, m = problem.penalty, problem.graph.n_edges
    channels = range(problem.dual_shape[1] if len(problem.dual_shape) == 2 else 1)
    pixel = problem.graph.edges.min(axis=1, initial=2**31 - 1)
    if isinstance(penalty, IsotropicTV):
        edges = [np.flatnonzero(pixel == x).tolist() for x in np.unique(pixel)]
    else:
        edges = [[e] for e in range(m)]
    if isinstance(penalty, CoupledTV) or getattr(penalty, "coupled", False):
        return [[(e, c) for e in group for c in channels] for group in edges]
    return [[(e, c) for e in group] for group in edges for c in channels]


def objectives(problem, u, p, *, by_component=False):
    """Primal, dual and gap in forty digits; for a custom term, by that term.

    The dual objective needs a range that contains a solution. This is the range of all data. With
    `by_component` it is that of the data of a channel in one component of the graph, which gives a
    better bound.
    """
    K = problem.graph.gradient()
    delta = problem.penalty.delta
    u, p = (np.reshape(x, (-1, *problem.dual_shape[1:])) for x in (u, p))
    if not type(problem.data).__module__.startswith("graphtv."):
        Ku = K @ u.reshape(problem.graph.n_vertices, -1)
        sizes = [np.linalg.norm([Ku[pair] for pair in group]) for group in groups_of(problem)]
        Ku = np.array(sizes)
        penalty = Ku if delta == 0 else np.where(Ku < delta, Ku**2 / (2 * delta), Ku - delta / 2)
        primal = float(problem.data.value(u) + penalty.sum())
        dual = float(-problem.data.conjugate(-(K.T @ p)) - delta / 2 * np.sum(p**2))
        return twins.Certificate(primal, dual, primal - dual)
    domain = getattr(problem.term, "domain", None)
    component = connected_components(problem.graph.to_sparse())[1] if by_component else None
    groups = groups_of(problem)
    return twins.certify(K, problem.data, u, p, delta, domain, groups, component)


def verify(result, problem):
    """Assert that all claims of the result are true; return the verified objectives."""
    u, p = result.u, result.p
    assert u.shape == problem.shape
    assert p.shape == problem.dual_shape
    assert u.dtype == p.dtype == np.float64
    assert np.isfinite(u).all()
    assert np.isfinite(p).all()
    assert np.abs(p).max(initial=0.0) <= 1.0
    assert result.status in STATUSES
    true = objectives(problem, u, p)
    scale = max(abs(true.primal), abs(true.dual))
    size = 1e-13 * (scale + magnitude(problem, u, p)) + 1e-30
    assert abs(result.primal - true.primal) <= size, (result.primal, true.primal)
    digits = 1e-14 * size + 1e-30  # of the forty
    assert abs(result.primal - true.primal) <= result.rounding + digits
    if abs(result.dual - true.dual) > min(size, result.rounding + digits):
        # Then the range matters, and the solver's is not that of all data.
        best = objectives(problem, u, p, by_component=True)
        assert best.dual > true.dual + digits, (result.dual, true.dual)
        assert result.dual <= best.dual + min(size, result.rounding + digits)
        true = best
    assert abs(result.gap - (result.primal - result.dual)) <= 2 * result.rounding
    assert true.gap >= -size  # weak duality
    largest = max(abs(result.primal), abs(result.dual))
    assert result.relative_gap == (result.gap / largest if largest > 0 else 0.0)
    if result.status == "optimal":
        assert result.relative_gap <= (result.tolerance or 1e-12)
        assert true.gap <= (result.tolerance or 1e-12) * scale + size
    gamma = problem.term.strong_convexity
    if gamma == 0:
        assert result.error_bound is None
    if result.error_bound is not None:
        assert result.error_bound >= np.sqrt(2 * max(true.gap - size, 0.0) / gamma)
    return true


def magnitude(problem, u, p):
    """The sum of absolute values: the rounding error of a sum is relative to it."""
    pull = np.abs(problem.graph.gradient()).T @ np.abs(p)
    rows = np.reshape(u, pull.shape)
    return float(np.sum(pull * (1 + np.abs(rows))) + np.abs(problem.data.value(rows)))
