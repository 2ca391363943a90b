"""The independent verifier: primal, dual and gap of a pair (u, p), from the definition alone.

    primal(u) = ½ Σ_i c_i (u_i - f_i)² + Σ_e h((Ku)_e)
    dual(p)   = ⟨f, Kᵀp⟩ - ½ Σ_i (Kᵀp)_i² / c_i - δ/2 ‖p‖²,   -∞ unless every |p_e| ≤ 1

with h(x) = |x|, or for δ > 0 the Huber function x²/(2δ) up to δ and |x| - δ/2 beyond. These are the
two sides of max_p min_u G(u) - F*(p) + ⟨Ku, p⟩; the dual is attained at u = f - C⁻¹Kᵀp.

Nothing here is shared with the rest of the library. Sums are `math.fsum`, or exact rationals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse


class Certificate(NamedTuple):
    """Values of the two objectives, and their difference as a single sum."""

    primal: Any
    dual: Any
    gap: Any


def certificate(
    K: Any,
    signal: Any,
    u: Any,
    p: Any,
    vertex_weights: Any = None,
    huber: float = 0.0,
    *,
    exact: bool = False,
) -> Certificate:
    """Evaluate both objectives at (u, p).

    Parameters
    ----------
    K : sparse or dense matrix, (m, n)
        The weighted gradient.
    signal, u : array_like, (n,) or (n, C)
        The data f and the primal candidate; channels are summed.
    p : array_like, (m,) or (m, C)
        The dual candidate.
    vertex_weights : array_like, (n,), optional
        The positive weights c of the data term; 1 by default.
    huber : float
        The parameter δ; 0 is total variation.
    exact : bool
        Compute with rationals: the values at the given numbers, without any rounding.
    """
    number: Any = Fraction if exact else float
    total: Any = sum if exact else math.fsum
    K = scipy.sparse.coo_array(K)
    m, n = K.shape
    entries = [(int(e), int(i), number(x)) for e, i, x in zip(K.row, K.col, K.data, strict=True)]
    c = [number(1)] * n if vertex_weights is None else _column(vertex_weights, number)
    delta = number(huber)
    primal_terms: list[Any] = []
    dual_terms: list[Any] = []
    feasible = True
    for f, v, q in zip(_columns(signal, n), _columns(u, n), _columns(p, m), strict=True):
        f, v, q = _column(f, number), _column(v, number), _column(q, number)
        Kv = _gather(m, ((e, x * v[i]) for e, i, x in entries), total)
        KTq = _gather(n, ((i, x * q[e]) for e, i, x in entries), total)
        primal_terms += [c[i] * (v[i] - f[i]) ** 2 / 2 for i in range(n)]
        primal_terms += [_penalty(x, delta) for x in Kv]
        dual_terms += [f[i] * KTq[i] for i in range(n)]
        dual_terms += [-KTq[i] * KTq[i] / (2 * c[i]) for i in range(n)]
        dual_terms += [-delta * x * x / 2 for x in q]
        feasible = feasible and all(abs(x) <= 1 for x in q)
    primal = total(primal_terms)
    if not feasible:
        return Certificate(primal, -math.inf, math.inf)
    gap = total(primal_terms + [-term for term in dual_terms])
    return Certificate(primal, total(dual_terms), gap)


def _penalty(x: Any, delta: Any) -> Any:
    if abs(x) < delta:
        return x * x / (2 * delta)
    return abs(x) - delta / 2


def _columns(values: Any, rows: int) -> list[Any]:
    array = np.asarray(values)
    if array.shape[:1] != (rows,) or array.ndim > 2:
        raise ValueError(f"expected shape ({rows},) or ({rows}, C), got {array.shape}")
    return list(array.reshape(rows, -1).T) if array.ndim == 2 else [array]


def _column(values: Any, number: Any) -> list[Any]:
    return [number(x) for x in np.asarray(values).tolist()]


def _gather(size: int, terms: Iterable[tuple[int, Any]], total: Any) -> list[Any]:
    groups: list[list[Any]] = [[] for _ in range(size)]
    for index, term in terms:
        groups[index].append(term)
    return [total(group) for group in groups]
