"""What is known without any work: the answer of a run that ended before it had begun."""

from __future__ import annotations

import numpy as np

from graphtv._validate import Floats
from graphtv.problem import Problem
from graphtv.terms import AbsoluteLoss, HuberLoss, SquaredLoss
from graphtv.terms._arrays import to_core

LONG_STEP = 1e300
"""A proximal step of next to infinite length ends in the minimiser."""


class Idle:
    """A point near the minimiser of G, and p = 0."""

    iterations = 0
    sweeps = 0
    step_size = 0.0
    restarts = 0
    is_final = False
    phase = ""
    preconditioner = None
    target = 0.0
    is_cheap = True
    pattern_gap = 0.0
    polish_price = 0

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def observe(self, relative_gap: float) -> None:
        """Hear it, and do nothing."""

    def advance(self, at_most: int) -> None:
        """Do nothing."""

    def evaluate(self) -> tuple[float, float]:
        """Return primal and dual objective."""
        return self._problem._primal(self.primal_point()), self._problem._dual(self.dual_point())

    def primal_point(self) -> Floats:
        """Return the minimiser of G where that is simple, else a step from 0 towards it."""
        data = self._problem.data
        is_simple = isinstance(data, SquaredLoss | AbsoluteLoss | HuberLoss)
        step = LONG_STEP if is_simple else 1.0
        return to_core(data.prox(np.zeros(self._problem.shape), step))

    def dual_point(self) -> Floats:
        """Return p = 0."""
        return np.zeros(int(np.prod(self._problem.dual_shape)))
