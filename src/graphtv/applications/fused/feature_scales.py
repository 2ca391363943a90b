"""Scales of features for the distances of a nearest-neighbour graph.

Features often have different units. A feature with large values then dominates the distances. The
usual remedy is to divide each feature by its spread. This is harmful if all features have the same
unit (such as map coordinates), or if a wide spread separates the groups. Therefore both graphs are
compared, and the one whose neighbours predict y better is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtv._validate import Floats
from graphtv.graph.graph import Graph
from graphtv.graph.neighbours import knn_graph

NARROWEST = 2.0**-60
"""Smallest spread of a feature, relative to its largest value."""

CLEARLY = 0.9
"""Features are divided by their spread if this reduces the error at least by this factor."""


def feature_spreads(places: Floats) -> Floats:
    """Return the interquartile range of each feature, rounded to a power of two.

    If the quartiles coincide, it is the standard deviation instead, and 1 for a constant feature.
    Division by a power of two is exact.
    """
    _, exponent = np.frexp(np.abs(places).max(axis=0))
    unit = np.ldexp(places, -exponent)
    low, high = np.quantile(unit, [0.25, 0.75], axis=0)
    spread = np.where(high > low, high - low, unit.std(axis=0))
    _, finer = np.frexp(np.maximum(spread, NARROWEST))
    exponent = np.where(np.ptp(unit, axis=0) > 0, np.clip(exponent + finer, -1000, 1000), 0)
    return np.ldexp(1.0, exponent)


def chosen_scales(places: Floats, data: Floats, weights: Floats, n_neighbors: int) -> Floats:
    """Return the spreads of the features, or ones if they do not clearly improve predictions."""
    plain, spreads = np.ones(places.shape[1]), feature_spreads(places)
    if (spreads == spreads[0]).all():
        return plain
    before, after = (
        _neighbour_error(knn_graph(places / scales, n_neighbors), data, weights)
        for scales in (plain, spreads)
    )
    return spreads if after < CLEARLY * before else plain


def _neighbour_error(graph: Graph, data: Floats, weights: Floats) -> Any:
    """Return the squared error of predictions by the mean of the neighbours, over all vertices."""
    neighbours = graph.to_sparse()
    columns = data.reshape(graph.n_vertices, -1)
    means = neighbours @ (weights[:, None] * columns) / (neighbours @ weights)[:, None]
    return float(weights @ np.square(means - columns).sum(axis=1))
