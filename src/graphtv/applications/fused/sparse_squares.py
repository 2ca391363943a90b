"""Exact solution for the squared loss with any vertex weights and any sparsity.

    min_u ½ Σ_i c_i (u_i - f_i)² + TV(u) + Σ_i μ_i |u_i|,    c ≥ 0, μ > 0

The level sets of a solution above 0 depend only on the derivatives above 0, where |u| = u. The same
holds below 0. Let u⁺ ≤ u⁻ be the solutions without sparsity for the signals f ∓ μ/c. Then

    u = max(u⁺, 0) + min(u⁻, 0).

If c_i = 0, u⁺ needs a G_i with the slope μ_i above 0 and any slope below. Huber's loss has this
property. Its zone δ is chosen so wide that the loss is quadratic wherever data can be, and a vertex
without data gets the signal -δ and the weight μ_i/δ. The level sets of the solution need not be
unique. Still, those of u⁺ are contained in those of u⁻, because the two slopes differ by 2μ_i > 0.

The dual point is p⁺ on the edges that touch {u > 0}, and p⁻ on those that touch {u < 0}. On the
other edges, those inside Z = {u = 0}, it has to satisfy |r_i - (Kᵀp)_i| ≤ μ_i, where r is c f minus
the inflow from outside. Let v be the solution of min ½ Σ_Z μ_i (v_i - r_i/μ_i)² + TV_Z(v). Among
all vectors (r - Kᵀp)_i / μ_i, v has the smallest largest entry and the largest smallest entry,
because it is the lexicographically optimal base of a submodular function (Fujishige 1980). So if
any dual point satisfies the condition, the dual point of v does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphtv._validate import Floats
from graphtv.graph.graph import Graph
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.terms import HuberLoss, SquaredLoss
from graphtv.terms.weighted_loss import WeightedLoss


class Split(NamedTuple):
    """A primal and a dual point, and the runs that computed them."""

    u: Floats
    p: Floats
    runs: list[Result]


def split_at_zero(
    graph: Graph, loss: WeightedLoss, sparsity: Floats, options: dict[str, Any]
) -> Split:
    """Return the solution and its dual point; `graph` has the weights λω."""
    shape, columns = loss.shape, (graph.n_vertices, -1)
    exact = {**options, "tol": 0.0, "warm_start": None}
    c = np.array(loss.weights)
    above, below = (
        solve(Problem(graph, _tilted(loss.data, c, side * sparsity)), **exact)
        for side in (1.0, -1.0)
    )
    u = np.maximum(above.u, 0.0) + np.minimum(below.u, 0.0)
    runs = [above, below]

    tail, head = graph.edges.T
    values = u.reshape(columns)
    touches_positive = (values[tail] > 0.0) | (values[head] > 0.0)
    inside = (values[tail] == 0.0) & (values[head] == 0.0)
    edges = (graph.n_edges, values.shape[1])
    p = np.where(touches_positive, above.p.reshape(edges), below.p.reshape(edges))
    p[inside] = 0.0
    flow = graph.gradient().T @ p
    residual = (c * loss.data).reshape(columns) - flow
    for k, mu in enumerate(np.reshape(sparsity, columns).T):
        zero = values[:, k] == 0.0
        if not inside[:, k].any():
            continue
        number = np.cumsum(zero) - 1
        part = Graph._from_simple(
            int(zero.sum()),
            np.ascontiguousarray(number[graph.edges[inside[:, k]]], dtype=np.int32),
            graph.weights[inside[:, k]],
        )
        middle = Problem(part, SquaredLoss(residual[zero, k] / mu[zero], mu[zero]))
        run = solve(middle, **exact)
        p[inside[:, k], k] = run.p
        runs.append(run)
    return Split(u, p.reshape(graph.n_edges, *shape[1:]), runs)


def _tilted(signal: Floats, c: Floats, slope: Floats) -> SquaredLoss | HuberLoss:
    """Return the term ½ c (u - f)² + slope u, for the side of 0 where |u| has this slope."""
    there = c > 0.0
    shifted = np.where(there, signal - slope / np.where(there, c, 1.0), 0.0)
    if there.all():
        return SquaredLoss(shifted, c)
    delta = 2.0 * float(np.abs(shifted).max() + np.abs(signal).max(where=there, initial=0.0)) + 1.0
    return HuberLoss(
        np.where(there, shifted, -delta * np.sign(slope)),
        delta,
        np.where(there, c, np.abs(slope) / delta),
    )
