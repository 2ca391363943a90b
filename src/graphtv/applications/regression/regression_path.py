"""The fits of a linear model for decreasing λ, with cross-validation errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphtv._elementary import geometric
from graphtv._ties import first_least
from graphtv._validate import Floats
from graphtv.result import Result

__all__ = ["RegressionPath"]


@dataclass(frozen=True, eq=False, repr=False)
class RegressionPath:
    """The fits of a linear model for decreasing λ.

    Attributes
    ----------
    lambdas : ndarray, shape (L,)
        The values of λ, in decreasing order.
    coef : ndarray, shape (L, n_features) or (L, n_classes, n_features)
        The coefficients for each λ.
    intercept : ndarray, shape (L,) or (L, n_classes)
        The intercepts.
    n_pieces : ndarray of int, shape (L,) or (L, n_classes)
        Numbers of connected sets of equal coefficients.
    results : tuple of tuple of Result
        The certified solutions for each λ, one per row of coefficients.
    cv_errors : ndarray, shape (folds, L)
        The mean loss of the held-out samples, per fold.

    Examples
    --------
    >>> import numpy as np
    >>> from graphtv import FusedLinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 20))
    >>> y = X[:, :10].sum(axis=1) + rng.normal(size=40)
    >>> path = FusedLinearRegression(n_lambdas=5, cv=3).fit(X, y).path_
    >>> path.coef.shape, path.n_pieces[:2].tolist()
    ((5, 20), [1, 3])
    """

    lambdas: Floats
    coef: Floats
    intercept: Floats
    n_pieces: np.ndarray[Any, np.dtype[np.int64]]
    results: tuple[tuple[Result, ...], ...]
    cv_errors: Floats

    @property
    def cv_mean(self) -> Floats:
        """The mean of the cross-validation error over the folds."""
        return np.asarray(self.cv_errors.mean(axis=0))

    def best_index(self) -> int:
        """Return the index of the λ with the smallest mean error; the largest such λ."""
        return first_least(self.cv_mean)

    def best_lambda(self) -> float:
        """Return the λ with the smallest mean error."""
        return float(self.lambdas[self.best_index()])

    def _of_one_row(self) -> RegressionPath:
        """Return the path of a model with one row of coefficients, without an axis for rows."""
        return replace(
            self,
            coef=self.coef[:, 0],
            intercept=self.intercept[:, 0],
            n_pieces=self.n_pieces[:, 0],
        )

    def __len__(self) -> int:
        return len(self.lambdas)

    def __repr__(self) -> str:
        lines = [f"RegressionPath of {len(self)} λ", f"  {'λ':>10} {'pieces':>8} {'cv':>11}"]
        pieces = self.n_pieces.reshape(len(self), -1).sum(axis=1)
        rows = zip(self.lambdas, pieces, self.cv_mean, strict=True)
        best = self.best_index()
        for k, (lam, count, error) in enumerate(rows):
            mark = "  ← cv" if k == best else ""
            lines.append(f"  {lam:10.4g} {count:8d} {error:11.5g}{mark}")
        return "\n".join(lines)


def usual_lambdas(largest: float, count: int, ratio: float) -> Floats:
    """Return λ evenly spaced on a logarithmic scale, in decreasing order."""
    return geometric(1.0, ratio, count) * (largest or 1.0)
