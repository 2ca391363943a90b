"""Convex clustering, also called clusterpath and sum-of-norms clustering.

    min_u ½ Σ_i ‖u_i - x_i‖² + λ Σ_(i,j) ω_ij ‖u_i - u_j‖

over a row u_i for each point x_i. Points whose rows are equal form a cluster. As λ increases, the
clusters fuse. The problem is convex, so the clusters do not depend on a starting point or on the
order of the points.

K. Pelckmans, J. De Brabanter, J. Suykens, B. De Moor, "Convex clustering shrinkage", 2005.
T. Hocking, A. Joulin, F. Bach, J.-P. Vert, "Clusterpath: an algorithm for clustering using convex
fusion penalties", ICML 2011.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from graphtv._validate import as_count, as_real, moderate
from graphtv.applications.keywords import check_keywords
from graphtv.applications.learning.clusters import ConvexClusters, clusters_at
from graphtv.applications.learning.convex_clustering_path import (
    ConvexClusteringPath,
    as_points,
    convex_clustering_path,
    graph_of_points,
)

__all__ = ["convex_clustering"]

BISECTIONS = 20
"""How often an interval of λ is halved in the search for a number of clusters."""


def convex_clustering(
    X: Any,
    graph: Any = None,
    lam: float | str = "auto",
    *,
    n_clusters: int | None = None,
    n_neighbors: int = 10,
    bandwidth: float = 0.5,
    **solve_options: Any,
) -> ConvexClusters:
    """Cluster points by a convex problem, with a certificate.

    Minimises ½ Σ_i ‖u_i - x_i‖² + λ Σ_(i,j) ω_ij ‖u_i - u_j‖. Points with equal u form a
    cluster.

    Parameters
    ----------
    X : array_like, shape (n, n_features)
        The points. Scale features that have different units first.
    graph : Graph, sparse matrix, array_like or tuple, optional
        The pairs (i, j) with their weights ω, as in `fused_lasso`. By default each point is joined
        to its nearest neighbours, with Gaussian weights; see the notes.
    lam : float or 'auto', optional
        λ > 0. Larger values give fewer clusters. ``'auto'`` computes a path and chooses the number
        of clusters that persists over the largest range of λ (`ConvexClusteringPath.best`).
    n_clusters : int, optional
        Search for a λ with this number of clusters, instead of `lam`.
    n_neighbors : int, optional
        Number of neighbours of each point in the default graph.
    bandwidth : float, optional
        Bandwidth h of the default weights, at least 0.1.
    **solve_options
        Options of `solve`: ``tol``, ``verbose``, ``time_limit``, ``warm_start``, …

    Returns
    -------
    ConvexClusters
        A `Result` with `u` of shape (n, n_features), `labels`, `n_clusters`, `centroids` and `lam`.

    Warns
    -----
    UserWarning
        If no λ of the search gives `n_clusters`, or if ``lam='auto'`` finds a single cluster.

    See Also
    --------
    convex_clustering_path : Solutions for many λ, and a hierarchy of clusters.
    ConvexClustering : The same as a scikit-learn estimator.

    Notes
    -----
    The default weights are exp(-d² / (h² σ_i σ_j)), but at least exp(-1/h²). Here d is the distance
    of two points, and σ_i is the distance of point i to the farthest of its neighbours. If the
    graph is not connected, the shortest edges between its components are added with the least
    weight.

    A cluster is a connected part of the graph on which u is constant. Among all points that are
    constant on the clusters, u is the best one, and its certified gap is at most `tol`.

    References
    ----------
    .. [1] T. Hocking, A. Joulin, F. Bach, J.-P. Vert, "Clusterpath: an algorithm for clustering
       using convex fusion penalties", ICML 2011.
    .. [2] E. C. Chi, K. Lange, "Splitting methods for convex clustering", JCGS 24, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, (20, 2)) for c in (0.0, 2.0, 5.0)])
    >>> clusters = convex_clustering(X)
    >>> clusters.n_clusters, clusters.status
    (3, 'optimal')
    >>> convex_clustering(X, n_clusters=2).centroids.shape
    (2, 2)
    """
    check_keywords(convex_clustering, solve_options)
    points = as_points(X)
    is_auto = isinstance(lam, str)
    if isinstance(lam, str) and lam != "auto":
        raise ValueError(f"lam must be a number or 'auto', got {lam!r}")
    if n_clusters is not None:
        count = as_count(n_clusters, "n_clusters", minimum=1, maximum=len(points))
        if not is_auto:
            raise ValueError(f"lam must be 'auto' if n_clusters is given, got {lam!r}")
    elif not is_auto:
        lam = moderate(as_real(lam, "lam", minimum=0.0, strict=True), "lam")
    made = graph_of_points(points, graph, n_neighbors, bandwidth)
    if isinstance(lam, float):
        start = solve_options.pop("warm_start", None)
        return clusters_at(points, made, lam, start, **solve_options)
    solve_options.pop("warm_start", None)  # each λ of a path starts from the one before
    path = convex_clustering_path(points, made, **solve_options)
    if n_clusters is not None:
        return with_n_clusters(points, path, count, **solve_options)
    best: ConvexClusters = path.best()
    if best.n_clusters == 1 and len(points) > 1:
        warnings.warn(
            "lam='auto' finds a single cluster: no number of clusters from 2 to"
            f" {math.isqrt(len(points))} occurs on the path; give lam or n_clusters",
            UserWarning,
            stacklevel=2,
        )
    return best


def with_n_clusters(
    points: Any, path: ConvexClusteringPath, n_clusters: int, **options: Any
) -> ConvexClusters:
    """Return a solution with a number of clusters, searching between the λ of a path.

    If the number does not occur, several clusters fuse at the same λ. The result then has the next
    larger number that occurs, or the smallest number at all.
    """
    options.pop("warm_start", None)
    counts: list[int] = path.n_clusters.tolist()
    if n_clusters in counts:
        first = counts.index(n_clusters)
        return path.results[first + _run_length(counts[first:]) // 2]
    above = [k for k, count in enumerate(counts) if count > n_clusters]
    if not above:  # λ is too large, or the graph has more components
        few = path.results[-1]
        many = _finer(points, few, n_clusters, options)
    else:
        many = path.results[above[0]]
        few = path.results[above[0] - 1] if above[0] > 0 else many
    for _ in range(BISECTIONS):
        if many.n_clusters == n_clusters or few.n_clusters > n_clusters:
            break
        middle = clusters_at(points, path.graph, math.sqrt(few.lam * many.lam), many, **options)
        if middle.n_clusters >= n_clusters:
            many = middle
        else:
            few = middle
    if many.n_clusters != n_clusters:
        warnings.warn(
            f"no λ with n_clusters={n_clusters} was found: the result has {many.n_clusters}"
            " clusters",
            UserWarning,
            stacklevel=3,
        )
    return many


def _run_length(counts: list[int]) -> int:
    """Return how many equal entries a list begins with."""
    return next((k for k, count in enumerate(counts) if count != counts[0]), len(counts))


def _finer(
    points: Any, few: ConvexClusters, n_clusters: int, options: dict[str, Any]
) -> ConvexClusters:
    """Return a solution with at least a number of clusters, by decreasing λ."""
    for _ in range(BISECTIONS):
        few = clusters_at(points, few.graph, few.lam / 16.0, few, **options)
        if few.n_clusters >= n_clusters:
            break
    return few
