"""Constants with p = 0: the result of a run that ended before its first iteration."""

from __future__ import annotations

import math

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.objective.proof import Proof
from graphtv.problem import Problem
from graphtv.solver.certificate import Certificate, certify
from graphtv.solver.stage import rounded

SAMPLE = 1 << 12
"""Number of vertices whose data determine the constant."""


def trivial_certificate(problem: Problem, n_threads: int) -> Certificate:
    """Return constants with p = 0 and their proof. No edges are needed, as Ku = 0 and Kᵀp = 0."""
    trivial, u = Trivial(problem), good_constants(problem)
    if u is not None and problem.misfit is None:
        no_edges, nothing = np.empty((0, 2), dtype=problem.graph.edges.dtype), np.empty(0)
        slope = np.zeros(u.size), np.zeros(u.size)
        proof = Proof(
            *_core.certify(
                problem.term, no_edges, nothing, problem.core_penalty, u, nothing, *slope, n_threads
            )
        )
        if math.isfinite(proof.primal):
            return Certificate(problem, u, trivial.dual_point(), proof)
    return certify(problem, trivial.primal_point(), trivial.dual_point(), n_threads)


def good_constants(problem: Problem) -> Floats | None:
    """Return a good constant for every channel, if one constant is feasible at all vertices."""
    if problem.misfit is not None:
        return problem.composite.start
    n, term = problem.graph.n_vertices, problem.term
    if problem.traits.is_simplex:
        return np.full(n * term.n_channels, 1.0 / term.n_channels)
    if not isinstance(term, _core.SeparableTerm) or n == 0:
        return None
    some = np.arange(0, n, max(1, n // SAMPLE), dtype=np.int32)
    return np.repeat([term.minimizer(some, channel, 0.0) for channel in range(term.n_channels)], n)


class Trivial:
    """The stage that does nothing, for runs without time to set up another stage."""

    method = "none"
    kernel = "trivial"
    iterations = 0
    sweeps = 0
    step_size = 0.0
    restarts = 0
    settled = None
    is_final = False
    is_exhausted = False

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def advance(self, at_most: int) -> None:
        """No-op."""

    def evaluate(self) -> tuple[float, float]:
        """Return the primal and the dual objective."""
        objective = self._problem.objective
        return objective.primal(self.primal_point()), objective.dual(self.dual_point())

    def primal_point(self) -> Floats:
        """Return constants, or if they are not feasible, a proximal step from 0."""
        problem, u = self._problem, good_constants(self._problem)
        if u is not None and math.isfinite(problem.term.value(u)):
            return u
        u = np.empty(math.prod(problem.shape))
        problem.term.prox(np.zeros(u.size), np.ones(1), u)
        return u

    def dual_point(self) -> Floats:
        """Return p = 0."""
        return np.zeros(self._problem.dual_size)

    def rounded_dual_point(self) -> Floats | Rounded:
        """Return p in multiples of 1/32767."""
        p = self.dual_point()
        return p if self._problem.misfit is not None else rounded(p, 1)

    def conclude(self) -> None:
        """No-op: there is nothing to free."""
