"""Batches of signals on one graph, solved exactly: the forward pass of differentiable layers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats, Indices
from graphtv.applications.fused.degrees_of_freedom import fused_components
from graphtv.derivatives.reweighted import reweighted
from graphtv.graph.graph import Graph
from graphtv.problem import Problem
from graphtv.solver import solve
from graphtv.terms import SquaredLoss


class BatchSolution(NamedTuple):
    """Solutions and their pieces, both of shape (B, n)."""

    u: Floats
    pieces: Indices


def solve_batch(
    graph: Graph,
    signals: NDArray[Any],
    weights: NDArray[Any],
    vertex_weights: NDArray[Any] | None = None,
    n_threads: int | None = None,
) -> BatchSolution:
    """Return the exact solutions of a batch of signals with the squared loss.

    Parameters
    ----------
    graph : Graph
        The graph; its weights are not used.
    signals : ndarray, shape (B, n)
        One signal per row.
    weights : ndarray, shape (m,) or (B, m)
        Edge weights, for all signals or for each. Edges of weight 0 do not join pieces.
    vertex_weights : ndarray, shape (n,) or (B, n), optional
        Weights of the data.
    n_threads : int, optional
        Number of threads; by default that of `solve`.
    """
    data = np.asarray(signals, dtype=np.float64)
    costs = None if vertex_weights is None else np.asarray(vertex_weights, dtype=np.float64)
    if costs is not None:
        costs = np.broadcast_to(costs, data.shape)
    omega = np.asarray(weights, dtype=np.float64)
    if omega.ndim == 1:
        return _solve(graph, data, omega, costs, n_threads)
    u, pieces = np.empty_like(data), np.empty(data.shape, dtype=np.int32)
    for k in range(len(data)):
        row = slice(k, k + 1)
        c = None if costs is None else costs[row]
        u[row], pieces[row] = _solve(graph, data[row], omega[k], c, n_threads)
    return BatchSolution(u, pieces)


def _solve(
    graph: Graph, data: Floats, weights: Floats, costs: Floats | None, n_threads: int | None
) -> BatchSolution:
    """Solve all signals at once, as channels of one problem."""
    weighted, _ = reweighted(graph, weights)
    loss = SquaredLoss(data.T, None if costs is None else costs.T)
    result = solve(Problem(weighted, loss), tol=0, n_threads=n_threads)
    pieces = fused_components(weighted, result)
    return BatchSolution(np.ascontiguousarray(result.u.T), np.ascontiguousarray(pieces.T))
