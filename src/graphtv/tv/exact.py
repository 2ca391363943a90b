"""Exact total variation on chains and forests.

On a graph without cycles the problem

    min_u  ½ ‖u - f‖² + Σ_e h(ω_e (u_i - u_j)),    h = |·| or its Huber relaxation,

is solved directly in O(n log n) time. Every preconditioner made of forests calls these solvers once
per forest and iteration.
"""

from __future__ import annotations

import math
from typing import Any, Literal, cast, overload

import numpy as np
from numpy.typing import NDArray

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
)
from graphtv.graph.graph import Graph, as_graph
from graphtv.graph.labelled import array_of, in_order, labelling_of, with_labels

__all__ = ["tv_chain", "tv_forest"]

Known = NDArray[np.bool_]

ALL_ONES: Floats = np.empty(0)
"""Vertex weights of 1."""

MOST_BITS = 960
"""Largest magnitude of the binary exponent of α²δ."""

LARGEST = 2.0**990
"""Largest weight or entry of a scaled signal; a sum of 2³¹ of them is finite."""

FARTHEST_BITS = 450
"""Largest magnitude of the binary exponent of αf, so that its squares stay finite."""


def tv_chain(
    signal: Any, weights: Any, *, huber: float = 0.0, n_threads: int | None = None
) -> Floats:
    """Solve total variation denoising on a chain exactly.

    Parameters
    ----------
    signal : array_like, shape (..., n)
        The signal f; NaN or a masked entry where there is no data, if `huber` is 0. Every row along
        the last axis is a separate chain.
    weights : array_like
        Nonnegative weights of the edges between neighbours: a number, an array of shape
        (n - 1,) for all chains, or an array of shape (..., n - 1) with a row per chain.
    huber : float, optional
        Width δ of the quadratic zone of the Huber penalty; 0 is total variation.
    n_threads : int, optional
        Number of threads, by default all processors. The result does not depend on it.

    Returns
    -------
    ndarray
        The minimiser, with the shape and the labels of `signal`.

    Notes
    -----
    The taut-string algorithm [1]_ takes linear time on every input. Where the signal is noisy, it
    is combined with a direct scan [2]_.

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
    if type(huber) is float and huber == 0.0 and (u := _plain_chain(signal, weights)) is not None:
        _as_threads(n_threads)
        return u
    if (labelling := labelling_of(signal)) is not None:
        u = tv_chain(array_of(signal, "signal"), weights, huber=huber, n_threads=n_threads)
        return cast(Floats, labelling.restored(u))
    f, known = as_observations(signal, "signal")
    if f.ndim == 0:
        raise ValueError(f"signal must have at least one dimension, got the number {f}")
    n_edges = max(f.shape[-1] - 1, 0)
    w = _chain_weights(weights, (*f.shape[:-1], n_edges))
    delta = as_real(huber, "huber", minimum=0.0)
    threads = _as_threads(n_threads)
    if f.size == 0 or (n_edges == 0 and known is None):
        return f.copy()
    scale = _scale(f, delta)
    rows = _scaled(f, scale).reshape(-1, f.shape[-1])
    w = _scaled(w, scale).reshape(-1, w.shape[-1])
    u = np.empty_like(rows)
    if known is not None:
        is_known = known.reshape(rows.shape)
        _check_missing(is_known, delta, "row")
        _chains_as_forest(_filled(rows, is_known), w, 0.0, u, threads, is_known)
    elif delta == 0.0:
        _core.tv_chain(rows, w, _core.largest_size(w), u, threads)
    else:
        _chains_as_forest(rows, w, delta * scale * scale, u, threads)
    return _unscaled(u, scale).reshape(f.shape)


def _plain_chain(signal: Any, weights: Any) -> Floats | None:
    """Return the minimiser for one chain of plain numbers; None if the arguments need validation.

    On a short chain validation takes longer than the solver.
    """
    if not _is_plain(signal) or not (type(weights) is float or _is_plain(weights)):
        return None
    u = np.empty_like(signal)
    return u if _core.plain_chain(signal, weights, u) else None


def _is_plain(values: Any) -> bool:
    """Whether values are an ordinary contiguous vector of doubles."""
    if type(values) is not np.ndarray or values.ndim != 1 or values.dtype != np.float64:
        return False
    return values.flags.c_contiguous and values.flags.aligned


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
    """Solve total variation denoising on a graph without cycles exactly.

    Parameters
    ----------
    graph : Graph
        A forest; a graph with a cycle is an error.
    signal : array_like, shape (n,) or (n, C), pandas, xarray, dict or str
        The signal f, matched with the names of the graph as in `fused_lasso`. NaN or a masked entry
        means that there is no data, if `huber` is 0. Columns are independent.
    return_dual : bool, optional
        Also return the dual variable.
    huber : float, optional
        Width δ of the quadratic zone of the Huber penalty; 0 is total variation.
    n_threads : int, optional
        Number of threads, by default all processors. The result does not depend on it.

    Returns
    -------
    u : ndarray, shape (n,) or (n, C)
        The minimiser, with the labels of the signal if it has any.
    p : ndarray, shape (m,) or (m, C)
        The dual variable, only if `return_dual` is true. It satisfies |p| ≤ 1 and Kᵀp = f - u,
        which proves that u is optimal.

    Notes
    -----
    Message passing from the leaves to the root and back [1]_. With the Huber penalty, Newton's
    method for piecewise quadratic functions [2]_ starts from the solution for total variation.

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
    values, known = as_observations(in_order(signal, "signal", as_graph(graph)), "signal")
    f = as_signal(values, "signal", graph.n_vertices)
    wants_dual = as_flag(return_dual, "return_dual")
    delta = as_real(huber, "huber", minimum=0.0)
    threads = _as_threads(n_threads)
    columns = np.ascontiguousarray(np.atleast_2d(f.T))
    is_known = None
    if known is not None:
        is_known = np.ascontiguousarray(np.atleast_2d(known.T))
        _check_missing(is_known, delta, "column")
        columns = _filled(columns, is_known)
    try:
        u, p = solve_forest(
            graph, graph.weights, columns, delta, threads, is_known, wants_dual=wants_dual
        )
    except ValueError as error:
        raise ValueError(f"graph must be a forest: {error}") from None
    solution = with_labels(u.T.reshape(f.shape), signal, "signal", graph)
    if wants_dual:
        return solution, p.T.reshape(graph.n_edges, *f.shape[1:])
    return cast(Floats, solution)


