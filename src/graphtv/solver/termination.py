"""Why a run ends: the one rule, for runs in memory and over tiles."""

from __future__ import annotations

import math
from typing import NamedTuple

from graphtv.result import Status

EXACT_GAP = 1e-12
"""The relative gap that counts as exact: what tol=0 asks for."""

CLOSER = 1e-3
"""How much smaller a gap is asked for, if a point is not good enough after it was rounded."""


class LastProgress(NamedTuple):
    """The best gap so far, and when it was reached; falls too small to count are left out."""

    gap: float = math.inf
    iteration: int = 0

    def after(self, iteration: int, gap: float, factor: float) -> LastProgress:
        """Return what is known after another gap: progress if it is below `factor` times ours."""
        return LastProgress(gap, iteration) if gap < factor * self.gap else self


def ending(
    *,
    relative_gap: float,
    tolerance: float,
    iteration: int,
    max_iterations: int,
    last_progress: int,
    patience: float,
    is_final: bool = False,
    is_interrupted: bool = False,
    is_late: bool = False,
) -> Status | None:
    """Return the status with which a run ends now, or None if it goes on.

    Parameters
    ----------
    relative_gap, tolerance : float
        The certified gap, infinite if there is none, and the gap to prove.
    iteration, max_iterations : int
        Iterations done and allowed.
    last_progress, patience : int
        The last iteration that made progress, and how many may pass without.
    is_final : bool
        Whether the method has nothing left to do.
    is_interrupted, is_late : bool
        Whether somebody wants an answer now, and whether the time limit is reached.
    """
    if relative_gap <= tolerance:
        return "optimal"
    if is_final:
        return "stalled"
    if is_interrupted:
        return "interrupted"
    if is_late:
        return "time_limit"
    if iteration >= max_iterations:
        return "iteration_limit"
    return "stalled" if iteration - last_progress > patience else None
