"""Linear regression with coefficients on a graph, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

try:
    from sklearn.base import RegressorMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    message = 'regression on a graph needs scikit-learn: pip install "graphtv[ml]"'
    raise ImportError(message) from error

from graphtv._validate import Floats
from graphtv.applications.regression.fused_regression import FusedRegression, linear
from graphtv.result import Result

__all__ = ["FusedLinearRegression"]


class FusedLinearRegression(RegressorMixin, FusedRegression):  # type: ignore[misc]
    """Linear regression with coefficients that are piecewise constant on a graph.

    Minimises ½ Σ_i c_i (y_i - x_iᵀw - b)² + λ Σ_e ω_e |w_i - w_j| + μ ‖w‖₁ over the coefficients w
    and the intercept b. Edges e = (i, j) join features.

    Parameters
    ----------
    graph : Graph, sparse matrix, array_like or tuple, default=None
        The graph of the features, in their order: a `Graph`, a symmetric sparse matrix of weights,
        an (m, 2) array of edges, or (edges, weights). By default each feature is joined to the
        next, for features in a natural order such as wavelengths. For images see `from_mask`.
    lam : float or 'cv', default='cv'
        λ > 0. ``cv`` chooses it by cross-validation.
    sparsity : float, default=0.0
        μ ≥ 0 shrinks coefficients towards 0.
    fit_intercept : bool, default=True
        Whether there is an intercept. It is not penalised.
    n_lambdas : int, default=20
        Number of values of λ for ``cv``, evenly spaced on a logarithmic scale. At the largest one
        all coefficients of a connected component are equal.
    ratio : float, default=1e-3
        Ratio of the smallest and the largest λ.
    cv : int, splitter or iterable, default=5
        Folds, as in scikit-learn.
    tol : float, default=1e-4
        Relative gap to certify.
    solve_options : dict, default=None
        Further options of `solve`, such as ``time_limit`` or ``n_threads``. The default of
        ``max_iterations`` is 10 000 for each λ.
    verbose : bool, default=False
        Print a line per fold.

    Attributes
    ----------
    coef_ : ndarray, shape (n_features,)
        The coefficients w.
    intercept_ : float
        The intercept b.
    n_pieces_ : int
        The number of connected sets of equal coefficients.
    result_ : Result
        The solution with its certificate. The intercept is eliminated, so the problem has centred
        columns.
    lam_ : float
        The value of λ.
    path_ : RegressionPath
        The fits for all λ, if `lam` is ``cv``.
    graph_ : Graph
        The graph of the features.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features seen by `fit`.

    Warns
    -----
    UserWarning
        If cross-validation chooses the smallest λ of the path.
    sklearn.exceptions.ConvergenceWarning
        If the fit misses the tolerance.

    References
    ----------
    .. [1] R. Tibshirani, M. Saunders, S. Rosset, J. Zhu, K. Knight, "Sparsity and smoothness via
       the fused lasso", Journal of the Royal Statistical Society B 67, 2005.
    .. [2] V. Michel, A. Gramfort, G. Varoquaux, E. Eger, B. Thirion, "Total variation
       regularization for fMRI-based prediction of behavior", IEEE TMI 30, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0.0, 1.0, 0.0], 20)
    >>> X = rng.normal(size=(40, 60))  # fewer samples than features
    >>> y = X @ truth + 0.1 * rng.normal(size=40)
    >>> model = FusedLinearRegression(lam=2.0).fit(X, y)
    >>> float(np.abs(model.coef_ - truth).max()) < 0.2
    True
    """

    _loss = "squared"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n_samples, n_features)
            The samples.
        y : array_like, shape (n_samples,)
            The targets.
        sample_weight : float or array_like, shape (n_samples,), optional
            Weights c ≥ 0 of the samples.

        Returns
        -------
        FusedLinearRegression
            The estimator itself.
        """
        self._checked()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        self._fit(X, y, [np.asarray(y, dtype=np.float64)], sample_weight)
        self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])
        self.n_pieces_ = int(self.n_pieces_[0])
        if isinstance(self.lam, str):
            self.path_ = self.path_._of_one_row()
        return self

    @property
    def result_(self) -> Result:
        """The solution with its certificate."""
        check_is_fitted(self)
        result: Result = self.results_[0]
        return result

    def predict(self, X: Any) -> Floats:
        """Return X w + b.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray, shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False, dtype=np.float64)
        return np.asarray(linear(X, self.coef_) + self.intercept_)

    def _losses(self, target: Floats, found: Floats) -> Floats:
        return np.asarray((found - target) ** 2)
