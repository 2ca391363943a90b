"""Evaluates a pair (u, p) without rounding: in fractions, or in 120 digits for logarithms.

    P = G(u) + F(Ku),    D = -G*(-Kᵀp) - F*(p),    D ≤ minimum ≤ P

With an operator A, bounds or sparsity it is

    P = h(Au) + R(u) + F(Ku),    D = -h*(q) - R*(-Aᵀq - Kᵀp) - F*(p).

The conjugates are maxima over the few points where they can be attained. This module uses nothing
of the core except the range of a logistic problem, and that of a problem with an operator. That
these ranges contain a solution is a theorem (docs/theory/terms.md), which is tested elsewhere. The
range of the other losses is that of the data of a channel, in one component of the graph.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from graphtv import (
    AbsoluteLoss,
    CoupledTV,
    EntropicSimplex,
    HuberLoss,
    HuberTV,
    IsotropicTV,
    LinearBox,
    LogisticLoss,
    PoissonLoss,
    Problem,
    QuantileLoss,
    Result,
    SquaredLoss,
    TotalVariation,
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


def objectives(problem: Problem, u: Any, p: Any, q: Any = None, matrix: Any = None) -> Objectives:
    """Return the exact objectives at (u, p) or (u, p, q), where the norms of p are at most 1.

    `matrix` is the operator A as a dense matrix, if there is one.
    """
    has_groups = not isinstance(problem.penalty, TotalVariation | HuberTV)
    has_logarithms = isinstance(problem.data, LogisticLoss | PoissonLoss | EntropicSimplex)
    number: Any = Decimal if has_groups or has_logarithms else Fraction
    with localcontext(prec=DIGITS):
        points = [[number(value) for value in column] for column in _columns(u)]
        slopes = [[number(0)] * len(x) for x in points]
        penalty, conjugate = _penalty(problem, points, _columns(p), slopes, number)
        value, dual = _data(problem, points, slopes, q, matrix, number)
        return Objectives(Fraction(value + penalty), Fraction(-dual - conjugate))


def _penalty(problem: Problem, points: Any, p: Any, slopes: Any, number: Any) -> tuple[Any, Any]:
    """Return F(Ku) and F*(p), and subtract Kᵀp from the slopes."""
    penalty, delta = problem.penalty, number(problem.penalty.delta)
    edges = problem.graph.edges.tolist()
    weights = [number(w) for w in problem.graph.weights.tolist()]
    squares: dict[Any, Any] = {}
    value = conjugate = number(0)
    for channel, (x, flows, s) in enumerate(zip(points, p, slopes, strict=True)):
        for e, ((i, j), w, flow) in enumerate(zip(edges, weights, flows, strict=True)):
            difference, z = w * (x[i] - x[j]), number(flow)
            if isinstance(penalty, TotalVariation | HuberTV):
                value += _huber(difference, delta)
            else:
                key = _group(penalty, e, min(i, j), channel)
                squares[key] = squares.get(key, number(0)) + difference * difference
            conjugate += delta * z * z / 2
            s[i] -= w * z
            s[j] += w * z
    return value + sum((_huber(x.sqrt(), delta) for x in squares.values()), number(0)), conjugate


def _group(penalty: Any, edge: int, pixel: int, channel: int) -> Any:
    """Return the group of an entry of p: an edge, or the edges that leave a pixel."""
    if isinstance(penalty, CoupledTV):
        return edge
    assert isinstance(penalty, IsotropicTV)
    return pixel if penalty.coupled else (pixel, channel)


def largest_norm(problem: Problem, p: Any) -> Fraction:
    """Return the square of the largest norm of p over its groups, exactly."""
    edges, squares = problem.graph.edges.tolist(), {}
    is_single = isinstance(problem.penalty, TotalVariation | HuberTV)
    for channel, flows in enumerate(_columns(p)):
        for e, ((i, j), flow) in enumerate(zip(edges, flows, strict=True)):
            key = (e, channel) if is_single else _group(problem.penalty, e, min(i, j), channel)
            squares[key] = squares.get(key, Fraction(0)) + Fraction(flow) ** 2
    return max(squares.values(), default=Fraction(0))


def _data(
    problem: Problem, points: Any, slopes: Any, q: Any, matrix: Any, number: Any
) -> tuple[Any, Any]:
    """Return the data term and its conjugate at the slopes."""
    if problem.misfit is not None:
        return _composed(problem, points, slopes, q, matrix, number)
    if isinstance(problem.data, EntropicSimplex):
        return _simplex(problem.data, points, slopes)
    return _entries(_losses(problem, number), points, slopes, number)


def _composed(
    problem: Problem, points: Any, slopes: Any, q: Any, matrix: Any, number: Any
) -> tuple[Any, Any]:
    """Return h(Au) + R(u) and h*(q) + R*(-Kᵀp - Aᵀq), given -Kᵀp, on the range of a solution."""
    n = problem.graph.n_vertices
    A = np.eye(n) if matrix is None else np.asarray(matrix, dtype=np.float64)
    rows = [[(k, number(a)) for k, a in enumerate(row) if a] for row in A.tolist()]
    images, duals = [], [[number(x) for x in column] for column in _columns(q)]
    for x, s, column in zip(points, slopes, duals, strict=True):
        images.append([sum((a * x[k] for k, a in row), number(0)) for row in rows])
        for row, value in zip(rows, column, strict=True):
            for k, a in row:
                s[k] -= a * value
    u = np.array([float(value) for channel in points for value in channel])
    found, constraint = problem.composite.range_of(u), problem.constraint
    ends = number(found.row_lower), number(found.row_upper)
    losses = [
        [_loss(problem.data, f, c, ends, number) for f, c in zip(*columns, strict=True)]
        for columns in zip(*_signal_and_weights(problem.data), strict=True)
    ]
    value, conjugate = _entries(losses, images, duals, number)
    entries = (
        np.broadcast_to(x, len(points) * n).reshape(len(points), n).tolist()
        for x in (constraint.lower, constraint.upper, constraint.sparsity)
    )
    limits = number(found.lower), number(found.upper)
    sizes = [
        [_size(low, high, number(mu), limits, number) for low, high, mu in zip(*c, strict=True)]
        for c in zip(*entries, strict=True)
    ]
    norm, dual = _entries(sizes, points, slopes, number)
    return value + norm, conjugate + dual


def _size(low: float, high: float, mu: Any, limits: Any, number: Any) -> Any:
    """Return μ |u| for bounded u, and where its conjugate on the range may be attained."""

    def value(u: Any) -> Any:
        assert low <= u <= high, "u is outside of its bounds"
        return mu * abs(u)

    ends = (
        max(number(low), limits[0]) if np.isfinite(low) else limits[0],
        min(number(high), limits[1]) if np.isfinite(high) else limits[1],
    )
    assert ends[0] <= ends[1], "the range of a solution is empty"
    return value, lambda s: [*ends, _clip(number(0), ends)]


def _columns(values: Any) -> list[list[float]]:
    array = np.asarray(values, dtype=np.float64)
    columns = array[:, None] if array.ndim == 1 else array
    return columns.T.tolist()


def _huber(x: Any, delta: Any) -> Any:
    size = abs(x)
    return size * size / (2 * delta) if size < delta else size - delta / 2


def _entries(losses: Any, points: Any, slopes: Any, number: Any) -> tuple[Any, Any]:
    """Return G(u) and G*(s), entry by entry."""
    value = conjugate = number(0)
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
    signal, weights = _signal_and_weights(data)
    if isinstance(data, LogisticLoss):
        ends = tuple(number(end) for end in problem.term.domain)
        pairs = zip(signal, weights, strict=True)
        return [
            [_loss(data, y, c, ends, number) for y, c in zip(*columns, strict=True)]
            for columns in pairs
        ]
    _, component = connected_components(problem.graph.to_sparse(), directed=False)
    found = []
    for f, c in zip(signal, weights, strict=True):
        ranges = _ranges(f, c, component, number)
        found.append(
            [
                _loss(data, value, weight, ranges.get(int(k), (number(0),) * 2), number)
                for value, weight, k in zip(f, c, component, strict=True)
            ]
        )
    return found


def _signal_and_weights(data: Any) -> tuple[Any, Any]:
    """Return the columns of the data and of the weights of a loss."""
    names = {LogisticLoss: "labels", PoissonLoss: "counts"}
    return _columns(getattr(data, names.get(type(data), "signal"))), _columns(data.weights)


def _loss(data: Any, value: float, weight: float, ends: Any, number: Any) -> Any:
    """Return the loss of an entry, and where its conjugate may be attained for a slope."""
    a, b = number(value), number(weight)
    if isinstance(data, LogisticLoss):
        return _logistic(a, b, ends)
    if b == 0:
        return _nothing(ends)
    if isinstance(data, SquaredLoss):
        return _squared(a, b)
    if isinstance(data, AbsoluteLoss):
        return _quantile(a, b, b, ends)
    if isinstance(data, QuantileLoss):
        below, above = data.tau * float(weight), (1.0 - data.tau) * float(weight)
        return _quantile(a, number(below), number(above), ends)
    if isinstance(data, HuberLoss):
        return _huber_loss(a, b, number(data.delta), ends)
    return _poisson(a, b, ends)


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
    ends = tuple(max(end, ends[0] * 0) for end in ends)

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


def confirm(problem: Problem, result: Result, matrix: Any = None) -> Objectives:
    """Raise AssertionError if a claim of a result is not exactly true."""
    u, p, q = result.u, result.p, getattr(result, "residual_dual", None)
    assert np.isfinite(u).all(), "u is not finite"
    assert np.isfinite(p).all(), "p is not finite"
    assert largest_norm(problem, p) <= 1, "|p| exceeds 1"
    true = objectives(problem, u, p, q, matrix)
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
