"""The polish: a better primal point, from the pattern of p or from smaller problems.

docs/theory/terms.md explains the pattern, docs/theory/descent.md the smaller problems.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.problem import Problem
from graphtv.solver.channels import scaled_channels
from graphtv.solver.newton import Improved, PrimalNewton
from graphtv.solver.stage import Points, rounded
from graphtv.terms.traits import as_quadratic

SLACK = 1e-4
"""An edge counts as fused if |p| is below 1 by more than this."""


class Polished(NamedTuple):
    """A primal point, the dual point that gave its pattern, and its objective."""

    u: Floats
    p: Floats | Rounded
    primal: float


def polish(
    problem: Problem, p: Floats | Rounded, watch: _core.Watch, n_threads: int
) -> Polished | None:
    """Return the best u that is constant where |p| < 1, or None if the watch expires."""
    graph, term = problem.graph, problem.term
    assert isinstance(term, _core.SeparableTerm)
    u = np.empty(term.n_vertices * term.n_channels)
    if not _core.polish(term, graph.edges, graph.weights, p, SLACK, u, watch):
        return None
    return Polished(u, p, problem.objective.primal(u, n_threads))


def reduced_polish(
    problem: Problem, p: Floats, watch: _core.Watch, n_threads: int
) -> Polished | None:
    """Return the best u on parts where that of p is nearly constant; None if the watch expires.

    This is for total variation and the squared loss with data at all vertices.
    """
    graph = problem.graph
    u = np.empty(math.prod(problem.shape))
    rows = (values.reshape(problem.term.n_channels, -1) for values in (p, u))
    try:
        for channel, of_p, of_u in zip(scaled_channels(problem), *rows, strict=True):
            _core.reduced_polish(
                graph.n_vertices,
                graph.edges,
                channel.edge_weights,
                channel.signal,
                channel.vertex_weights,
                of_p,
                of_u,
                watch,
            )
    except _core.Expired:
        return None
    return Polished(u, rounded(p, n_threads), problem.objective.primal(u, n_threads))


class GroupPolish:
    """The polish for isotropic and coupled total variation.

    This is for the squared loss with weights that are the same in all channels. The memory of
    Newton's method is allocated when it is needed for the first time.
    """

    def __init__(self, problem: Problem, n_threads: int) -> None:
        self._problem, self._n_threads = problem, n_threads
        self._newton: PrimalNewton | None = None

    def __call__(
        self, points: Points, before: Floats | None, dual: float, goal: float | None
    ) -> Polished:
        """Return a better primal point for a dual point whose objective is `dual`.

        It has the same value wherever a group of p is inside its ball. Newton's method continues
        from there, or from `before`, the result of an earlier polish, until the gap is `goal`.
        """
        problem, n_threads = self._problem, self._n_threads
        u, p = points.primal_point(), points.dual_point()
        starts = [self._fused(u, p)]
        if goal is not None and starts[0].primal - dual > goal:
            others = (u,) if before is None else (u, before)
            starts += [Improved(v, problem.objective.primal(v, n_threads)) for v in others]
            if self._newton is None:
                self._newton = PrimalNewton(problem, n_threads)
            start = min(starts, key=lambda start: start.primal)
            starts = [self._newton.improve(start, p, dual, goal)]
        best = starts[0]
        rounded = np.empty(p.shape, dtype=np.int16)
        problem.core_penalty.round(p, rounded, n_threads)
        return Polished(best.u, rounded, best.primal)

    def _fused(self, u: Floats, p: Floats) -> Improved:
        """Return the means of u over the parts where p is inside its balls."""
        graph, penalty = self._problem.graph, self._problem.core_penalty
        data = as_quadratic(self._problem.data)
        assert isinstance(penalty, _core.GroupNorms)
        assert data is not None
        c = data.weights.reshape(graph.n_vertices, -1)[:, 0]
        c = np.ascontiguousarray(c if data.common_weight is None else c[:0])
        u = u.copy()
        penalty.fuse(graph.n_vertices, graph.edges, p, SLACK, c, u)
        return Improved(u, self._problem.objective.primal(u, self._n_threads))
