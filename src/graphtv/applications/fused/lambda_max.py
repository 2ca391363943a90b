"""The smallest λ at which every connected component is fused.

Let m be the best constants of the connected components, and r = -G'(m). They solve the problem at
λ if and only if λ Kᵀp = r for some |p| ≤ 1, which by the max-flow min-cut theorem means

    λ ≥ λ_max = max_S |Σ_{i ∈ S} r_i| / ω(∂S)

over the sets S of vertices. Newton's method for such ratios (Dinkelbach 1967) chooses a set that
violates this condition most at λ: a level set of v = argmin ½‖v - r‖² + λ TV(v). The next λ is its
ratio; here it is the largest ratio of all level sets of v. λ increases to λ_max in a few steps, and
the last step finds v = 0.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from graphtv._validate import Floats
from graphtv.applications.fused.fused_model import FusedModel
from graphtv.applications.graph_input import scaled
from graphtv.graph.components import connected_components
from graphtv.graph.graph import Graph
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.terms import SquaredLoss

ROUNDING = 1e-13
"""Sums smaller than this, relative to the sum of absolute values, are rounding errors."""

NOISE_PART = 0.25
"""Smallest λ of a path, relative to the λ that moves a typical vertex by a typical difference."""

MAX_STEPS = 50
"""Limit of the number of Newton steps; few are needed."""

ROUGH = 1e-2
"""Relative gap of the first Newton steps, and the relative growth of λ that ends them."""

KINK = 2e-12
"""Relative distance below which u counts as being at a kink of the loss."""

NEGLIGIBLE = 1e-10
"""Residuals smaller than this, relative to the largest slope, are rounding errors."""


class LambdaMax(NamedTuple):
    """The smallest λ at which everything is fused, and the solution there."""

    value: float
    start: tuple[Floats, Floats] | None  # u and p at this λ, if λ is exact


def lambda_max(model: FusedModel, **options: Any) -> LambdaMax:
    """Return the smallest λ at which the solution is constant on every component.

    The result is an upper bound for the absolute loss, whose slopes at the data are not unique, and
    with sparsity if the constants are 0. It is 0 if constants fit the data.
    """
    graph = model.graph
    _, component = connected_components(graph)
    constants = model.constants()
    slopes = model.loss.derivative(constants)
    free = np.zeros(slopes.shape)  # half the length of the interval of subgradients
    if not model.loss.traits.is_smooth:
        free += _half_jump(model, constants)
    if model.is_sparse:
        slopes = slopes + model.sparsity * np.sign(constants)
        free += model.sparsity * (constants == 0.0)
    slopes = _balanced(slopes, free, component)
    largest = float(np.abs(slopes).max(initial=0.0))
    flows, found = [], 0.0
    for r in np.reshape(-slopes, (graph.n_vertices, -1)).T:
        residual, ratio, p = _centred(r, component), 0.0, np.zeros(graph.n_edges)
        if graph.n_edges and np.abs(residual).max() > NEGLIGIBLE * largest:
            ratio, p = _largest_ratio(graph, residual / largest, component, options)
        found = max(found, ratio)
        flows.append(ratio * p)
    if not math.isfinite(found * largest):
        raise ValueError(
            "graph must have weights of a narrower range: the smallest weight is"
            f" {graph.weights.min():.3g}, and the λ at which everything is fused overflows"
        )
    if found == 0.0 or not model.loss.traits.is_smooth or model.is_sparse:
        return LambdaMax(found * largest, None)
    p = np.clip(np.stack(flows, axis=1) / found, -1.0, 1.0)
    return LambdaMax(found * largest, (constants, p.reshape(-1, *slopes.shape[1:])))


def _half_jump(model: FusedModel, u: Floats) -> Floats:
    """Return half the jump of the slopes at u, up to rounding of the position of a kink."""
    near = KINK * np.abs(u)
    return 0.5 * (model.loss.derivative(u + near) - model.loss.derivative(u - near))


def lambda_min(model: FusedModel) -> float:
    """Return a λ at which noise is hardly fused: a quarter of the λ that moves a typical vertex.

    At λ the slope of the loss at a vertex changes by at most λ times its degree. The noise of the
    slopes is their typical difference between neighbours.
    """
    graph = model.graph
    slopes = model.loss.derivative(model.constants()).reshape(graph.n_vertices, -1)
    there = model.observed.reshape(graph.n_vertices, -1)
    tail, head = graph.edges.T
    differences = np.abs(slopes[tail] - slopes[head])[there[tail] & there[head]]
    if not differences.any():
        return math.inf
    degrees = np.bincount(graph.edges.ravel(), np.repeat(graph.weights, 2))
    typical = float(np.median(differences)) or float(differences.mean())
    return NOISE_PART * typical / float(np.median(degrees[degrees > 0.0]))


def largest_ratio(graph: Graph, r: Floats, component: Any, options: dict[str, Any]) -> float:
    """Return max_S |r(S)| / ω(∂S) by Newton's method."""
    return _largest_ratio(graph, r, component, options)[0]


