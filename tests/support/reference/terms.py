"""Data terms from their definitions, in decimal arithmetic with forty digits: slow and simple.

A loss of one number consists of its value and its slope. Proximal maps, conjugates and minimisers
follow by bisection of the slope. Only the simplex, where there is no single number to bisect, has
its own formulas. `certify` evaluates both objectives of a problem. It shares no code with the
library and uses only the public attributes of its arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, getcontext, localcontext
from typing import Any

import numpy as np

from reference.certificate import Certificate

DIGITS = 40
ZERO, ONE, INFINITY = Decimal(0), Decimal(1), Decimal("inf")

Function = Callable[[Decimal], Decimal]


@dataclass(frozen=True)
class Loss:
    """A convex function of one number: its value, its right derivative, and its domain."""

    value: Function
    slope: Function
    lower: Decimal
    upper: Decimal


def prox(loss: Loss, v: float, step: float) -> float:
    """Return argmin of loss(u) + (u - v)²/(2 step)."""
    with localcontext(prec=DIGITS):
        x, tau = Decimal(v), Decimal(step)
        return float(_root(lambda u: loss.slope(u) + (u - x) / tau, loss.lower, loss.upper, x))


def conjugate(loss: Loss, s: float) -> Decimal:
    """Return the supremum of s·u - loss(u)."""
    with localcontext(prec=DIGITS):
        return _conjugate(loss, Decimal(s))


def _conjugate(loss: Loss, s: Decimal) -> Decimal:
    u = _root(lambda x: loss.slope(x) - s, loss.lower, loss.upper, ZERO)
    return s * u - loss.value(u)


def minimizer(losses: Sequence[Loss], slope: float) -> float:
    """Return the smallest argmin of the sum of the losses plus slope·m."""
    with localcontext(prec=DIGITS):
        lower = max(loss.lower for loss in losses)
        upper = min(loss.upper for loss in losses)
        t = Decimal(slope)
        return float(
            _root(lambda m: sum((loss.slope(m) for loss in losses), t), lower, upper, ZERO)
        )


def _root(rising: Function, lower: Decimal, upper: Decimal, start: Decimal) -> Decimal:
    """Return where an increasing function passes 0, or the nearest end of the range."""
    start, width = max(lower, min(start, upper)), ONE
    low, high = max(lower, start - width), min(upper, start + width)
    while low > lower and rising(low) > 0:
        width *= 2
        low = max(lower, start - width)
    while high < upper and rising(high) < 0:
        width *= 2
        high = min(upper, start + width)
    if rising(low) >= 0:
        return low
    for _ in range(150):  # halvings, from one to 2^-150
        middle = (low + high) / 2
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return high


def squared(f: float, c: float, lower: float, upper: float) -> Loss:
    """½ c (u - f)²; where c = 0, nothing on the range."""
    a, w = Decimal(f), Decimal(c)
    if w == 0:
        return nothing(lower, upper)
    return Loss(lambda u: w * (u - a) ** 2 / 2, lambda u: w * (u - a), -INFINITY, INFINITY)


def quantile(f: float, below: float, above: float, lower: float, upper: float) -> Loss:
    """The loss with the slopes -below and above on the two sides of f, on the range."""
    a, b, c = Decimal(f), Decimal(below), Decimal(above)
    return Loss(
        lambda u: c * (u - a) if u >= a else b * (a - u),
        lambda u: c if u >= a else -b,
        Decimal(lower),
        Decimal(upper),
    )


def huber(f: float, c: float, lower: float, upper: float, delta: float) -> Loss:
    """C h(u - f) on the range, h(r) = r²/2 up to δ and δ(|r| - δ/2) beyond."""
    a, w, d = Decimal(f), Decimal(c), Decimal(delta)

    def value(u: Decimal) -> Decimal:
        r = abs(u - a)
        return w * (r * r / 2 if r <= d else d * (r - d / 2))

    return Loss(value, lambda u: w * max(-d, min(d, u - a)), Decimal(lower), Decimal(upper))


def logistic(label: float, c: float, lower: float, upper: float) -> Loss:
    """C log(1 + exp(-label·u)) on the range."""
    y, w = Decimal(label), Decimal(c)
    if y == 0:
        return nothing(lower, upper)
    return Loss(
        lambda u: w * (1 + (-y * u).exp()).ln(),
        lambda u: -w * y / (1 + (y * u).exp()),
        Decimal(lower),
        Decimal(upper),
    )


def poisson(f: float, c: float, lower: float, upper: float) -> Loss:
    """C (u - f log u) on the range."""
    a, w = Decimal(f), Decimal(c)

    def value(u: Decimal) -> Decimal:
        if w == 0:
            return ZERO
        if u < 0 or (u == 0 and a > 0):
            return INFINITY
        return w * (u - (a * u.ln() if a > 0 else 0))

    def slope(u: Decimal) -> Decimal:
        if w == 0 or a == 0:
            return w
        return w * (1 - a / u) if u > 0 else -INFINITY

    return Loss(value, slope, Decimal(lower), Decimal(upper))


def linear(cost: float, lower: float, upper: float) -> Loss:
    """Cost·u on the box, infinite elsewhere."""
    a, low, high = Decimal(cost), Decimal(lower), Decimal(upper)
    return Loss(lambda u: a * u if low <= u <= high else INFINITY, lambda _: a, low, high)


def nothing(lower: float, upper: float) -> Loss:
    """No data on the range."""
    return Loss(lambda _: ZERO, lambda _: ZERO, Decimal(lower), Decimal(upper))


def simplex_prox(
    v: Sequence[float], cost: Sequence[float], epsilon: float, step: float
) -> list[float]:
    """Return argmin over the simplex of ε Σ u log u + ⟨cost, u⟩ + ‖u - v‖²/(2 step).

    The conditions u_c/τ + ε log u_c = v_c/τ - cost_c - μ, Σ u_c = 1 are solved by bisection of μ,
    and inside it for l = log u_c by Newton's method.
    """
    with localcontext(prec=DIGITS):
        tau, eps = Decimal(step), Decimal(epsilon)
        targets = [Decimal(x) / tau - Decimal(a) for x, a in zip(v, cost, strict=True)]

        def point(mu: Decimal) -> list[Decimal]:
            return [_log_linear_root(1 / (tau * eps), (t - mu) / eps).exp() for t in targets]

        # Every u_c ≤ 1 gives μ ≥ max t - 1/τ, and the largest u_c ≥ 1/C gives the upper end.
        low = max(targets) - 1 / tau
        high = max(targets) + eps * Decimal(len(targets)).ln()
        for _ in range(120):
            middle = (low + high) / 2
            if sum(point(middle)) > 1:
                low = middle
            else:
                high = middle
        return [float(x) for x in point(high)]


def _log_linear_root(a: Decimal, t: Decimal) -> Decimal:
    """Return the l with a exp(l) + l = t; Newton's method descends to it from the right."""
    logarithm = t if t <= 0 else max(ZERO, (t / a).ln())
    for _ in range(200):
        y = a * logarithm.exp()
        step = (y + logarithm - t) / (1 + y)
        logarithm -= step
        if abs(step) < Decimal(10) ** (5 - getcontext().prec) * (1 + abs(logarithm)):
            break
    return logarithm


