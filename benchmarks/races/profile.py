"""Performance profiles (Dolan and Moré, Mathematical Programming 91, 2002).

Over all instances, ρ(τ) is the fraction on which a solver took at most τ times as long as the
fastest. ρ(1) is how often it is the fastest, and ρ(∞) how often it succeeds at all. An instance
that a solver does not support or does not finish counts as a failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from graphtv._validate import Floats

Times = Mapping[str, float]
"""The seconds of the solvers that succeeded, by solver."""


def performance_profile(instances: Sequence[Times]) -> dict[str, Floats]:
    """Return the ratios of each solver to the fastest, in ascending order.

    With n instances, ρ(τ) is the number of ratios up to τ over n.
    """
    ratios: dict[str, list[float]] = {}
    for times in instances:
        for solver, seconds in times.items():
            ratios.setdefault(solver, []).append(seconds / min(times.values()))
    return {solver: np.sort(np.array(found)) for solver, found in ratios.items()}


def share(ratios: Floats, tau: float, n_instances: int) -> float:
    """Return ρ(τ)."""
    return float(np.searchsorted(ratios, tau, side="right")) / n_instances
