"""The polish: a better primal point, computed from the pattern of p (docs/theory/terms.md)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.problem import Problem
from graphtv.solver.stage import Points
from graphtv.terms.base import as_quadratic

SLACK = 1e-4
"""An edge counts as fused if |p| is below 1 by more than this."""


class Polished(NamedTuple):
    """A primal point, the dual point that gave its pattern, and its objective."""

    u: Floats
    p: Rounded
    primal: float


def polish(problem: Problem, p: Rounded, watch: _core.Watch, n_threads: int) -> Polished | None:
    """Return the best u that is constant where |p| < 1, or None if the watch expires."""
    graph, term = problem.graph, problem.term
    assert isinstance(term, _core.SeparableTerm)
    u = np.empty(term.n_vertices * term.n_channels)
    if not _core.polish(term, graph.edges, graph.weights, p, SLACK, u, watch):
        return None
    return Polished(u, p, problem._primal(u, n_threads))


def fuse(problem: Problem, points: Points, n_threads: int) -> Polished:
    """Return u with the same value wherever a group of p is inside its ball.

    This is for the squared loss with weights that are the same in all channels.
    """
    graph, penalty, data = problem.graph, problem.core_penalty, as_quadratic(problem.data)
    assert isinstance(penalty, _core.GroupNorms)
    assert data is not None
    u, p = points.primal_point(), points.dual_point()
    c = data.weights.reshape(graph.n_vertices, -1)[:, 0]
    c = np.ascontiguousarray(c if data.common_weight is None else c[:0])
    penalty.fuse(graph.n_vertices, graph.edges, p, SLACK, c, u)
    rounded = np.empty(p.shape, dtype=np.int16)
    penalty.round(p, rounded, n_threads)
    return Polished(u, rounded, problem._primal(u, n_threads))
