"""Dual points of problems with an operator: q and p with Aᵀq + Kᵀp + s = 0 and s a slope of R.

The iterates of a method fulfil this equation up to a residual. Three steps remove it:

1. On components of the graph where u is at no bound or kink of R, Zᵀq + Σ s = 0 is necessary.
   Constants are added to u, so that q = h'(Au) fulfils it and stays in the domain of h*.
2. s is chosen between the slopes of R at u, as near to -Aᵀq - Kᵀp as its sum on every component
   permits.
3. The rest sums to 0 on every component. A flow carries it away (see routing.py). If it exceeds
   |p| ≤ 1, all dual variables are divided by its size. 0 belongs to all domains, so they stay
   feasible. If u has narrow bounds, it costs less to divide by a smaller number, to clip p, and to
   let s take the rest. The best of a few such points is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from graphtv._validate import Floats
from graphtv.operators.constants import Map, balancing_shift
from graphtv.operators.misfit import Misfit
from graphtv.problem import Problem
from graphtv.solver.routing import Routing
from graphtv.solver.tuning import Tuning

SHARES = (0.0, 0.1, 0.3)
"""Parts of the excess of p by which points are divided before they are clipped."""

MARGIN = 1.0 + 4e-16
"""Factor by which a dual point is divided more than necessary, because of rounding."""


class DualPoint(NamedTuple):
    """A dual point: p by edge, q by row of A, the slope s, and their objective up to rounding."""

    p: Floats
    q: Floats
    s: Floats
    value: float


def _smooth_slopes(misfit: Misfit, x: Floats) -> tuple[Map, Map]:
    """Return h' and h'' as functions of the distance from x."""
    return lambda y: misfit.gradient(x + y), lambda y: misfit.curvatures(x + y)


def _clipped_slopes(q: Floats, least: Floats, most: Floats) -> tuple[Map, Map]:
    """Return q plus a multiple of y, clipped to the domain of h*, and its derivative."""
    width = most - least

    def slope(y: Floats) -> Floats:
        return np.clip(q + width * y, least, most)

    def curvature(y: Floats) -> Floats:
        moved = q + width * y
        return np.where((moved > least) & (moved < most), width, 0.0)

    return slope, curvature


class FeasibleDual:
    """Turns the iterates of a method into feasible dual points."""

    def __init__(self, problem: Problem, n_threads: int, tuning: Tuning) -> None:
        misfit = problem.misfit
        assert misfit is not None
        self._problem, self._misfit, self._n_threads = problem, misfit, n_threads
        self._routing = Routing(
            problem.graph, misfit.components, problem.core_penalty, misfit.n_channels, tuning
        )

    def __call__(self, u: Floats, x: Floats, q: Floats, p: Floats) -> DualPoint:
        """Return a feasible dual point near (p, q), given u and x = Au."""
        low, high = self._problem.constraint.subgradients(u)
        q = self._balanced(x, q, low, high)
        slope = self._misfit.map.adjoint(q)
        rest = slope + self._routing.along(p)
        s = self._with_sums(np.clip(-rest, low, high), low, high, rest)
        p = self._routing(p, slope + s)
        return max(self._candidates(p, q, s, slope), key=lambda point: point.value)

    def _candidates(self, p: Floats, q: Floats, s: Floats, slope: Floats) -> Iterator[DualPoint]:
        """Yield feasible points: p, q and s divided by the size of p, or by less and clipped."""
        size = self._routing.size(p)
        factor = size * MARGIN if size > 1.0 else 1.0
        yield self._point(p / factor, q / factor, s / factor)
        if size > 1.0 and self._problem.constraint.is_bounded:
            for share in SHARES:
                factor = 1.0 + share * (size - 1.0)
                clipped = p / factor
                self._problem.core_penalty.project(clipped)
                rest = -slope / factor - self._routing.along(clipped)
                yield self._point(clipped, q / factor, rest)

    def _point(self, p: Floats, q: Floats, s: Floats) -> DualPoint:
        """Return a point with its objective, without a product with Aᵀ."""
        problem, threads = self._problem, self._n_threads
        conjugates = (
            problem.composite.row_term.conjugate(q, threads),
            problem.term.conjugate(s, threads),
            problem.core_penalty.conjugate(p, threads),
        )
        is_finite = max(conjugates) < math.inf
        return DualPoint(p, q, s, 0.0 - math.fsum(conjugates) if is_finite else -math.inf)

    def _balanced(self, x: Floats, q: Floats, low: Floats, high: Floats) -> Floats:
        """Return q with Zᵀq = 0 on the components where R has no range of slopes."""
        misfit = self._misfit
        count, component = misfit.components
        if misfit.columns is None:
            return q
        rows = (high > low).reshape(misfit.n_channels, -1)
        absorbs = np.zeros(count, dtype=bool)
        absorbs[component[rows.any(axis=0)]] = True
        columns = misfit.columns[:, ~absorbs]
        if columns.shape[1] == 0:
            return q
        slopes = np.where(high > low, 0.0, low).reshape(rows.shape)
        sums = np.array([np.bincount(component, row, count) for row in slopes], dtype=np.float64)
        if misfit.loss.traits.is_smooth:
            slope, curvature = _smooth_slopes(misfit, x)
        else:
            slope, curvature = _clipped_slopes(q, *self._ends)
        m = balancing_shift(columns, slope, curvature, misfit.n_channels, -sums[:, ~absorbs])
        return slope((m @ columns.T).reshape(-1))

    @property
    def _ends(self) -> tuple[Floats, Floats]:
        """The domain of h*, for losses with kinks."""
        far = np.full(self._misfit.size, 1e300)
        return self._misfit.gradient(-far), self._misfit.gradient(far)

    def _with_sums(self, s: Floats, low: Floats, high: Floats, slope: Floats) -> Floats:
        """Return slopes between `low` and `high` near s whose sum with `slope` is 0 if possible."""
        count, component = self._misfit.components
        out = s.reshape(self._misfit.n_channels, -1).copy()
        rows = (values.reshape(out.shape) for values in (low, high, slope))
        for row, lo, hi, given in zip(out, *rows, strict=True):
            target = -np.bincount(component, given, count)
            for _ in range(60):
                rest = target - np.bincount(component, row, count)
                room = np.where(rest[component] > 0.0, hi - row, row - lo) > 0.0
                free = np.bincount(component, room, count)
                step = np.divide(rest, free, out=np.zeros(count), where=free > 0)
                if not np.abs(rest)[free > 0].any():
                    break
                row[room] = np.clip(row + step[component], lo, hi)[room]
            rest = target - np.bincount(component, row, count)
            row += (rest / np.bincount(component, minlength=count))[component]
        return out.reshape(-1)
