"""Convex clustering as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphtv._nearest import nearest_point
from graphtv._validate import Floats, moderate
from graphtv.applications.keywords import as_solve_options
from graphtv.applications.learning.clusters import ConvexClusters
from graphtv.applications.learning.convex_clustering import convex_clustering
from graphtv.graph.graph import Graph

try:
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError('scikit-learn is not installed: pip install "graphtv[ml]"') from error

UNLIKE = 30.0
"""A warning recommends scaling if the spreads of two features differ by more than this factor."""


class ConvexClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clustering by a convex problem: points fuse as λ increases.

    Parameters
    ----------
    lam : float or 'auto'
        λ > 0. Larger values give fewer clusters. ``'auto'`` chooses the number of clusters that
        persists over the largest range of λ; see `convex_clustering`.
    n_clusters : int, optional
        Search for a λ with this number of clusters, instead of `lam`.
    graph : Graph, sparse matrix, array_like or tuple, optional
        The pairs of points with their weights. By default each point is joined to its nearest
        neighbours, with Gaussian weights.
    n_neighbors : int
        Number of neighbours of each point in the default graph.
    bandwidth : float
        Bandwidth of the default weights, relative to the distance of the neighbours.
    tol : float
        Relative gap to certify; see `graphtv.solve`.
    solve_options : dict, optional
        Further arguments of `graphtv.solve`, such as ``time_limit``, ``n_threads``.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n,)
        The cluster of each sample.
    n_clusters_ : int
        The number of clusters.
    cluster_centers_ : ndarray, shape (K, n_features)
        The mean of the samples of each cluster.
    lam_ : float
        The λ that was used.
    graph_ : Graph
        The graph, without the factor λ.
    result_ : ConvexClusters
        The solution with its certificate.
    n_iter_ : int
        Iterations of the solver.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns of X, if all are strings.

    Examples
    --------
    >>> from graphtv import ConvexClustering
    >>> X = [[0.0, 0.1], [0.2, 0.0], [0.1, 0.2], [5.0, 5.1], [5.1, 5.0], [5.2, 5.2]]
    >>> ConvexClustering(n_clusters=2).fit_predict(X)
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    labels_: NDArray[np.int32]

    def __init__(
        self,
        lam: float | str = "auto",
        *,
        n_clusters: int | None = None,
        graph: Any = None,
        n_neighbors: int = 10,
        bandwidth: float = 0.5,
        tol: float = 1e-6,
        solve_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.lam = lam
        self.n_clusters = n_clusters
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth
        self.tol = tol
        self.solve_options = solve_options

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the clusters.

        Parameters
        ----------
        X : array_like, shape (n, n_features)
            The samples.
        y : None
            Not used.

        Returns
        -------
        ConvexClustering
            The estimator itself.
        """
        as_solve_options(self.solve_options)
        points = moderate(validate_data(self, X, dtype=np.float64), "X")
        if self.graph is None:
            _warn_of_units(points)
        result = convex_clustering(
            points,
            self.graph,
            self.lam,
            n_clusters=self.n_clusters,
            n_neighbors=self.n_neighbors,
            bandwidth=self.bandwidth,
            **{"tol": self.tol, **(self.solve_options or {})},
        )
        if result.status != "optimal":
            warnings.warn(
                f"the solver ended with status {result.status!r} and a relative gap of "
                f"{result.relative_gap:.2g}, above tol={self.tol}",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.result_: ConvexClusters = result
        self.graph_: Graph = result.graph
        self.labels_, self.n_clusters_ = result.labels, result.n_clusters
        self.lam_, self.n_iter_ = result.lam, result.iterations
        sizes = np.bincount(self.labels_)
        sums = [np.bincount(self.labels_, column) for column in points.T]
        self.cluster_centers_ = np.stack(sums, axis=1) / sizes[:, None]
        self._points = points
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the cluster of the nearest sample of the fit.

        Parameters
        ----------
        X : array_like, shape (m, n_features)
            New samples.

        Returns
        -------
        ndarray of int, shape (m,)
        """
        check_is_fitted(self)
        queries = moderate(validate_data(self, X, reset=False, dtype=np.float64), "X")
        return np.asarray(self.labels_[nearest_point(self._points, queries)])


def _warn_of_units(points: Floats) -> None:
    """Warn if some features have so small spreads that they have little influence."""
    spreads = np.std(points, axis=0)
    spreads = spreads[spreads > 0]
    if len(spreads) > 1 and spreads.max() > UNLIKE * spreads.min():
        warnings.warn(
            f"the standard deviations of the features of X lie between {spreads.min():.3g} and"
            f" {spreads.max():.3g}: features with a small one have little influence; scale X, for"
            " example with sklearn.preprocessing.StandardScaler",
            UserWarning,
            stacklevel=3,
        )
