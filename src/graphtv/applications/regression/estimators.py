"""Linear and logistic regression with coefficients on a graph, as scikit-learn estimators.

The features are the vertices of a graph: voxels, wavelengths, genes, sensors. The penalty makes the
coefficients piecewise constant on it (R. Tibshirani et al., "Sparsity and smoothness via the fused
lasso", 2005; with images, V. Michel et al., "Total variation regularization for fMRI-based
prediction of behavior", 2011).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.model_selection import check_cv
    from sklearn.utils.extmath import safe_sparse_dot
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError as error:
    message = 'regression on a graph needs scikit-learn: pip install "graphtv[ml]"'
    raise ImportError(message) from error

from graphtv._elementary import exp, log1p
from graphtv._validate import Floats, as_array, as_count, as_flag, as_real
from graphtv.applications.imaging.pixel_graph import pixel_graph
from graphtv.applications.keywords import check_keywords
from graphtv.applications.learning.graph_input import to_graph
from graphtv.applications.regression.design import Design
from graphtv.applications.regression.linear_model import Fit, LinearModel
from graphtv.applications.regression.regression_path import RegressionPath, usual_lambdas
from graphtv.graph.graph import Graph
from graphtv.graph.grid import grid_graph
from graphtv.result import Result
from graphtv.solver import solve

__all__ = ["FusedLinearRegression", "FusedLogisticRegression"]

SHARED_OPTIONS = ("n_threads", "time_limit")
"""Options of `solve` that also apply to the computation of the largest λ."""


class _FusedRegression(BaseEstimator):  # type: ignore[misc]
    """What both estimators share. A subclass has a loss, and one or more targets."""

    _loss: str

    def __init__(
        self,
        graph: Any = None,
        lam: float | str = "cv",
        *,
        sparsity: float = 0.0,
        fit_intercept: bool = True,
        n_lambdas: int = 20,
        ratio: float = 1e-3,
        cv: Any = 5,
        tol: float = 1e-4,
        solve_options: dict[str, Any] | None = None,
        verbose: bool = False,
    ) -> None:
        self.graph = graph
        self.lam = lam
        self.sparsity = sparsity
        self.fit_intercept = fit_intercept
        self.n_lambdas = n_lambdas
        self.ratio = ratio
        self.cv = cv
        self.tol = tol
        self.solve_options = solve_options
        self.verbose = verbose

    @classmethod
    def from_mask(
        cls, mask: Any, lam: float | str = "cv", *, spacing: Any = None, **parameters: Any
    ) -> Self:
        """Return an estimator for images: the features are the pixels of a mask.

        Row k of X has the pixels of image k inside the mask, ``images[k][mask]``. Then
        ``image[mask] = model.coef_`` draws the coefficients.

        Parameters
        ----------
        mask : array_like of bool
            The pixels or voxels that are features. Neighbours along the axes are joined.
        lam : float or 'cv'
            As for the class.
        spacing : float or sequence of float, optional
            Distance between neighbouring pixels along each axis. The weight of an edge is its
            inverse.
        **parameters
            Further parameters of the class.

        Returns
        -------
        FusedLinearRegression or FusedLogisticRegression
        """
        inside = as_array(mask, "mask")
        if inside.dtype != bool:
            raise ValueError(f"mask must have dtype bool, got {inside.dtype}")
        if not inside.any():
            raise ValueError("mask must contain a pixel, got False everywhere")
        whole = pixel_graph(inside.shape, 1.0, spacing, 1)
        number = np.cumsum(inside.ravel()) - 1
        kept = inside.ravel()[whole.edges].all(axis=1)
        graph = Graph(int(inside.sum()), number[whole.edges[kept]], whole.weights[kept])
        return cls(graph, lam, **parameters)

    def _checked(self) -> None:
        """Check the parameters."""
        if isinstance(self.lam, str):
            if self.lam != "cv":
                raise ValueError(f"lam must be a number or 'cv', got {self.lam!r}")
        else:
            as_real(self.lam, "lam", minimum=0.0, strict=True)
        as_real(self.sparsity, "sparsity", minimum=0.0)
        as_flag(self.fit_intercept, "fit_intercept")
        as_flag(self.verbose, "verbose")
        as_count(self.n_lambdas, "n_lambdas", minimum=1)
        if as_real(self.ratio, "ratio", minimum=0.0, strict=True) >= 1.0:
            raise ValueError(f"ratio must be below 1, got {self.ratio}")
        if self.solve_options is not None and not isinstance(self.solve_options, Mapping):
            raise ValueError(f"solve_options must be a dict or None, got {self.solve_options!r}")
        check_keywords(solve, self.solve_options or {})

    def _fit(self, X: Any, y: Any, targets: list[Floats], sample_weight: Any) -> None:
        """Fit one row of coefficients per target."""
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        n = X.shape[1]
        if self.graph is not None:
            self.graph_ = to_graph(self.graph, n)
        else:
            self.graph_ = grid_graph((n,))
        everything = np.arange(X.shape[0])
        models = [self._model(X, target, weights, everything) for target in targets]
        if isinstance(self.lam, str):
            lambdas = self._lambdas(models)
            errors = self._cross_validate(X, y, targets, weights, lambdas)
            path = self._path(models, lambdas, errors)
            best = path.best_index
            self.lam_, self.path_ = float(lambdas[best]), path
            self._warn_of_end(best)
            rows, intercepts = path.coef[best], path.intercept[best]
            pieces, self.results_ = path.n_pieces[best], path.results[best]
        else:
            self.lam_ = float(self.lam)
            fits = [model.solve(self.lam_, **self._options()) for model in models]
            rows, intercepts, pieces = _stacked(fits)
            self.results_ = tuple(fit.result for fit in fits)
        self.coef_, self.intercept_, self.n_pieces_ = rows, intercepts, pieces
        self.n_iter_ = max(result.iterations for result in self.results_)

    def _model(self, X: Any, target: Floats, weights: Floats, rows: Any) -> LinearModel:
        there = rows[weights[rows] > 0.0]
        design = Design(X[there], weights[there], bool(self.fit_intercept))
        return LinearModel(
            self.graph_,
            design,
            target[there],
            self._loss,
            float(self.sparsity),
            bool(self.fit_intercept),
        )

    def _options(self) -> dict[str, Any]:
        return {"tol": self.tol, **(self.solve_options or {})}

    def _lambdas(self, models: list[LinearModel]) -> Floats:
        shared = {
            name: v for name, v in (self.solve_options or {}).items() if name in SHARED_OPTIONS
        }
        largest = max(model.largest_lambda(**shared) for model in models)
        return usual_lambdas(largest, self.n_lambdas, self.ratio)

    def _path(self, models: list[LinearModel], lambdas: Floats, errors: Floats) -> RegressionPath:
        options = self._options()
        by_model = [list(model.solutions(lambdas, options)) for model in models]
        by_lambda = [_stacked(list(fits)) for fits in zip(*by_model, strict=True)]
        rows, intercepts, pieces = (np.stack(parts) for parts in zip(*by_lambda, strict=True))
        results = tuple(tuple(fit.result for fit in fits) for fits in zip(*by_model, strict=True))
        return RegressionPath(lambdas, rows, intercepts, pieces, results, errors)

    def _cross_validate(
        self, X: Any, y: Any, targets: list[Floats], weights: Floats, lambdas: Floats
    ) -> Floats:
        """Return the mean loss of the held-out samples per fold and λ."""
        folds = list(check_cv(self.cv, y, classifier=self._loss == "logistic").split(X, y))
        errors = np.zeros((len(folds), len(lambdas)))
        options = self._options()
        for k, (train, test) in enumerate(folds):
            scale = float(weights[test].sum())
            if scale == 0.0 or not weights[train].any():
                raise ValueError(f"cv must leave samples of positive weight in fold {k}")
            for target in targets:
                model = self._model(X, target, weights, train)
                for j, fit in enumerate(model.solutions(lambdas, options)):
                    found = _linear(X[test], fit.coefficients) + fit.intercept
                    losses = _losses(self._loss, target[test], found)
                    errors[k, j] += float(weights[test] @ losses) / scale
            if self.verbose:
                print(f"fold {k + 1}/{len(folds)}: least error {errors[k].min():.5g}", flush=True)
        return errors

    def _warn_of_end(self, best: int) -> None:
        if best == self.n_lambdas - 1 and self.n_lambdas > 1:
            what = "smallest λ of the path: a smaller `ratio` may be better"
            name = type(self).__name__
            warnings.warn(f"{name}: cv chooses the {what}", UserWarning, stacklevel=4)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class FusedLinearRegression(RegressorMixin, _FusedRegression):  # type: ignore[misc]
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
        Further options of `solve`, such as ``time_limit`` or ``n_threads``.
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
        return np.asarray(_linear(X, self.coef_) + self.intercept_)


class FusedLogisticRegression(ClassifierMixin, _FusedRegression):  # type: ignore[misc]
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
        Further options of `solve`, such as ``time_limit`` or ``n_threads``.
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
        odds = _linear(X, self.coef_.T) + self.intercept_
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


def _linear(X: Any, coefficients: Floats) -> Floats:
    return np.asarray(safe_sparse_dot(X, coefficients, dense_output=True))


def _losses(loss: str, target: Floats, found: Floats) -> Floats:
    """Return the loss of each sample."""
    if loss == "squared":
        return np.asarray((found - target) ** 2)
    margin = target * found
    return np.asarray(log1p(exp(-np.abs(margin))) - np.minimum(margin, 0.0))


def _stacked(fits: list[Fit]) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return coefficients, intercepts and numbers of pieces of several fits."""
    return (
        np.stack([fit.coefficients for fit in fits]),
        np.array([fit.intercept for fit in fits]),
        np.array([fit.n_pieces for fit in fits], dtype=np.int64),
    )
