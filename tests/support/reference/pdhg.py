"""PDHG as the paper writes it, with explicit matrices: a slow reference for the C++ solver.

    û = argmin_u G(u) + ⟨p, Ku⟩ + s/2 ‖u - u_k‖_S²                                    (2)
    p̂ = argmin_p F*(p) - ⟨K(û + θ(û - u_k)), p⟩ + t/2 ‖p - p_k‖_T²                     (3)

of Möllenhoff et al. (AISTATS 2018). The dual variable lives on the edges, T is built as a dense
matrix, and (3) is a quadratic problem in a box, solved for each block of T by bounded least
squares. What the C++ solver does in vertex space with exact TV solvers on forests, never forming
p or T, must give the same iterates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.optimize
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Iterate(NamedTuple):
    """The pair after an iteration, feasible, and the steps that led to it."""

    u: Array
    p: Array
    s: float
    t: float
    restarted: bool


class Metric(NamedTuple):
    """S as a vector, T as a dense matrix, the blocks of T, and the bound N of ‖T^-½KS^-½‖²."""

    S: Array
    T: Array
    blocks: list[NDArray[np.intp]]
    norm: float


def metric(K: Any, preconditioner: Any, alpha: float = 1.0) -> Metric:
    """Return the metric for ``"none"``, ``"diagonal"`` or the forest of each edge."""
    K = np.asarray(K.todense() if hasattr(K, "todense") else K, dtype=np.float64)
    m, n = K.shape
    each = [np.array([e]) for e in range(m)]
    if isinstance(preconditioner, str) and preconditioner == "none":
        return Metric(np.ones(n), np.eye(m), each, float(np.linalg.norm(K, 2)) ** 2)
    if isinstance(preconditioner, str) and preconditioner == "diagonal":
        size = np.abs(K)
        S = np.where(size > 0, size, np.inf) ** (2 - alpha)
        T = np.where(size > 0, size, np.inf) ** alpha
        column = np.where(np.isfinite(S), S, 0.0).sum(axis=0)
        row = np.where(np.isfinite(T), T, 0.0).sum(axis=1)
        return Metric(np.where(column > 0, column, 1.0), np.diag(row), each, 1.0)
    labels = np.asarray(preconditioner)
    blocks = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    T = np.zeros((m, m))
    for block in blocks:
        T[np.ix_(block, block)] = K[block] @ K[block].T
    return Metric(np.ones(n), T, blocks, float(len(blocks)))


def dual_step(p: Array, gradient: Array, t: float, T: Metric, delta: float) -> Array:
    """Return the minimiser of (3), block by block, where `gradient` is K ū.

    In a block it is ½ pᵀ(tT + δI)p - ⟨tTp_k + Kū, p⟩, that is least squares with the root of the
    matrix.
    """
    result = np.empty_like(p)
    for block in T.blocks:
        Q = t * T.T[np.ix_(block, block)] + delta * np.eye(len(block))
        b = t * T.T[np.ix_(block, block)] @ p[block] + gradient[block]
        root = scipy.linalg.cholesky(Q)
        target = scipy.linalg.solve_triangular(root, b, trans="T")
        if len(block) == 1:
            result[block] = np.clip(b / Q[0, 0], -1.0, 1.0)
        else:
            solution = scipy.optimize.lsq_linear(
                root, target, bounds=(-1.0, 1.0), method="bvls", tol=1e-15, max_iter=1000
            )
            result[block] = np.clip(solution.x, -1.0, 1.0)
    return result


def pdhg(
    K: Any,
    prox: Callable[[Array, Array], Array],
    u: Array,
    preconditioner: Any,
    *,
    scheme: str = "fixed",
    s: float | None = None,
    t: float | None = None,
    weight: float = 1.0,
    gamma: float = 0.0,
    delta: float = 0.0,
    alpha: float = 1.0,
) -> Iterator[Iterate]:
    """Yield iterates from (u, 0) without end; `prox(v, steps)` is the proximal map of G.

    Schemes: ``fixed``, and ``accelerated`` (Algorithm 2 of Chambolle and Pock) as in the paper;
    ``balanced`` and ``restarted`` as described in the C++ solver.
    """
    M = metric(K, preconditioner, alpha)
    s = s if s is not None else (M.norm / t if t is not None else weight * math.sqrt(M.norm))
    t = t if t is not None else M.norm / s
    root = math.sqrt(s * t)
    weight = math.sqrt(s / t)
    gamma = gamma / float(M.S.max())
    p = np.zeros(K.shape[0])
    u_anchor, p_anchor = u, p
    epoch, first, last = 0, 0.0, math.inf
    iteration, next_balance = 0, 3
    while True:
        iteration += 1
        s_used, theta = s, 1.0
        u_hat = prox(u - (K.T @ p) / (s * M.S), 1.0 / (s * M.S))
        if scheme == "accelerated":
            theta = 1.0 / math.sqrt(1.0 + 2.0 * gamma / s)
            s, t = s / theta, t * theta
        p_hat = dual_step(p, K @ (u_hat + theta * (u_hat - u)), t, M, delta)
        t_used, restarted = t, False
        du, dp = u_hat - u, p_hat - p
        if scheme == "balanced":
            u, p = u + 1.6 * du, p + 1.6 * dp
            if iteration >= next_balance:
                wait = 3 if iteration < 30 else 6 if iteration < 60 else iteration // 5
                next_balance = iteration + wait
                weight = _balanced(weight, (M.S * du) @ du, dp @ M.T @ dp, 1.0, 4.0)
                s, t = root * weight, root / weight
        elif scheme == "restarted":
            epoch += 1
            square = s * (M.S * du) @ du - 2.0 * (K @ du) @ dp + t * dp @ M.T @ dp
            residual = math.sqrt(max(0.0, square))
            first = residual if epoch == 1 else first
            falls = residual <= 0.1 * first or (residual <= 0.9 * first and residual > last)
            last = residual
            if epoch > 1 and (falls or epoch >= 0.2 * iteration):
                restarted = True
                du, dp = u_hat - u_anchor, p_hat - p_anchor
                share = 0.7 * min(1.0, epoch / (0.05 * iteration))
                weight = _balanced(weight, (M.S * du) @ du, dp @ M.T @ dp, share, 1e6)
                s, t = root * weight, root / weight
                u, p = u_anchor, p_anchor = u_hat, p_hat
                epoch, last = 0, math.inf
            else:
                a = epoch / (epoch + 1.0)
                u = a * (2.0 * u_hat - u) + (1.0 - a) * u_anchor
                p = a * (2.0 * p_hat - p) + (1.0 - a) * p_anchor
        else:
            u, p = u_hat, p_hat
        yield Iterate(u_hat, p_hat, s_used, t_used, restarted)


def _balanced(weight: float, primal: Any, dual: Any, share: float, largest: float) -> float:
    """Return the weight, moved towards the one for which both squared movements count the same."""
    change = 1.0
    if primal > 0 and dual > 0:
        change = math.sqrt(dual / primal) / weight
    elif primal > 0 or dual > 0:
        change = 4.0 if dual > 0 else 0.25
    return weight * float(min(max(change, 1.0 / largest), largest) ** share)
