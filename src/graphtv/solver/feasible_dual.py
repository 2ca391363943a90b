"""Dual points of problems with an operator: q and p with Aᵀq + Kᵀp + s = 0 and s a slope of R.

The iterates of a method fulfil this equation up to a residual. Three steps remove it:

1. On components of the graph where u is at no bound or kink of R, Zᵀq + Σ s = 0 is necessary.
   Constants are added to u, so that q = h'(Au) fulfils it and stays in the domain of h*.
2. s is chosen between the slopes of R at u, as near to -Aᵀq - Kᵀp as its sum on every component
   permits.
3. The rest r sums to 0 on every component. A flow carries it away: Kᵀδ = -r for δ = Kφ, where φ
   solves the equation of the Laplacian KᵀK. If |p + δ| exceeds 1, all dual variables are divided by
   its largest entry. 0 belongs to all domains, so they stay feasible.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphtv._validate import Floats
from graphtv.decomposition.laplacian import laplacian_solver
from graphtv.operators.constants import Map, balancing_shift
from graphtv.operators.misfit import Misfit
from graphtv.problem import Problem

MARGIN = 1.0 + 4e-16
"""Factor by which a dual point is divided more than necessary, because of rounding."""


class DualPoint(NamedTuple):
    """A dual point: p by edge, q by row of A, the slope s, and the divisor of all of them."""

    p: Floats
    q: Floats
    s: Floats
    factor: float


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

    def __init__(self, problem: Problem) -> None:
        misfit = problem.misfit
        assert misfit is not None
        self._problem, self._misfit = problem, misfit
        self._gradient = problem.graph.gradient()
        self._solve: Callable[[Floats], Floats] | None = None

    def __call__(self, u: Floats, x: Floats, q: Floats, p: Floats) -> DualPoint:
        """Return a feasible dual point near (p, q), given u and x = Au."""
        problem, misfit = self._problem, self._misfit
        low, high = problem.constraint.subgradients(u)
        q = self._balanced(x, q, low, high)
        slope = misfit.map.adjoint(q) + self._along(p)  # Aᵀq + Kᵀp
        s = self._with_sums(np.clip(-slope, low, high), low, high, slope)
        p = p + self._routed(slope + s)
        factor = self._factor(p)
        if factor > 1.0:
            p, q, s = (values / (factor * MARGIN) for values in (p, q, s))
        return DualPoint(p, q, s, factor)

    def _along(self, p: Floats) -> Floats:
        """Return Kᵀp."""
        rows = p.reshape(self._misfit.n_channels, -1)
        return np.asarray((self._gradient.T @ rows.T).T).reshape(-1)

    def _factor(self, p: Floats) -> float:
        """Return by how much p exceeds the dual ball."""
        nearest = p.copy()
        self._problem.core_penalty.project(nearest)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(nearest != 0.0, p / nearest, 1.0)
        return float(max(1.0, ratio.max(initial=1.0)))

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

    def _routed(self, r: Floats) -> Floats:
        """Return δ with Kᵀδ = -r, of the smallest norm."""
        count, component = self._misfit.components
        if self._problem.graph.n_edges == 0:
            return np.zeros(0)
        if self._solve is None:
            self._solve = laplacian_solver(self._gradient, count, component)
        rows = r.reshape(self._misfit.n_channels, -1)
        found = [self._gradient @ -self._refined(row) for row in rows]
        return np.concatenate(found)

    def _refined(self, r: Floats) -> Floats:
        """Return φ with KᵀKφ = r, with one step of refinement."""
        assert self._solve is not None
        phi = self._solve(r)
        left = r - self._gradient.T @ (self._gradient @ phi)
        count, component = self._misfit.components
        left -= (np.bincount(component, left, count) / np.bincount(component))[component]
        return np.asarray(phi + self._solve(left))
