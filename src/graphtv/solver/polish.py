"""The polish: a better primal point, computed from the pattern of p (docs/theory/terms.md)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.problem import Problem

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
