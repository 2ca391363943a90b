"""What a pair of points proves: both objectives, their gap, and bounds on the rounding errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphtv._elementary import ROUNDOFF


class Proof(NamedTuple):
    """Both objectives at (u, p), their gap, and bounds on the rounding errors.

    The exact objectives differ from these by at most `rounding`. The exact gap is at most gap +
    gap_rounding. It is a sum of local terms and not the difference of the objectives.
    """

    primal: float
    dual: float
    gap: float
    rounding: float
    gap_rounding: float

    def plus(self, other: Proof) -> Proof:
        """Return the proof of the sum of two objectives."""
        found = Proof(*(x + y for x, y in zip(self, other, strict=True)))
        sizes = abs(found.primal) + abs(found.dual)
        return found._replace(
            rounding=found.rounding + 4.0 * ROUNDOFF * sizes,
            gap_rounding=found.gap_rounding + 4.0 * ROUNDOFF * found.gap,
        )

    @property
    def relative_gap(self) -> float:
        """The computed gap divided by max(|primal|, |dual|); 0 if the gap is 0."""
        return _quotient(self.gap, max(abs(self.primal), abs(self.dual)))

    @property
    def proved_gap(self) -> float:
        """An upper bound of the exact relative gap."""
        largest = max(abs(self.primal), abs(self.dual))
        if self.rounding == 0.0 or largest == 0.0:
            return _quotient(self.gap + self.gap_rounding, largest)
        return _quotient(self.gap + self.gap_rounding, max(largest - self.rounding, 0.0))


def relative_gap(primal: float, dual: float) -> float:
    """Return (primal - dual) / max(|primal|, |dual|), at least 0; 0 when both values are 0.

    It is infinite if one of the values is infinite.
    """
    if not np.isfinite(primal) or not np.isfinite(dual):
        return np.inf
    largest = max(abs(primal), abs(dual))
    return max(primal - dual, 0.0) / largest if largest > 0 else 0.0


def _quotient(gap: float, largest: float) -> float:
    """Return gap / largest; 0 if the gap is 0, infinite if the quotient is undefined."""
    if gap == 0.0:
        return 0.0
    return gap / largest if 0.0 < largest < np.inf and gap < np.inf else np.inf
