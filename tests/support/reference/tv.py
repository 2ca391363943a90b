"""Exact total variation on chains, trees and small graphs: slow references for the C++ kernels.

    min_u  ½ Σ_i c_i (u_i - f_i)² + Σ_e h(ω_e (u_i - u_j)),    h = |·|, or Huber's for δ > 0

Trees follow Algorithm 1 of Möllenhoff et al. (AISTATS 2018), that is Algorithm 2 of Kolmogorov,
Pock and Rolinek (SIAM J. Imaging Sci. 2016). A message is the derivative of a convex piecewise
quadratic function. It is stored as a sorted list of knots (u, g) and rebuilt from scratch at every
vertex, which takes quadratic time but is simple. All arithmetic also runs on `fractions.Fraction`
(``exact=True``), which makes the result the true minimiser of the given floating-point data.

The departure from the paper: vertex weights, and Huber's penalty. For the latter the inner problem
min_u M(u) + h(ω(v - u)) has the optimality condition v = u + δ g/ω² with g = M'(u), so that the
knot (u, g) of the message moves to (u + δ g/ω², g).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse
from numpy.typing import NDArray

Knots = list[tuple[Any, Any]]
"""Points (u, g) of a nondecreasing function, constant outside, linear between."""


def tv_chain(signal: Any, weights: Any, huber: float = 0.0, *, exact: bool = False) -> NDArray[Any]:
    """Return the minimiser on a path; `weights` are a number or n - 1 of them."""
    n = len(np.asarray(signal))
    edges = [(i, i + 1) for i in range(n - 1)]
    return tv_tree(
        n, edges, np.broadcast_to(weights, max(n - 1, 0)), signal, None, huber, exact=exact
    )


def tv_tree(
    n_vertices: int,
    edges: Any,
    weights: Any,
    signal: Any,
    vertex_weights: Any = None,
    huber: float = 0.0,
    *,
    exact: bool = False,
) -> NDArray[Any]:
    """Return the minimiser on a forest (each tree on its own).

    With ``exact=True`` the result is an object array of `Fraction`, free of rounding.
    """
    number: Any = Fraction if exact else float
    f = _numbers(signal, number)
    w = _numbers(weights, number)
    c = [number(1)] * n_vertices if vertex_weights is None else _numbers(vertex_weights, number)
    delta = number(huber)
    order, parent, parent_edge = _rooted(n_vertices, edges)

    # From the leaves to the roots: m̂_i(u) = c_i (u - f_i) + Σ_children m_ki(u), clipped to ±ω.
    incoming: list[list[Knots]] = [[] for _ in range(n_vertices)]
    outgoing: list[Knots] = [[] for _ in range(n_vertices)]
    interval: list[tuple[Any, Any]] = [(None, None)] * n_vertices
    u: list[Any] = [None] * n_vertices
    for i in reversed(order):
        knots = sorted({x for message in incoming[i] for x, _ in message}) or [f[i]]
        total = [(x, c[i] * (x - f[i]) + sum(_value(m, x) for m in incoming[i])) for x in knots]
        if parent[i] < 0:
            u[i] = _root(total, number(0), c[i])
            continue
        omega = w[parent_edge[i]]
        lower, upper = _root(total, -omega, c[i]), _root(total, omega, c[i])
        interval[i] = (lower, upper)
        inside = [(x, g) for x, g in total if -omega < g < omega]
        clipped = [(lower, -omega), *inside, (upper, omega)]
        outgoing[i] = [(x + _shift(g, omega, delta), g) for x, g in clipped]
        incoming[parent[i]].append(outgoing[i])

    # From the roots to the leaves: u_i minimises its message given u_parent.
    for i in order:
        if parent[i] >= 0:
            v, omega = u[parent[i]], w[parent_edge[i]]
            lower, upper = interval[i]
            u[i] = min(max(v - _shift(_value(outgoing[i], v), omega, delta), lower), upper)
    return np.array(u, dtype=object if exact else np.float64)


def recover_dual(
    n_vertices: int, edges: Any, weights: Any, signal: Any, u: Any, vertex_weights: Any = None
) -> NDArray[Any]:
    """Return the p with Kᵀp = C(f - u) on a forest, leaf to root.

    The edge above i carries the sum of C(f - u) over the subtree of i. Exact if `u` holds
    `Fraction`.
    """
    exact = np.asarray(u).dtype == object
    number: Any = Fraction if exact else float
    total: Any = sum if exact else math.fsum
    w = _numbers(weights, number)
    c = [number(1)] * n_vertices if vertex_weights is None else _numbers(vertex_weights, number)
    values = zip(c, _numbers(signal, number), _numbers(u, number), strict=True)
    flows = [[c_i * (f_i - u_i)] for c_i, f_i, u_i in values]
    order, parent, parent_edge = _rooted(n_vertices, edges)
    p: list[Any] = [number(0)] * len(w)
    for i in reversed(order):
        if parent[i] >= 0:
            e = parent_edge[i]
            flow = total(flows[i])
            flows[parent[i]].append(flow)
            sign = 1 if edges[e][0] == i else -1
            p[e] = sign * flow / w[e] if w[e] else number(0)
    return np.array(p, dtype=object if exact else np.float64)


def tv_quadratic(
    K: Any, signal: Any, vertex_weights: Any = None, huber: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (u, p) on any small graph, by bounded least squares on the dual.

    min over |p| ≤ 1 of ½‖C^-½ (Kᵀp) - C^½ f‖² + δ/2 ‖p‖², a dense active-set method; then
    u = f - C⁻¹Kᵀp. Where K has cycles and δ = 0, p is one of many.
    """
    K = scipy.sparse.csr_array(K)
    f = np.asarray(signal, dtype=np.float64)
    c = np.ones_like(f) if vertex_weights is None else np.asarray(vertex_weights, dtype=np.float64)
    m = K.shape[0]
    if m == 0:
        return f.copy(), np.empty(0)
    matrix = np.vstack([(K.T.toarray().T / np.sqrt(c)).T, math.sqrt(huber) * np.eye(m)])
    target = np.concatenate([np.sqrt(c) * f, np.zeros(m)])
    solution = scipy.optimize.lsq_linear(
        matrix, target, bounds=(-1.0, 1.0), method="bvls", tol=1e-15, max_iter=20 * m + 100
    )
    p = np.clip(solution.x, -1.0, 1.0)
    return f - (K.T @ p) / c, p


