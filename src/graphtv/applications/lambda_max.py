"""The least λ at which everything is fused, component by component.

Let m be the best constants of the connected components, and r = -G'(m). They solve the problem at
λ if and only if λ Kᵀp = r for some |p| ≤ 1, which by the max-flow min-cut theorem means

    λ ≥ λ_max = max_S |Σ_{i ∈ S} r_i| / ω(∂S)

over the sets S of vertices. Newton's method for such ratios (Dinkelbach 1967) takes, at λ, a set
that violates this most: a level set of v = argmin ½‖v - r‖² + λ TV(v). Its ratio is the next λ, and
here that of the best of all level sets of v. λ rises to λ_max in a few steps, the last of which
finds v = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtv._validate import Floats
from graphtv.applications._graph import scaled
from graphtv.applications.fused_model import FusedModel
from graphtv.components import connected_components
from graphtv.graph import Graph
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.terms import AbsoluteLoss, SquaredLoss

MAX_STEPS = 50
"""Steps of Newton's method; it needs few."""

NEGLIGIBLE = 1e-10
"""Residuals below this part of the largest slope are rounding: the constants fit the data."""


def lambda_max(model: FusedModel, **options: Any) -> float:
    """Return the least λ at which the solution is constant on every component.

    For the absolute loss, whose slopes at the data are a choice, it is an upper bound of that, and
    so it is with sparsity where constants are 0. It is 0 where constants fit the data.
    """
    graph = model.graph
    _, component = connected_components(graph)
    constants = model.constants()
    slopes = model.slopes(constants)
    free = np.zeros(slopes.shape)  # how far slopes may be moved up or down
    if isinstance(model.loss, AbsoluteLoss):
        free += model.loss.weights * np.isclose(model.loss.signal, constants, rtol=1e-12, atol=0.0)
    if model.is_sparse:
        slopes = slopes + model.sparsity * np.sign(constants)
        free += model.sparsity * (constants == 0.0)
    slopes = _balanced(slopes, free, component)
    largest = float(np.abs(slopes).max(initial=0.0))
    found = 0.0
    for r in np.reshape(-slopes, (graph.n_vertices, -1)).T:
        residual = _centred(r, component)
        if graph.n_edges and np.abs(residual).max() > NEGLIGIBLE * largest:
            found = max(found, _largest_ratio(graph, residual / largest, component, options))
    return found * largest


def _largest_ratio(graph: Graph, r: Floats, component: Any, options: dict[str, Any]) -> float:
    """Return max_S |r(S)| / ω(∂S) by Newton's method."""
    lam = _best_level_set(graph, r, r, component)
    start: Result | None = None
    for _ in range(MAX_STEPS):
        problem = Problem(scaled(graph, lam), SquaredLoss(r))
        start = solve(problem, **{**options, "tol": 0.0, "warm_start": start})
        if start.status == "interrupted":
            raise KeyboardInterrupt
        better = _best_level_set(graph, r, start.u, component)
        if better <= lam * (1.0 + 1e-12):
            break
        lam = better
    return lam


def _best_level_set(graph: Graph, r: Floats, v: Floats, component: Any) -> float:
    """Return the largest |r(S)| / ω(∂S) over the level sets S of v on every component.

    Vertices are sorted by component and v, so that level sets are runs that begin with their
    component. An edge between the positions a < b is cut by the runs that end in a, …, b - 1.
    """
    order = np.lexsort((v, component))
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    a, b = np.sort(position[graph.edges], axis=1).T
    n = len(order)
    cut = np.cumsum(np.bincount(a, graph.weights, n + 1) - np.bincount(b, graph.weights, n + 1))[
        :-1
    ]
    # Between equal values no level set ends; nor does one where a component ends, and ω(∂S) = 0.
    first, second = order[:-1], order[1:]
    ends = (component[first] == component[second]) & (v[first] < v[second])
    if not ends.any():
        return 0.0
    return float(np.max(np.abs(np.cumsum(r[order])[:-1][ends]) / cut[:-1][ends]))


def _centred(r: Floats, component: Any) -> Floats:
    """Return r less its mean on every component: it sums to 0 there but for rounding."""
    mean = np.bincount(component, r) / np.bincount(component)
    return np.asarray(r - mean[component])


def _balanced(slopes: Floats, free: Floats, component: Any) -> Floats:
    """Let the entries whose slope is anything in [-free, free] take what the others leave."""
    columns = (len(component), -1)
    out = np.array(slopes).reshape(columns)
    for column, width in zip(out.T, np.reshape(free, columns).T, strict=True):
        total, slack = np.bincount(component, column), np.bincount(component, width)
        share = np.divide(-total, slack, out=np.zeros_like(total), where=slack > 0.0)
        column += np.clip(share, -1.0, 1.0)[component] * width
    return out.reshape(np.shape(slopes))
