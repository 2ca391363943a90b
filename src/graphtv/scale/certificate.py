"""The contribution of a part of a grid to the certificate, with bounds on rounding errors.

With flows x = ωp on the edges, from the lower end to the upper one, the dual point gives

    u_x = f - C⁻¹Kᵀx,    P(u) - D(x) = Σ_v c/2 (u - u_x)² + Σ_e (h(ω Δu) + h*(p) - x Δu),

where Δu = u_lower - u_upper, and h = |·| or its Huber relaxation. This is a sum of nonnegative
terms, each of which belongs to a vertex or to an edge. So the gap of a grid is the sum of the gaps
of its tiles, without cancellation. The bounds on rounding errors are those of the core
(terms/tally.hpp), adapted to NumPy. If channels are coupled, h is a function of ‖ω Δu‖ over the
channels of an edge, and ‖p‖ ≤ 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtv import _core
from graphtv._elementary import ROUNDOFF
from graphtv._validate import Floats
from graphtv.objective.proof import Proof
from graphtv.scale.loss import Loss
from graphtv.terms._arrays import to_core

FORMULA = 2.0**-44
"""The relative error of a few operations, and of NumPy's pairwise sums of nonnegative numbers."""

FLOOR = 2.0**-1000
"""An upper bound of what any product in the formulas loses to underflow."""

_NO_EDGES, _NOTHING = np.empty((0, 2), dtype=np.int32), np.empty(0)
_NO_PENALTY = _core.EdgewisePenalty(0.0)


class Share(NamedTuple):
    """A contribution to the primal objective and to the gap, with bounds on their errors.

    The error of the primal objective is at most FORMULA times the objective plus `floor`. The error
    of the gap is at most `rounding`.
    """

    primal: float = 0.0
    gap: float = 0.0
    rounding: float = 0.0
    floor: float = 0.0


def joined(shares: Iterable[Share]) -> Share:
    """Return the sum of shares."""
    columns = zip(*shares, strict=True)
    return Share(*(math.fsum(column) for column in columns))


def proof_of(shares: Iterable[Share]) -> Proof:
    """Return the proof that all shares of a grid give together."""
    total = joined(shares)
    gap = max(total.gap, 0.0)
    if not np.isfinite(total).all():
        return Proof(total.primal, -math.inf, math.inf, math.inf, math.inf)
    gap_rounding = total.rounding * (1.0 + FORMULA)
    rounding = FORMULA * abs(total.primal) + total.floor + gap_rounding
    return Proof(total.primal, total.primal - gap, gap, rounding, gap_rounding)


def vertices(
    u: Floats, f: NDArray[Any], c: NDArray[Any] | None, divergence: Floats, errors: Floats
) -> Share:
    """Return the share of vertices with data (c > 0); `errors` bounds those of `divergence`."""
    weight: Any = 1.0 if c is None else np.where(c > 0.0, c, 1.0)
    away = u - f
    distance = away + divergence / weight
    primal, gap = 0.5 * weight * away * away, 0.5 * weight * distance * distance
    error = errors + 8.0 * ROUNDOFF * (np.abs(divergence) + weight * np.abs(away))
    rounding = error * (np.abs(distance) + 1.01 * error / weight)
    is_nothing = (away == 0.0) & (divergence == 0.0) & (error == 0.0)
    if c is not None:
        for values in (primal, gap, rounding):
            values *= c > 0.0
        is_nothing |= ~(c > 0.0)
    floor = 4.0 * FLOOR * (is_nothing.size - np.count_nonzero(is_nothing))
    total = _sum(gap)
    return Share(_sum(primal), total, _sum(rounding) * 1.01 + FORMULA * total + floor, floor)


def loss_vertices(
    loss: Loss,
    u: Floats,
    f: NDArray[Any],
    c: NDArray[Any] | None,
    divergence: Floats,
    errors: Floats,
) -> Share:
    """Return the share of all vertices for a loss that is not squared, with and without data.

    Conjugates are those of the loss on its interval, which contains a solution.
    """
    slope, counts = to_core(-divergence), to_core(errors) / ROUNDOFF
    primal, _, gap, rounding, gap_rounding = _core.certify(
        loss.term(f, c),
        _NO_EDGES,
        _NOTHING,
        _NO_PENALTY,
        to_core(np.ascontiguousarray(u)),
        _NOTHING,
        slope,
        counts,
        1,
    )
    # The objective may be negative. Twice its size covers the errors of the edges in `proof_of`.
    return Share(primal, gap, gap_rounding, rounding + 2.0 * FORMULA * abs(primal))


