"""Intervals that contain a solution u and its image Au, from the objective of one point.

Rounding leaves Aᵀq + Kᵀp = r ≠ 0. Then the dual value holds up to ⟨r, u⟩ for a solution u, so a
bound of |u| turns r into a part of the gap. Let P₀ be the objective of some point. A solution has

    h(Au) ≤ P₀,    F(Ku) + R(u) ≤ P₀ - min h.

The first bounds every row of Au. The second bounds |u| if μ > 0, and otherwise the range D of u on
each component of the graph: ω D ≤ TV(u) for the smallest edge weight ω. So u = m + v with |v| ≤ D,
and m Z + Av has bounded rows, which bounds m. If Z = A(1_C) is zero, m = 0 is a solution as well.
Where rows are bounded on one side only, linear programs over these inequalities bound m.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import numpy as np

from graphtv import _core
from graphtv._validate import Floats
from graphtv.graph.graph import Graph
from graphtv.operators.constraint import Constraint
from graphtv.operators.misfit import Misfit
from graphtv.terms._arrays import to_core
from graphtv.terms._logistic_domain import growth_of

MARGIN = 1.0 + 1e-9
"""Relative margin of all bounds."""

ZERO = 1e-10
"""Columns of Z smaller than this, relative to what their entries could be, count as zero."""

FLAT = 800.0
"""Beyond this the logistic loss is linear or constant to the last bit."""

MOST_PROGRAMS = 16
"""Up to this number of components, linear programs bound the constants."""

ROUNDING_SUM = 1e-9
"""Relative error of sums, far above what rounding causes."""

UNKNOWN = 1e8
"""The range of u, in units of its range on a component, where no bound is known."""


class SolutionRange(NamedTuple):
    """Where a solution is.

    Attributes
    ----------
    lower, upper : float
        The bounds of its entries.
    row_lower, row_upper : float
        The bounds of the entries of its image Au.
    is_proved : bool
        Whether there is a solution within these bounds, or whether that is an assumption.
    """

    lower: float
    upper: float
    row_lower: float
    row_upper: float
    is_proved: bool


def solution_range(
    graph: Graph, penalty: _core.Penalty, misfit: Misfit, constraint: Constraint, primal: float
) -> SolutionRange:
    """Return the range of a solution, given the objective of some point."""
    loss = misfit.loss
    least = loss.least_values()
    budget = max(primal - float(least.sum()), 0.0) * MARGIN + sys.float_info.min
    low, high = loss.sublevel(budget + least)
    rows = to_core(low), to_core(high)
    ends = _row_ends(*rows)
    if np.isfinite(constraint.lower).all() and np.isfinite(constraint.upper).all():
        return SolutionRange(
            float(constraint.lower.min()), float(constraint.upper.max()), *ends, True
        )
    if (constraint.sparsity > 0.0).all():
        size = float(budget) / float(constraint.sparsity.min())
        return SolutionRange(-size, size, *ends, True)
    spread = _largest_spread(graph, penalty, budget)
    limits = _limits(misfit, constraint, budget)
    size, is_proved = _largest_constant(misfit, rows, spread, limits)
    return SolutionRange(-(size + spread), size + spread, *ends, is_proved)


def _row_ends(low: Floats, high: Floats) -> tuple[float, float]:
    """Return finite numbers between which all rows of Au lie, up to the last bit of the loss."""
    lowest = low[np.isfinite(low)].min(initial=0.0)
    highest = high[np.isfinite(high)].max(initial=0.0)
    is_one_sided = np.isfinite(low) != np.isfinite(high)
    if is_one_sided.any():
        lowest, highest = min(lowest, -FLAT), max(highest, FLAT)
    margin = 1e-9 * (abs(lowest) + abs(highest)) + 1.0
    return float(lowest - margin), float(highest + margin)


def _largest_spread(graph: Graph, penalty: _core.Penalty, budget: float) -> float:
    """Return a bound of max u - min u on every component."""
    if graph.n_edges == 0:
        return 0.0
    growth = growth_of(penalty)
    if growth is None:
        return UNKNOWN * budget
    total = growth.factor * (budget + 0.5 * growth.delta * graph.n_edges)
    return MARGIN * total / float(graph.weights.min())


def _largest_constant(
    misfit: Misfit, rows: tuple[Floats, Floats], spread: float, limits: Floats
) -> tuple[float, bool]:
    """Return a bound of the constants m, and whether it is proved.

    `limits` are bounds of |u| on each component; infinite where there are none.
    """
    columns = misfit.columns
    if columns is None:
        return UNKNOWN * (1.0 + spread), False
    reach = np.tile(misfit.map.row_sums(), misfit.n_channels) * spread
    low, high = rows[0] - reach, rows[1] + reach
    largest = np.abs(columns).max(initial=0.0)
    capacity = max(float(misfit.map.row_sums().max(initial=0.0)), np.finfo(float).tiny)
    if largest <= ZERO * capacity:
        return 0.0, True
    finite = np.isfinite(low) & np.isfinite(high)
    if columns.shape[1] == 1:
        return _single_constant(np.tile(columns[:, 0], misfit.n_channels), low, high, misfit)
    if not finite.all() and columns.shape[1] <= MOST_PROGRAMS:
        size = max(
            _polyhedral_bound(columns, lo, hi, limits + spread)
            for lo, hi in zip(*(x.reshape(misfit.n_channels, -1) for x in (low, high)), strict=True)
        )
        return (size, True) if math.isfinite(size) else (UNKNOWN * (1.0 + spread), False)
    if not finite.any():
        return UNKNOWN * (1.0 + spread), False
    values = np.linalg.svd(columns[finite.reshape(misfit.n_channels, -1).all(axis=0)])[1]
    smallest = values[values > ZERO * max(float(values.max(initial=0.0)), capacity)]
    if not smallest.size:
        return 0.0, True
    size = float(np.linalg.norm(np.maximum(np.abs(low[finite]), np.abs(high[finite]))))
    rank_is_full = len(smallest) == columns.shape[1]
    return MARGIN * size / float(smallest.min()), rank_is_full or bool(finite.all())


def _limits(misfit: Misfit, constraint: Constraint, budget: float) -> Floats:
    """Return bounds of |u| that follow from sparsity, one per component."""
    count, component = misfit.components
    factors = np.broadcast_to(constraint.sparsity, constraint.size)[: len(component)]
    limits = np.full(count, np.inf)
    there = factors > 0.0
    limits[component[there]] = budget / factors[there]
    return limits


def _polyhedral_bound(columns: Floats, low: Floats, high: Floats, limits: Floats) -> float:
    """Return a bound of max |m| over low ≤ Z m ≤ high and |m| ≤ limits, infinite if there is none.

    A dual solution y ≥ 0 of the linear program max ±m_k proves it: with d = ±e_k - Bᵀy for the
    inequalities B m ≤ b, ±m_k ≤ yᵀb + ‖d‖₁ max |m|.
    """
    from scipy.optimize import linprog  # slow to import

    count = columns.shape[1]
    identity = np.eye(count)
    matrix = np.concatenate([columns, -columns, identity, -identity])
    right = np.concatenate([high, -low, limits, limits])
    known = np.isfinite(right)
    matrix, right = matrix[known], right[known]
    if not len(right):
        return math.inf
    scale = np.maximum(np.abs(matrix).max(axis=1), sys.float_info.min)
    matrix, right = matrix / scale[:, None], right / scale
    largest, error = 0.0, 0.0
    for goal in (*identity, *-identity):
        found = linprog(-goal, A_ub=matrix, b_ub=right, bounds=(None, None), method="highs")
        if found.status != 0:
            return math.inf
        y = np.maximum(-found.ineqlin.marginals, 0.0)
        largest = max(largest, float(y @ np.abs(right)) * ROUNDING_SUM + float(y @ right))
        error = max(error, float(np.abs(goal - matrix.T @ y).sum()) + ROUNDING_SUM)
    return math.inf if error >= 0.5 else MARGIN * largest / (1.0 - error)


def _single_constant(z: Floats, low: Floats, high: Floats, misfit: Misfit) -> tuple[float, bool]:
    """Return a bound of |m| with low ≤ m z ≤ high, where u is m up to its spread."""
    tiny = ZERO * float(np.abs(z).max())
    best = 0.0
    for channel in range(misfit.n_channels):
        part = slice(
            channel * misfit.size // misfit.n_channels,
            (channel + 1) * misfit.size // misfit.n_channels,
        )
        up, down = z[part] > tiny, z[part] < -tiny
        zc, lo, hi = z[part], low[part], high[part]
        most = min(
            (hi[up] / zc[up]).min(initial=math.inf), (lo[down] / zc[down]).min(initial=math.inf)
        )
        least = max(
            (lo[up] / zc[up]).max(initial=-math.inf), (hi[down] / zc[down]).max(initial=-math.inf)
        )
        best = max(best, abs(most), abs(least))
    if not math.isfinite(best):
        return UNKNOWN, False
    return MARGIN * best, True
