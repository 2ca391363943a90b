"""Certificates: pairs of points with recomputed objectives, and the polish that sharpens them."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.problem import Problem, relative_gap
from graphtv.result import Certified, Record
from graphtv.solver.engine import Engine
from graphtv.terms import AbsoluteLoss, HuberLoss, SquaredLoss

SLACK = 1e-4
"""Edges with |p| below 1 by more than this are taken for fused."""

WITHIN = 1e3
"""A polish is worth its price when the gap is at most so many times the tolerance."""

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


class Polished(NamedTuple):
    """A primal point, the pattern that it was made from, and its objective."""

    u: Floats
    p: Rounded
    primal: float


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


class Polish:
    """Tries now and then whether the pattern of p gives a better u than the iteration has."""

    def __init__(self, problem: Problem, watch: _core.Watch, n_threads: int, first: int) -> None:
        self._problem, self._watch, self._n_threads = problem, watch, n_threads
        self._applies = (
            isinstance(problem.term, _core.SeparableTerm)
            and problem.delta == 0.0
            and problem.graph.n_edges > 0
        )
        self._next = first  # attempt, in iterations
        self._cost = 0.0  # seconds that the last one took

    def is_due(self, record: Record, largest_gap: float, ahead: float, price: int) -> bool:
        """Whether to try after this record, with so many iterations ahead otherwise.

        The price is in iterations; as many are done before the first attempt.
        """
        return (
            self._applies
            and record.iteration >= self._next
            and ahead >= price
            and record.iteration >= price
            and record.relative_gap <= largest_gap
            and self._watch.remaining > self._cost
        )

    def __call__(self, engine: Engine, record: Record) -> Polished | None:
        """Return the polished point if it beats the record with the same dual point.

        Attempts become rarer geometrically, and much rarer where they fail.
        """
        start = time.perf_counter()
        graph, term = self._problem.graph, self._problem.term
        assert isinstance(term, _core.SeparableTerm)
        try:
            with self._watch:
                p = engine.rounded_dual_point()
                u = np.empty(term.n_vertices * term.n_channels)
                if not _core.polish(term, graph.edges, graph.weights, p, SLACK, u, self._watch):
                    return None
                found = Polished(u, p, self._problem._primal(u, self._n_threads))
        except _core.Expired:
            return None
        self._cost = time.perf_counter() - start
        is_better = relative_gap(found.primal, record.dual) < record.relative_gap
        self._next = max(
            engine.iterations + 2, int(engine.iterations * (1.3 if is_better else 2.5))
        )
        return found if is_better else None
