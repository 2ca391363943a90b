"""Intervals that contain a solution u and its image Au, from the objective of one point.

Rounding leaves Aᵀq + Kᵀp = r ≠ 0. Then the dual value holds up to ⟨r, u⟩ for a solution u, so a
bound of |u| turns r into a part of the gap. Let P₀ be the objective of some point. A solution has

    h(Au) ≤ P₀,    F(Ku) + R(u) ≤ P₀ - min h.

The first bounds every row of Au. The second bounds |u| if μ > 0, and otherwise the range D of u on
each component of the graph: ω D ≤ TV(u) for the smallest edge weight ω. So u = m + v with |v| ≤ D,
and m Z + Av has bounded rows, which bounds m. So does ‖Z m‖ ≤ ‖Au‖ + ‖A‖‖v‖. Where
rows are bounded on one side only, linear programs over these inequalities bound m.

If a column of Z is exactly zero, A does not see the constant on its component C. It may move until
u meets a bound or changes its sign on C, so |u| is at most D plus the largest bound there. Z is
known up to rounding. Where it may be zero or not, no range is proved.
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
"""Singular values of Z smaller than this, relative to what they could be, count as zero."""

LENGTH_ERROR = 1e-12
"""Relative error of singular values and norms, far above what rounding causes."""

MOST_PROGRAMS = 16
"""Up to this number of components, linear programs bound the constants."""

ROUNDING_SUM = 1e-9
"""Relative error of sums, far above what rounding causes."""

ASSUMED = 100.0
"""Factor of a range that is not proved, so that it probably holds a solution."""

UNKNOWN = 1e8
"""The range of u where no bound is known, relative to its range on a component and to the size
that has an image of the size of the data."""


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

    def including(self, u: Floats, x: Floats) -> SolutionRange:
        """Return the smallest range that also contains a point and its image."""
        return self._replace(
            lower=float(u.min(initial=self.lower)),
            upper=float(u.max(initial=self.upper)),
            row_lower=float(x.min(initial=self.row_lower)),
            row_upper=float(x.max(initial=self.row_upper)),
        )


def solution_range(
    graph: Graph, penalty: _core.Penalty, misfit: Misfit, constraint: Constraint, primal: float
) -> SolutionRange:
    """Return the range of a solution, given an upper bound of the objective of some point."""
    loss = misfit.loss
    least = loss.least_values()
    sizes = abs(primal) + float(np.abs(least).sum())
    budget = max(primal - float(least.sum()), 0.0) * MARGIN + LENGTH_ERROR * sizes
    budget += sys.float_info.min
    rows = tuple(to_core(ends) for ends in loss.sublevel(budget + least))
    lower, upper, is_proved = _entry_ends(graph, penalty, misfit, constraint, budget, rows)
    return _with_rows(SolutionRange(lower, upper, 0.0, 0.0, is_proved), misfit, rows)


def _entry_ends(
    graph: Graph,
    penalty: _core.Penalty,
    misfit: Misfit,
    constraint: Constraint,
    budget: float,
    rows: tuple[Floats, ...],
) -> tuple[float, float, bool]:
    """Return the range of the entries of u, and whether it is proved."""
    if np.isfinite(constraint.lower).all() and np.isfinite(constraint.upper).all():
        return float(constraint.lower.min()), float(constraint.upper.max()), True
    if (constraint.sparsity > 0.0).all():
        size = MARGIN * float(budget) / float(constraint.sparsity.min())
        return -size, size, True
    spread, has_spread = _largest_spread(graph, penalty, budget)
    limits = _limits(misfit, constraint, budget)
    size, is_known = _largest_constant(misfit, rows, spread, limits)
    size = max(size, constraint.largest_bound) + spread
    is_known = is_known and has_spread
    size *= 1.0 if is_known else ASSUMED
    return -size, size, is_known and misfit.map.is_matrix


def _with_rows(found: SolutionRange, misfit: Misfit, rows: tuple[Floats, ...]) -> SolutionRange:
    """Return the range with that of the rows of Au.

    The loss bounds a row on both sides, on one side (logistic loss), or not at all (weight 0).
    Where it does not, |Au| is at most the sum of the sizes in that row times the largest |u|.
    """
    low, high = rows
    size = max(abs(found.lower), abs(found.upper))
    reach = MARGIN * size * np.tile(misfit.map.row_sums(), misfit.n_channels)
    is_bounded = bool(np.isfinite(low).all() and np.isfinite(high).all())
    lowest = np.where(np.isfinite(low), low, -reach).min(initial=0.0)
    highest = np.where(np.isfinite(high), high, reach).max(initial=0.0)
    margin = 1e-9 * (abs(lowest) + abs(highest)) + 1.0
    return found._replace(
        row_lower=float(lowest - margin),
        row_upper=float(highest + margin),
        is_proved=found.is_proved and (is_bounded or misfit.map.is_matrix),
    )


def _largest_spread(graph: Graph, penalty: _core.Penalty, budget: float) -> tuple[float, bool]:
    """Return a bound of max u - min u on every component, and whether it is proved."""
    if graph.n_edges == 0:
        return 0.0, True
    growth = growth_of(penalty)
    if growth is None:
        return UNKNOWN * budget, False
    total = growth.factor * (budget + 0.5 * growth.delta * graph.n_edges)
    return MARGIN * total / float(graph.weights.min()), True


def _largest_constant(
    misfit: Misfit, rows: tuple[Floats, ...], spread: float, limits: Floats
) -> tuple[float, bool]:
    """Return a bound of the constants m that A sees, and whether it is proved.

    `limits` are bounds of |u| on each component; infinite where there are none.
    """
    unknown = UNKNOWN * (_unit(misfit, rows) + spread), False
    if misfit.columns is None:
        return unknown
    reach = np.tile(misfit.map.row_sums(), misfit.n_channels) * spread
    low, high = rows[0] - reach, rows[1] + reach
    errors = misfit.column_errors
    is_seen = np.any(np.abs(misfit.columns) > 2.0 * errors, axis=0)
    is_known = all(misfit.is_blind(int(k)) for k in np.flatnonzero(~is_seen))
    columns, errors, limits = misfit.columns[:, is_seen], errors[:, is_seen], limits[is_seen]
    finite = np.isfinite(low) & np.isfinite(high)
    count = columns.shape[1]
    if count == 0:
        return 0.0, is_known
    if count == 1:
        size, is_proved = _single_constant(columns[:, 0], errors[:, 0], low, high, misfit)
        seen = float(np.linalg.norm(columns)) - float(np.linalg.norm(errors))
        by_norm = 2.0 * _image_norm(misfit, rows, spread) / seen if seen > 0.0 else math.inf
        if not is_proved and not math.isfinite(by_norm):
            return unknown
        return min(size, by_norm), is_known
    if not finite.all() and count <= MOST_PROGRAMS:
        size = max(
            _polyhedral_bound(columns, errors, lo, hi, limits + spread)
            for lo, hi in zip(*(x.reshape(misfit.n_channels, -1) for x in (low, high)), strict=True)
        )
        return (size, is_known) if math.isfinite(size) else unknown
    if not finite.any():
        return unknown
    there = finite.reshape(misfit.n_channels, -1).all(axis=0)
    values = np.linalg.svd(columns[there])[1]
    error = float(np.linalg.norm(errors[there])) + LENGTH_ERROR * float(values.max(initial=0.0))
    capacity = max(float(misfit.map.row_sums().max(initial=0.0)), sys.float_info.min)
    large = values[values > ZERO * max(float(values.max(initial=0.0)), capacity)]
    if not large.size:
        return 0.0, False
    size = float(np.linalg.norm(np.maximum(np.abs(low[finite]), np.abs(high[finite]))))
    size = min(size, _image_norm(misfit, rows, spread))
    has_full_rank = len(large) == count and float(large.min()) > 2.0 * error
    return 2.0 * size / float(large.min()), has_full_rank and is_known


def _unit(misfit: Misfit, rows: tuple[Floats, ...]) -> float:
    """Return the size of u that A maps to the largest known bound of a row; 1 if there is none."""
    ends = np.abs(np.concatenate(rows))
    largest, norm = float(ends[np.isfinite(ends)].max(initial=0.0)), misfit.map.norm_bound()
    unit = largest / norm if norm > 0.0 else largest
    return unit if 0.0 < unit < math.inf else 1.0


def _image_norm(misfit: Misfit, rows: tuple[Floats, ...], spread: float) -> float:
    """Return a bound of ‖Z m‖ = ‖Au - Av‖ for |v| ≤ spread; infinite if rows are unbounded."""
    size = float(np.linalg.norm(np.maximum(np.abs(rows[0]), np.abs(rows[1]))))
    return size + misfit.map.norm_bound() * spread * math.sqrt(math.prod(misfit.shape))


def _limits(misfit: Misfit, constraint: Constraint, budget: float) -> Floats:
    """Return bounds of |u| that follow from sparsity, one per component."""
    count, component = misfit.components
    factors = np.broadcast_to(constraint.sparsity, constraint.size)[: len(component)]
    limits = np.full(count, np.inf)
    there = factors > 0.0
    limits[component[there]] = budget / factors[there]
    return limits


def _polyhedral_bound(
    columns: Floats, errors: Floats, low: Floats, high: Floats, limits: Floats
) -> float:
    """Return a bound of max |m| over low ≤ Z m ≤ high and |m| ≤ limits, infinite if there is none.

    A dual solution y ≥ 0 of the linear program max ±m_k proves it: with d = ±e_k - Bᵀy for the
    inequalities B m ≤ b, ±m_k ≤ yᵀb + ‖d‖₁ max |m|. B is known up to the errors of Z.
    """
    from scipy.optimize import linprog  # slow to import

    count = columns.shape[1]
    identity = np.eye(count)
    matrix = np.concatenate([columns, -columns, identity, -identity])
    unsure = np.concatenate([errors, errors, np.zeros((2 * count, count))])
    right = np.concatenate([high, -low, limits, limits])
    known = np.isfinite(right) & matrix.any(axis=1)
    matrix, unsure, right = matrix[known], unsure[known], right[known]
    if not len(right):
        return math.inf
    scale = np.abs(matrix).max(axis=1)
    matrix, unsure, right = matrix / scale[:, None], unsure / scale[:, None], right / scale
    largest, error = 0.0, 0.0
    for goal in (*identity, *-identity):
        found = linprog(-goal, A_ub=matrix, b_ub=right, bounds=(None, None), method="highs")
        if found.status != 0:
            return math.inf
        y = np.maximum(-found.ineqlin.marginals, 0.0)
        largest = max(largest, float(y @ np.abs(right)) * ROUNDING_SUM + float(y @ right))
        rest = np.abs(goal - matrix.T @ y) + unsure.T @ y
        error = max(error, float(rest.sum()) + ROUNDING_SUM)
    return math.inf if error >= 0.5 else MARGIN * largest / (1.0 - error)


def _single_constant(
    z: Floats, errors: Floats, low: Floats, high: Floats, misfit: Misfit
) -> tuple[float, bool]:
    """Return a bound of |m| with low ≤ m z ≤ high, where u is m up to its spread.

    z is known up to the errors. Rows where its sign is not known do not count.
    """
    up, down = z > 2.0 * errors, z < -2.0 * errors
    best = 0.0
    for lo, hi in zip(*(x.reshape(misfit.n_channels, -1) for x in (low, high)), strict=True):
        right = np.concatenate([hi[up], -lo[down]])
        left = np.concatenate([lo[up], -hi[down]])
        size = np.abs(np.concatenate([z[up], z[down]]))
        error = np.concatenate([errors[up], errors[down]])
        most = (right / (size - np.copysign(error, right))).min(initial=math.inf)
        least = (left / (size + np.copysign(error, left))).max(initial=-math.inf)
        best = max(best, abs(float(most)), abs(float(least)))
    return MARGIN * best, math.isfinite(best)
