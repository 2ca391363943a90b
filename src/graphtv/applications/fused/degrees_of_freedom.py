"""Degrees of freedom of the fused lasso and the variance of the noise.

The number of fused pieces (with sparsity, of nonzero pieces) is an unbiased estimate of the degrees
of freedom (Tibshirani & Taylor 2011, 2012). Maximum flows, chains and trees find the pieces first,
and then give all vertices of a piece the same value. So the values of an exact solution are its
partition: neighbours in one piece are equal to the last bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats
from graphtv.applications.fused.fused_model import FusedModel
from graphtv.graph.components import connected_components
from graphtv.graph.graph import Graph
from graphtv.result import Result
from graphtv.solver.termination import EXACT_GAP

PARTITIONING = ("flows", "direct")
"""Methods that find the pieces of a solution before its values."""

ROUNDING = 64 * float(np.finfo(float).eps)
"""Two pieces whose values differ by less are equal up to rounding, relative to these values or to
the median of all, whichever is larger. A single outlier says nothing of rounding elsewhere."""

EXACT_TIES = 1e-10
"""Values that a method without pieces has found to a gap of 1e-12 are equal if they differ by less,
relative to the range of u."""


def fused_components(graph: Graph, result: Result) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return the piece of each vertex: a connected set of vertices of equal value.

    After maximum flows or a direct solve these are the pieces of the method itself, whose values
    are equal to the last bit. Touching pieces whose values differ only by rounding count as one.

    Other methods find values but no pieces. Up to a relative gap of 1e-12, differences below 1e-10
    of the range of u are ignored. Beyond, neighbours count as fused unless the error bound proves
    that they differ, |u_i - u_j| > √2 ‖u - u*‖. Without an error bound, differences up to
    √(relative gap) times the range of u are ignored.

    Returns
    -------
    ndarray of int
        The pieces 0, 1, … of each channel, with the shape of u.
    """
    # Pieces are those of the solver's own point, which a large offset has not rounded.
    point = result._unrounded or result
    columns = point.u.reshape(graph.n_vertices, -1)
    extent = float(np.ptp(columns, axis=0).max(initial=0.0)) if columns.size else 0.0
    tolerance = 0.0
    if not _has_pieces(result):
        if point.relative_gap <= EXACT_GAP:
            tolerance = EXACT_TIES * extent
        elif point.error_bound is not None:
            tolerance = math.sqrt(2.0) * point.error_bound
        else:
            tolerance = math.sqrt(point.relative_gap) * extent
    tail, head = graph.edges.T
    labels = [
        connected_components(graph, _are_equal(u, u[tail], u[head], tolerance))[1]
        for u in columns.T
    ]
    return np.stack(labels, axis=1).reshape(result.u.shape)


def _are_equal(u: Floats, one: Floats, other: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Whether the values of u at the two ends of each edge are equal up to a tolerance."""
    differences = np.abs(one - other)
    # Most results need no look at the rounding of each value.
    greatest = float(np.abs(u).max(initial=0.0))
    unclear = (differences > tolerance) & (differences <= ROUNDING * greatest)
    if not unclear.any():
        return np.asarray(differences <= tolerance)
    typical = float(np.median(np.abs(u)))
    rounding = ROUNDING * np.maximum(np.maximum(np.abs(one), np.abs(other)), typical)
    return np.asarray(differences <= np.maximum(tolerance, rounding))


def _has_pieces(result: Result) -> bool:
    """Whether a result is exact and its method has found pieces and not only values."""
    point = result._unrounded or result
    is_exact = point.relative_gap <= EXACT_GAP
    return is_exact and bool(result.stages) and result.stages[-1].method in PARTITIONING


def degrees_of_freedom(model: FusedModel, result: Result) -> int:
    """Return the number of pieces with data; with sparsity, of nonzero pieces."""
    columns = (model.graph.n_vertices, -1)
    pieces = fused_components(model.graph, result).reshape(columns)
    counted = model.observed.reshape(columns).copy()
    if model.is_sparse:
        size = np.abs(result.u).reshape(columns)
        bound = 0.0
        if not _has_pieces(result):
            bound = EXACT_TIES * float(size.max(initial=0.0))
            if result.relative_gap > EXACT_GAP and result.error_bound is not None:
                bound = max(bound, result.error_bound)
        counted &= size > bound
    if counted.all():
        return sum(int(p.max(initial=-1)) + 1 for p in pieces.T)
    return sum(
        int(np.count_nonzero(np.bincount(p[c]))) for p, c in zip(pieces.T, counted.T, strict=True)
    )


def noise_variance_of(model: FusedModel) -> float:
    """Estimate the variance of the noise from differences along the edges.

    Most edges lie inside pieces, where (f_i - f_j) / √(1/c_i + 1/c_j) is only noise. The median of
    its absolute value is 0.6745 σ.
    """
    loss = model.loss
    if not loss.traits.is_location:
        return 1.0
    signal = loss.data
    tail, head = model.graph.edges.T
    there = model.observed
    both = there[tail] & there[head]
    safe = np.where(there, loss.weights, 1.0)
    scale = np.sqrt(1.0 / safe[tail] + 1.0 / safe[head])
    differences = (np.abs(signal[tail] - signal[head]) / scale)[both]
    if differences.size == 0:
        return float(np.var(signal[there])) if there.any() else 1.0
    robust = float(np.median(differences)) / 0.6744897501960817
    return (robust**2) or float(np.mean(differences**2))
