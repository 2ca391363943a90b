"""The rule that ends a run, for runs in memory and over tiles."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from graphtv._validate import Floats
from graphtv.problem import Problem
from graphtv.result import Status
from graphtv.terms.traits import as_box

EXACT_GAP = 1e-12
"""The relative gap that counts as exact, requested by tol=0."""

CLOSER = 1e-3
"""Factor of the tolerance for a second run, if the rounded point misses the tolerance."""


def exact_gap(problem: Problem) -> float:
    """Return the relative gap that tol=0 asks for: EXACT_GAP, or less for a cut in integers.

    A linear cost on a box plus total variation has integer minimisers and an integer minimum if all
    its data are integers. Then a gap below 1 proves a level set of u to be a minimum cut, while
    1e-12 of large capacities may be more than 1.
    """
    box = as_box(problem.data)
    if box is None or problem.delta != 0.0:
        return EXACT_GAP
    with np.errstate(over="ignore"):
        size = float(np.sum(np.abs(box.cost) * np.maximum(np.abs(box.lower), np.abs(box.upper))))
    if not 0.5 / EXACT_GAP < size < math.inf:
        return EXACT_GAP
    quantum = _quantum([box.cost, box.lower, box.upper, problem.graph.weights])
    return EXACT_GAP if quantum is None else min(EXACT_GAP, 0.5 * quantum / size)


def _quantum(arrays: list[Floats]) -> float | None:
    """Return the largest power of two that divides costs and weights, if all data are integers."""
    if any((array != np.rint(array)).any() for array in arrays):
        return None
    values = np.concatenate([np.abs(arrays[0]).ravel(), arrays[-1]])
    shift = max(0, int(np.frexp(values.max(initial=1.0))[1]) - 62)
    reduced = np.ldexp(values, -shift)
    if (reduced != np.rint(reduced)).any():
        return 1.0
    bits = int(np.bitwise_or.reduce(reduced.astype(np.int64)))
    return math.ldexp(float(bits & -bits or 1), shift)


class LastProgress(NamedTuple):
    """The best gap so far and when it was reached. Small decreases do not count."""

    gap: float = math.inf
    iteration: int = 0

    def after(self, iteration: int, gap: float, factor: float) -> LastProgress:
        """Return the state after another gap: progress if it is below `factor` times the best."""
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
    """Return the status with which a run ends now, or None if it continues.

    Parameters
    ----------
    relative_gap, tolerance : float
        The certified gap, infinite if there is none, and the gap to prove.
    iteration, max_iterations : int
        Iterations done and allowed.
    last_progress, patience : int
        The last iteration that made progress, and how many iterations may pass without progress.
    is_final : bool
        Whether the method has nothing left to do.
    is_interrupted, is_late : bool
        Whether the run was interrupted, and whether the time limit is reached.
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
