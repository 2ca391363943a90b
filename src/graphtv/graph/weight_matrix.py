"""Square matrices of weights as lists of edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from graphtv._validate import (
    Floats,
    Indices,
    as_array,
    as_choice,
    as_count,
    brief,
    describe,
    first_index,
)

SYMMETRY_TOLERANCE = 8 * float(np.finfo(np.float64).eps)
"""Largest difference of a_ij and a_ji, relative to the larger, in a symmetric matrix."""

SYMMETRIZE = ("mean", "max", "min")


def edges_of_matrix(matrix: Any, symmetrize: Any) -> tuple[Indices, Floats, int]:
    """Return the edges (i, j), i < j, of a matrix in lexicographic order, their weights, and n.

    See `Graph.from_sparse`.
    """
    rule = None if symmetrize is None else as_choice(symmetrize, "symmetrize", SYMMETRIZE)
    entries = as_square(matrix)
    n = as_count(entries.shape[0], "the number of rows of matrix")
    entries = sparse.csr_array(entries, dtype=np.float64, copy=True)
    entries.sum_duplicates()
    entries.data[_rows(entries) == entries.indices] = 0
    entries.eliminate_zeros()
    values = entries.data
    for bad, what in ((~np.isfinite(values), "finite"), (values < 0, "nonnegative")):
        if bad.any():
            (k,) = first_index(bad)
            where = describe((int(_rows(entries)[k]), int(entries.indices[k])))
            raise ValueError(f"matrix must be {what}, got {values[k]} at {where}")
    if rule is None:
        _check_symmetric(entries)
    else:
        entries = _symmetric(entries, rule)
    rows = _rows(entries)
    upper = rows < entries.indices
    edges = np.stack([rows[upper], entries.indices[upper]], axis=1)
    return edges, entries.data[upper], n


def as_square(matrix: Any) -> Any:
    """Return `matrix`, sparse or an array, if it is square and holds real numbers."""
    given = matrix if sparse.issparse(matrix) else as_array(matrix, "matrix")
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise ValueError(f"matrix must be square, got shape {given.shape}")
    if given.dtype.kind not in "buif":
        raise ValueError(f"matrix must hold real numbers, got dtype {given.dtype}")
    return given


def names_of_frame(matrix: Any) -> Any:
    """Return the names in a matrix that is a pandas DataFrame, else None."""
    rows, columns = getattr(matrix, "index", None), getattr(matrix, "columns", None)
    if rows is None or columns is None:
        return None
    if not rows.equals(columns):
        raise ValueError(
            "matrix must have the same index and columns,"
            f" got {brief(rows.tolist())} and {brief(columns.tolist())}"
        )
    return rows


def _rows(matrix: sparse.csr_array) -> Indices:
    """Return the row of each entry."""
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))


def _check_symmetric(matrix: sparse.csr_array) -> None:
    """Raise if `matrix` is not symmetric up to rounding; it is canonical with positive entries."""
    transpose = matrix.T.tocsr()
    if np.array_equal(matrix.indptr, transpose.indptr) and np.array_equal(
        matrix.indices, transpose.indices
    ):
        difference = np.abs(matrix.data - transpose.data)
        if (difference <= SYMMETRY_TOLERANCE * np.maximum(matrix.data, transpose.data)).all():
            return
    excess = abs(matrix - transpose) - SYMMETRY_TOLERANCE * matrix.maximum(transpose)
    excess = excess.tocoo()
    (k,) = first_index(excess.data > 0)
    i, j = int(excess.row[k]), int(excess.col[k])
    raise ValueError(
        f"matrix must be symmetric, got {matrix[i, j]} at {describe((i, j))}"
        f" and {matrix[j, i]} at {describe((j, i))};"
        " pass symmetrize='mean', 'max' or 'min' to Graph.from_sparse to symmetrize it"
    )


def _symmetric(matrix: sparse.csr_array, rule: str) -> sparse.csr_array:
    """Return the mean, the maximum or the minimum of a matrix and its transpose."""
    transpose = sparse.csr_array(matrix.T)
    if rule == "mean":  # halve first, since the sum of two large numbers may overflow
        both = 0.5 * matrix + 0.5 * transpose
    else:
        both = matrix.maximum(transpose) if rule == "max" else matrix.minimum(transpose)
    both.sort_indices()
    both.eliminate_zeros()
    return both