def losses_of(data: Any, domain: tuple[float, float]) -> list[list[Loss]]:
    """Return the losses of a term of the library, by channel and vertex."""
    lower, upper = domain
    name = type(data).__name__
    if name == "LinearBox":
        columns = (_columns(data.cost), _columns(data.lower), _columns(data.upper))
        channels = zip(*columns, strict=True)
        return [[linear(*entry) for entry in zip(*channel, strict=True)] for channel in channels]
    makers: dict[str, Callable[[float, float], Loss]] = {
        "SquaredLoss": lambda f, c: squared(f, c, lower, upper),
        "AbsoluteLoss": lambda f, c: quantile(f, c, c, lower, upper),
        "QuantileLoss": lambda f, c: quantile(f, data.tau * c, (1.0 - data.tau) * c, lower, upper),
        "HuberLoss": lambda f, c: huber(f, c, lower, upper, data.delta),
        "LogisticLoss": lambda f, c: logistic(f, c, lower, upper),
        "PoissonLoss": lambda f, c: poisson(f, c, lower, upper),
    }
    attribute = {"LogisticLoss": "labels", "PoissonLoss": "counts"}.get(name, "signal")
    make = makers[name]
    pairs = zip(_columns(getattr(data, attribute)), _columns(data.weights), strict=True)
    return [[make(f, c) for f, c in zip(fs, cs, strict=True)] for fs, cs in pairs]


def data_range(data: Any) -> tuple[float, float]:
    """Return the smallest and the largest datum; (0, 0) if there is none."""
    values = np.asarray(data.counts if hasattr(data, "counts") else data.signal)
    there = values[np.asarray(data.weights) > 0]
    return (float(there.min()), float(there.max())) if there.size else (0.0, 0.0)


