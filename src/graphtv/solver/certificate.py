"""Certificates: pairs of points with recomputed objectives."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from graphtv import _core
from graphtv._validate import Floats
from graphtv.objective.graph_objective import Slope
from graphtv.objective.proof import Proof
from graphtv.problem import Problem
from graphtv.result import Unrounded
from graphtv.solver.polish import SLACK
from graphtv.terms._arrays import from_core
from graphtv.terms.traits import as_location

CHUNK = 1 << 18
"""Number of edges processed at a time."""


class Proved:
    """Base class of objects with a proof of how far their points are from optimal."""

    proof: Proof

    @property
    def primal(self) -> float:
        """The primal objective."""
        return self.proof.primal

    @property
    def dual(self) -> float:
        """The dual objective."""
        return self.proof.dual

    @property
    def gap(self) -> float:
        """An upper bound of the exact gap."""
        return self.proof.gap + self.proof.gap_rounding

    @property
    def relative_gap(self) -> float:
        """An upper bound of the exact relative gap."""
        return self.proof.proved_gap


@dataclass(frozen=True, eq=False)
class Certificate(Proved):
    """A primal and a dual point, as the core's flat arrays, with their proof."""

    problem: Problem
    u: Floats
    p: Floats
    proof: Proof

    def with_better(
        self, u: Floats, primal: float, n_threads: int = 1, slope: Slope | None = None
    ) -> Certificate:
        """Return the certificate with another primal point if that is better.

        If the slope of p is given, it is not computed and stored a second time.
        """
        if not primal < self.primal:
            return self
        proof = self.problem.objective.prove(u, self.p, n_threads, slope)
        return Certificate(self.problem, u, self.p, proof)

    @property
    def error_bound(self) -> float | None:
        """√(2 gap/γ) ≥ ‖u - u*‖ if G is strongly convex and the bound is informative, else None.

        The curvature of some terms decreases to 0 and is known inside their domain only. The domain
        contains a solution, so a bound beyond its extent says nothing.
        """
        problem, u = self.problem, self.u
        gamma = problem.term.strong_convexity
        lower, upper = problem.term.domain
        least, most = float(u.min(initial=upper)), float(u.max(initial=lower))
        is_outside = least < lower or most > upper
        if gamma == 0.0 or (problem.traits.is_curved_in_domain_only and is_outside):
            return None
        bound = root_of_quotient(2.0 * self.gap, gamma) * (1.0 + 1e-15)
        extent = max(most, upper) - min(least, lower)
        return bound if bound < math.inf and bound <= math.sqrt(u.size) * extent else None


def root_of_quotient(x: float, y: float) -> float:
    """Return √(x/y), by parts if the quotient is no normal number."""
    quotient = x / y
    is_normal = sys.float_info.min <= quotient < math.inf
    return math.sqrt(quotient) if is_normal else math.sqrt(x) / math.sqrt(y)


def certify(problem: Problem, u: Floats, p: Floats, n_threads: int) -> Certificate:
    """Compute both objectives and the gap from the points alone."""
    return Certificate(problem, u, p, problem.objective.prove(u, p, n_threads))


def certify_rounded(problem: Problem, found: Certificate, n_threads: int) -> Certificate:
    """Certify the returned point: that of the normal form, rounded by adding the offset."""
    form = problem._form
    if form.centre is None:
        return found
    u = form.restore(found.u)
    if not form.is_exact(u):
        return certify(problem, u, found.p, n_threads)
    point = form.point(u)
    return found if (point == found.u).all() else certify(found.problem, point, found.p, n_threads)


def unrounded(found: Certificate) -> Unrounded:
    """Return the point and its bounds before the offset is added, which rounds it."""
    u = from_core(found.u, found.problem.shape)
    return Unrounded(u, found.proof.relative_gap, found.error_bound)


def certify_in_time(
    problem: Problem, u: Floats, p: Floats, n_threads: int, watch: _core.Watch
) -> Certificate | None:
    """Certify the points; return None if the watch expires."""
    try:
        with watch:
            return certify(problem, u, p, n_threads)
    except _core.Expired:
        return None


def without_variation(problem: Problem, watch: _core.Watch, n_threads: int) -> Certificate | None:
    """Return the best constants with p = 0 if they fit the data exactly, so that the minimum is 0.

    Iterations come close to this point, but an error in the last bit already makes the relative gap
    large.
    """
    data, graph = as_location(problem.data), problem.graph
    if data is None or problem.misfit is not None:
        return None
    first = 0
    while first < graph.n_edges and not watch.expired:  # the first few edges usually decide
        last = 100 if first == 0 else first + CHUNK
        tail, head = graph.edges[first:last].T
        first = last
        differ = data.signal[tail] != data.signal[head]
        if not data.is_complete:
            differ &= (data.weights[tail] > 0) & (data.weights[head] > 0)
        if differ.any():
            return None
    term = problem.term
    assert isinstance(term, _core.SeparableTerm)
    u, p = (np.zeros(math.prod(shape)) for shape in (problem.shape, problem.dual_shape))
    if not _core.polish(term, graph.edges, graph.weights, p, SLACK, u, watch):
        return None
    found = certify_in_time(problem, u, p, n_threads, watch)
    return found if found is not None and found.gap == 0.0 else None
