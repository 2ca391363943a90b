"""Accelerated proximal gradient steps for h(Au) + R(u) + F(Ku) with a smooth h.

FISTA (Beck and Teboulle, "A fast iterative shrinkage-thresholding algorithm", 2009) with restarts
(O'Donoghue and Candès, "Adaptive restart for accelerated gradient schemes", 2015). It departs from
the papers in three ways. The proximal steps are inexact (see tv_step.py). The step size 1/L is
found by backtracking from the curvature along the first gradient, so that ‖A‖ need not be known. If
the columns of A differ much in size, lengths are those of a metric D (see column_metric.py). One
iteration takes one product with A and one with Aᵀ. Momentum moves the point of the gradient away
from u, so a certificate needs one step without it.
"""

from __future__ import annotations

import math
from contextlib import suppress

from graphtv import _core
from graphtv._validate import Floats
from graphtv.operators.inner import inner
from graphtv.problem import Problem
from graphtv.solver.certificate import Certificate
from graphtv.solver.column_metric import column_metric
from graphtv.solver.composite import SmoothComposite
from graphtv.solver.tuning import Tuning
from graphtv.solver.tv_step import TvStep, can_scale


class ProximalGradient(SmoothComposite):
    """Accelerated proximal gradient steps."""

    method = "proximal_gradient"
    kernel = "proximal"

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
        metric = None
        if can_scale(problem):
            metric = column_metric(self._misfit, problem.graph.n_edges, tuning)
        self._metric: float | Floats = 1.0 if metric is None else metric
        kernel = kernel if metric is None else "forests"
        self._step = TvStep(problem, kernel, watch, n_threads, tuning)
        self._before = self.u, self.x
        self._t, self._is_plain = 1.0, False
        self._L = self._first_curvature()

    @property
    def step_size(self) -> float:
        """The step 1/L."""
        return 1.0 / self._L

    def _first_curvature(self) -> float:
        """Return the curvature of h(Au) along its gradient in the metric."""
        gradient = self._misfit.map.adjoint(self._misfit.gradient(self.x))
        move = gradient / self._metric
        length = inner(gradient, move)
        if length == 0.0:
            return 1.0
        return self._curvature_along(self._misfit.map.apply(move), length) or 1.0

    def _advance(self) -> None:
        t = 0.5 + math.sqrt(0.25 + self._t**2)
        beta = (self._t - 1.0) / t
        y = self.u + beta * (self.u - self._before[0])
        u, x, p = self._step_from(y, self.x + beta * (self.x - self._before[1]))
        uphill = inner(self._metric * (y - u), u - self.u) > 0.0
        self.is_final = beta == 0.0 and not (u - y).any()
        self._before = self.u, self.x
        self.u, self.x, self.p, self._t = u, x, p, t
        self._is_plain = beta == 0.0
        if uphill:
            self._t, self._before = 1.0, (u, x)
            self.restarts += 1
        self._moved()

    def _step_from(self, y: Floats, y_image: Floats) -> tuple[Floats, Floats, Floats]:
        """Return u, Au and p of a proximal gradient step from y. L grows if it is too small."""
        misfit, constraint, p = self._misfit, self._problem.constraint, self.p
        gradient = misfit.map.adjoint(misfit.gradient(y_image))
        while True:
            curvature = self._L * self._metric
            step = self._step(y - gradient / curvature, curvature, p, y)
            u = constraint.prox(step.v, 1.0 / curvature)
            x, p = misfit.map.apply(u), step.p
            move = u - y
            length = inner(self._metric * move, move)
            needed = self._curvature_along(x - y_image, length) if length > 0.0 else 0.0
            if needed <= self._L * (1.0 + 1e-12):
                return u, x, p
            self._L = self._tuning.backtracking * needed

    def _settle(self) -> tuple[Floats, float, float]:
        """Certify after a step without momentum, whose residual is far smaller."""
        if self._found is None and not self._is_plain:
            with suppress(_core.Expired), self._watch:
                self.u, self.x, self.p = self._step_from(self.u, self.x)
                self._is_plain = True
        return super()._settle()

    def _rows(self) -> tuple[Floats, Floats]:
        """Return Au and q = h'(Au)."""
        return self.x, self._misfit.gradient(self.x)
