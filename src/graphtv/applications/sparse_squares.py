"""The squared loss with any vertex weights and any sparsity, exactly: two sides and the middle.

    min_u ½ Σ_i c_i (u_i - f_i)² + TV(u) + Σ_i μ_i |u_i|,    c > 0, μ > 0

The level sets of a solution above 0 depend on the derivatives above 0 alone, where |u| is u; those
below 0 likewise. So with the solutions u⁺ ≤ u⁻ for the signals f ∓ μ/c,

    u = max(u⁺, 0) + min(u⁻, 0).

The dual point is p⁺ on the edges that touch {u > 0}, and p⁻ on those that touch {u < 0}. On the
others, those of Z = {u = 0}, it has to satisfy |r_i - (Kᵀp)_i| ≤ μ_i, where r is c f less what
flows in from outside. Among all (r - Kᵀp)_i / μ_i the solution v of min ½ Σ_Z μ_i (v_i - r_i/μ_i)²
+ TV_Z(v) has the least greatest and the greatest least entry at once, since it is the
lexicographically optimal base of a submodular function (Fujishige 1980). So if any dual point
does, that of v does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphtv._validate import Floats
from graphtv.graph import Graph
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.terms import SquaredLoss


class Split(NamedTuple):
    """A primal and a dual point, and the runs that led there."""

    u: Floats
    p: Floats
    runs: list[Result]


def split_at_zero(
    graph: Graph, loss: SquaredLoss, sparsity: Floats, options: dict[str, Any]
) -> Split:
    """Return the solution and its dual point; `graph` has the weights λω."""
    shape, columns = loss.shape, (graph.n_vertices, -1)
    exact = {**options, "tol": 0.0, "warm_start": None}
    c = np.array(loss.weights)
    shift = sparsity / c
    above = solve(Problem(graph, SquaredLoss(loss.signal - shift, c)), **exact)
    below = solve(Problem(graph, SquaredLoss(loss.signal + shift, c)), **exact)
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
    residual = (c * loss.signal).reshape(columns) - flow
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
