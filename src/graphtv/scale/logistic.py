"""The interval that contains a solution of a logistic problem in parts (see `_logistic_domain`).

It depends on the connected components of the whole graph: on the sums and the largest weights of
their labels, and on their edges. Every part reports its own components, and pairs of parts report
which of these components the edges across their border join.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from graphtv import _core
from graphtv._validate import Floats
from graphtv.scale.storage import Storage
from graphtv.terms._logistic_domain import Growth, domain_of_sums


class Components(NamedTuple):
    """The components of a part.

    Attributes
    ----------
    sums : ndarray, shape (4, C, k)
        For each channel and component: the sums of the weights of the labels 1 and -1, and the
        largest of them.
    least : ndarray, shape (k,)
        The smallest weight of an edge.
    n_edges : ndarray, shape (k,)
        The number of edges.
    near, crossing, starts : ndarray or None
        The components of the ends of the edges across the border, their weights, and where those to
        each neighbour begin.
    """

    sums: Floats
    least: Floats
    n_edges: Any
    near: Any = None
    crossing: Any = None
    starts: Any = None


class Joined(NamedTuple):
    """Components that edges across a border join; the smallest weight and number of these edges."""

    low: Any
    high: Any
    least: Floats
    n_edges: Any


def take_components(storage: Storage, handle: Any) -> Components:
    """Return the components of a part."""
    part = storage.get(handle)
    window, border = part.window(), part.border()
    graph, n = window.graph, len(window.f)
    count, component = _core.connected_components(n, graph.edges, np.ones(graph.n_edges, bool))
    shape = n, math.prod(window.f.shape[1:])
    y = np.asarray(window.f, dtype=np.float64).reshape(shape)
    c = np.ones(shape) if window.c is None else np.asarray(window.c).reshape(shape)
    sums = np.zeros((4, y.shape[1], count))
    for channel in range(y.shape[1]):
        for k, sign in enumerate((1.0, -1.0)):
            weight = np.where(sign * y[:, channel] > 0.0, c[:, channel], 0.0)
            sums[k, channel] = np.bincount(component, weight, count)
            np.maximum.at(sums[2 + k, channel], component, weight)
    of_edge = component[graph.edges[:, 0]]
    least = np.full(count, np.inf)
    np.minimum.at(least, of_edge, graph.weights)
    n_edges = np.bincount(of_edge, minlength=count)
    near = component[border.near]
    return Components(sums, least, n_edges, near, border.crossing, border.starts)


def without_border(storage: Storage, found: Components) -> Components:
    """Return what the client needs of a part."""
    return Components(*found[:3])


def joined_components(
    storage: Storage, low: Components, at_low: int, high: Components, at_high: int
) -> Joined:
    """Return which components of two parts their common edges join."""
    here = slice(*low.starts[at_low : at_low + 2])
    there = slice(*high.starts[at_high : at_high + 2])
    width = high.sums.shape[2] + 1
    keys = low.near[here].astype(np.int64) * width + high.near[there]
    is_edge = low.crossing[here] > 0.0
    pairs, place = np.unique(keys[is_edge], return_inverse=True)
    least = np.full(len(pairs), np.inf)
    np.minimum.at(least, place, low.crossing[here][is_edge])
    return Joined(pairs // width, pairs % width, least, np.bincount(place, minlength=len(pairs)))


def interval(
    parts: Sequence[Components],
    borders: Sequence[tuple[tuple[int, int, int, int], Joined]],
    delta: float,
) -> tuple[float, float]:
    """Return the interval for all components of the whole graph; raise if there is none."""
    begin = np.cumsum([0, *(part.sums.shape[2] for part in parts)])
    none = np.empty(0, dtype=np.int64)
    low = np.concatenate([none, *(j.low + begin[pair[0]] for pair, j in borders)])
    high = np.concatenate([none, *(j.high + begin[pair[1]] for pair, j in borders)])
    adjacency = sparse.coo_array((np.ones(len(low)), (low, high)), shape=(begin[-1], begin[-1]))
    count, component = csgraph.connected_components(adjacency, directed=False)
    channels = parts[0].sums.shape[1]
    sums = np.zeros((4, channels, count))
    least, n_edges = np.full(count, np.inf), np.zeros(count)
    for first, part in zip(begin, parts, strict=False):
        mine = component[first : first + part.sums.shape[2]]
        for channel in range(channels):
            for k in (0, 1):
                np.add.at(sums[k, channel], mine, part.sums[k, channel])
                np.maximum.at(sums[2 + k, channel], mine, part.sums[2 + k, channel])
        np.minimum.at(least, mine, part.least)
        np.add.at(n_edges, mine, part.n_edges)
    for pair, joined in borders:
        mine = component[joined.low + begin[pair[0]]]
        np.minimum.at(least, mine, joined.least)
        np.add.at(n_edges, mine, joined.n_edges)
    for channel in range(channels):
        positive, negative = sums[:2, channel] > 0.0
        if (positive != negative).any():
            which = int(np.argmax(positive != negative))
            label = "1" if positive[which] else "-1"
            where = f" in channel {channel}" if channels > 1 else ""
            raise ValueError(
                "data has no minimiser on this graph: all labels of a connected component"
                f"{where} are {label}, so u would go to infinity there"
            )
    by_channel = [tuple(sums[:, channel]) for channel in range(channels)]
    return domain_of_sums(by_channel, least, n_edges, Growth(delta))
