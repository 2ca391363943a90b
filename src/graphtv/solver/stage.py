"""The interface of a stage: advance, evaluate, and return a primal and a dual point."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded


class Points(Protocol):
    """A primal and a dual point as the core's flat arrays, one channel after another."""

    def primal_point(self) -> Floats:
        """Return u."""

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""

    def rounded_dual_point(self) -> Floats | Rounded:
        """Return p in multiples of 1/32767, possibly with less memory than rounding p.

        The dual point of a problem with an operator cannot be rounded. It is returned as it is.
        """


class Stage(Points, Protocol):
    """A part of a run with one method. It does not know about other stages."""

    @property
    def method(self) -> str:
        """The name of the method for users: descent, pdhg, flows, direct or none."""

    @property
    def kernel(self) -> str:
        """The name of the code that iterates, a key of `Tuning.costs`."""

    @property
    def iterations(self) -> int:
        """Number of iterations so far."""

    @property
    def sweeps(self) -> int:
        """Number of solves of a whole forest so far."""

    @property
    def step_size(self) -> float:
        """The step that the log shows: 1/s of PDHG, or the momentum of descent."""

    @property
    def restarts(self) -> int:
        """Number of restarts so far."""

    @property
    def settled(self) -> float | None:
        """The share of the values that are final so far, for a stage of one long iteration."""

    @property
    def is_final(self) -> bool:
        """Whether another iteration would change nothing."""

    @property
    def is_exhausted(self) -> bool:
        """Whether the allowance of the stage is exhausted, so that another stage must continue."""

    def advance(self, at_most: int) -> None:
        """Do one or a few iterations. If the watch expires, stop with a feasible point."""

    def evaluate(self) -> tuple[float, float]:
        """Return the primal and the dual objective of the current point, up to rounding."""

    def conclude(self) -> None:
        """Free memory that only further iterations need. They remain possible."""


class Pausable(Stage, Protocol):
    """A stage that can free its memory for another stage and continue afterwards."""

    def rest(self) -> None:
        """Free everything that can be restored from p. Only `resume` may be called next."""

    def resume(self, p: Floats) -> None:
        """Continue from p; raise `_core.Expired` if the watch expires first."""


def rounded(p: Floats, n_threads: int) -> Rounded:
    """Return |p| ≤ 1 in multiples of 1/32767."""
    found = np.empty(p.shape, dtype=np.int16)
    _core.round_dual(p, found, n_threads)
    return found