def _largest_ratio(
    graph: Graph, r: Floats, component: Any, options: dict[str, Any]
) -> tuple[float, Floats]:
    """Return the same, and p with r = ratio Kᵀp.

    Level sets of approximate solutions are good enough until they give no larger ratio. Only the
    last step, which proves that there is none, has to be exact.
    """
    lam = _best_level_set(graph, r, r, component)
    start: Result | None = None
    tolerance = ROUGH
    for _ in range(MAX_STEPS):
        problem = Problem(scaled(graph, lam), SquaredLoss(r))
        start = solve(problem, **{**options, "tol": tolerance, "warm_start": start})
        if start.status == "interrupted":
            raise KeyboardInterrupt
        better = _best_level_set(graph, r, start.u, component)
        if better > lam * (1.0 + (1e-12 if tolerance == 0.0 else ROUGH)):
            lam = better
        elif tolerance == 0.0:
            break
        else:
            lam, tolerance = max(lam, better), 0.0
    assert start is not None
    return lam, start.p


def _best_level_set(graph: Graph, r: Floats, v: Floats, component: Any) -> float:
    """Return the largest |r(S)| / ω(∂S) over the level sets S of v on every component.

    Vertices are sorted by component and v, so that level sets are runs that begin with their
    component. Runs end between different values; none ends with its component, where ω(∂S) = 0.
    """
    order = np.lexsort((v, component))
    first, second = order[:-1], order[1:]
    inside = component[first] == component[second]
    changes = ~inside | (v[first] < v[second])
    level = np.empty_like(order)
    level[order] = np.concatenate([[0], np.cumsum(changes)])
    ends = inside[changes]
    if not ends.any():
        return 0.0
    cut = _cuts(level[graph.edges], graph.weights, len(ends) + 1)[:-1]
    sums = np.cumsum(np.bincount(level, r))[:-1]
    noise = ROUNDING * np.cumsum(np.bincount(level, np.abs(r)))[:-1]
    sums = np.where(np.abs(sums) > noise, np.abs(sums), 0.0)
    return float(np.max(sums[ends] / cut[ends]))


def _cuts(ends: Any, weights: Floats, n: int) -> Floats:
    """Return, for every k < n, the weight of the edges between levels up to k and above k.

    An edge between the levels a < b counts for a, …, b - 1. These ranges are sums of dyadic ones,
    as in a segment tree. So weights are only added, and a small cut is not lost in the rounding of
    large ones.
    """
    a, b = np.sort(ends, axis=1).T
    rows = []
    while True:
        apart = a < b
        if not apart.any():
            break
        a, b, weights = a[apart], b[apart], weights[apart]
        odd_a, odd_b = (a & 1).astype(bool), (b & 1).astype(bool)
        row = np.bincount(a[odd_a], weights[odd_a], n) + np.bincount(
            b[odd_b] - 1, weights[odd_b], n
        )
        rows.append(row)
        a, b, n = (a + 1) >> 1, b >> 1, (n + 1) >> 1
    cut = np.zeros(n)
    for row in reversed(rows):
        cut = np.repeat(cut, 2)[: len(row)] + row
    return cut


def _centred(r: Floats, component: Any) -> Floats:
    """Return r minus its mean on every component, where its sum is 0 up to rounding."""
    mean = np.bincount(component, r) / np.bincount(component)
    return np.asarray(r - mean[component])


def _balanced(slopes: Floats, free: Floats, component: Any) -> Floats:
    """Choose the subgradients in [-free, free] such that the sum of all slopes is 0."""
    columns = (len(component), -1)
    out = np.array(slopes).reshape(columns)
    for column, width in zip(out.T, np.reshape(free, columns).T, strict=True):
        total, slack = np.bincount(component, column), np.bincount(component, width)
        share = np.divide(-total, slack, out=np.zeros_like(total), where=slack > 0.0)
        column += np.clip(share, -1.0, 1.0)[component] * width
    return out.reshape(np.shape(slopes))
