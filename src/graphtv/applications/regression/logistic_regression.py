"""Logistic regression with coefficients on a graph, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError as error:
    message = 'regression on a graph needs scikit-learn: pip install "graphtv[ml]"'
    raise ImportError(message) from error

from graphtv._elementary import exp, log1p
from graphtv._validate import Floats
from graphtv.applications.regression.fused_regression import FusedRegression, linear

__all__ = ["FusedLogisticRegression"]


class FusedLogisticRegression(ClassifierMixin, FusedRegression):  # type: ignore[misc]
    """Logistic regression with coefficients that are piecewise constant on a graph.

    Minimises Σ_i c_i log(1 + exp(-s_i (x_iᵀw + b))) + λ Σ_e ω_e |w_i - w_j| + μ ‖w‖₁ over the
    coefficients w and the intercept b, for signs s_i = ±1 of the two classes. More than two classes
    have one such model each, which separates the class from all others.

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
    classes_ : ndarray, shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray, shape (1, n_features) or (n_classes, n_features)
        The coefficients w of each model. Two classes have one model, for the second class.
    intercept_ : ndarray, shape (1,) or (n_classes,)
        The intercepts b.
    n_pieces_ : ndarray of int, shape (1,) or (n_classes,)
        The numbers of connected sets of equal coefficients.
    results_ : tuple of Result
        The solutions with their certificates. In a problem with an intercept, columns are centred
        and the intercept is the last entry of u.
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

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 30))
    >>> y = np.where(X[:, 10:20].sum(axis=1) > 0, "large", "small")
    >>> model = FusedLogisticRegression(lam=3.0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    _loss = "logistic"
    _hint = ". If equal coefficients separate the classes, there is no best fit without sparsity"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n_samples, n_features)
            The samples.
        y : array_like, shape (n_samples,)
            The classes.
        sample_weight : float or array_like, shape (n_samples,), optional
            Weights c ≥ 0 of the samples.

        Returns
        -------
        FusedLogisticRegression
            The estimator itself.
        """
        self._checked()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y must have two classes or more, got one class, {self.classes_[0]!r}"
            )
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        present = np.unique(numbers[weights > 0.0])
        if len(present) == 1:
            raise ValueError(
                "sample_weight must be positive in two classes or more, got one class,"
                f" {self.classes_[present[0]]!r}"
            )
        which = [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))
        targets = [np.where(numbers == k, 1.0, -1.0) for k in which]
        self._fit(X, y, targets, sample_weight)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the log-odds X w + b.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray, shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False, dtype=np.float64)
        odds = linear(X, self.coef_.T) + self.intercept_
        return np.asarray(odds[:, 0] if odds.shape[1] == 1 else odds)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class.

        With more than two classes, the probabilities of the models are divided by their sum.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray, shape (n_samples, n_classes)
        """
        odds = self.decision_function(X)
        shares = 1.0 / (1.0 + exp(-np.clip(odds, -700.0, 700.0)))
        if shares.ndim == 1:
            return np.stack([1.0 - shares, shares], axis=1)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray, shape (n_samples,)
        """
        odds = self.decision_function(X)
        chosen = (odds > 0.0).astype(int) if odds.ndim == 1 else odds.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def _losses(self, target: Floats, found: Floats) -> Floats:
        margin = target * found
        return np.asarray(log1p(exp(-np.abs(margin))) - np.minimum(margin, 0.0))
