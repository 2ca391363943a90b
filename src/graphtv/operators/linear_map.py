"""A linear map A, given as a matrix or by its products, with counted and checked applications."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import scipy.sparse

from graphtv._elementary import ROUNDOFF
from graphtv._validate import Floats, as_array, brief, is_finite
from graphtv.operators.inner import inner, length

SPREAD = 16.0
"""Roundoffs of ‖A‖‖x‖ that are taken as the error of a product whose code is not known."""


class LinearMap:
    """A linear map from C channels of n numbers to C channels of N numbers.

    Parameters
    ----------
    operator : array_like, sparse matrix or linear operator, shape (N, n)
        A matrix, or an object with `shape`, `matvec` and `rmatvec`, such as
        `scipy.sparse.linalg.LinearOperator` or an operator of PyLops.

    Attributes
    ----------
    shape : tuple of int
        (N, n).
    is_matrix : bool
        Whether the entries are known, so that rounding errors have a rigorous bound.
    calls : int
        Number of products with A and Aᵀ so far, one per channel.
    gain : float
        The largest ‖Ax‖/‖x‖ and ‖Aᵀq‖/‖q‖ so far, a lower bound of the norm.
    """

    def __init__(self, operator: Any) -> None:
        self.calls, self.gain = 0, 0.0
        self._unit = ROUNDOFF
        self.is_matrix = not hasattr(operator, "matvec")
        if self.is_matrix:
            self._take_matrix(operator)
        else:
            self._take_products(operator)

    def _take_matrix(self, operator: Any) -> None:
        if scipy.sparse.issparse(operator):
            if operator.dtype.kind not in "buif":
                raise ValueError(f"operator must be real, got dtype {operator.dtype}")
            # A copy, since entries that occur twice are added in place.
            matrix = scipy.sparse.csr_array(operator, dtype=np.float64, copy=True)
            matrix.sum_duplicates()
            entries = matrix.data
        else:
            matrix = as_array(operator, "operator")
            if matrix.ndim != 2 or matrix.dtype.kind not in "buif":
                raise ValueError(
                    "operator must be a real matrix, or have shape, matvec and rmatvec,"
                    f" got {brief(operator)}"
                )
            matrix = np.array(matrix, dtype=np.float64)
            entries = matrix.reshape(-1)
        if not is_finite(entries):
            raise ValueError(f"operator must be finite, got {entries[~np.isfinite(entries)][0]}")
        self.shape: tuple[int, int] = matrix.shape
        self._forward = matrix
        self._backward = matrix.T.tocsr() if scipy.sparse.issparse(matrix) else matrix.T
        self._sizes: Any = None

    def _take_products(self, operator: Any) -> None:
        shape = getattr(operator, "shape", None)
        if not hasattr(operator, "rmatvec") or not isinstance(shape, tuple) or len(shape) != 2:
            raise ValueError(
                "operator must have shape, matvec and rmatvec, or be a matrix,"
                f" got {brief(operator)}"
            )
        dtype = np.dtype(getattr(operator, "dtype", None) or np.float64)
        if dtype.kind == "c":
            raise ValueError(
                "operator must be real, got dtype"
                f" {dtype}: stack its real and imaginary part, for example with real data"
            )
        if dtype.kind == "f":
            self._unit = max(ROUNDOFF, float(np.finfo(dtype).eps) / 2.0)
        self.shape = int(shape[0]), int(shape[1])
        self._operator = operator
        self._check_adjoint()

    def _check_adjoint(self) -> None:
        """Raise if ⟨Ax, q⟩ and ⟨x, Aᵀq⟩ differ for random x and q."""
        rng = np.random.default_rng(0)
        rows, columns = self.shape
        x, q = rng.standard_normal(columns), rng.standard_normal(rows)
        image, back = self.apply(x), self.adjoint(q)
        there, and_back = inner(image, q), inner(x, back)
        size = length(image) * length(q) + length(x) * length(back)
        if abs(there - and_back) > math.sqrt(self._unit) * size:
            raise ValueError(
                "operator.rmatvec must be the adjoint of operator.matvec, got"
                f" ⟨Ax, y⟩ = {there:.6g} and ⟨x, Aᵀy⟩ = {and_back:.6g} for random x and y"
            )

    def apply(self, x: Floats) -> Floats:
        """Return Ax for the core's flat array of all channels."""
        return self._product(x, 1)

    def adjoint(self, q: Floats) -> Floats:
        """Return Aᵀq for the core's flat array of all channels."""
        return self._product(q, 0)

    def _product(self, values: Floats, side: int) -> Floats:
        size, result = self.shape[side], self.shape[1 - side]
        n_channels = max(values.size // size, 1) if size else 1
        columns = values.reshape(n_channels, size)
        self.calls += n_channels
        if self.is_matrix:
            matrix = self._forward if side else self._backward
            out = np.ascontiguousarray((matrix @ columns.T).T)
        else:
            out = np.empty((n_channels, result))
            for row, column in zip(out, columns, strict=True):
                row[:] = self._call(column, side)
        given, found = length(values), out.reshape(-1)
        if given > 0.0:
            self.gain = max(self.gain, length(found) / given)
        return found

    def _call(self, x: Floats, side: int) -> Floats:
        """Return a product by the user's object, checked."""
        name = "matvec" if side else "rmatvec"
        given = np.asarray(getattr(self._operator, name)(x))
        if given.size != self.shape[1 - side] or given.dtype.kind not in "buif":
            raise ValueError(
                f"operator.{name} must return {self.shape[1 - side]} real numbers,"
                f" got shape {given.shape} of {given.dtype}"
            )
        out = np.ascontiguousarray(given.reshape(-1), dtype=np.float64)
        if not is_finite(out):
            raise ValueError(
                f"operator.{name} must return finite numbers,"
                f" got {out[~np.isfinite(out)][0]} at index {int(np.argmin(np.isfinite(out)))}"
            )
        return out

    # Rounding errors

    def apply_error(self, x: Floats) -> Floats:
        """Return bounds on the errors of the entries of Ax.

        They are rigorous for matrices. Otherwise they assume that the error has a norm of a few
        roundoffs of ‖A‖‖x‖ and is spread evenly over the entries.
        """
        return self._error(x, 1)

    def adjoint_error(self, q: Floats) -> Floats:
        """Return bounds on the errors of the entries of Aᵀq; see `apply_error`."""
        return self._error(q, 0)

    def _error(self, values: Floats, side: int) -> Floats:
        size, result = self.shape[side], self.shape[1 - side]
        n_channels = max(values.size // size, 1) if size else 1
        columns = np.abs(values.reshape(n_channels, size))
        if self.is_matrix:
            sizes = self.sizes if side else self.sizes.T
            # A sum of k products has at most k roundoffs of the sum of their sizes.
            terms = (size + 2.0) * ROUNDOFF
            underflow = 1e-300 if columns.any() else 0.0
            return np.ascontiguousarray((sizes @ columns.T).T).reshape(-1) * terms + underflow
        lengths = np.array([length(column) for column in columns]) * self.gain
        return np.repeat(SPREAD * self._unit * lengths / math.sqrt(max(result, 1)), result)

    @property
    def sizes(self) -> Any:
        """The matrix |A|."""
        if self._sizes is None:
            self._sizes = abs(self._forward)
        return self._sizes

    def column_squares(self, weights: Floats) -> Floats | None:
        """Return Σ_i c_i A_ij² for weights c of the rows, one per column; None if not known.

        An object with products may have a method of this name.
        """
        if self.is_matrix:
            return np.asarray((self.sizes**2).T @ weights).reshape(-1)
        known = getattr(self._operator, "column_squares", None)
        return None if known is None else np.asarray(known(weights))

    def gram(self) -> Floats:
        """Return AAᵀ for a matrix A, as a dense matrix."""
        self.calls += self.shape[0]
        product = self._forward @ self._backward
        return np.asarray(product.toarray() if scipy.sparse.issparse(product) else product)

    def has_zero_sums(self, chosen: Any) -> bool:
        """Whether the entries of a matrix in the chosen columns sum to exactly 0 in every row."""
        part = self._forward[:, np.flatnonzero(chosen)]
        if not scipy.sparse.issparse(part):
            return all(math.fsum(row) == 0.0 for row in part)
        ends = part.indptr
        return all(
            math.fsum(part.data[first:last]) == 0.0 for first, last in itertools.pairwise(ends)
        )

    def row_sums(self) -> Floats:
        """Return bounds of |Av| for |v| ≤ 1, one per row."""
        rows, columns = self.shape
        if self.is_matrix:
            return np.asarray(self.sizes @ np.ones(columns)) * (1.0 + 1e-9)
        return np.full(rows, 2.0 * self.gain * math.sqrt(columns))

    def norm_bound(self) -> float:
        """Return a bound of ‖A‖: Schur's for matrices, otherwise twice the largest gain so far."""
        if not self.is_matrix:
            return 2.0 * self.gain
        rows = float(self.row_sums().max(initial=0.0))
        columns = float(np.asarray(self.sizes.T @ np.ones(self.shape[0])).max(initial=0.0))
        return math.sqrt(rows) * math.sqrt(columns) * (1.0 + 1e-9)
