"""Values of vertices without data, if the solution of the fused lasso is not unique.

With the others fixed, such a vertex costs Σ_j ω_ij |u_i - u_j|, which every weighted median of its
neighbours minimises. A solver may return any of them. Here the one nearest to the mean of the
neighbours is chosen, so that predictions do not depend on the solver and are not biased to one
side.

Vertices are processed in independent sets, found by random priorities (Luby 1986). No two vertices
of a set are neighbours, so each step preserves the minimum of the objective.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtv._validate import Floats
from graphtv.graph.graph import Graph

SWEEPS = 3
"""Number of sweeps over all sets; one suffices if vertices without data are not adjacent."""

ROUNDING = 1e-12
"""Sums of weights with a smaller relative difference count as equal."""


class Medians:
    """Chooses the values of the vertices `free` of a graph, those without data."""

    def __init__(self, graph: Graph, free: Any) -> None:
        adjacency = graph.to_sparse()
        self._sets = [
            _Stars(adjacency, alike)
            for chosen in _independent_sets(adjacency, free)
            for alike in _of_similar_degree(adjacency, chosen)
        ]

    def settle(self, u: Floats) -> Floats:
        """Return u with each free vertex at the median nearest to the mean of its neighbours."""
        columns = np.array(u).reshape(len(u), -1)
        for column in columns.T:
            for _ in range(SWEEPS):
                for stars in self._sets:
                    column[stars.centres] = stars.medians(column)
        return columns.reshape(np.shape(u))


class _Stars:
    """Vertices of similar degree with their neighbours, as a table with one row per vertex.

    Rows are padded with neighbours of weight 0. Sums are computed per row, so that large weights of
    other vertices cause no rounding errors.
    """

    def __init__(self, adjacency: Any, centres: Any) -> None:
        begin, end = adjacency.indptr[centres], adjacency.indptr[centres + 1]
        places = begin[:, None] + np.arange((end - begin).max())
        self._is_there = places < end[:, None]
        places = np.where(self._is_there, places, begin[:, None])
        weights = np.where(self._is_there, adjacency.data[places], 0.0)
        self.centres, self._neighbour = centres, adjacency.indices[places]
        self._weight = weights / weights.max(axis=1, keepdims=True)

    def medians(self, u: Floats) -> Floats:
        """Return the median nearest to the mean for each vertex."""
        values = u[self._neighbour]
        mean = (self._weight * values).sum(axis=1) / self._weight.sum(axis=1)
        order = np.argsort(np.where(self._is_there, values, np.inf), axis=1, kind="stable")
        values = np.take_along_axis(values, order, axis=1)
        share = np.cumsum(np.take_along_axis(self._weight, order, axis=1), axis=1)
        share /= share[:, -1:]
        # Cumulative weights increase to 1 along each row: find the first ≥ ½ and the first > ½.
        lower, upper = (
            np.take_along_axis(values, np.argmax(share >= half, axis=1)[:, None], axis=1)[:, 0]
            for half in (0.5 - ROUNDING, 0.5 + ROUNDING)
        )
        return np.asarray(np.clip(mean, lower, upper))


def _of_similar_degree(adjacency: Any, centres: Any) -> list[Any]:
    """Divide vertices into classes whose degrees differ by a factor below two."""
    _, size = np.frexp(np.diff(adjacency.indptr)[centres])
    return [centres[size == s] for s in np.unique(size)]


def _independent_sets(adjacency: Any, free: Any) -> list[Any]:
    """Return the free vertices that have neighbours, as sets without edges inside."""
    left = np.array(free) & (np.diff(adjacency.indptr) > 0)
    priority = np.random.default_rng(0).permutation(len(left)) + 1
    rows = np.repeat(np.arange(len(left)), np.diff(adjacency.indptr))
    sets = []
    while left.any():
        rival = np.zeros(len(left), dtype=np.int64)
        both = left[rows] & left[adjacency.indices]
        np.maximum.at(rival, rows[both], priority[adjacency.indices[both]])
        chosen = left & (priority > rival)
        sets.append(np.flatnonzero(chosen))
        left &= ~chosen
    return sets
