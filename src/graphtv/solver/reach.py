"""How far a run is on its way to its tolerance."""

from __future__ import annotations

import math

from graphtv.solver.termination import EXACT_GAP


class Reach:
    """Progress towards a tolerance on a logarithmic scale; it never decreases.

    Max-flow goes the rest of the way.
    """

    def __init__(self, tol: float) -> None:
        self._end = math.log10(tol or EXACT_GAP)
        self._start: float | None = None
        self._share = 0.0

    def __call__(self, relative_gap: float, settled: float = 0.0) -> float:
        """Return the progress from 0 to 1 for this gap, and this share of max-flow."""
        if relative_gap == math.inf:
            return self._share
        now = max(math.log10(relative_gap), self._end) if relative_gap > 0.0 else self._end
        if self._start is None:
            self._start = now
        whole = self._start - self._end
        share = (self._start - now) / whole if whole > 0.0 else 1.0
        self._share = max(self._share, share + (1.0 - share) * settled)
        return self._share
