"""Minimum cuts through total variation: a linear cost on a box, solved by the squared loss.

The level sets of w = argmin ½‖w + cost‖² + TV(w) solve min ⟨cost, u⟩ + TV(u) over u in {0, 1} for
all shifts of the cost at once (Hochbaum 2001; Chambolle & Darbon 2009): u = 1 where w > 0. The dual
point is the same. Since cost + Kᵀp = -w, the minimiser of ⟨cost + Kᵀp, u⟩ over the box is the upper
bound where w > 0 and the lower bound elsewhere, which is u.
"""

from __future__ import annotations

import numpy as np

from graphtv._validate import Floats
from graphtv.problem import Problem
from graphtv.terms import SquaredLoss
from graphtv.terms._arrays import to_core
from graphtv.terms.traits import as_box


class LevelSet:
    """Computes the solution of a problem with a box from that of a problem with the squared loss.

    Attributes
    ----------
    inner : Problem
        The problem with the squared loss, which the stages solve.
    """

    def __init__(self, problem: Problem) -> None:
        data = as_box(problem.data)
        assert data is not None
        self.inner = Problem(problem.graph, SquaredLoss(-data.cost))
        self._lower, self._upper = to_core(data.lower), to_core(data.upper)

    def of(self, w: Floats) -> Floats:
        """Return u, which is the upper bound where w > 0 and the lower bound elsewhere."""
        return np.where(w > 0.0, self._upper, self._lower)
