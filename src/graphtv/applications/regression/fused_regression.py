"""What linear and logistic regression with coefficients on a graph share.

The features are the vertices of a graph: voxels, wavelengths, genes, sensors. The penalty makes the
coefficients piecewise constant on it (R. Tibshirani et al., "Sparsity and smoothness via the fused
lasso", 2005; with images, V. Michel et al., "Total variation regularization for fMRI-based
prediction of behavior", 2011).
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import BaseEstimator, is_classifier
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import check_cv
    from sklearn.utils.extmath import safe_sparse_dot
    from sklearn.utils.validation import _check_sample_weight
except ImportError as error:
    message = 'regression on a graph needs scikit-learn: pip install "graphtv[ml]"'
    raise ImportError(message) from error

from graphtv._validate import Floats, as_array, as_count, as_flag, as_real
from graphtv.applications.graph_input import to_graph
from graphtv.applications.imaging.pixel_graph import pixel_graph
from graphtv.applications.keywords import as_solve_options
from graphtv.applications.lambdas import as_ratio, shared_options
from graphtv.applications.regression.design import Design
from graphtv.applications.regression.linear_model import Fit, LinearModel
from graphtv.applications.regression.regression_path import RegressionPath, usual_lambdas
from graphtv.graph.graph import Graph
from graphtv.graph.grid import grid_graph

MOST_ITERATIONS = 10_000
"""Most iterations per λ, unless `solve_options` has another limit: a fit ends in any case."""


class FusedRegression(BaseEstimator):  # type: ignore[misc]
    """What both estimators share. A subclass has a loss, and one or more targets."""

    _loss: str
    _hint = ""  # what else may help a fit that misses the tolerance

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
        as_ratio(self.ratio)
        as_solve_options(self.solve_options)

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
            best = path.best_index()
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
        self._warn_of_gap()

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
        given = self.solve_options or {}
        return {"tol": self.tol, "max_iterations": MOST_ITERATIONS, **given}

    def _lambdas(self, models: list[LinearModel]) -> Floats:
        shared = shared_options(self.solve_options or {})
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
        folds = list(self._splitter(y).split(X, y))
        errors = np.zeros((len(folds), len(lambdas)))
        options = self._options()
        for k, (train, test) in enumerate(folds):
            scale = float(weights[test].sum())
            if scale == 0.0 or not weights[train].any():
                raise ValueError(f"cv must leave samples of positive weight in fold {k}")
            for target in targets:
                model = self._model(X, target, weights, train)
                for j, fit in enumerate(model.solutions(lambdas, options)):
                    found = linear(X[test], fit.coefficients) + fit.intercept
                    losses = self._losses(target[test], found)
                    errors[k, j] += float(weights[test] @ losses) / scale
            if self.verbose:
                print(f"fold {k + 1}/{len(folds)}: least error {errors[k].min():.5g}", flush=True)
        return errors

    def _splitter(self, y: Any) -> Any:
        """Return the folds of cross-validation; raise if there are fewer samples than folds."""
        n_samples, cv = len(y), self.cv
        if n_samples < 2:
            raise ValueError(
                f"X must have 2 samples or more if lam is 'cv', got {n_samples} sample:"
                " cross-validation holds out samples; give lam a number"
            )
        if isinstance(cv, int | np.integer) and cv > n_samples:
            raise ValueError(f"cv must not exceed the {n_samples} samples of X, got {cv}")
        return check_cv(cv, y, classifier=is_classifier(self))

    def _warn_of_gap(self) -> None:
        """Warn if a chosen fit misses the tolerance, and not if only rounding forbids a proof."""
        worst = max(self.results_, key=lambda result: result.relative_gap)
        tol, name = self._options()["tol"], type(self).__name__
        if worst.status == "optimal" or worst.relative_gap <= tol:
            return
        warnings.warn(
            f"{name}: the fit has a relative gap of {worst.relative_gap:.2g}, above"
            f" tol={tol:g} (status {worst.status!r}). Scale the columns of X to"
            " a similar size, increase tol, or give solve_options a larger max_iterations"
            f"{self._hint}",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _warn_of_end(self, best: int) -> None:
        if best == self.n_lambdas - 1 and self.n_lambdas > 1:
            what = "smallest λ of the path: a smaller `ratio` may be better"
            name = type(self).__name__
            warnings.warn(f"{name}: cv chooses the {what}", UserWarning, stacklevel=4)

    def _losses(self, target: Floats, found: Floats) -> Floats:
        """Return the loss of each sample, given x_iᵀw + b."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def linear(X: Any, coefficients: Floats) -> Floats:
    """Return the product of a dense or sparse matrix and coefficients."""
    return np.asarray(safe_sparse_dot(X, coefficients, dense_output=True))


def _stacked(fits: list[Fit]) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return coefficients, intercepts and numbers of pieces of several fits."""
    return (
        np.stack([fit.coefficients for fit in fits]),
        np.array([fit.intercept for fit in fits]),
        np.array([fit.n_pieces for fit in fits], dtype=np.int64),
    )
