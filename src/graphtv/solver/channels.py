"""The channels of a problem with squared loss, as arguments of the core."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from graphtv._validate import Floats
from graphtv.problem import Problem
from graphtv.terms._arrays import to_core
from graphtv.terms.traits import as_quadratic

LEAST_WEIGHT = 1e-3
"""Weight of vertices without data relative to the largest, if descent only provides a start."""

_ONES = np.empty(0)
"""The vertex weights that mean 1 everywhere in the core."""


class Channel(NamedTuple):
    """The arguments of the core for one channel."""

    signal: Floats
    vertex_weights: Floats
    edge_weights: Floats
    scale: float  # factor of the objective
    is_like_last: bool  # whether the weights are those of the previous channel


def scaled_channels(problem: Problem) -> Iterator[Channel]:
    """Yield the channels.

    If all vertices have the same weight c, the objective is c times that of the problem with the
    weights ω/c and δ/c. The faster solvers for plain chains then apply.
    """
    graph, data = problem.graph, as_quadratic(problem.data)
    assert data is not None
    shape = (problem.term.n_channels, graph.n_vertices)
    signals = to_core(data.signal).reshape(shape)
    weights = data.weights.reshape(shape[::-1]).T  # no copy, since it may be a single number
    is_complete = data.is_complete
    for index, (signal, c) in enumerate(zip(signals, weights, strict=True)):
        is_even = c.size == 0 or c.strides == (0,) or bool((c == c[0]).all())
        scale = float(c[0]) if is_even and c.size and c[0] > 0.0 else 1.0
        vertex_weights = _ONES if is_even else _substituted(c, weights)
        with np.errstate(over="ignore"):  # a run that overflows ends without a certificate
            edge_weights = graph.weights if scale == 1.0 else graph.weights / scale
        yield Channel(
            signal if is_complete else _filled(signal, c),
            vertex_weights,
            edge_weights,
            scale,
            index > 0 and np.array_equal(c, weights[index - 1]),
        )


def _substituted(c: Floats, weights: Floats) -> Floats:
    """Return the weights of a channel, with a small weight where data is missing."""
    if (c > 0.0).all():
        return np.ascontiguousarray(c)
    return np.where(c > 0.0, c, LEAST_WEIGHT * max(float(weights.max()), np.finfo(float).tiny))


def _filled(signal: Floats, c: Floats) -> Floats:
    """Return the signal with its mean in place of missing data, so these values have no effect."""
    there = c > 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(np.average(signal[there], weights=c[there])) if there.any() else 0.0
    return np.where(there, signal, mean)