def _numbers(values: Any, number: Any) -> list[Any]:
    return [number(x) for x in np.asarray(values).tolist()]


def _rooted(n_vertices: int, edges: Any) -> tuple[list[int], list[int], list[int]]:
    """Return vertices in breadth-first order, each one's parent and the edge to it (or -1)."""
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(n_vertices)]
    for e, (i, j) in enumerate(edges):
        neighbours[i].append((int(j), e))
        neighbours[j].append((int(i), e))
    order: list[int] = []
    parent, parent_edge = [-1] * n_vertices, [-1] * n_vertices
    seen = [False] * n_vertices
    for root in range(n_vertices):
        if seen[root]:
            continue
        seen[root] = True
        queue = [root]
        for i in queue:
            for j, e in neighbours[i]:
                if e == parent_edge[i]:
                    continue
                if seen[j]:
                    raise ValueError(f"edges must be a forest, edge {e} closes a cycle")
                seen[j], parent[j], parent_edge[j] = True, i, e
                queue.append(j)
        order += queue
    return order, parent, parent_edge


def _value(message: Knots, x: Any) -> Any:
    """Evaluate a message: linear between knots, constant outside."""
    k = bisect_right(message, x, key=lambda knot: knot[0])
    if k == 0:
        return message[0][1]
    if k == len(message):
        return message[-1][1]
    (x0, g0), (x1, g1) = message[k - 1], message[k]
    return g0 + (x - x0) * (g1 - g0) / (x1 - x0)


def _root(knots: Knots, level: Any, slope: Any) -> Any:
    """Return the x where an increasing function, with `slope` outside its knots, is `level`."""
    k = bisect_right(knots, level, key=lambda knot: knot[1])
    if k == 0:
        return knots[0][0] + (level - knots[0][1]) / slope
    if k == len(knots):
        return knots[-1][0] + (level - knots[-1][1]) / slope
    (x0, g0), (x1, g1) = knots[k - 1], knots[k]
    return x0 + (level - g0) * (x1 - x0) / (g1 - g0)


def _shift(g: Any, omega: Any, delta: Any) -> Any:
    """Return how far Huber's penalty moves a knot; an edge of weight 0 moves nothing."""
    return delta * g / (omega * omega) if omega else g
