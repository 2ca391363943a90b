"""Values of vertices without data, where the fused lasso leaves a choice.

With the others fixed, such a vertex costs Σ_j ω_ij |u_i - u_j|, which every median of its
neighbours minimises. Which one a solver returns is chance. Here it is the one nearest to the mean
of the neighbours, so that predictions do not depend on the solver, nor lean to one side.

Vertices are settled in independent sets, found by random priorities (Luby 1986): no two of a set
are neighbours, so each step leaves the objective at its minimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtv._validate import Floats
from graphtv.graph import Graph

SWEEPS = 3
"""Rounds over all sets: one does where no two vertices without data are neighbours."""

ROUNDING = 1e-12
"""Sums of weights closer than this, relatively, are taken for equal."""


class Medians:
    """Settles the values of the vertices `free` of a graph, those without data."""

    def __init__(self, graph: Graph, free: Any) -> None:
        adjacency = graph.to_sparse()
        self._sets = [_Stars(adjacency, chosen) for chosen in _independent_sets(adjacency, free)]

    def settle(self, u: Floats) -> Floats:
        """Return u with every free vertex at the median nearest to the mean of its neighbours."""
        columns = np.array(u).reshape(len(u), -1)
        for column in columns.T:
            for _ in range(SWEEPS):
                for stars in self._sets:
                    column[stars.centres] = stars.medians(column)
        return columns.reshape(np.shape(u))


class _Stars:
    """Some vertices with their neighbours: rows of the adjacency matrix."""

    def __init__(self, adjacency: Any, centres: Any) -> None:
        rows = adjacency[centres]
        lengths = np.diff(rows.indptr)
        self.centres = centres
        self._row = np.repeat(np.arange(len(centres)), lengths)
        self._begin, self._neighbour, self._weight = rows.indptr[:-1], rows.indices, rows.data
        self._total = np.bincount(self._row, self._weight, len(centres))

    def medians(self, u: Floats) -> Floats:
        """Return the median nearest to the mean, for every centre."""
        values = u[self._neighbour]
        mean = np.bincount(self._row, self._weight * values, len(self.centres)) / self._total
        order = np.lexsort((values, self._row))
        sums = np.cumsum(self._weight[order])
        before = np.concatenate([[0.0], sums])[self._begin]
        share = (sums - before[self._row]) / self._total[self._row]
        values = values[order]
        # Shares increase to 1 along each row: the first to reach, and to pass, one half.
        lower, upper = (
            values[self._begin + np.bincount(self._row[low], minlength=len(self.centres))]
            for low in (share < 0.5 - ROUNDING, share < 0.5 + ROUNDING)
        )
        return np.clip(mean, lower, upper)


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
