"""Exact total variation on chains and forests.

On a graph without cycles the problem

    min_u  ½ ‖u - f‖² + Σ_e h(ω_e (u_i - u_j)),    h = |·| or its Huber relaxation,

is solved outright, in time proportional to n log n at worst. Every preconditioner made of forests
calls these solvers once per forest and iteration.
"""

from __future__ import annotations

import math
from typing import Any, Literal, overload

import numpy as np

from graphtv import _core
from graphtv._validate import (
    Floats,
    as_count,
    as_flag,
    as_floats,
    as_observations,
    as_real,
    as_signal,
    as_weights,
    describe,
    first_index,
)
from graphtv.graph.graph import Graph, as_graph

__all__ = ["tv_chain", "tv_forest"]

MOST_BITS = 960
"""Exponents of α²δ, up or down."""

LARGEST = 2.0**990
"""Weight, or number of a signal, of which 2³¹ have a finite sum."""

FARTHEST_BITS = 450
"""Exponents by which αf may differ from 1: its squares must stay numbers."""


def tv_chain(
    signal: Any, weights: Any, *, huber: float = 0.0, n_threads: int | None = None
) -> Floats:
    """Minimise total variation on a chain, exactly.

    Parameters
    ----------
    signal : array_like, shape (..., n)
        The signal f; every row along the last axis is a chain of its own. It must be finite;
        `fused_lasso` and `denoise_tv` take missing data.
    weights : array_like
        Weights of the edges between neighbours, not negative: a number, an array of shape
        (n - 1,) for all chains, or of shape (..., n - 1) with a row per chain.
    huber : float, optional
        Width δ of the quadratic zone of the Huber penalty; 0 is total variation.
    n_threads : int, optional
        Threads that share the chains; all processors by default. The result does not depend on it.

    Returns
    -------
    ndarray
        The minimiser, of the shape of `signal`.

    Notes
    -----
    Linear time on every input, by a taut string [1]_ that looks ahead by scanning [2]_ where the
    signal is noisy.

    References
    ----------
    .. [1] P. L. Davies, A. Kovac, "Local extremes, runs, strings and multiresolution", Annals of
       Statistics 29, 2001.
    .. [2] L. Condat, "A direct algorithm for 1-D total variation denoising", IEEE Signal
       Processing Letters 20, 2013.

    Examples
    --------
    >>> tv_chain([0.0, 0.0, 3.0, 3.0], 1.0)
    array([0.5, 0.5, 2.5, 2.5])
    """
    f = _as_complete(signal)
    if f.ndim == 0:
        raise ValueError(f"signal must have at least one dimension, got the number {f}")
    n_edges = max(f.shape[-1] - 1, 0)
    w = _chain_weights(weights, (*f.shape[:-1], n_edges))
    delta = as_real(huber, "huber", minimum=0.0)
    threads = _as_threads(n_threads)
    if f.size == 0 or n_edges == 0:
        return f.copy()
    scale = _scale(f, delta)
    rows = _scaled(f, scale).reshape(-1, f.shape[-1])
    w = _scaled(w, scale).reshape(-1, w.shape[-1])
    u = np.empty_like(rows)
    if delta == 0.0:
        _core.tv_chain(rows, w, float(w.max()), u, threads)
    else:
        _huber_chains(rows, w, delta * scale * scale, u, threads)
    return _unscaled(u, scale).reshape(f.shape)


@overload
def tv_forest(
    graph: Graph,
    signal: Any,
    return_dual: Literal[False] = False,
    *,
    huber: float = 0.0,
    n_threads: int | None = None,
) -> Floats: ...


@overload
def tv_forest(
    graph: Graph,
    signal: Any,
    return_dual: Literal[True],
    *,
    huber: float = 0.0,
    n_threads: int | None = None,
) -> tuple[Floats, Floats]: ...


def tv_forest(
    graph: Graph,
    signal: Any,
    return_dual: bool = False,
    *,
    huber: float = 0.0,
    n_threads: int | None = None,
) -> Floats | tuple[Floats, Floats]:
    """Minimise total variation on a graph without cycles, exactly.

    Parameters
    ----------
    graph : Graph
        A forest; a graph with a cycle is an error.
    signal : array_like, shape (n,) or (n, C)
        The signal f; columns are independent. It must be finite; `fused_lasso` takes missing
        data.
    return_dual : bool, optional
        Also return the dual variable.
    huber : float, optional
        Width δ of the quadratic zone of the Huber penalty; 0 is total variation.
    n_threads : int, optional
        Threads that share the trees; all processors by default. The result does not depend on it.

    Returns
    -------
    u : ndarray, of the shape of `signal`
        The minimiser.
    p : ndarray, shape (m,) or (m, C)
        Only with `return_dual`: the dual variable, |p| ≤ 1 and Kᵀp = f - u, the certificate that u
        is optimal.

    Notes
    -----
    Messages pass from the leaves to the root and values back [1]_. Huber's penalty is solved by
    Newton's method for piecewise quadratic functions [2]_, started from the solution without it.

    References
    ----------
    .. [1] V. Kolmogorov, T. Pock, M. Rolinek, "Total variation on a tree", SIAM Journal on Imaging
       Sciences 9, 2016.
    .. [2] K. Madsen, H. B. Nielsen, "Finite algorithms for robust linear regression", BIT 30, 1990.

    Examples
    --------
    >>> star = Graph(4, [[0, 1], [0, 2], [0, 3]])
    >>> tv_forest(star, [0.0, 3.0, 3.0, -3.0])
    array([ 1.,  2.,  2., -2.])
    """
    as_graph(graph)
    f = as_signal(_as_complete(signal), "signal", graph.n_vertices)
    wants_dual = as_flag(return_dual, "return_dual")
    delta = as_real(huber, "huber", minimum=0.0)
    threads = _as_threads(n_threads)
    columns = np.ascontiguousarray(np.atleast_2d(f.T))
    try:
        u, p = solve_forest(graph, graph.weights, columns, delta, threads, wants_dual=wants_dual)
    except ValueError as error:
        raise ValueError(f"graph must be a forest: {error}") from None
    solution = u.T.reshape(f.shape)
    if wants_dual:
        return solution, p.T.reshape(graph.n_edges, *f.shape[1:])
    return solution


