"""What the stages for problems with an operator share: their points and the certificate."""

from __future__ import annotations

import numpy as np

from graphtv import _core
from graphtv._validate import Floats
from graphtv.operators.inner import inner
from graphtv.problem import Problem
from graphtv.solver.certificate import Certificate
from graphtv.solver.feasible_dual import FeasibleDual
from graphtv.solver.tuning import Tuning


class Composite:
    """Base class of stages for h(Au) + R(u) + F(Ku).

    The state is u with its image x = Au, and an almost feasible dual point (p, q). The points of
    the stage are u and the feasible dual point made from it.
    """

    is_exhausted = False
    settled = None
    sweeps = 0

    def __init__(
        self,
        problem: Problem,
        watch: _core.Watch,
        n_threads: int,
        warm: Certificate | None,
        tuning: Tuning,
    ) -> None:
        misfit = problem.misfit
        assert misfit is not None
        self._problem, self._misfit = problem, misfit
        self._watch, self._n_threads, self._tuning = watch, n_threads, tuning
        self._feasible = FeasibleDual(problem, n_threads, tuning)
        self._found: tuple[Floats, float, float] | None = None  # the dual point and both values
        self.iterations = self.restarts = 0
        self.is_final = False
        if warm is None:
            self.u = problem.composite.start
            self.p = np.zeros(problem.dual_size - misfit.size)
            self.q = np.zeros(misfit.size)
        else:
            self.u = problem.constraint.project(warm.u)
            p, q = problem.composite.split(warm.p)
            self.p, self.q = p.copy(), q.copy()
        self.x = misfit.map.apply(self.u)

    def _moved(self) -> None:
        """Forget the dual point of the last iterate."""
        self.iterations += 1
        self._found = None

    def _rows(self) -> tuple[Floats, Floats]:
        """Return an image x near Au, and q of the current point, h'(x) for a smooth loss."""
        return self.x, self.q

    def _settle(self) -> tuple[Floats, float, float]:
        if self._found is None:
            found = self._feasible(self.u, *self._rows(), self.p)
            dual = np.concatenate([found.p, found.q])
            primal = self._problem.composite.primal_of(self.u, self.x, self._n_threads)
            self._found = dual, primal, found.value
        return self._found

    def evaluate(self) -> tuple[float, float]:
        """Return the primal and the dual objective of the current point, up to rounding."""
        _, primal, dual = self._settle()
        return primal, dual

    def primal_point(self) -> Floats:
        """Return u."""
        return self.u

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1, followed by q."""
        return self._settle()[0]

    def rounded_dual_point(self) -> Floats:
        """Return the dual point; q cannot be rounded."""
        return self.dual_point()

    def conclude(self) -> None:
        """No-op: there is nothing to free."""


class SmoothComposite(Composite):
    """Base class of stages for a smooth h, whose iterations end as a whole or not at all."""

    def advance(self, at_most: int) -> None:
        """Do one iteration; if the watch expires, u does not change."""
        try:
            with self._watch:
                self._advance()
        except _core.Expired:
            return

    def _advance(self) -> None:
        raise NotImplementedError

    def _curvature_along(self, image: Floats, length: float) -> float:
        """Return the curvature of h(Au) along a move, given its image and its squared length."""
        return inner(self._misfit.row_curvatures * image, image) / length
