"""Certificates: pairs of points with recomputed objectives."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from graphtv import _core
from graphtv._validate import Floats
from graphtv.problem import Problem
from graphtv.result import Certified
from graphtv.solver.polish import SLACK
from graphtv.terms import AbsoluteLoss, HuberLoss, SquaredLoss

CHUNK = 1 << 18
"""Edges to deal with in one go."""


@dataclass(frozen=True, eq=False)
class Certificate(Certified):
    """A primal and a dual point, as the core's flat arrays, and what they prove."""

    u: Floats
    p: Floats
    primal: float
    dual: float

    def with_better(self, u: Floats, primal: float) -> Certificate:
        """Return the certificate with another primal point, if that is better."""
        return replace(self, u=u, primal=primal) if primal < self.primal else self


def certify(problem: Problem, u: Floats, p: Floats, n_threads: int) -> Certificate:
    """Compute both objectives from the points alone."""
    return Certificate(u, p, problem._primal(u, n_threads), problem._dual(p, n_threads))


def certify_in_time(
    problem: Problem, u: Floats, p: Floats, n_threads: int, watch: _core.Watch
) -> Certificate | None:
    """Do the same unless the watch expires on the way."""
    try:
        with watch:
            return certify(problem, u, p, n_threads)
    except _core.Expired:
        return None


def without_variation(problem: Problem, watch: _core.Watch, n_threads: int) -> Certificate | None:
    """Return the best constants with p = 0, if they fit the data so well that the minimum is 0.

    Iterations come close to them, but no relative gap forgives a last bit there.
    """
    data, graph, term = problem.data, problem.graph, problem.term
    if not isinstance(data, SquaredLoss | AbsoluteLoss | HuberLoss):
        return None
    first = 0
    while first < graph.n_edges and not watch.expired:  # as a rule the first few tell
        last = 100 if first == 0 else first + CHUNK
        tail, head = graph.edges[first:last].T
        first = last
        there = (data.weights[tail] > 0) & (data.weights[head] > 0)
        if (there & (data.signal[tail] != data.signal[head])).any():
            return None
    assert isinstance(term, _core.SeparableTerm)
    u, p = (np.zeros(math.prod(shape)) for shape in (problem.shape, problem.dual_shape))
    if not _core.polish(term, graph.edges, graph.weights, p, SLACK, u, watch):
        return None
    found = certify_in_time(problem, u, p, n_threads, watch)
    return found if found is not None and found.gap == 0.0 else None