def solve_forest(
    graph: Graph,
    weights: Floats,
    signals: Floats,
    delta: float,
    n_threads: int,
    *,
    wants_dual: bool,
) -> tuple[Floats, Floats]:
    """Return u and p, if wanted, for each of the signals, the rows, with weights of the edges.

    Raises ValueError if the graph has a cycle.
    """
    scale = _scale(signals, delta)
    forest = _core.ForestTV(
        graph.n_vertices, graph.edges, _scaled(weights, scale), delta * scale * scale
    )
    scaled = _scaled(signals, scale)
    u = np.empty_like(scaled)
    p = np.empty((len(signals), graph.n_edges if wants_dual else 0))
    for f, u_row, p_row in zip(scaled, u, p, strict=True):
        forest.solve(f, u_row, warm=False, n_threads=n_threads)
        forest.refine(f, u_row)
        if wants_dual:
            forest.dual(f, u_row, p_row)
    return _unscaled(u, scale), p


def _as_complete(signal: Any) -> Floats:
    """Return a finite signal; these solvers have no weights for missing data."""
    f, known = as_observations(signal, "signal")
    if known is not None:
        where = first_index(~known)
        raise ValueError(
            f"signal must have no missing data, got NaN or a masked entry at {describe(where)};"
            " fused_lasso and denoise_tv take such signals"
        )
    return f


def _chain_weights(weights: Any, shape: tuple[int, ...]) -> Floats:
    """Return weights as a (1, 1), (1, n - 1) or (..., n - 1) array; `shape` is the largest form."""
    array = as_floats(weights, "weights")
    if array.ndim == 0:
        return as_weights(array, "weights", ()).reshape(1, 1)
    if array.shape == shape[-1:]:
        return as_weights(array, "weights", shape[-1:]).reshape(1, -1)
    if array.shape == shape:
        return as_weights(array, "weights", shape)
    raise ValueError(
        f"weights must be a number or have shape {shape[-1:]} or {shape}, got shape {array.shape}"
    )


def _huber_chains(rows: Floats, weights: Floats, delta: float, out: Floats, threads: int) -> None:
    """Solve each row by the forest solver: all chains together are one forest."""
    n_rows, n = rows.shape
    vertices = np.arange(rows.size, dtype=np.int32).reshape(n_rows, n)
    edges = np.stack([vertices[:, :-1].ravel(), vertices[:, 1:].ravel()], axis=1)
    w = np.broadcast_to(weights, (n_rows, n - 1)).ravel()
    forest = _core.ForestTV(rows.size, edges[w > 0], w[w > 0], delta)
    forest.solve(rows.ravel(), out.ravel(), warm=False, n_threads=threads)


def _scale(signal: Floats, delta: float) -> float:
    """Return a power of two that keeps the solver's intermediate results finite.

    The minimiser for (αf, αω, α²δ) is αu. Total variation needs this only where sums could
    overflow; Huber's Newton steps square the signal, so it is brought near 1, or as near as keeps
    α²δ a number.
    """
    largest = float(np.max(np.abs(signal), initial=0.0))
    if delta == 0.0:
        return 2.0**-200 if largest > 2.0**800 else 1.0
    wanted, width = -math.frexp(largest)[1], math.frexp(delta)[1]
    exponent = min(max(wanted, (-MOST_BITS - width) // 2), (MOST_BITS - width) // 2)
    return 2.0 ** min(max(exponent, wanted - FARTHEST_BITS, -1000), wanted + FARTHEST_BITS, 1000)


def _scaled(values: Floats, scale: float) -> Floats:
    """Return αf or αω; weights beyond every flow need not be exact, only finite."""
    if scale == 1.0:
        return values
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(values * scale, -LARGEST, LARGEST)


def _unscaled(values: Floats, scale: float) -> Floats:
    return values if scale == 1.0 else values / scale


def _as_threads(n_threads: int | None) -> int:
    return 0 if n_threads is None else as_count(n_threads, "n_threads", minimum=1, maximum=1024)
