"""Verifies a result in NumPy's longest floats, with independent formulas.

The verifier uses nothing of the core: both objectives, the adjoint and the conjugates follow from
the arrays of the problem alone. (The range of a logistic problem is taken from the problem. That it
contains a minimiser is a theorem, tested elsewhere.)

    P = G(u) + F(Ku),    D = -G*(-Kᵀp) - F*(p),    D ≤ minimum ≤ P

The conjugates of losses are maxima over a range that holds a solution: that of the data of a
channel in one component of the graph, or any wider one. A wider range gives a smaller dual
objective, which is still a bound. So a result may claim less than the verifier finds, unless the
range does not matter.

On x86, long doubles have 64 bits and exponents up to ±16383, so that squares of 1e150 do not
overflow and a relative gap of 1e-15 can be resolved.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
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

Long = NDArray[np.longdouble]
STATUSES = {"optimal", "iteration_limit", "time_limit", "interrupted", "stalled"}
EPSILON = np.longdouble(np.finfo(np.float64).eps)


class Verdict(NamedTuple):
    """Both objectives, the size of their summands, and the possible error by underflow.

    `wide_dual` is the dual objective with the range of all data; it is `dual` where the range does
    not matter.
    """

    primal: Any
    dual: Any
    wide_dual: Any
    size: Any
    floor: Any


def long(values: Any) -> Long:
    """Return an array of long doubles."""
    return np.asarray(values, dtype=np.longdouble)


def judge(problem: Problem, u: Any, p: Any) -> Verdict:
    """Return the true objectives at (u, p)."""
    graph, delta = problem.graph, long(problem.penalty.delta)
    tails, heads = graph.edges.T
    shape = (graph.n_edges, *[1] * (len(problem.shape) - 1))
    weights = long(graph.weights).reshape(shape)
    v, q = long(u), long(p)
    Ku = weights * (v[tails] - v[heads])
    a = abs(Ku)
    penalty = np.where(a < delta, a * (a / (2 * delta)), a - delta / 2) if delta > 0 else a
    s = np.zeros(problem.shape, dtype=np.longdouble)
    pull = np.zeros(problem.shape, dtype=np.longdouble)
    np.subtract.at(s, tails, weights * q)
    np.add.at(s, heads, weights * q)
    np.add.at(pull, tails, weights * abs(q))
    np.add.at(pull, heads, weights * abs(q))
    values, conjugates, reach = data_values(problem, v, s, narrow_ranges(problem))
    wide = data_values(problem, v, s, wide_range(problem))[1]
    rounding = pull * reach + abs(conjugates)
    size = penalty.sum() + abs(values).sum() + rounding.sum() + (weights * abs(v[tails])).sum()
    size += (weights * abs(v[heads])).sum()
    smoothing = (delta / 2 * q * q).sum()
    primal = values.sum() + penalty.sum()
    dual = -conjugates.sum() - smoothing
    least = long(np.finfo(np.float64).tiny) * (1 + reach.sum() + abs(v).sum()) * (1 + pull.size)
    return Verdict(primal, dual, -wide.sum() - smoothing, size + smoothing, least)


Ends = tuple[Any, Any]


def wide_range(problem: Problem) -> Ends:
    """Return the range of all data; 0 if there is none."""
    there = _data_of(problem)
    there = there[np.isfinite(there)]
    return (there.min(), there.max()) if there.size else (long(0.0), long(0.0))


def narrow_ranges(problem: Problem) -> Ends:
    """Return the range of the data of the channel and component of every entry."""
    data = _data_of(problem)
    columns = data.reshape(len(data), -1)
    n_components, component = connected_components(problem.graph.to_sparse(), directed=False)
    low = np.full((n_components, columns.shape[1]), np.inf, dtype=np.longdouble)
    high = -low
    np.fmin.at(low, component, columns)
    np.fmax.at(high, component, columns)
    is_empty = ~(low <= high)
    low[is_empty] = high[is_empty] = 0.0
    return low[component].reshape(data.shape), high[component].reshape(data.shape)


def _data_of(problem: Problem) -> Long:
    """Return the data of a loss, NaN where there is none."""
    data: Any = problem.data
    if isinstance(data, EntropicSimplex | LinearBox | LogisticLoss):
        return np.full(problem.shape, np.nan, dtype=np.longdouble)
    f = long(data.counts if isinstance(data, PoissonLoss) else data.signal)
    return np.where(long(data.weights) > 0, f, np.nan)


def data_values(problem: Problem, u: Long, s: Long, ends: Ends) -> tuple[Long, Long, Long]:
    """Return G_i(u_i), G_i*(s_i) and the |u| where the latter is attained, in a range."""
    data: Any = problem.data
    if isinstance(data, EntropicSimplex):
        return _simplex(long(data.cost), long(data.epsilon), u, s)
    if isinstance(data, LinearBox):
        low, high, cost = long(data.lower), long(data.upper), long(data.cost)
        inside = (low <= u) & (u <= high)
        best = np.where(s > cost, high, low)
        return np.where(inside, cost * u, np.inf), (s - cost) * best, abs(best)
    c = long(data.weights)
    if isinstance(data, LogisticLoss):
        return _logistic(long(data.labels), c, problem.term.domain, u, s)
    f = long(data.counts if isinstance(data, PoissonLoss) else data.signal)
    low, high = ends
    end = np.where(s > 0, high, low)
    divisor = np.where(c > 0, c, 1)
    if isinstance(data, SquaredLoss):
        conjugates = np.where(c > 0, s * f + s * (s / (2 * divisor)), s * end)
        r = u - f
        return c * r * r / 2, conjugates, np.where(c > 0, abs(f) + abs(s) / divisor, abs(end))
    if isinstance(data, AbsoluteLoss | QuantileLoss):
        below, above = map(long, data.slopes if isinstance(data, QuantileLoss) else (c, c))
        best = np.where((-below <= s) & (s <= above) & (c > 0), f, end)
        values = np.where(u < f, below * (f - u), above * (u - f))
        lost = np.where(best < f, below * (f - best), above * (best - f))
        return values, s * best - np.where(c > 0, lost, 0), abs(best)
    if isinstance(data, HuberLoss):
        delta = long(data.delta)
        near = (c > 0) & (abs(s / divisor) <= delta)
        best = np.where(near, np.clip(f + s / divisor, low, high), end)
        return c * _huber(u - f, delta), s * best - c * _huber(best - f, delta), abs(best)
    assert isinstance(data, PoissonLoss)
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.clip(f / (1 - s / divisor), low, high)
        best = np.where(c == 0, end, np.where(s < c, np.where(f > 0, inner, low), high))
        values = np.where(c > 0, c * (u - _times_log(f, u)), 0)
        values = np.where((c > 0) & ((u < 0) | ((u == 0) & (f > 0))), np.inf, values)
        return values, s * best - np.where(c > 0, c * (best - _times_log(f, best)), 0), abs(best)


def _times_log(f: Long, u: Long) -> Long:
    return np.where(f > 0, f * np.log(np.where(f > 0, u, 1)), 0)


def _huber(r: Long, delta: Long) -> Long:
    a = abs(r)
    return np.where(a <= delta, a * a / 2, delta * (a - delta / 2))


def _logistic(
    y: Long, c: Long, domain: tuple[float, float], u: Long, s: Long
) -> tuple[Long, Long, Long]:
    low, high = long(domain[0]), long(domain[1])
    known = (c > 0) & (y != 0)
    t = -s * y / np.where(known, c, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = y * (np.log1p(-t) - np.log(t))
    inner = np.clip(np.where(known & (t > 0) & (t < 1), inner, 0), low, high)
    # Outside (0, 1) the slope s - G' has one sign: that of y if t ≤ 0, of -y if t ≥ 1.
    end = np.where(np.where(known, (t <= 0) == (y > 0), s > 0), high, low)
    best = np.where(known & (t > 0) & (t < 1), inner, end)

    def value(x: Long) -> Long:
        return np.where(known, c * np.logaddexp(long(0.0), -y * x), 0)

    return value(u), s * best - value(best), abs(best)


def _simplex(cost: Long, epsilon: Long, u: Long, s: Long) -> tuple[Long, Long, Long]:
    logs = np.log(np.where(u > 0, u, 1))
    values = (u * (cost + epsilon * logs)).sum(axis=1)
    inside = (u >= 0).all(axis=1) & (abs(u.sum(axis=1) - 1) < 1e-9)
    heights = (s - cost) / epsilon
    top = heights.max(axis=1)
    sums = np.exp(heights - top[:, None]).sum(axis=1)
    conjugates = np.zeros_like(u)
    conjugates[:, 0] = epsilon * (top + np.log(sums))
    whole = np.zeros_like(u)
    whole[:, 0] = np.where(inside, values, np.inf)
    return whole, conjugates, np.ones_like(u)


def confirm(problem: Problem, result: Result) -> Verdict:
    """Raise AssertionError unless all statements of a result are true."""
    u, p = result.u, result.p
    assert u.shape == problem.shape, f"u has shape {u.shape}, not {problem.shape}"
    assert p.shape == problem.dual_shape, f"p has shape {p.shape}, not {problem.dual_shape}"
    assert result.status in STATUSES, f"status {result.status}"
    assert np.isfinite(u).all(), f"u is not finite, status {result.status}"
    assert np.isfinite(p).all(), f"p is not finite, status {result.status}"
    assert abs(p).max(initial=0.0) <= 1.0, f"|p| is {abs(p).max()!r}"
    true = judge(problem, u, p)
    slack = 64 * EPSILON * true.size + true.floor
    is_sharp = true.dual - true.wide_dual <= slack
    for name, told, least, most in (
        ("primal", result.primal, true.primal, true.primal),
        ("dual", result.dual, true.dual if is_sharp else -np.inf, true.dual),
    ):
        if np.isfinite(told):
            is_right = least - slack <= long(told) <= most + slack
            assert is_right, f"{name} is {told!r}, truly {least!r} to {most!r}, slack {slack:.3g}"
    assert true.primal - true.dual >= -slack, f"negative gap {true.primal - true.dual!r}"
    tolerance = result.tolerance or 1e-12
    scale = max(abs(true.primal), abs(true.dual))
    if result.status == "optimal":
        gap = true.primal - true.dual
        assert np.isfinite(gap), f"optimal with gap {gap!r}"
        assert result.relative_gap <= tolerance, f"optimal with gap {result.relative_gap!r}"
        assert gap <= tolerance * scale + slack, f"optimal, but the gap is {gap / scale:.3g}"
    return true
