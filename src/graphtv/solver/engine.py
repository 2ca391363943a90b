"""What the solver's loop asks of a method."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.decomposition.preconditioner import Preconditioner

FLOWS_GAP = 5e-4
"""Relative gap from which on flows are cheap, as a rule; they do not mind a factor of four."""


class Engine(Protocol):
    """A method on its way. Points are the core's flat arrays, channel after channel."""

    @property
    def iterations(self) -> int:
        """Iterations done."""

    @property
    def sweeps(self) -> int:
        """Steps through a whole forest done."""

    @property
    def step_size(self) -> float:
        """What the log calls the step: 1/s of PDHG, the momentum of descent."""

    @property
    def restarts(self) -> int:
        """Restarts so far."""

    @property
    def is_final(self) -> bool:
        """Whether another iteration would change nothing."""

    @property
    def phase(self) -> str:
        """A word for the log when something other than an iteration was done, or nothing."""

    @property
    def preconditioner(self) -> Preconditioner | None:
        """What the method has found for itself on the way."""

    @property
    def target(self) -> float:
        """The relative gap at which the method changes its ways, or 0 if it never does."""

    @property
    def pattern_gap(self) -> float:
        """The relative gap from which on the pattern of p is as a rule worth a polish."""

    @property
    def polish_price(self) -> int:
        """Iterations that cost as much as a polish."""

    @property
    def is_cheap(self) -> bool:
        """Whether an iteration costs less than a look at the gap."""

    def observe(self, relative_gap: float) -> None:
        """Hear what gap has been proved after the last iteration."""

    def advance(self, at_most: int) -> None:
        """Do one or a few iterations; none, with a feasible point, when the watch expires."""

    def evaluate(self) -> tuple[float, float]:
        """Return primal and dual objective of the current point, to rounding."""

    def primal_point(self) -> Floats:
        """Return u."""

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""

    def rounded_dual_point(self) -> Rounded:
        """Return p in multiples of 1/32767, which takes less memory than to round it."""

    def conclude(self) -> None:
        """Give back what only further iterations need; these may come nevertheless."""


def rounded(p: Floats, n_threads: int) -> Rounded:
    """Return |p| ≤ 1 in multiples of 1/32767."""
    found = np.empty(p.shape, dtype=np.int16)
    _core.round_dual(p, found, n_threads)
    return found


class Start(Engine, Protocol):
    """A method that may be interrupted by another, and lend it its memory."""

    @property
    def flows_gap(self) -> float:
        """The relative gap from which on flows may be cheap."""

    @property
    def flows_price(self) -> int:
        """Iterations that cost as little as flows may, as a rule."""

    def rest(self) -> None:
        """Give back what memory can be filled again from p; only `resume` may follow."""

    def resume(self, p: Floats) -> None:
        """Go on from p; raise `_core.Expired` when the watch expires before."""
