"""Evaluates a pair (u, p) without rounding: in fractions, or in 120 digits for logarithms.

    P = G(u) + F(Ku),    D = -G*(-Kᵀp) - F*(p),    D ≤ minimum ≤ P

The conjugates are maxima over the few points where they can be attained. This module uses nothing
of the core except the range of a logistic problem. That this range contains a solution is a theorem
(docs/theory/terms.md), which is tested elsewhere. The range of the other losses is that of the data
of a channel, in one component of the graph.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from graphtv import (
    AbsoluteLoss,
    EntropicSimplex,
    HuberLoss,
    LinearBox,
    LogisticLoss,
    PoissonLoss,
    Problem,
    QuantileLoss,
    Result,
    SquaredLoss,
)

DIGITS = 120
EXACT_GAP = Fraction(1, 10**12)
"""The relative gap that a tolerance of 0 requests."""


class Objectives(NamedTuple):
    """The exact objectives."""

    primal: Fraction
    dual: Fraction

    @property
    def gap(self) -> Fraction:
        """Their difference."""
        return self.primal - self.dual

    @property
    def scale(self) -> Fraction:
        """The larger one."""
        return max(abs(self.primal), abs(self.dual))


def objectives(problem: Problem, u: Any, p: Any) -> Objectives:
    """Return the exact objectives at (u, p), where |p| ≤ 1."""
    is_logarithmic = isinstance(problem.data, LogisticLoss | PoissonLoss | EntropicSimplex)
    number: Any = Decimal if is_logarithmic else Fraction
    graph = problem.graph
    edges = graph.edges.tolist()
    weights = [number(w) for w in graph.weights.tolist()]
    delta = number(problem.penalty.delta)
    with localcontext(prec=DIGITS):
        penalty = conjugate = number(0)
        points, slopes = [], []
        for column, flows in zip(_columns(u), _columns(p), strict=True):
            x = [number(value) for value in column]
            s = [number(0)] * len(x)
            for (i, j), w, value in zip(edges, weights, flows, strict=True):
                q = number(value)
                penalty += _huber(w * (x[i] - x[j]), delta)
                conjugate += delta * q * q / 2
                s[i] -= w * q
                s[j] += w * q
            points.append(x)
            slopes.append(s)
        if isinstance(problem.data, EntropicSimplex):
            value, dual = _simplex(problem.data, points, slopes)
        else:
            value, dual = _entries(problem, points, slopes, number)
        return Objectives(Fraction(value + penalty), Fraction(-dual - conjugate))


def _columns(values: Any) -> list[list[float]]:
    array = np.asarray(values, dtype=np.float64)
    columns = array[:, None] if array.ndim == 1 else array
    return columns.T.tolist()


def _huber(x: Any, delta: Any) -> Any:
    size = abs(x)
    return size * size / (2 * delta) if size < delta else size - delta / 2


def _entries(problem: Problem, points: Any, slopes: Any, number: Any) -> tuple[Any, Any]:
    """Return G(u) and G*(s), entry by entry."""
    value = conjugate = number(0)
    losses = _losses(problem, number)
    for x, s, column in zip(points, slopes, losses, strict=True):
        for at, slope, (loss, candidates) in zip(x, s, column, strict=True):
            value += loss(at)
            conjugate += max(slope * y - loss(y) for y in candidates(slope))
    return value, conjugate


def _losses(problem: Problem, number: Any) -> list[list[Any]]:
    """Return for every entry its loss, and where its conjugate may be attained for a slope."""
    data: Any = problem.data
    if isinstance(data, LinearBox):
        return [
            [_box(number(a), number(low), number(high)) for a, low, high in zip(*c, strict=True)]
            for c in zip(*map(_columns, (data.cost, data.lower, data.upper)), strict=True)
        ]
    weights = _columns(data.weights)
    if isinstance(data, LogisticLoss):
        ends = tuple(number(end) for end in problem.term.domain)
        pairs = zip(_columns(data.labels), weights, strict=True)
        return [
            [_logistic(number(y), number(c), ends) for y, c in zip(*columns, strict=True)]
            for columns in pairs
        ]
    signal = data.counts if isinstance(data, PoissonLoss) else data.signal
    _, component = connected_components(problem.graph.to_sparse(), directed=False)
    found = []
    for f, c in zip(_columns(signal), weights, strict=True):
        ranges = _ranges(f, c, component, number)
        column = []
        for value, weight, k in zip(f, c, component, strict=True):
            a, b, ends = number(value), number(weight), ranges.get(int(k), (number(0),) * 2)
            if b == 0:
                column.append(_nothing(ends))
            elif isinstance(data, SquaredLoss):
                column.append(_squared(a, b))
            elif isinstance(data, AbsoluteLoss):
                column.append(_quantile(a, b, b, ends))
            elif isinstance(data, QuantileLoss):
                below, above = data.tau * float(weight), (1.0 - data.tau) * float(weight)
                column.append(_quantile(a, number(below), number(above), ends))
            elif isinstance(data, HuberLoss):
                column.append(_huber_loss(a, b, number(data.delta), ends))
            else:
                column.append(_poisson(a, b, ends))
        found.append(column)
    return found


def _ranges(f: Any, c: Any, component: Any, number: Any) -> dict[int, Any]:
    """Return the smallest and the largest datum of every component of the graph that has data."""
    known = [(int(k), x) for x, weight, k in zip(f, c, component, strict=True) if weight > 0]
    groups: dict[int, list[float]] = {}
    for k, x in known:
        groups.setdefault(k, []).append(x)
    return {k: (number(min(g)), number(max(g))) for k, g in groups.items()}


def _nothing(ends: Any) -> Any:
    return lambda u: u * 0, lambda s: ends


def _squared(f: Any, c: Any) -> Any:
    return lambda u: c * (u - f) * (u - f) / 2, lambda s: [f + s / c]


def _quantile(f: Any, below: Any, above: Any, ends: Any) -> Any:
    return lambda u: above * (u - f) if u > f else below * (f - u), lambda s: [*ends, f]


def _clip(x: Any, ends: Any) -> Any:
    return min(max(x, ends[0]), ends[1])


def _huber_loss(f: Any, c: Any, delta: Any, ends: Any) -> Any:
    def value(u: Any) -> Any:
        size = abs(u - f)
        return c * (size * size / 2 if size <= delta else delta * (size - delta / 2))

    return value, lambda s: [*ends, *(_clip(f + x, ends) for x in (s / c, delta, -delta))]


def _box(a: Any, low: Any, high: Any) -> Any:
    def value(u: Any) -> Any:
        assert low <= u <= high, "u is outside of its box"
        return a * u

    return value, lambda s: [low, high]


def _poisson(f: Any, c: Any, ends: Any) -> Any:
    def value(u: Any) -> Any:
        if f == 0:
            assert u >= 0, "u is negative"
            return c * u
        return c * (u - f * u.ln()) if u > 0 else Decimal("Infinity")

    return value, lambda s: [*ends, *([_clip(f * c / (c - s), ends)] if s < c else [])]


def _logistic(y: Any, c: Any, ends: Any) -> Any:
    if c == 0 or y == 0:
        return _nothing(ends)

    def value(u: Any) -> Any:
        x = -y * u
        return c * ((1 + (-x).exp()).ln() + x if x > 0 else (1 + x.exp()).ln())

    def candidates(s: Any) -> list[Any]:
        t = -s * y / c
        return [*ends, *([_clip(y * ((1 - t) / t).ln(), ends)] if 0 < t < 1 else [])]

    return value, candidates


def _simplex(data: EntropicSimplex, points: Any, slopes: Any) -> tuple[Any, Any]:
    """Return G(u) and G*(s); the sum of u is 1 up to rounding."""
    epsilon = Decimal(data.epsilon)
    costs = [[Decimal(x) for x in column] for column in _columns(data.cost)]
    value = conjugate = Decimal(0)
    vertices = (zip(*columns, strict=True) for columns in (points, slopes, costs))
    for x, s, a in zip(*vertices, strict=True):
        assert min(x) >= 0, "u is negative"
        assert abs(sum(x) - 1) <= Decimal("1e-12"), "u is outside of the simplex"
        value += sum(k * (cost + epsilon * k.ln()) for k, cost in zip(x, a, strict=True) if k > 0)
        heights = [(slope - cost) / epsilon for slope, cost in zip(s, a, strict=True)]
        top = max(heights)
        conjugate += epsilon * (top + sum((h - top).exp() for h in heights).ln())
    return value, conjugate


def confirm(problem: Problem, result: Result) -> Objectives:
    """Raise AssertionError if a claim of a result is not exactly true."""
    u, p = result.u, result.p
    assert np.isfinite(u).all(), "u is not finite"
    assert np.isfinite(p).all(), "p is not finite"
    assert abs(p).max(initial=0.0) <= 1.0, "|p| exceeds 1"
    true = objectives(problem, u, p)
    if 1e-280 < abs(result.primal) < np.inf:
        wrong = abs(Fraction(result.primal) - true.primal)
        assert wrong <= result.rounding, f"primal is wrong by {float(wrong):.3g}"
    if 1e-280 < abs(result.dual) < np.inf:  # the range here may be narrower than the solver's
        above = Fraction(result.dual) - true.dual
        assert above <= result.rounding, f"dual is too large by {float(above):.3g}"
    if result.status == "optimal":
        tolerance = Fraction(result.tolerance) or EXACT_GAP
        share = float(true.gap / true.scale) if true.scale else float(true.gap > 0)
        assert true.gap <= tolerance * true.scale, (
            f"optimal to {float(tolerance):g}, but the gap is {share:.3g}"
        )
    return true