def solve_forest(
    graph: Graph,
    weights: Floats,
    signals: Floats,
    delta: float,
    n_threads: int,
    known: Known | None = None,
    *,
    wants_dual: bool,
) -> tuple[Floats, Floats]:
    """Return u and p for each row of `signals`; see `ForestSolver`."""
    return ForestSolver(graph, weights, signals, delta).solve(n_threads, known, wants_dual)


class ForestSolver:
    """The exact solver of a forest for each row of `signals`.

    Raises ValueError if the graph has a cycle.
    """

    def __init__(self, graph: Graph, weights: Floats, signals: Floats, delta: float) -> None:
        self._graph, self._scale = graph, _scale(signals, delta)
        self._weights, self._signals = _scaled(weights, self._scale), _scaled(signals, self._scale)
        self._delta = delta * self._scale * self._scale
        self._forest = self._forest_of(ALL_ONES)

    @property
    def is_linear(self) -> bool:
        """Whether all trees of the forest are paths."""
        return self._forest.is_linear

    def solve(self, n_threads: int, known: Known | None, wants_dual: bool) -> tuple[Floats, Floats]:
        """Return u and p for each row; p is empty unless `wants_dual`.

        Rows may have data only where they are `known`, for δ = 0.
        """
        forest, signals = self._forest, self._signals
        u = np.empty_like(signals)
        p = np.empty((len(signals), self._graph.n_edges if wants_dual else 0))
        for row, (f, u_row, p_row) in enumerate(zip(signals, u, p, strict=True)):
            if known is not None:
                forest = self._forest_of(known[row].astype(np.float64))
            forest.solve(f, u_row, warm=False, n_threads=n_threads)
            forest.refine(f, u_row)
            if wants_dual:
                forest.dual(f, u_row, p_row)
        return _unscaled(u, self._scale), p

    def _forest_of(self, vertex_weights: Floats) -> _core.ForestTV:
        graph = self._graph
        return _core.ForestTV(
            graph.n_vertices, graph.edges, self._weights, self._delta, vertex_weights
        )