def unknown_vertices(
    u: Floats, c: NDArray[Any], divergence: Floats, errors: Floats, least: Floats, most: Floats
) -> Share:
    """Return the share of vertices without data (c = 0).

    Optimal values lie between the smallest and the largest known value. So such a vertex
    contributes the minimum of (Kᵀx)_v s over these s to the dual objective.
    """
    is_unknown = ~(c > 0.0)
    r = np.where(is_unknown, divergence, 0.0)
    low, high = u - least, u - most
    excess = np.maximum(r * low, r * high)
    reach = np.maximum(np.abs(low), np.abs(high)) * 1.01
    rounding = _sum(np.where(is_unknown, errors, 0.0) * reach) * 1.01
    rounding += FORMULA * _sum(np.abs(excess)) + 4.0 * FLOOR * np.count_nonzero(r)
    return Share(0.0, _sum(excess), rounding)


def edges(weight: Any, p: Floats, difference: Floats, delta: float) -> Share:
    """Return the share of edges with weights ω and Δu = `difference`."""
    if not (np.abs(p) <= 1.0).all():
        return Share(gap=math.inf)
    difference = np.where(np.asarray(weight) > 0.0, difference, 0.0)  # where there is an edge
    size = weight * np.abs(difference)
    along = np.where(difference < 0.0, -p, p)
    rest = 1.0 - along
    if delta == 0.0:
        total = _sum(size * rest)
        floor = 4.0 * FLOOR * np.count_nonzero(difference)
        return Share(_sum(size), total, FORMULA * total + floor, floor)
    is_inside = size < delta
    distance = size - delta * along
    slack = 4.0 * ROUNDOFF * (size + delta * np.abs(along))
    value = np.where(is_inside, 0.5 * size / delta * size, size - 0.5 * delta)
    excess = np.where(
        is_inside, 0.5 * distance / delta * distance, rest * (size - 0.5 * delta * (1.0 + along))
    )
    rounding = np.where(
        is_inside,
        (np.abs(distance) + slack) * (slack / delta),
        4.0 * ROUNDOFF * rest * (size + delta),
    )
    total = _sum(excess)
    floor = 4.0 * FLOOR * (np.count_nonzero(difference) + np.count_nonzero(p))
    return Share(_sum(value), total, _sum(rounding) * 1.01 + FORMULA * total + floor, floor)


def coupled_edges(weight: Any, p: Floats, difference: Floats, delta: float) -> Share:
    """Return the share of edges whose channels, on the last axis, are coupled."""
    n_channels = p.shape[-1]
    # A computed norm below this is at most 1.
    if not (np.sum(p * p, axis=-1) <= 1.0 - (n_channels + 2) * ROUNDOFF).all():
        return Share(gap=math.inf)
    x = weight * difference
    size = np.sqrt(np.sum(x * x, axis=-1))
    conjugate = 0.5 * delta * np.sum(p * p, axis=-1)
    value = size
    if delta > 0.0:
        value = np.where(size < delta, 0.5 * size / delta * size, size - 0.5 * delta)
    excess = value + conjugate - np.sum(p * x, axis=-1)
    sizes = _sum(size + conjugate)
    primal, total = _sum(value), _sum(excess)
    floor = 4.0 * FLOOR * (np.count_nonzero(difference) + np.count_nonzero(p))
    # All sums of an edge are at most a small multiple of its size, and so are their errors.
    rounding = 4.0 * (n_channels + 8) * ROUNDOFF * sizes + FORMULA * abs(total) + floor
    return Share(primal, total, rounding, floor)


def inside_balls(p: Floats) -> Floats:
    """Return p with norms over the last axis that `coupled_edges` accepts; p itself if it has."""
    most = 1.0 - 2.0 * (p.shape[-1] + 4) * ROUNDOFF
    norm = np.sqrt(np.sum(p * p, axis=-1, keepdims=True))
    is_outside = norm > most
    return np.where(is_outside, p * (most / np.where(is_outside, norm, 1.0)), p)


def _sum(values: Floats) -> float:
    # Contiguous numbers are summed in pairs, with an error of a few dozen units in the last place.
    return float(np.sum(values.reshape(-1)))
