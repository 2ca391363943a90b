"""The design matrix of a linear model: weighted centring, and a column for the intercept.

Centring the columns of X changes only the intercept b, by the means times the coefficients. It
makes the problem much better conditioned if the means are large.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from graphtv._validate import Floats

__all__ = ["CentredMatrix", "Design"]


class CentredMatrix:
    """The operator (u, b) ↦ X u - ⟨m, u⟩ 1 + b 1 of a sparse matrix, without filling it.

    Parameters
    ----------
    matrix : sparse array, shape (n_samples, n_features)
        X.
    means : ndarray, shape (n_features,)
        m.
    has_intercept : bool
        Whether there is an entry b behind u.
    """

    def __init__(self, matrix: Any, means: Floats, has_intercept: bool) -> None:
        self._matrix, self._means, self._has_intercept = matrix, means, has_intercept
        self.shape = (matrix.shape[0], matrix.shape[1] + has_intercept)

    def matvec(self, x: Floats) -> Floats:
        """Return the image of (u, b)."""
        u = x[: len(self._means)]
        shift = float(x[-1]) if self._has_intercept else 0.0
        return np.asarray(self._matrix @ u + (shift - float(self._means @ u)))

    def rmatvec(self, q: Floats) -> Floats:
        """Return the image of q under the adjoint."""
        total = float(q.sum())
        slope = self._matrix.T @ q - self._means * total
        return np.append(slope, total) if self._has_intercept else np.asarray(slope)

    def column_squares(self, weights: Floats) -> Floats:
        """Return the sums of the squares of the columns, for weights of the rows.

        Only their size matters, so they may have errors of a few roundoffs of the means.
        """
        total, means = float(weights.sum()), self._means
        products = 2.0 * (self._matrix.T @ weights) - total * means
        squares = np.maximum(self._matrix.power(2).T @ weights - means * products, 0.0)
        return np.append(squares, total) if self._has_intercept else np.asarray(squares)


class Design:
    """A design matrix with sample weights.

    Parameters
    ----------
    matrix : ndarray or sparse array, shape (n_samples, n_features)
        X.
    weights : ndarray, shape (n_samples,)
        Weights of the samples; not all are 0.
    is_centred : bool
        Whether to subtract the weighted means of the columns, for a model with an intercept.
    """

    def __init__(self, matrix: Any, weights: Floats, is_centred: bool) -> None:
        self.matrix, self.weights = matrix, weights
        self.means = np.zeros(matrix.shape[1])
        if is_centred:
            self.means = np.asarray(matrix.T @ (weights / weights.sum())).reshape(-1)
        self._is_centred = is_centred

    def operator(self, has_intercept: bool = False) -> Any:
        """Return the centred matrix, with a last column of ones if there is an intercept."""
        if sparse.issparse(self.matrix):
            if not self._is_centred:
                return self.matrix
            return CentredMatrix(self.matrix, self.means, has_intercept)
        columns = self.matrix - self.means if self._is_centred else self.matrix
        if not has_intercept:
            return columns
        return np.concatenate([columns, np.ones((len(columns), 1))], axis=1)

    def intercept(self, coefficients: Floats, centred: float) -> float:
        """Return the intercept for X, given that for the centred matrix."""
        return centred - float(self.means @ coefficients)
