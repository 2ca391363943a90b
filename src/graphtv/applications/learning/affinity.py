"""Affinities for learning: between points, of new points to fitted ones, and precomputed.

The weight of two neighbours is

    w_ij = exp(-d_ij² / (h² σ_i σ_j)) · |N_i ∩ N_j| / |N_i ∪ N_j|,

with σ_i the distance of point i to its farthest neighbour (the self-tuning scale of Zelnik-Manor
and Perona, NIPS 2004) and N_i the point with its neighbours (shared neighbours, Jarvis and Patrick,
IEEE Trans. Computers 22, 1973). With few labels, the smallest cut may isolate the labelled points.
Both factors prevent this: they give small weights to the edges between classes, so that the
smallest cut separates the classes. Shared neighbours also reduce the weight of hubs, points that in
high dimensions are neighbours of many others.

In high dimensions noise makes all distances similar. Therefore the graph is built twice. In the
first graph, each point moves part of the way to the mean of its neighbours, which reduces noise
more than structure. The second graph is that of the moved points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graphtv._elementary import exp
from graphtv._nearest import chunks, nearest
from graphtv._validate import Floats, as_array, describe, first_index
from graphtv.graph.graph import Graph
from graphtv.graph.neighbours import TINY

Indices = NDArray[np.int64]

FLATTEST = 1e-3
"""Smallest scale σ_i relative to the mean; σ_i is 0 for points with many duplicates."""

FAINTEST = 1e-12
"""Smallest weight relative to the median degree, so that the graph stays connected."""


class SmoothedNeighbours:
    """The neighbours among points after one step of diffusion, x ← (1 - λ) x + λ P x.

    P contains the weights of the graph of the original points, with rows that sum to 1.
    """

    def __init__(
        self, points: Floats, n_neighbors: int, bandwidth: float, smoothing: float
    ) -> None:
        self._first = self._second = Neighbours(points, n_neighbors, bandwidth)
        self._smoothing = smoothing
        if smoothing > 0:
            to_others = row_stochastic(self._first.graph())
            moved = self._moved(points, to_others)
            # A point without neighbours does not move.
            alone = np.diff(to_others.indptr) == 0
            moved[alone] = points[alone]
            self._second = Neighbours(moved, n_neighbors, bandwidth)

    def graph(self) -> Graph:
        """Return the graph of the moved points."""
        return self._second.graph()

    def to_new(self, points: Floats) -> sparse.csr_array:
        """Return the weights of new points, moved like the fitted ones; rows sum to 1.

        A point that coincides with fitted points is joined to these only.
        """
        weights, is_double = self._first.to_new(points)
        if self._smoothing == 0:
            return weights
        after, _ = self._second.to_new(self._moved(points, weights))
        kept = sparse.diags_array(is_double.astype(np.float64))
        other = sparse.diags_array(1.0 - is_double)
        return sparse.csr_array(kept @ weights + other @ after)

    def _moved(self, points: Floats, weights: sparse.csr_array) -> Floats:
        means = np.asarray(weights @ self._first.points)
        return (1.0 - self._smoothing) * points + self._smoothing * means


class Neighbours:
    """The nearest neighbours among given points and the resulting weights."""

    def __init__(self, points: Floats, n_neighbors: int, bandwidth: float) -> None:
        from sklearn.neighbors import NearestNeighbors

        self.points, self._bandwidth = points, bandwidth
        self._k = min(n_neighbors, len(points) - 1)
        # At least one neighbour, so that a single point can be fitted and used for predictions.
        self._search = NearestNeighbors(n_neighbors=max(self._k, 1)).fit(points)
        if self._k == 0:
            self._indices = np.empty((len(points), 0), dtype=np.int64)
            self._distances = np.empty((len(points), 0))
        else:
            self._distances, self._indices = self._nearest(points, np.arange(len(points)))
        farthest = self._distances[:, -1] if self._k else np.ones(len(points))
        self._flattest = FLATTEST * float(farthest.mean()) or 1.0
        self._scales = np.maximum(farthest, self._flattest)
        self._sets = np.concatenate([np.arange(len(points))[:, None], self._indices], axis=1)

    def graph(self) -> Graph:
        """Return the graph that joins two points if one is a neighbour of the other."""
        n = len(self.points)
        rows = np.repeat(np.arange(n), self._k)
        columns = self._indices.ravel()
        exponents = self._exponents(self._distances, self._scales, self._indices)
        weights = exp(exponents.min(initial=np.inf) - exponents)
        weights = np.maximum(weights, TINY) * self._shared(self._sets, self._indices)
        low, high = np.minimum(rows, columns), np.maximum(rows, columns)
        pairs, kept = np.unique(low * n + high, return_index=True)
        return scaled(Graph(n, np.stack(np.divmod(pairs, n), axis=1), weights.ravel()[kept]))

    def to_new(self, points: Floats) -> tuple[sparse.csr_array, NDArray[np.bool_]]:
        """Return the weights from new points to fitted ones, and which new points coincide.

        Rows sum to 1. A point that coincides with fitted points is joined to these only.
        """
        n = len(self.points)
        distances, indices = self._nearest(points)
        scales = np.maximum(distances.max(axis=1), self._flattest)
        exponents = self._exponents(distances, scales, indices)
        weights = exp(exponents.min(axis=1, keepdims=True) - exponents)
        weights *= self._shared(indices, indices)
        doubles = distances == 0
        is_double = doubles.any(axis=1)
        weights = np.where(is_double[:, None], doubles, weights)
        weights /= weights.sum(axis=1, keepdims=True)
        starts = np.arange(0, indices.size + 1, indices.shape[1])
        matrix = sparse.csr_array((weights.ravel(), indices.ravel(), starts), (len(points), n))
        return matrix, is_double

    def _nearest(self, points: Floats, own: Any = None) -> tuple[Floats, Indices]:
        """Return distances and indices of the neighbours of points."""
        # Searches by matrix products lose half of the digits of small distances.
        size = max(float(np.abs(x).max(initial=0.0)) for x in (points, self.points))
        slack = 1e-7 * size * self.points.shape[1] ** 0.5
        search = self._search.kneighbors
        return nearest(search, self.points, points, max(self._k, 1), own, slack)

    def _exponents(self, distances: Floats, scales: Floats, indices: Indices) -> Floats:
        """Return d² / (h² σ σ)."""
        relative = distances / (self._bandwidth * np.sqrt(scales[:, None] * self._scales[indices]))
        return np.square(relative)

    def _shared(self, sets: Indices, indices: Indices) -> Floats:
        """Return the ratio of the intersection and the union of two sets of neighbours."""
        fractions = np.empty(indices.shape)
        for part in chunks(len(indices), indices.shape[1] * sets.shape[1] * self._sets.shape[1]):
            others = self._sets[indices[part]]
            common = (sets[part, None, :, None] == others[:, :, None, :]).sum(axis=(2, 3))
            fractions[part] = common / (sets.shape[1] + self._sets.shape[1] - common)
        return fractions


def given_graph(affinity: Any, symmetrize: str) -> Graph:
    """Return the graph of a square matrix of affinities (see `Graph.from_sparse`)."""
    matrix = _as_affinity(affinity)
    n, columns = matrix.shape
    if n != columns:
        raise ValueError(f"X must be square if affinity is 'precomputed', got {matrix.shape}")
    return scaled(Graph.from_sparse(matrix, symmetrize))


def given_to_new(affinity: Any, n_fitted: int) -> sparse.csr_array:
    """Return the affinities from new points to fitted ones, with rows that sum to 1 or 0."""
    matrix = _as_affinity(affinity)
    if matrix.shape[1] != n_fitted:
        raise ValueError(
            f"X must have a column for each of the {n_fitted} samples of the fit, "
            f"got shape {matrix.shape}"
        )
    return _normalised(matrix)


def row_stochastic(graph: Graph) -> sparse.csr_array:
    """Return the matrix of weights with rows that sum to 1, or to 0 for isolated vertices."""
    return _normalised(sparse.csr_array(graph.to_sparse()))


def scaled(graph: Graph) -> Graph:
    """Return the graph scaled to a median degree of 1, ignoring isolated vertices."""
    if graph.n_edges == 0:
        return graph
    # Dividing by the largest weight first avoids overflow and underflow.
    weights = graph.weights / graph.weights.max()
    degrees = np.bincount(graph.edges.ravel(), np.repeat(weights, 2), graph.n_vertices)
    weights = weights / float(np.median(degrees[degrees > 0]))
    return Graph(graph.n_vertices, graph.edges, np.maximum(weights, FAINTEST))


def vertex_degrees(graph: Graph) -> Floats:
    """Return the sum of the weights at each vertex."""
    sums = np.bincount(graph.edges.ravel(), np.repeat(graph.weights, 2), graph.n_vertices)
    return sums.astype(np.float64, copy=False)  # without edges bincount counts, in integers


def _normalised(matrix: sparse.csr_array) -> sparse.csr_array:
    """Divide each row by its sum, if the sum is not 0."""
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    inverse = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    return sparse.csr_array(sparse.diags_array(inverse) @ matrix)


def _as_affinity(affinity: Any) -> sparse.csr_array:
    """Return a matrix of finite nonnegative numbers in CSR format, without a dense copy."""
    given = affinity if sparse.issparse(affinity) else as_array(affinity, "X")
    if given.ndim != 2:
        raise ValueError(f"X must be a matrix, got shape {given.shape}")
    if given.dtype.kind not in "buif":
        raise ValueError(f"X must hold real numbers, got dtype {given.dtype}")
    matrix = sparse.csr_array(given, dtype=np.float64)
    for bad, what in ((~np.isfinite(matrix.data), "finite"), (matrix.data < 0, "nonnegative")):
        if bad.any():
            (k,) = first_index(bad)
            row = int(np.searchsorted(matrix.indptr, k, side="right")) - 1
            where = describe((row, int(matrix.indices[k])))
            raise ValueError(f"X must be {what}, got {matrix.data[k]} at {where}")
    return matrix
