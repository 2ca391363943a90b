"""The fused lasso as a scikit-learn estimator.

On a nearest-neighbour graph this is the K-NN fused lasso of O. H. Madrid Padilla, J. Sharpnack,
Y. Chen and D. Witten (2020), a nonparametric regression for piecewise constant functions. Here the
prediction for a new point is the value of the nearest training point.
"""

from __future__ import annotations

import contextlib
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.model_selection import check_cv
    from sklearn.utils.validation import check_array, check_is_fitted, validate_data
except ImportError as error:
    message = 'FusedLasso needs scikit-learn: pip install "graphtv[ml]"'
    raise ImportError(message) from error

from graphtv._nearest import nearest_point
from graphtv._validate import (
    INDEX_LIMIT,
    Floats,
    Rng,
    as_choice,
    as_count,
    as_floats,
    as_generator,
    as_real,
    as_weights,
    brief,
    moderate,
)
from graphtv.applications.fused.degrees_of_freedom import fused_components
from graphtv.applications.fused.feature_scales import chosen_scales, feature_spreads
from graphtv.applications.fused.fused_lasso_path import (
    CRITERIA,
    FusedLassoPath,
    fused_lasso_path,
)
from graphtv.applications.fused.fused_model import LOSSES
from graphtv.applications.graph_input import to_graph
from graphtv.applications.keywords import as_solve_options
from graphtv.graph.graph import Graph
from graphtv.graph.labelled import labelling_of, places_in
from graphtv.graph.neighbours import knn_graph
from graphtv.result import Result

__all__ = ["FusedLasso"]

POOLED = ("squared", "poisson")
"""Losses for which coinciding observations are equivalent to their weighted mean."""


