"""Minimum cuts through total variation: a linear cost on a box, solved by the squared loss.

The level sets of w = argmin ½‖w + cost‖² + TV(w) solve min ⟨cost, u⟩ + TV(u) over u in {0, 1} for
all shifts of the cost at once (Hochbaum 2001; Chambolle & Darbon 2009): u = 1 where w > 0. The dual
point is the same, since cost + Kᵀp = -w has the sign that makes u = upper where w > 0, and lower
elsewhere, the minimiser of ⟨cost + Kᵀp, u⟩ over the box.
"""

from __future__ import annotations

import numpy as np

from graphtv._validate import Floats, Rounded
from graphtv.decomposition.preconditioner import Preconditioner
from graphtv.problem import Problem
from graphtv.solver.engine import Engine
from graphtv.terms import LinearBox, SquaredLoss
from graphtv.terms._arrays import to_core


def squared_problem(problem: Problem) -> Problem:
    """Return the problem whose level sets solve `problem`, a linear cost on a box."""
    assert isinstance(problem.data, LinearBox)
    return Problem(problem.graph, SquaredLoss(-problem.data.cost))


class Threshold:
    """Drives a method for the squared loss, and takes the level set."""

    def __init__(self, problem: Problem, inner: Engine) -> None:
        assert isinstance(problem.data, LinearBox)
        self._problem, self._inner = problem, inner
        self._lower, self._upper = to_core(problem.data.lower), to_core(problem.data.upper)

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return self._inner.iterations

    @property
    def sweeps(self) -> int:
        """Steps through a whole forest done."""
        return self._inner.sweeps

    @property
    def step_size(self) -> float:
        """The step of the inner method."""
        return self._inner.step_size

    @property
    def restarts(self) -> int:
        """Restarts so far."""
        return self._inner.restarts

    @property
    def is_final(self) -> bool:
        """Whether another iteration would change nothing."""
        return self._inner.is_final

    @property
    def phase(self) -> str:
        """What the inner method did last."""
        return self._inner.phase

    @property
    def preconditioner(self) -> Preconditioner | None:
        """What the inner method has found for itself."""
        return self._inner.preconditioner

    @property
    def target(self) -> float:
        """The gap at which the inner method changes its ways."""
        return self._inner.target

    @property
    def pattern_gap(self) -> float:
        """The gap from which on a polish may pay, of the inner method."""
        return self._inner.pattern_gap

    @property
    def polish_price(self) -> int:
        """Iterations that cost as much as a polish."""
        return self._inner.polish_price

    @property
    def is_cheap(self) -> bool:
        """Whether an iteration costs less than a look at the gap."""
        return self._inner.is_cheap

    def observe(self, relative_gap: float) -> None:
        """Tell the inner method."""
        self._inner.observe(relative_gap)

    def advance(self, at_most: int) -> None:
        """Do one iteration of the inner method."""
        self._inner.advance(at_most)

    def evaluate(self) -> tuple[float, float]:
        """Return primal and dual objective of the level set."""
        return self._problem._primal(self.primal_point()), self._problem._dual(self.dual_point())

    def primal_point(self) -> Floats:
        """Return u."""
        return np.where(self._inner.primal_point() > 0.0, self._upper, self._lower)

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""
        return self._inner.dual_point()

    def rounded_dual_point(self) -> Rounded:
        """Return p in multiples of 1/32767."""
        return self._inner.rounded_dual_point()

    def conclude(self) -> None:
        """Give back what only further iterations need."""
        self._inner.conclude()
