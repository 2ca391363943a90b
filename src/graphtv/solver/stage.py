"""What the loop asks of a stage: advance, evaluate, hand over a primal and a dual point."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded


class Points(Protocol):
    """A primal and a dual point, as the core's flat arrays, channel after channel."""

    def primal_point(self) -> Floats:
        """Return u."""

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""

    def rounded_dual_point(self) -> Rounded:
        """Return p in multiples of 1/32767; this may take less memory than rounding p."""


class Stage(Points, Protocol):
    """A method at work. It knows nothing of other stages."""

    @property
    def method(self) -> str:
        """What users call it: descent, pdhg, flows, direct or none."""

    @property
    def kernel(self) -> str:
        """The code that does the iterations, a key of `Tuning.costs`."""

    @property
    def iterations(self) -> int:
        """Iterations done."""

    @property
    def sweeps(self) -> int:
        """Solves of a whole forest done."""

    @property
    def step_size(self) -> float:
        """The step in the log: 1/s of PDHG, the momentum of descent."""

    @property
    def restarts(self) -> int:
        """Restarts so far."""

    @property
    def is_final(self) -> bool:
        """Whether another iteration would change nothing."""

    @property
    def is_exhausted(self) -> bool:
        """Whether the stage has used up what it was allowed, and has to be left."""

    def advance(self, at_most: int) -> None:
        """Do one or a few iterations; none, with a feasible point, when the watch expires."""

    def evaluate(self) -> tuple[float, float]:
        """Return the primal and the dual objective of the current point, to rounding."""

    def conclude(self) -> None:
        """Free what only further iterations need; these may come nevertheless."""


class Pausable(Stage, Protocol):
    """A stage that lends its memory to another, and can go on afterwards."""

    def rest(self) -> None:
        """Free what can be restored from p; only `resume` may follow."""

    def resume(self, p: Floats) -> None:
        """Go on from p; raise `_core.Expired` when the watch expires before."""


def rounded(p: Floats, n_threads: int) -> Rounded:
    """Return |p| ≤ 1 in multiples of 1/32767."""
    found = np.empty(p.shape, dtype=np.int16)
    _core.round_dual(p, found, n_threads)
    return found
