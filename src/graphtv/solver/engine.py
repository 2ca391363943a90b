"""What the solver's loop asks of a method."""

from __future__ import annotations

from typing import Protocol

from graphtv._validate import Floats


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

    def advance(self) -> None:
        """Do one iteration; return early, with a feasible point, when the watch expires."""

    def evaluate(self) -> tuple[float, float]:
        """Return primal and dual objective of the current point, to rounding."""

    def primal_point(self) -> Floats:
        """Return u."""

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""