class FusedLasso(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Regression by functions that are piecewise constant on a graph.

    Minimises Σ_i c_i g(u_i; y_i) + λ Σ_e ω_e |u_i - u_j| + Σ_i μ |u_i| on a nearest-neighbour
    graph of the samples, or on a given graph.

    Parameters
    ----------
    lam : float or {'bic', 'aic', 'gcv', 'cv', 'cv_1se'}, default='bic'
        λ > 0, or the criterion that chooses it on a path (see `fused_lasso_path`).
    graph : Graph, sparse matrix, array_like or tuple, default=None
        The graph of the samples, in their order: a `Graph`, a symmetric sparse matrix of weights,
        an (m, 2) array of edges, or (edges, weights). By default each sample is joined to its
        nearest neighbours.
    n_neighbors : int, default=10
        Number of neighbours of a sample in the graph of X; fewer if there are not enough samples.
    bandwidth : float, default=None
        Bandwidth of the edge weights (see `knn_graph`); ``math.inf`` gives unit weights. By default
        it adapts to the density of the samples.
    standardize : bool or 'auto', default='auto'
        Whether to divide each feature by its spread (`feature_scales_`) before the neighbour
        search. ``auto`` does so if neighbours then predict y clearly better, for example if the
        features have different units. With a `bandwidth`, which has the unit of X, ``auto`` means
        False. Use False for map coordinates.
    sparsity : float or array_like, default=0.0
        μ ≥ 0 shrinks values towards 0. With a `graph` it can be one number per vertex.
    loss : {'squared', 'absolute', 'huber', 'logistic', 'poisson'}, default='squared'
        The loss g. For ``logistic``, y has two classes as in `fused_lasso`, and the prediction is
        the log-odds.
    delta : float, default=1.0
        The threshold above which the Huber loss is linear.
    n_lambdas : int, default=50
        Number of values of λ on the path, if `lam` is a criterion.
    cv : int, array_like of int, splitter or iterable, default=5
        Folds of the cross-validation, if `lam` is ``cv`` or ``cv_1se``: their number, spread evenly
        over the graph; the fold of each sample (negative: never held out); or anything that
        scikit-learn accepts as `cv`, with disjoint test sets. Samples at the same vertex are held
        out together or not at all.
    noise_variance : float, default=None
        Variance of the noise for AIC, BIC and GCV. By default it is estimated.
    random_state : int, RandomState, Generator or None, default=0
        Seed or generator of the folds.
    tol : float, default=None
        Relative gap to certify. By default the solution is exact where possible (see
        `fused_lasso_path`).
    solve_options : dict, default=None
        Further options of `solve`, such as ``time_limit`` or ``n_threads``.
    verbose : bool, default=False
        Print a line per λ and fold.

    Attributes
    ----------
    fitted_ : ndarray, shape (n_samples,) or (n_samples, C)
        The fitted value of each sample.
    labels_ : ndarray of int
        The piece of each sample.
    result_ : Result
        The solution on the vertices of `graph_`, with its certificate.
    lam_ : float
        The value of λ.
    df_ : int
        The number of pieces; with sparsity, of nonzero pieces.
    path_ : FusedLassoPath
        The path on which λ was chosen, if `lam` is a criterion.
    graph_ : Graph
        The graph.
    vertices_ : ndarray of int, shape (n_samples,)
        The vertex of each sample.
    feature_scales_ : ndarray, shape (n_features,)
        The divisors of the features: the interquartile range rounded to a power of two, or 1. Only
        if the graph is computed from X.
    n_features_in_ : int
        Number of features seen by `fit`.

    Warns
    -----
    UserWarning
        If the criterion chooses a λ at an end of the path (see `FusedLassoPath.end_of_path`). The
        fit is then constant, or the best λ may lie beyond the path.

    Notes
    -----
    The weight of a sample is the number of times it counts. If the graph is computed from X,
    samples of weight 0 are ignored, and coinciding samples are one vertex (with the squared and the
    Poisson loss). If the graph is given, a sample of weight 0 is a vertex without data.

    References
    ----------
    .. [1] O. H. Madrid Padilla, J. Sharpnack, Y. Chen, D. Witten, "Adaptive nonparametric
       regression with the K-nearest neighbour fused lasso", Biometrika 107, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 2))
    >>> y = np.where(X[:, 0] > 0.5, 2.0, -1.0) + 0.3 * rng.normal(size=300)
    >>> model = FusedLasso().fit(X, y)
    >>> model.predict([[0.1, 0.5], [0.9, 0.5]]).round(1), model.result_.status
    (array([-1.,  2.]), 'optimal')
    """

    def __init__(
        self,
        lam: float | str = "bic",
        *,
        graph: Any = None,
        n_neighbors: int = 10,
        bandwidth: float | None = None,
        standardize: bool | str = "auto",
        sparsity: Any = 0.0,
        loss: str = "squared",
        delta: float = 1.0,
        n_lambdas: int = 50,
        cv: Any = 5,
        noise_variance: float | None = None,
        random_state: Any = 0,
        tol: float | None = None,
        solve_options: dict[str, Any] | None = None,
        verbose: bool = False,
    ) -> None:
        self.lam = lam
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth
        self.standardize = standardize
        self.sparsity = sparsity
        self.loss = loss
        self.delta = delta
        self.n_lambdas = n_lambdas
        self.cv = cv
        self.noise_variance = noise_variance
        self.random_state = random_state
        self.tol = tol
        self.solve_options = solve_options
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to the samples.

        Parameters
        ----------
        X : array_like, shape (n_samples, n_features)
            The positions of the samples. With a `graph` only `predict` uses them, and they may be
            None.
        y : array_like, shape (n_samples,) or (n_samples, C)
            The data. With a `graph`, its rows are in the order of the vertices; other labels of a
            Series or DataFrame are an error if the graph has names. NaN or a masked entry means
            missing data, like a weight of 0.
        sample_weight : float or array_like, shape (n_samples,), optional
            Weights ≥ 0 of the samples.

        Returns
        -------
        FusedLasso
            The estimator itself.
        """
        self._check_lam()
        _check_order(self.graph, y=y, sample_weight=sample_weight)
        places: Floats | None = None
        y, known = _without_missing(y)
        if X is None and self.graph is not None:
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        else:
            places, y = validate_data(
                self,
                X,
                y,
                dtype=np.float64,
                multi_output=True,
                y_numeric=True,
                ensure_min_samples=2 if self.graph is None else 1,
            )
        y = as_floats(np.asarray(y, dtype=np.float64), "y")
        weights = as_weights(
            1.0 if sample_weight is None else sample_weight, "sample_weight", y.shape[:1]
        )
        moderate(weights, "sample_weight", divides=True)
        moderate(y, "y")
        if known is not None and self.graph is None:
            weights = np.where(_known_rows(known), weights, 0.0)
        elif known is not None:
            y = np.where(known, y, np.nan)
        if self.graph is not None:
            self.graph_ = to_graph(self.graph, len(y))
            self.vertices_ = np.arange(len(y))
            self._places: Floats | None = places
            self._fit(y, weights, self._folds(places, y))
        else:
            assert places is not None
            self._fit_places(places, y, weights)
        at_vertices = self.result_.u
        self.fitted_ = at_vertices[self.vertices_]
        self.labels_ = fused_components(self.graph_, self.result_)[self.vertices_]
        return self

    def predict(self, X: Any) -> Floats:
        """Return the fitted value of the nearest training sample.

        Parameters
        ----------
        X : array_like, shape (n_queries, n_features)
            The positions of the queries.

        Returns
        -------
        ndarray, shape (n_queries,) or (n_queries, C)
        """
        check_is_fitted(self)
        if self._places is None:
            raise ValueError("X must be passed to fit for predictions, got None")
        queries = validate_data(self, X, reset=False, dtype=np.float64)
        if self.graph is None:
            queries = queries / self.feature_scales_
        return np.asarray(self.result_.u[nearest_point(self._places, queries)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        # In scikit-learn's test problem only one of ten features matters, which a neighbour
        # graph cannot know. BIC then fuses nearly everything, and R² is below the required 0.5.
        tags.regressor_tags.poor_score = True
        return tags

    def _fit_places(self, places: Floats, y: Floats, weights: Floats) -> None:
        """Build the graph of the samples and fit on it."""
        if not weights.any():
            raise ValueError(f"sample_weight must not be zero everywhere, got {brief(weights)}")
        there = np.flatnonzero(weights)
        vertex: Any = np.arange(len(there))
        self._places, data, c = places[there], y[there], weights[there]
        if self.loss in POOLED:
            self._places, inverse = np.unique(self._places, axis=0, return_inverse=True)
            vertex = inverse.reshape(-1)
            total = np.bincount(vertex, c).astype(np.float64)
            columns = data.reshape(len(there), -1).T
            means = [np.bincount(vertex, c * column) / total for column in columns]
            data, c = np.stack(means, axis=1).reshape(-1, *y.shape[1:]), total
        n = len(self._places)
        k = min(as_count(self.n_neighbors, "n_neighbors", minimum=1), n - 1)
        self.feature_scales_ = self._scales(self._places, data, c, k)
        self._places = self._places / self.feature_scales_
        self.graph_ = (
            knn_graph(self._places, k, self.bandwidth) if k else Graph(n, np.empty((0, 2), int))
        )
        self.vertices_ = np.empty(len(y), dtype=np.intp)
        self.vertices_[there] = vertex
        absent = np.flatnonzero(weights == 0.0)
        if len(absent):
            self.vertices_[absent] = nearest_point(
                self._places, places[absent] / self.feature_scales_
            )
        folds = self._folds(places, y)
        if isinstance(folds, np.ndarray):
            low, high = np.full(n, np.iinfo(np.int64).max), np.full(n, -1)
            np.minimum.at(low, vertex, folds[there])
            np.maximum.at(high, vertex, folds[there])
            folds = np.where(low == high, high, -1)
        self._fit(data, c, folds)

    def _scales(self, places: Floats, data: Floats, weights: Floats, k: int) -> Floats:
        """Return the divisors of the features."""
        if isinstance(self.standardize, bool | np.bool_) and self.standardize:
            return feature_spreads(places)
        if self.standardize == "auto" and self.bandwidth is None and k:
            return chosen_scales(places, data, weights, k)
        return np.ones(places.shape[1])

    def _folds(self, places: Floats | None, y: Floats) -> Any:
        """Return the number of folds, or the fold of each sample."""
        if not isinstance(self.lam, str) or not self.lam.startswith("cv"):
            return None
        if isinstance(self.cv, int | np.integer) and not hasattr(self.cv, "split"):
            return self.cv
        if isinstance(self.cv, np.ndarray) or not hasattr(self.cv, "split"):
            with contextlib.suppress(ValueError):
                given = np.asarray(self.cv)
                if given.shape == (len(y),) and given.dtype.kind in "iu":
                    return given
        folds = np.full(len(y), -1, dtype=np.int64)
        X = np.zeros((len(y), 1)) if places is None else places
        for k, (_, test) in enumerate(check_cv(self.cv).split(X, y)):
            if (folds[test] >= 0).any():
                raise ValueError(f"cv must have test sets that do not overlap, got {self.cv!r}")
            folds[test] = k
        return folds

    def _fit(self, signal: Floats, weights: Floats, folds: Any) -> None:
        shared: dict[str, Any] = {
            "vertex_weights": weights,
            "sparsity": self.sparsity,
            "loss": self.loss,
            "delta": self.delta,
            "verbose": self.verbose,
            **(self.solve_options or {}),
        }
        if self.tol is not None:
            shared["tol"] = self.tol
        chosen = isinstance(self.lam, str)
        path: FusedLassoPath = fused_lasso_path(
            self.graph_,
            signal,
            None if chosen else [self.lam],
            self.n_lambdas,
            noise_variance=self.noise_variance,
            cv=folds,
            rng=self._rng(),
            **shared,
        )
        best = path.best_index(str(self.lam)) if chosen else 0
        self.result_: Result = path.results[best]
        self.lam_ = float(path.lambdas[best])
        self.df_ = int(path.df[best])
        if chosen:
            self.path_ = path
            if (what := path.end_of_path(str(self.lam))) is not None:
                warnings.warn(f"FusedLasso: {what}", UserWarning, stacklevel=4)

    def _rng(self) -> Rng:
        state = self.random_state
        if isinstance(state, np.random.RandomState):  # the generator of scikit-learn
            return int(state.randint(INDEX_LIMIT))
        return as_generator(state, "random_state")

    def _check_lam(self) -> None:
        as_choice(self.loss, "loss", LOSSES)
        is_auto = isinstance(self.standardize, str) and self.standardize == "auto"
        if not isinstance(self.standardize, bool | np.bool_) and not is_auto:
            raise ValueError(f"standardize must be True, False or 'auto', got {self.standardize!r}")
        as_solve_options(self.solve_options)
        if isinstance(self.lam, str):
            if self.lam not in CRITERIA:
                names = ", ".join(map(repr, CRITERIA))
                raise ValueError(f"lam must be a number or one of {names}, got {self.lam!r}")
        else:
            moderate(as_real(self.lam, "lam", minimum=0.0, strict=True), "lam")


def _without_missing(y: Any) -> tuple[Any, NDArray[np.bool_] | None]:
    """Return y with 0 for missing data, and a mask of the others; scikit-learn rejects NaN."""
    if np.ma.is_masked(y):
        y = np.ma.filled(y.astype(np.float64), np.nan)
    given = np.asarray(y)
    if given.dtype.kind != "f" or not np.isnan(given).any():
        return y, None
    return np.nan_to_num(given, nan=0.0, posinf=np.inf, neginf=-np.inf), ~np.isnan(given)


def _known_rows(known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the samples with data; raise if one has data in some columns only."""
    columns = known.reshape(len(known), -1)
    partly = columns.any(axis=1) != columns.all(axis=1)
    if partly.any():
        raise ValueError(
            "y must be NaN in all columns of a row or in none unless a graph is given,"
            f" got NaN in some columns of row {int(np.argmax(partly))}"
        )
    return np.asarray(columns.all(axis=1))


def _check_order(graph: Any, **given: Any) -> None:
    """Raise if data with labels is not in the order of the vertices of a named graph."""
    if not isinstance(graph, Graph) or graph.names is None:
        return
    for name, values in given.items():
        labelling = labelling_of(values)
        if labelling is not None and places_in(graph, labelling, name) is not None:
            raise ValueError(
                f"{name} must be in the order of the names of graph, got {brief(labelling.labels)};"
                f" use {name}.loc[list(graph.names)]"
            )
