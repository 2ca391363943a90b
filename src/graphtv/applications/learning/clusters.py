"""The clusters of a solution of convex clustering, decided by the certificate.

At the optimum, all points of a cluster have the same row of u. In a computed u, these rows are
equal only up to its accuracy. So neighbours whose rows differ by less than a small length are
joined to candidates for clusters. The best u that is constant on the candidates solves a small
problem, in which each candidate is one vertex. The candidates are accepted if this u has a
certified gap within the tolerance. Otherwise a smaller length is tried, down to rounding errors.

T. Jiang and S. Vavasis, "On identifying clusters from sum-of-norms clustering computation" (2020),
discuss this question, and give a test that is exact for large weights.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats
from graphtv.applications.graph_input import scaled
from graphtv.graph.components import connected_components
from graphtv.graph.graph import Graph
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.terms import CoupledTV, SquaredLoss

LENGTHS = (1e-3, 1e-4, 1e-5, 1e-6)
"""Differences that may be numerical errors, relative to the typical length of an edge."""

ROUNDING = 64 * float(np.finfo(float).eps)
"""Differences of equal values, relative to the largest value of u."""


@dataclass(frozen=True, eq=False, repr=False)
class ConvexClusters(Result):
    """The result of `convex_clustering`: a `Result` with the cluster of each point.

    Attributes
    ----------
    labels : ndarray of int, shape (n,)
        The cluster of each point. Clusters are numbered in the order of their first points.
    lam : float
        The λ that was used.
    graph : Graph
        The graph with its weights, without the factor λ.

    Examples
    --------
    >>> from graphtv import convex_clustering
    >>> clusters = convex_clustering([[0.0], [0.2], [0.1], [5.0], [5.1]], lam=1.0)
    >>> clusters.labels, clusters.n_clusters
    (array([0, 0, 0, 1, 1], dtype=int32), 2)
    """

    labels: Any = None
    lam: float = 0.0
    graph: Any = None

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return int(self.labels.max(initial=-1)) + 1

    @property
    def centroids(self) -> Floats:
        """The value of u in each cluster, an array of shape (n_clusters, n_features).

        These are the means of the clusters, moved towards each other by the penalty.
        """
        first = np.unique(self.labels, return_index=True)[1]
        return np.asarray(self.u[first])


def clusters_at(
    points: Floats, graph: Graph, lam: float, start: Any = None, **options: Any
) -> ConvexClusters:
    """Solve convex clustering for one λ, and find its clusters."""
    problem = Problem(scaled(graph, lam), SquaredLoss(points), CoupledTV())
    result = solve(problem, warm_start=start, **options)
    if result.status == "interrupted":
        raise KeyboardInterrupt
    result, labels = _with_clusters(problem, points, result)
    values = {field.name: getattr(result, field.name) for field in fields(Result)}
    return ConvexClusters(**values, labels=labels, lam=lam, graph=graph)


def typical_length(points: Floats, graph: Graph) -> float:
    """Return the median length of the edges; the mean if more than half of them have length 0."""
    if graph.n_edges == 0:
        return 0.0
    lengths = _lengths(points, graph)
    return float(np.median(lengths)) or float(lengths.mean())


def _with_clusters(
    problem: Problem, points: Floats, result: Result
) -> tuple[Result, NDArray[np.int32]]:
    """Return the result with a u that is constant on clusters, and the clusters."""
    graph = problem.graph
    length = typical_length(points, graph)
    differences = _lengths(result.u, graph)
    rounding = ROUNDING * float(np.abs(result.u).max(initial=0.0))
    count, labels = connected_components(graph, differences <= rounding)
    for share in LENGTHS:
        fewer, candidates = connected_components(graph, differences <= share * length)
        if fewer == count:
            break
        u = _constant_on(problem.graph, points, candidates)
        checked = solve(problem, tol=result.tolerance, warm_start=(u, result.p), max_iterations=0)
        if checked.status == "optimal" and _is_constant(checked.u, candidates):
            return _replaced(result, checked), candidates
    return result, labels


def _constant_on(graph: Graph, points: Floats, labels: NDArray[np.int32]) -> Floats:
    """Return the best u that is constant on clusters, by the problem on their graph."""
    sizes = np.bincount(labels)
    means = np.stack([np.bincount(labels, column) for column in points.T], axis=1) / sizes[:, None]
    small = Graph(len(sizes), labels[graph.edges], graph.weights)
    between = Problem(small, SquaredLoss(means, weights=sizes.astype(np.float64)), CoupledTV())
    return np.asarray(solve(between, tol=1e-10).u[labels])


def _is_constant(u: Floats, labels: NDArray[np.int32]) -> bool:
    first = np.unique(labels, return_index=True)[1]
    return bool((u == u[first][labels]).all())


def _replaced(result: Result, checked: Result) -> Result:
    """Return a result with the points and the proof of another one, and its own history."""
    names = ("u", "p", "primal", "dual", "gap", "relative_gap", "rounding", "status", "error_bound")
    return replace(
        result, **{name: getattr(checked, name) for name in names}, _unrounded=checked._unrounded
    )


def _lengths(u: Floats, graph: Graph) -> Floats:
    return np.asarray(np.linalg.norm(u[graph.edges[:, 0]] - u[graph.edges[:, 1]], axis=1))
