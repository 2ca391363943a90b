"""The objectives of h(Au) + R(u) + F(Ku): a misfit, a constraint and a penalty.

The dual point is one flat array, p followed by q. Other arrays are the core's flat arrays, too.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from graphtv import _core
from graphtv._elementary import ROUNDOFF
from graphtv._validate import Floats, Rounded
from graphtv.graph.graph import Graph
from graphtv.objective.graph_objective import GraphObjective, Slope
from graphtv.objective.proof import Proof
from graphtv.operators.constants import balancing_shift
from graphtv.operators.constraint import Constraint
from graphtv.operators.misfit import Misfit
from graphtv.operators.solution_range import SolutionRange, solution_range
from graphtv.terms.traits import traits_of

_NO_PENALTY = _core.EdgewisePenalty(0.0)


class CompositeObjective:
    """The primal objective h(Au) + R(u) + F(Ku) and the dual one.

    The dual objective is -h*(q) - R*(-Aᵀq - Kᵀp) - F*(p), where h* and R* are suprema over
    intervals that contain a solution and its image.

    Parameters
    ----------
    graph : Graph
        The graph.
    misfit : Misfit
        The misfit h(Au).
    constraint : Constraint
        The constraint R.
    penalty : _core.Penalty
        The penalty F.
    """

    def __init__(
        self, graph: Graph, misfit: Misfit, constraint: Constraint, penalty: _core.Penalty
    ) -> None:
        self.misfit, self.constraint = misfit, constraint
        self._graph, self._penalty = graph, penalty

    def split(self, dual: Any) -> tuple[Floats, Floats]:
        """Return the parts p and q of a dual point."""
        p, q = np.split(np.asarray(dual, dtype=np.float64), [dual.size - self.misfit.size])
        return p, q

    def primal(self, u: Floats, n_threads: int = 1) -> float:
        """Return h(Au) + R(u) + F(Ku)."""
        return self.primal_of(u, self.misfit.map.apply(u), n_threads)

    def primal_of(self, u: Floats, x: Floats, n_threads: int = 1) -> float:
        """Return the primal objective of u, given its image x = Au."""
        if not self.constraint.contains(u):
            return np.inf
        graph = self._graph
        penalty = self._penalty.value(graph.n_vertices, graph.edges, graph.weights, u, n_threads)
        return self.misfit.value(x) + self.constraint.norm(u) + penalty

    def dual(self, dual: Floats, n_threads: int = 1) -> float:
        """Return the dual objective."""
        p, q = self.split(dual)
        penalty = self._penalty.conjugate(p, n_threads)
        if penalty == np.inf:
            return -np.inf
        s, _ = self.slope(dual, n_threads)
        return self.dual_of(q, s, penalty, n_threads)

    def dual_of(self, q: Floats, s: Floats, penalty: float, n_threads: int = 1) -> float:
        """Return the dual objective, given the slope s = -Kᵀp - Aᵀq and F*(p)."""
        rows = self.row_term.conjugate(q, n_threads)
        return 0.0 - rows - self.term.conjugate(s, n_threads) - penalty

    def slope(self, dual: Floats | Rounded, n_threads: int = 1) -> Slope:
        """Return -Kᵀp - Aᵀq and bounds on its errors, in units of the roundoff."""
        p, q = self.split(dual)
        s, errors = self._inner.slope(p, n_threads)
        errors += self.misfit.map.adjoint_error(q) / ROUNDOFF
        s -= self.misfit.map.adjoint(q)
        errors += np.abs(s)
        return s, errors

    def prove(
        self, u: Floats, dual: Floats | Rounded, n_threads: int = 1, slope: Slope | None = None
    ) -> Proof:
        """Return the proof of u and a dual point, whose slope may be given."""
        p, q = self.split(dual)
        slope = slope or self.slope(dual, n_threads)
        if not self.constraint.contains(u):
            inner = self._inner.prove(u, p, n_threads, slope)
            return Proof(np.inf, inner.dual, np.inf, np.inf, np.inf)
        x = self.misfit.map.apply(u)
        found = self._range_of(u, x, n_threads)
        inner = self._inner_in(found).prove(u, p, n_threads, slope)
        return inner.plus(self._prove_misfit(u, x, q, self._row_term_in(found), n_threads))

    def _prove_misfit(
        self, u: Floats, x: Floats, q: Floats, term: _core.DataTerm, n_threads: int
    ) -> Proof:
        """Return h(Au), -h*(q) and their excess h(Au) + h*(q) - ⟨q, Au⟩, with rounding errors.

        Au is known up to an error e, and q exactly. Over the interval of the error, the excess
        changes by at most e times the largest |h'(x) - q|.
        """
        misfit = self.misfit
        error = misfit.map.apply_error(u)
        no_edges, nothing = np.empty((0, 2), dtype=self._graph.edges.dtype), np.empty(0)
        no_error = np.zeros(q.size)
        found = _core.certify(
            term, no_edges, nothing, _NO_PENALTY, x, nothing, q, no_error, n_threads
        )
        change, effect = misfit.effect(x, error, q)
        proof = Proof(*found)
        return proof._replace(
            rounding=proof.rounding + change, gap_rounding=proof.gap_rounding + effect
        )

    # Where a solution is

    @cached_property
    def start(self) -> Floats:
        """A feasible point to start from: the best constants, or 0."""
        misfit = self.misfit
        zero = self.constraint.project(np.zeros(math.prod(misfit.shape)))
        if misfit.columns is None or not traits_of(misfit.loss).is_smooth or zero.any():
            return zero
        m = np.zeros((misfit.n_channels, misfit.columns.shape[1]))
        if not math.isfinite(misfit.value(misfit.shifted(m))):
            m += 1.0  # a loss of positive numbers
        base = misfit.shifted(m)
        if math.isfinite(misfit.value(base)):
            m = m + balancing_shift(
                misfit.columns,
                lambda y: misfit.gradient(base + y),
                lambda y: misfit.curvatures(base + y),
                misfit.n_channels,
            )
        found = self.constraint.project(misfit.spread(m))
        return found if self.primal(found) < self.primal(zero) else zero

    @cached_property
    def solution_range(self) -> SolutionRange:
        """The interval of a solution and of its image, from the objective at the start."""
        return self._range_below(self._start_value)

    @cached_property
    def _start_value(self) -> float:
        return self._bound(self.primal(self.start), self.misfit.value_error(self.start))

    def range_of(self, u: Floats) -> SolutionRange:
        """Return the interval from the objective of u, which is much smaller if u is good.

        It contains u, also if it is an assumption that u contradicts.
        """
        return self._range_of(u, self.misfit.map.apply(u), 1)

    def _range_of(self, u: Floats, x: Floats, n_threads: int) -> SolutionRange:
        error = self.misfit.effect(x, self.misfit.map.apply_error(u), x)[0]
        known = self._bound(self.primal_of(u, x, n_threads), error)
        is_better = known < self._start_value
        found = self._range_below(known) if is_better else self.solution_range
        return found.including(u, x)

    def _bound(self, primal: float, error: float) -> float:
        """Return an upper bound of an objective, given a bound on the error of the misfit."""
        return primal + (error if math.isfinite(error) else 0.0)

    def _range_below(self, primal: float) -> SolutionRange:
        return solution_range(self._graph, self._penalty, self.misfit, self.constraint, primal)

    @cached_property
    def term(self) -> _core.DataTerm:
        """The constraint R on the range of a solution."""
        return self._inner.term

    @cached_property
    def row_term(self) -> _core.DataTerm:
        """The loss h on the range of the image of a solution."""
        return self._row_term_in(self.solution_range)

    @cached_property
    def _inner(self) -> GraphObjective:
        """The objectives of R(u) + F(Ku)."""
        return self._inner_in(self.solution_range)

    def _row_term_in(self, found: SolutionRange) -> _core.DataTerm:
        return self.misfit.loss.core_between(found.row_lower, found.row_upper)

    def _inner_in(self, found: SolutionRange) -> GraphObjective:
        size, term = math.prod(self.misfit.shape), self.constraint.core_term(*found[:2])
        return GraphObjective(self._graph, term, self._penalty, size)