def _check_missing(known: Known, delta: float, name_of_row: str) -> None:
    """Raise if missing data are not supported, or a row has no data at all."""
    if delta > 0.0:
        raise ValueError(
            "signal must have no missing data if huber is above 0, got NaN or a masked entry; use"
            " solve with a SquaredLoss and HuberTV"
        )
    is_empty = ~known.any(axis=1)
    if is_empty.any():
        where = "" if len(known) == 1 else f" in {name_of_row} {int(np.argmax(is_empty))}"
        raise ValueError(f"signal must contain a number, got NaN everywhere{where}")


def _filled(rows: Floats, known: Known) -> Floats:
    """Return rows with the first known value of each where there is no data."""
    first = np.take_along_axis(rows, known.argmax(axis=1)[:, None], axis=1)
    return np.where(known, rows, first)


def _chain_weights(weights: Any, shape: tuple[int, ...]) -> Floats:
    """Return weights as a (1, 1), (1, n - 1) or (..., n - 1) array; `shape` is the largest form."""
    if type(weights) is float and 0.0 <= weights < math.inf:
        return np.array([[weights]])
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


def _chains_as_forest(
    rows: Floats,
    weights: Floats,
    delta: float,
    out: Floats,
    threads: int,
    known: Known | None = None,
) -> None:
    """Solve all rows with one call of the forest solver, since the chains form a forest."""
    n_rows, n = rows.shape
    vertices = np.arange(rows.size, dtype=np.int32).reshape(n_rows, n)
    edges = np.stack([vertices[:, :-1].ravel(), vertices[:, 1:].ravel()], axis=1)
    w = np.broadcast_to(weights, (n_rows, n - 1)).ravel()
    mass = ALL_ONES if known is None else known.astype(np.float64).ravel()
    forest = _core.ForestTV(rows.size, edges[w > 0], w[w > 0], delta, mass)
    forest.solve(rows.ravel(), out.ravel(), warm=False, n_threads=threads)
    forest.refine(rows.ravel(), out.ravel())


def _scale(signal: Floats, delta: float) -> float:
    """Return a power of two that keeps the solver's intermediate results finite.

    The minimiser for (αf, αω, α²δ) is αu. Total variation needs this only if sums could overflow.
    The Newton steps for the Huber penalty square the signal, so the signal is scaled to about 1,
    or as close to 1 as possible without overflow or underflow of α²δ.
    """
    largest = _core.largest_size(signal)
    if delta == 0.0:
        return 2.0**-200 if largest > 2.0**800 else 1.0
    wanted, width = -math.frexp(largest)[1], math.frexp(delta)[1]
    exponent = min(max(wanted, (-MOST_BITS - width) // 2), (MOST_BITS - width) // 2)
    return 2.0 ** min(max(exponent, wanted - FARTHEST_BITS, -1000), wanted + FARTHEST_BITS, 1000)


def _scaled(values: Floats, scale: float) -> Floats:
    """Return αf or αω, clipped to finite values; weights above every flow need not be exact."""
    if scale == 1.0:
        return values
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(values * scale, -LARGEST, LARGEST)


def _unscaled(values: Floats, scale: float) -> Floats:
    return values if scale == 1.0 else values / scale


def _as_threads(n_threads: int | None) -> int:
    return 0 if n_threads is None else as_count(n_threads, "n_threads", minimum=1, maximum=1024)
