"""Convex clustering for many λ: the number of clusters, a hierarchy, and the choice of λ."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._elementary import geometric
from graphtv._validate import (
    Floats,
    as_count,
    as_floats,
    as_real,
    moderate,
)
from graphtv.applications.graph_input import to_graph
from graphtv.applications.keywords import check_keywords
from graphtv.applications.lambdas import as_lambdas, as_ratio
from graphtv.applications.learning.clustering_graph import clustering_graph
from graphtv.applications.learning.clusters import ConvexClusters, clusters_at
from graphtv.decomposition.laplacian import laplacian_solver
from graphtv.graph.components import connected_components
from graphtv.graph.graph import Graph

USUAL_RATIO = 1e-4
"""Default ratio of the smallest and the largest λ of a path."""

SHOWN_ROWS = 12
"""Number of rows in the printed table of a path."""


@dataclass(frozen=True, eq=False, repr=False)
class ConvexClusteringPath:
    """The solutions of convex clustering for decreasing λ.

    Attributes
    ----------
    lambdas : ndarray, shape (L,)
        The values of λ, in decreasing order.
    results : tuple of ConvexClusters
        The certified solution and its clusters for each λ.
    graph : Graph
        The graph with its weights, without the factor λ.

    Examples
    --------
    >>> from graphtv import convex_clustering_path
    >>> path = convex_clustering_path([[0.0], [0.2], [0.1], [5.0], [5.1]], n_lambdas=10)
    >>> path.n_clusters.tolist()
    [1, 2, 2, 2, 2, 2, 2, 5, 5, 5]
    >>> path.best().labels.tolist()
    [0, 0, 0, 1, 1]
    """

    lambdas: Floats
    results: tuple[ConvexClusters, ...]
    graph: Graph

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """The number of clusters for each λ."""
        return np.array([result.n_clusters for result in self.results], dtype=np.int64)

    @property
    def labels(self) -> NDArray[np.int32]:
        """The clusters for each λ, an array of shape (L, n)."""
        return np.stack([result.labels for result in self.results])

    @property
    def u(self) -> Floats:
        """The solutions, an array of shape (L, n, n_features)."""
        return np.stack([result.u for result in self.results])

    @property
    def relative_gap(self) -> Floats:
        """The certified relative gap at every λ."""
        return np.array([result.relative_gap for result in self.results])

    def best_index(self) -> int:
        """Return the index of the λ that lies in the longest run of an equal number of clusters.

        A number of clusters that persists over a large range of λ shows that the clusters are well
        separated. Runs are compared by the ratio of their largest and smallest λ. Only numbers from
        2 to √n count, unless there is no such run. Of several runs of equal length the one with
        fewer clusters is chosen. The index is the middle of the run.
        """
        most = math.isqrt(len(self.results[0].labels))
        runs: list[tuple[int, int, int]] = []  # length, number of clusters, first index
        start = 0
        for count, run in itertools.groupby(self.n_clusters.tolist()):
            length = len(list(run))
            runs.append((length, count, start))
            start += length
        chosen = [run for run in runs if 2 <= run[1] <= most] or runs
        length, _, first = max(chosen, key=lambda run: (run[0], -run[1]))
        return first + (length - 1) // 2

    def best(self) -> ConvexClusters:
        """Return the clusters that persist longest (see `best_index`)."""
        return self.results[self.best_index()]

    def best_lambda(self) -> float:
        """Return the λ of these clusters."""
        return float(self.lambdas[self.best_index()])

    def linkage(self) -> Floats:
        """Return the hierarchy of the clusters as in `scipy.cluster.hierarchy.linkage`.

        Each row joins two clusters: their numbers, the λ at which they fuse, and the number of
        points of the new cluster. The points are the clusters 0, …, n - 1, and row k makes cluster
        n + k. λ is the smallest one of the path at which the two are one cluster. Clusters that
        fused and separate again at a larger λ remain one here. Clusters that never fuse are joined
        at infinity.
        """
        n = len(self.results[0].labels)
        number, size = np.arange(n), np.ones(n, dtype=np.int64)  # of the cluster of each point
        rows: list[tuple[int, int, float, int]] = []
        ascending = zip(self.lambdas[::-1].tolist(), self.labels[::-1], strict=True)
        for height, labels in itertools.chain(ascending, [(math.inf, np.zeros(n, np.int32))]):
            groups, joined = _join(number, labels)
            if groups == len(np.unique(number)):
                continue
            firsts = np.unique(number, return_index=True)[1]
            order = firsts[np.argsort(joined[firsts], kind="stable")]
            for _, parts in itertools.groupby(order.tolist(), key=lambda i: int(joined[i])):
                first, *others = parts
                current, points = int(number[first]), int(size[first])
                for other in others:
                    points += int(size[other])
                    rows.append((current, int(number[other]), height, points))
                    current = n + len(rows) - 1
                if others:
                    inside = joined == joined[first]
                    number[inside], size[inside] = current, points
        return np.array(rows, dtype=np.float64).reshape(-1, 4)

    def __len__(self) -> int:
        return len(self.lambdas)

    def __repr__(self) -> str:
        chosen = self.best_index()
        shown = np.linspace(0, len(self) - 1, min(SHOWN_ROWS, len(self))).round().astype(int)
        lines = [
            f"ConvexClusteringPath of {len(self)} λ, {len(self.results[0].labels)} points,"
            f" relative gap ≤ {self.relative_gap.max(initial=0.0):.1e}",
            f"  {'λ':>10} {'clusters':>9}",
        ]
        for k in sorted({*shown.tolist(), chosen}):
            mark = "  ← longest run" if k == chosen else ""
            lines.append(f"  {self.lambdas[k]:10.4g} {self.results[k].n_clusters:9d}{mark}")
        return "\n".join(lines)


def convex_clustering_path(
    X: Any,
    graph: Any = None,
    lambdas: Any = None,
    n_lambdas: int = 40,
    *,
    ratio: float = USUAL_RATIO,
    n_neighbors: int = 10,
    bandwidth: float = 0.5,
    **solve_options: Any,
) -> ConvexClusteringPath:
    """Compute convex clustering for many λ, with warm starts.

    Parameters
    ----------
    X, graph, n_neighbors, bandwidth
        As in `convex_clustering`.
    lambdas : array_like, optional
        The values of λ > 0, in any order. By default `n_lambdas` values with a constant ratio, from
        one at which every connected component of the graph is one cluster.
    n_lambdas : int, optional
        How many, if `lambdas` is not given.
    ratio : float, optional
        The smallest λ over the largest, if `lambdas` is not given.
    **solve_options
        Options of `solve`: ``tol``, ``verbose``, ``time_limit`` (per λ), …

    Returns
    -------
    ConvexClusteringPath
        The solutions for decreasing λ, with `n_clusters`, `labels`, `best()` and `linkage()`.

    See Also
    --------
    convex_clustering, ConvexClustering
    graphtv.plot.draw_dendrogram : Plot the hierarchy.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, (20, 2)) for c in (0.0, 2.0, 5.0)])
    >>> path = convex_clustering_path(X, n_lambdas=20)
    >>> path.best().n_clusters, path.linkage().shape
    (3, (59, 4))
    """
    check_keywords(convex_clustering_path, solve_options)
    points = as_points(X)
    made = graph_of_points(points, graph, n_neighbors, bandwidth)
    if lambdas is None:
        count = as_count(n_lambdas, "n_lambdas", minimum=1)
        least = as_ratio(ratio)
        most = largest_lambda(points, made)
        values = geometric(most, most * least, count)
    else:
        values = as_lambdas(lambdas)
    results: list[ConvexClusters] = []
    for lam in values.tolist():
        start = results[-1] if results else None
        results.append(clusters_at(points, made, lam, start, **solve_options))
    return ConvexClusteringPath(values, tuple(results), made)


def as_points(X: Any) -> Floats:
    """Return validated points, one per row."""
    points = as_floats(X, "X")
    if points.ndim != 2 or 0 in points.shape:
        raise ValueError(f"X must have shape (n, n_features), got {points.shape}")
    return np.asarray(moderate(points, "X"))


def graph_of_points(points: Floats, graph: Any, n_neighbors: Any, bandwidth: Any) -> Graph:
    """Return the given graph, or that of nearest neighbours."""
    k = as_count(n_neighbors, "n_neighbors", minimum=1)
    width = as_real(bandwidth, "bandwidth", minimum=0.1)
    if graph is not None:
        return to_graph(graph, len(points))
    return clustering_graph(points, k, width)


def largest_lambda(points: Floats, graph: Graph) -> float:
    """Return a λ at which every component of the graph is one cluster.

    The means of the components are optimal if λ Kᵀp = r for the residuals r and some ‖p_e‖ ≤ 1.
    The flow of least energy, which is a solution of a linear system, gives such a p for the largest
    difference of its potentials. This λ is not the smallest one. It is rounded up to a power of two
    so that it does not depend on rounding errors of the linear system.
    """
    if graph.n_edges == 0:
        return 1.0
    count, component = connected_components(graph)
    sizes = np.bincount(component)
    conductance = Graph(graph.n_vertices, graph.edges, np.sqrt(graph.weights))
    solve_laplacian = laplacian_solver(conductance.gradient(), count, component)
    squares = np.zeros(graph.n_edges)
    for column in points.T:
        mean = np.bincount(component, column) / sizes
        potential = solve_laplacian(np.ascontiguousarray(column - mean[component]))
        squares += np.square(potential[graph.edges[:, 0]] - potential[graph.edges[:, 1]])
    most = math.sqrt(float(squares.max()))
    return 2.0 ** math.ceil(math.log2(most)) if most > 0 else 1.0


def _join(a: NDArray[Any], b: NDArray[Any]) -> tuple[int, NDArray[np.int32]]:
    """Return the finest partition that is coarser than two others: its size and labels."""
    _, first = np.unique(a, return_inverse=True)
    _, second = np.unique(b, return_inverse=True)
    n_first = int(first.max()) + 1
    both = Graph(
        n_first + int(second.max()) + 1, np.stack([first.ravel(), n_first + second.ravel()], axis=1)
    )
    count, labels = connected_components(both)
    return count, labels[first.ravel()]
