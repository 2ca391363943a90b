"""An interval that contains a solution of a logistic problem.

The minimisers of the single losses are at infinity. Consider a connected component with labels of
both kinds. Let W₊ and W₋ be the sums of their weights, and ω the smallest edge weight. The best
constant is log(W₊/W₋), with the value

    P₀ = W₊ log(1 + W₋/W₊) + W₋ log(1 + W₊/W₋),

and a solution u has no larger value. For a vertex labelled -1 with weight c, c log(1 + exp(u_j)) ≤
P₀, so u_j ≤ B = log(exp(P₀/c) - 1). This gives two upper bounds of u:

- The component is connected, so ω (max u - min u) ≤ TV(u) ≤ P₀ and u ≤ B + P₀/ω. Huber's relaxation
  is at least TV - m δ/2, which adds m δ/(2ω).
- For total variation: at least one edge separates every level set {u > t} with t ≥ B from that
  vertex. Lowering the level set saves ω and costs at most W₊/(1 + exp(t)), which is at most ω for t
  ≥ log(W₊/ω - 1). So u may be clipped at the larger of this number and B.

Isotropic and coupled total variation are at least TV/√k in every channel, if no group has more than
k edges. Coupled channels share their P₀, the sum of those of the channels.

The lower end follows by changing the signs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from graphtv import _core
from graphtv._elementary import expm1, log, log1p
from graphtv._validate import Floats, describe, first_index
from graphtv.graph.components import connected_components
from graphtv.graph.graph import Graph

ROUNDING = 1e-9
"""Relative margin that is added to all bounds."""


class Growth(NamedTuple):
    """How fast a penalty grows: in every channel Σ_e |x_e| ≤ factor (F(x) + m δ/2).

    `couples` tells whether F depends on all channels together, `is_sum` whether it is total
    variation or Huber's relaxation of it.
    """

    delta: float
    factor: float = 1.0
    couples: bool = False
    is_sum: bool = True


def growth_of(penalty: _core.Penalty) -> Growth | None:
    """Return how fast a penalty of the core grows; None if that is not known."""
    if penalty.delta is not None:
        return Growth(penalty.delta)
    if not isinstance(penalty, _core.GroupNorms):
        return None
    # The sum of k numbers is at most √k times their norm.
    return Growth(penalty.width, math.sqrt(penalty.largest_group), penalty.couples, False)


def logistic_domain(
    graph: Graph, labels: Floats, weights: Floats, growth: Growth
) -> tuple[float, float]:
    """Return the interval; labels and weights have shape (n, C). Without any label it is {0}."""
    n_components, component = connected_components(graph)
    of_edge = component[graph.edges[:, 0]]
    least_edge = np.full(n_components, np.inf)
    np.minimum.at(least_edge, of_edge, graph.weights)
    n_edges = np.bincount(of_edge, minlength=n_components)
    sums = [_sums(labels, weights, component, n_components, c) for c in range(labels.shape[1])]
    return domain_of_sums(sums, least_edge, n_edges, growth)


def domain_of_sums(
    sums: list[tuple[Any, Any, Any, Any]], least_edge: Any, n_edges: Any, growth: Growth
) -> tuple[float, float]:
    """Return the interval from the sums and the largest weights of either label, by component.

    `sums` has one entry per channel, and each component has both labels or none.
    """
    lower, upper = np.inf, -np.inf
    costs = [_cost_of_a_constant(W_pos, W_neg) for W_pos, W_neg, _, _ in sums]
    if growth.couples:
        costs = [np.sum(costs, axis=0)] * len(costs)
    for (W_pos, W_neg, *best), cost in zip(sums, costs, strict=True):
        has = W_pos > 0
        if not has.any():
            continue
        P0, omega = cost[has] * (1 + ROUNDING), least_edge[has]
        reach = growth.factor * (P0 + 0.5 * growth.delta * n_edges[has]) / omega
        up = _ceiling(P0, best[1][has], W_pos[has], omega, reach, growth)
        down = _ceiling(P0, best[0][has], W_neg[has], omega, reach, growth)
        lower, upper = min(lower, float(np.min(-down))), max(upper, float(np.max(up)))
    if lower > upper:
        return 0.0, 0.0
    slack = ROUNDING * (1 + max(abs(lower), abs(upper)))
    return lower - slack, upper + slack


def _sums(
    labels: Floats, weights: Floats, component: Any, n_components: int, channel: int
) -> tuple[Any, Any, Any, Any]:
    """Return the sum of the weights of either label, and the largest of them, by component."""
    y, c = labels[:, channel], weights[:, channel]
    positive, negative = np.where(y > 0, c, 0.0), np.where(y < 0, c, 0.0)
    W_pos = np.bincount(component, positive, n_components)
    W_neg = np.bincount(component, negative, n_components)
    _check_both_labels(W_pos, W_neg, component, labels, channel)
    return W_pos, W_neg, *(_largest(w, component, n_components) for w in (positive, negative))


def _cost_of_a_constant(W_pos: Any, W_neg: Any) -> Any:
    """Return the value of the best constant of every component; both sums are 0, or neither."""
    a, b = (np.where(W_pos > 0, W, 1.0) for W in (W_pos, W_neg))
    return np.where(W_pos > 0, a * log1p(b / a) + b * log1p(a / b), 0.0)


def sparse_logistic_domain(
    labels: Floats, weights: Floats, sparsity: Floats
) -> tuple[float, float]:
    """Return an interval that contains 0 and the minimiser of every G_i + μ_i |·|.

    The minimiser is y log((c - μ)/μ) if μ < c/2, and 0 otherwise.
    """
    c = np.where(labels == 0.0, 0.0, weights)
    free = (c > 0.0) & (sparsity == 0.0)
    if free.any():
        where = first_index(free)
        raise ValueError(
            "sparsity must be positive at every labelled vertex or 0 everywhere for the logistic"
            f" loss, got 0 at {describe(where)}"
        )
    pulled = c > 2.0 * sparsity
    odds = np.where(pulled, c - sparsity, 1.0) / np.where(pulled, sparsity, 1.0)
    best = labels * log(odds)
    return min(float(best.min(initial=0.0)), 0.0), max(float(best.max(initial=0.0)), 0.0)


def _ceiling(P0: Any, c: Any, pull: Any, omega: Any, reach: Any, growth: Growth) -> Any:
    """Return the upper end: c is the largest weight of a label -1, `pull` the sum of labels 1."""
    with np.errstate(divide="ignore", under="ignore"):
        x = P0 / c
        anchor = x + log(-expm1(-x))  # log(exp(x) - 1)
        if growth.delta > 0 or not growth.is_sum:
            return anchor + reach
        level = log(np.maximum(pull / omega - 1, 0.0))
    return np.minimum(anchor + reach, np.maximum(anchor, level))


def _largest(values: Any, component: Any, n_components: int) -> Any:
    largest = np.zeros(n_components)
    np.maximum.at(largest, component, values)
    return largest


def _check_both_labels(
    W_pos: Any, W_neg: Any, component: Any, labels: Floats, channel: int
) -> None:
    alone = (W_pos > 0) != (W_neg > 0)
    if not alone.any():
        return
    which = int(np.argmax(alone))
    vertex = int(np.argmax(component == which))
    label = "1" if W_pos[which] > 0 else "-1"
    where = f" in channel {channel}" if labels.shape[1] > 1 else ""
    hint = ""
    if not (labels < 0.0).any() and (labels == 0.0).any():
        hint = "; 0 means no label, so give two classes as booleans or as -1 and 1"
    raise ValueError(
        f"data has no minimiser on this graph: all labels of the connected component of vertex "
        f"{vertex}{where} are {label}, so u would go to infinity there{hint}"
    )