def _losses_by_component(data: Any, component: Any) -> list[list[Loss]]:
    """Return the losses, each on the range of the data of its component and channel."""
    values = np.asarray(data.counts if hasattr(data, "counts") else data.signal)
    known = np.asarray(data.weights) > 0
    values, known = (array.reshape(len(component), -1) for array in (values, known))
    made: dict[Any, list[list[Loss]]] = {}
    losses = []
    for c in range(values.shape[1]):
        column = []
        for i, k in enumerate(component):
            there = values[:, c][(component == k) & known[:, c]]
            ends = (there.min(), there.max()) if there.size else (0.0, 0.0)
            if ends not in made:
                made[ends] = losses_of(data, ends)
            column.append(made[ends][c][i])
        losses.append(column)
    return losses


def certify(
    K: Any,
    data: Any,
    u: Any,
    p: Any,
    huber_delta: float = 0.0,
    domain: Any = None,
    groups: Any = None,
    component: Any = None,
) -> Certificate:
    """Evaluate both objectives at (u, p) for any data term of the library.

    `domain` is the range of a logistic problem; the other terms have theirs from the data. `groups`
    are lists of pairs (edge, channel) whose norm counts; by default every pair is a group. With the
    `component` of every vertex, ranges are those of the data of a component in one channel.
    """
    dense = K.toarray() if hasattr(K, "toarray") else np.asarray(K)
    with localcontext(prec=DIGITS):
        delta = Decimal(huber_delta)
        rows = [[(i, Decimal(x)) for i, x in enumerate(row) if x] for row in dense.tolist()]
        us = [[Decimal(x) for x in column] for column in _columns(u)]
        ps = [[Decimal(x) for x in column] for column in _columns(p)]
        pulls = []
        differences: dict[tuple[int, int], Decimal] = {}
        for c, (v, q) in enumerate(zip(us, ps, strict=True)):
            for e, row in enumerate(rows):
                differences[e, c] = sum((x * v[i] for i, x in row), ZERO)
            pull = [ZERO] * len(v)
            for row, x in zip(rows, q, strict=True):
                for i, k in row:
                    pull[i] -= k * x
            pulls.append(pull)
        groups = [[pair] for pair in differences] if groups is None else groups
        assert sorted(pair for group in groups for pair in group) == sorted(differences)
        sizes = [sum((differences[pair] ** 2 for pair in group), ZERO).sqrt() for group in groups]
        squares = [sum((ps[c][e] ** 2 for e, c in group), ZERO) for group in groups]
        penalty = sum((_penalty(x, delta) for x in sizes), ZERO)
        conjugate_penalty = delta * sum(squares, ZERO) / 2
        if type(data).__name__ == "EntropicSimplex":
            fidelity, conjugate_data = _simplex_objectives(data, us, pulls)
        else:
            if type(data).__name__ == "LogisticLoss" or not hasattr(data, "weights"):
                losses = losses_of(data, domain or (0.0, 0.0))
            elif component is None:
                losses = losses_of(data, data_range(data))
            else:
                losses = _losses_by_component(data, component)
            entries = [
                entry
                for columns in zip(losses, us, pulls, strict=True)
                for entry in zip(*columns, strict=True)
            ]
            fidelity = sum((loss.value(x) for loss, x, _ in entries), ZERO)
            conjugate_data = sum((_conjugate(loss, s) for loss, _, s in entries), ZERO)
        primal = fidelity + penalty
        if any(square > 1 for square in squares):
            return Certificate(float(primal), -math.inf, math.inf)
        dual = -conjugate_data - conjugate_penalty
        return Certificate(float(primal), float(dual), float(primal - dual))


def _simplex_objectives(data: Any, us: Any, pulls: Any) -> tuple[Decimal, Decimal]:
    """Return G(u) and G*(s); the sum of u is taken as 1."""
    eps = Decimal(data.epsilon)
    costs = [[Decimal(x) for x in column] for column in _columns(data.cost)]
    value = conjugate_value = ZERO
    for x, s, a in zip(_points(us), _points(pulls), _points(costs), strict=True):
        for k, cost in zip(x, a, strict=True):
            value += k * (cost + eps * k.ln()) if k > 0 else ZERO
        heights = [(t - y) / eps for t, y in zip(s, a, strict=True)]
        top = max(heights)
        conjugate_value += eps * (top + sum(((h - top).exp() for h in heights), ZERO).ln())
    return value, conjugate_value


def _penalty(x: Decimal, delta: Decimal) -> Decimal:
    return x * x / (2 * delta) if abs(x) < delta else abs(x) - delta / 2


def _columns(values: Any) -> list[list[float]]:
    array = np.asarray(values, dtype=np.float64)
    columns = array[:, None] if array.ndim == 1 else array
    return [[float(x) for x in column] for column in columns.T]


def _points(columns: Iterable[Any]) -> list[tuple[Any, ...]]:
    return list(zip(*columns, strict=True))
