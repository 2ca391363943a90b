"""ADMM for ½‖Au - f‖² + R(u) + F(Ku): proximal steps of the misfit and of the rest in turn.

The alternating direction method of multipliers (Boyd et al., "Distributed optimization and
statistical learning via the alternating direction method of multipliers", 2011) with two copies of
u. The misfit belongs to w, and penalty and constraint to u. The multiplier λ is Kᵀp plus a slope of
R. The penalty ρ of their distance follows the ratio of the distances that λ and u move, as in PDLP
(Applegate et al., "Practical large-scale linear programming using primal-dual hybrid gradient",
2021). The steps of both sides are inexact (see data_step.py and tv_step.py).

Gradient steps need ρ ≥ ‖A‖², so that many small steps are necessary where Au is small. ADMM takes
far fewer. They cost little more, since the spectrum of AᵀA preconditions the equations for w.
"""

from __future__ import annotations

import math

from graphtv import _core
from graphtv._validate import Floats
from graphtv.operators.data_step import data_step
from graphtv.operators.inner import inner
from graphtv.problem import Problem
from graphtv.solver.certificate import Certificate
from graphtv.solver.composite import SmoothComposite
from graphtv.solver.tuning import Tuning
from graphtv.solver.tv_step import TvStep


class Splitting(SmoothComposite):
    """ADMM for a quadratic loss."""

    method = "admm"
    kernel = "splitting"

    def __init__(
        self,
        problem: Problem,
        kernel: str,
        watch: _core.Watch,
        n_threads: int,
        warm: Certificate | None,
        tuning: Tuning,
    ) -> None:
        super().__init__(problem, watch, n_threads, warm, tuning)
        self._step = TvStep(problem, kernel, watch, n_threads, tuning)
        self._data = data_step(self._misfit, self.u, self.x)
        self._multiplier: Floats = 0.0 * self.u if warm is None else -self._data.slope
        self._rho = tuning.first_penalty * self._first_curvature()
        self._anchor = self.u, self._multiplier
        self._next_balance = tuning.first_balance

    @property
    def step_size(self) -> float:
        """The step 1/ρ."""
        return 1.0 / self._rho

    def _first_curvature(self) -> float:
        """Return the curvature of h(Au) along its gradient."""
        move = self._data.slope
        size = inner(move, move)
        if size == 0.0:
            return 1.0
        return self._curvature_along(self._misfit.map.apply(move), size) or 1.0

    def _advance(self) -> None:
        t, rho, before = self._tuning, self._rho, self._data.w
        shift = self._multiplier / rho
        self._data(self.u - shift, rho, t.equation_accuracy, t.longest_equation)
        v = self._data.w + shift
        step = self._step(v, rho, self.p, self.u)
        u = self._problem.constraint.prox(step.v, 1.0 / rho)
        moves = (u - self.u, u - self._data.w, self._data.w - before)
        self.is_final = not any(move.any() for move in moves)
        self.u, self.p, self._multiplier = u, step.p, rho * (v - u)
        self._moved()
        if self.iterations >= self._next_balance:
            self._balance()

    def _balance(self) -> None:
        """Move ρ towards the ratio of the lengths that λ and u have moved since the last time."""
        u, multiplier = self._anchor
        move, turn = self.u - u, self._multiplier - multiplier
        lengths = inner(move, move), inner(turn, turn)
        if min(lengths) > 0.0 and max(lengths) < math.inf:
            self._rho *= (lengths[1] / lengths[0] / self._rho**2) ** (0.5 * self._tuning.balance)
        self._anchor = self.u, self._multiplier
        self._next_balance = math.ceil(self._tuning.balance_growth * self.iterations)

    def _settle(self) -> tuple[Floats, float, float]:
        if self._found is None:
            self.x = self._misfit.map.apply(self.u)
        return super()._settle()

    def _rows(self) -> tuple[Floats, Floats]:
        """Return the image of w, and q = h'(Aw)."""
        return self._data.x, self._misfit.gradient(self._data.x)
