"""Transductive classification of many points from few labels on a similarity graph.

The model is that of the paper's three moons: min over u_i ∈ Δ_C of ⟨ρ, u⟩ + ε Σ u log u + ‖Ku‖₁,
where the cost ρ encodes the labels and is 0 elsewhere. It differs from the paper in the graph
(`affinity.py`), in the scaling to a median degree of 1, and in a smaller ε.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graphtv._ties import largest_classes
from graphtv._validate import (
    Floats,
    as_choice,
    as_count,
    as_flag,
    as_real,
    moderate,
)
from graphtv.applications.keywords import as_solve_options
from graphtv.applications.learning.affinity import (
    SmoothedNeighbours,
    given_graph,
    given_to_new,
    row_stochastic,
    vertex_degrees,
)
from graphtv.graph.components import connected_components
from graphtv.graph.graph import Graph
from graphtv.graph.weight_matrix import SYMMETRIZE
from graphtv.problem import Problem
from graphtv.solver import solve
from graphtv.terms import EntropicSimplex

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError as error:
    raise ImportError('scikit-learn is not installed: pip install "graphtv[ml]"') from error

UNLABELLED = -1
"""The label of samples without a label, as in scikit-learn."""

AFFINITIES = ("knn", "precomputed")

HOLD = 30.0
"""Margin in units of ε by which the cost of a label exceeds the influence of its neighbours."""

LARGE = 100_000
"""From this number of samples on, labels are spread for a warm start, and linear forests are used.
Iterations are expensive for so many samples, and cheaper with linear forests. Small problems take
fewer iterations without a warm start."""

SPREADING = 50
"""Number of steps in which labels are spread. A step costs less than a third of an iteration."""


class TVClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Multiclass learning from few labels, by total variation on a graph.

    `fit` takes all samples; those without a label have y = -1. The classes are the minimum cut of
    the graph that keeps the labels.

    Parameters
    ----------
    affinity : {'knn', 'precomputed'}
        ``knn``: X are points, which are joined to their nearest neighbours. ``precomputed``: X is a
        sparse or dense matrix of nonnegative affinities. A sparse matrix is never made dense. The
        diagonal is ignored.
    symmetrize : {'mean', 'max', 'min'}
        For ``precomputed``: how to combine a_ij and a_ji if they differ, as in `Graph.from_sparse`.
    n_neighbors : int
        Number of neighbours for ``knn``; all other samples if there are fewer.
    bandwidth : float
        Bandwidth h of the kernel exp(-d²/(h² σ_i σ_j)) for ``knn``, relative to the distances σ to
        the farthest neighbours. With ``math.inf`` only shared neighbours determine the weights.
    smoothing : float
        For ``knn``: how far each point moves towards the mean of its neighbours before the graph is
        built, from 0 (not at all) to 1 (to the mean). It reduces noise, but also small differences.
    epsilon : float
        Weight of the entropy, in units of the median degree. It turns the cut into probabilities
        and makes the solution unique. Larger values are faster, but reduce the range of the labels.
    label_cost : float, optional
        Cost of changing a label, in units of the median degree. By default labels are kept. A
        finite cost allows for wrong labels.
    tol : float
        Relative gap to certify; see `graphtv.solve`.
    max_iter : int
        Largest number of iterations. Reaching it causes a `ConvergenceWarning`.
    verbose : bool
        Print progress and the solver log.
    solve_options : dict, optional
        Further arguments of `graphtv.solve`, such as ``time_limit``, ``callback``, ``n_threads``.

    Attributes
    ----------
    classes_ : ndarray, shape (C,)
        The classes, without -1.
    transduction_ : ndarray, shape (n,)
        The label of each sample; -1 in connected components without any label.
    label_distributions_ : ndarray, shape (n, C)
        The solution u, a probability distribution for each sample; uniform if undecided.
    result_ : Result
        The solution with its certificate.
    n_iter_ : int
        Iterations of the solver.
    graph_ : Graph
        The graph, with weights such that its median degree is 1.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns of X, where all are strings.

    Notes
    -----
    Labels may have any type that scikit-learn accepts. If they are strings, the string ``"-1"``
    marks unlabelled samples (NumPy converts ``[-1, "a"]`` to it). Among other objects, -1 does.

    Examples
    --------
    >>> from graphtv import TVClassifier
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> TVClassifier(n_neighbors=2).fit(X, [0, -1, -1, -1, 1, -1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    classes_: NDArray[Any]
    transduction_: NDArray[Any]
    label_distributions_: Floats

    def __init__(
        self,
        *,
        affinity: str = "knn",
        symmetrize: str = "mean",
        n_neighbors: int = 15,
        bandwidth: float = 0.3,
        smoothing: float = 0.3,
        epsilon: float = 0.01,
        label_cost: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 10_000,
        verbose: bool = False,
        solve_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.affinity = affinity
        self.symmetrize = symmetrize
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth
        self.smoothing = smoothing
        self.epsilon = epsilon
        self.label_cost = label_cost
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.solve_options = solve_options

    def fit(self, X: Any, y: Any) -> Self:
        """Compute a label for each sample.

        Parameters
        ----------
        X : array_like, shape (n, n_features), or affinities of shape (n, n)
            The samples.
        y : array_like, shape (n,)
            The labels; -1 means unlabelled.
        """
        self._check_parameters()
        start = time.perf_counter()
        given, labels = self._check_samples(X, y)
        self.classes_, codes = _encode(labels)
        if self.affinity == "knn":
            self._neighbours = SmoothedNeighbours(
                given, self.n_neighbors, float(self.bandwidth), float(self.smoothing)
            )
            self.graph_ = self._neighbours.graph()
        else:
            self.graph_ = given_graph(given, self.symmetrize)
        self._say(f"{self.graph_!r} after {time.perf_counter() - start:.3g} s")
        n_labelled, n_classes = int((codes >= 0).sum()), len(self.classes_)
        self._say(f"{n_labelled} of {len(codes)} samples have one of {n_classes} labels")

        problem = Problem(self.graph_, EntropicSimplex(self._cost(codes), float(self.epsilon)))
        options = dict(self.solve_options or {})
        if len(codes) >= LARGE:
            options.setdefault("preconditioner", "linear")
            if "warm_start" not in options:
                start_point = _spread(self.graph_, codes, n_classes)
                options["warm_start"] = (start_point, np.zeros(problem.dual_shape))
        self.result_ = solve(
            problem,
            tol=self.tol,
            max_iterations=self.max_iter,
            verbose=bool(self.verbose),
            **options,
        )
        self.n_iter_ = self.result_.iterations
        # If most samples are labelled, both objectives are near 0 and the relative gap is large.
        scale = float(self.epsilon) * len(codes) * math.log(max(n_classes, 2))
        if self.result_.status != "optimal" and self.result_.gap > float(self.tol) * scale:
            warnings.warn(
                f"the solver ended with status {self.result_.status!r} and a relative gap of "
                f"{self.result_.relative_gap:.2g}, above tol={self.tol}",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._decided = _reached(self.graph_, codes)
        distributions = self.result_.u.copy()
        distributions[~self._decided] = 1.0 / n_classes
        self.label_distributions_ = distributions
        self.transduction_ = self._named(distributions, self._decided)
        n_undecided = len(codes) - int(self._decided.sum())
        if n_undecided:
            warnings.warn(
                f"{n_undecided} samples are not connected to any label and remain -1",
                UserWarning,
                stacklevel=2,
            )
        return self

    def fit_predict(self, X: Any, y: Any) -> NDArray[Any]:
        """Fit, and return `transduction_`."""
        return self.fit(X, y).transduction_

    def predict(self, X: Any) -> NDArray[Any]:
        """Return labels for new samples, by a vote of their neighbours among the fitted samples.

        The votes are the `label_distributions_` of the neighbours, weighted like the graph. A
        sample of the fit keeps its transduced label. Without a decided neighbour the label is -1.

        Parameters
        ----------
        X : array_like, shape (m, n_features), or affinities of shape (m, n)
            New samples, or their affinities to the n samples of the fit.
        """
        return self._named(*self._vote(X))

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes for new samples, in the order of `classes_`.

        For undecided samples all classes have the same probability.
        """
        return self._vote(X)[0]

    def _vote(self, X: Any) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the distribution of each new sample, and whether it had a decided neighbour."""
        check_is_fitted(self)
        if self.affinity == "knn":
            points = moderate(validate_data(self, X, reset=False, dtype=np.float64), "X")
            weights = self._neighbours.to_new(points)
        else:
            weights = given_to_new(X, self.graph_.n_vertices)
        shares = np.asarray(weights @ self._decided.astype(np.float64))
        # Undecided neighbours do not vote.
        votes = np.asarray(weights @ (self.label_distributions_ * self._decided[:, None]))
        has_voters = shares > 0
        votes[has_voters] /= votes[has_voters].sum(axis=1, keepdims=True)
        votes[~has_voters] = 1.0 / len(self.classes_)
        return votes, has_voters

    def _cost(self, codes: NDArray[np.int64]) -> Floats:
        """Return the cost ρ, which is positive for all other classes of a labelled sample.

        A share of u_i that moves to another class saves at most twice the degree in total
        variation. The excess of the label cost over this, divided by ε, is minus the logarithm of
        the share.
        """
        labelled = np.flatnonzero(codes >= 0)
        cost = np.zeros((len(codes), len(self.classes_)))
        if self.label_cost is None:
            degrees = vertex_degrees(self.graph_)[labelled]
            cost[labelled] = (2.0 * degrees + HOLD * float(self.epsilon))[:, None]
        else:
            cost[labelled] = float(self.label_cost)
        cost[labelled, codes[labelled]] = 0.0
        return cost

    def _named(self, distributions: Floats, decided: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the label of the largest entry of each row, or -1 if undecided."""
        labels: NDArray[Any] = self.classes_[largest_classes(distributions)]
        if decided.all():
            return labels
        kind = self.classes_.dtype.kind
        mark: Any = np.array(str(UNLABELLED)) if kind == "U" else np.array(UNLABELLED, np.int8)
        dtype = labels.dtype if kind == "O" else np.result_type(labels, mark)
        named = labels.astype(dtype)
        named[~decided] = mark.item()
        return named

    def _check_parameters(self) -> None:
        as_choice(self.affinity, "affinity", AFFINITIES)
        as_choice(self.symmetrize, "symmetrize", SYMMETRIZE)
        as_count(self.n_neighbors, "n_neighbors", minimum=1)
        if not (isinstance(self.bandwidth, float) and self.bandwidth == math.inf):
            moderate(as_real(self.bandwidth, "bandwidth", minimum=0.0, strict=True), "bandwidth")
        if as_real(self.smoothing, "smoothing", minimum=0.0) > 1:
            raise ValueError(f"smoothing must be at most 1, got {self.smoothing}")
        moderate(as_real(self.epsilon, "epsilon", minimum=0.0, strict=True), "epsilon")
        if self.label_cost is not None:
            as_real(self.label_cost, "label_cost", minimum=0.0, strict=True)
        as_real(self.tol, "tol", minimum=0.0)
        as_count(self.max_iter, "max_iter")
        as_flag(self.verbose, "verbose")
        as_solve_options(self.solve_options)

    def _check_samples(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Return the validated X and one label per row."""
        if y is None:
            raise ValueError("y must be given: requires y to be passed, but the target y is None")
        if self.affinity == "knn":
            given = moderate(validate_data(self, X, dtype=np.float64), "X")
        else:
            validate_data(self, X, skip_check_array=True)  # the names and the number of columns
            given = X if sparse.issparse(X) else np.asarray(X)
        labels = column_or_1d(y, warn=True)
        if len(labels) != given.shape[0]:
            raise ValueError(
                f"y must have a label for each of the {given.shape[0]} samples, got {len(labels)}"
            )
        return given, labels

    def _say(self, line: str) -> None:
        if self.verbose:
            print(f"TVClassifier: {line}", flush=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_given = self.affinity == "precomputed"
        tags.input_tags.pairwise = is_given
        tags.input_tags.positive_only = is_given
        tags.input_tags.sparse = is_given
        return tags


def _encode(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted classes and the class index of each sample, -1 for none."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y must be finite: Input y contains NaN or infinity")
    mark = str(UNLABELLED) if labels.dtype.kind in "US" else UNLABELLED
    is_labelled = np.asarray(labels != mark, dtype=np.bool_)
    if labels.dtype.kind == "O":
        is_labelled &= np.asarray(labels != str(UNLABELLED), dtype=np.bool_)
    if not is_labelled.any():
        raise ValueError("y must have at least one label, got -1 for all samples")
    try:
        with np.errstate(invalid="ignore"):  # for floats that are not integers
            check_classification_targets(labels[is_labelled])
        classes, numbers = np.unique(labels[is_labelled], return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y must hold labels of one type besides -1: {error}") from None
    codes = np.full(len(labels), UNLABELLED, dtype=np.int64)
    codes[is_labelled] = numbers
    return classes, codes


def _spread(graph: Graph, codes: NDArray[np.int64], n_classes: int) -> Floats:
    """Return a warm start: each distribution is repeatedly replaced by the mean of its neighbours.

    The solution is unique, so this only saves time. Samples that no label has reached have a
    uniform distribution.
    """
    labelled = np.flatnonzero(codes >= 0)
    to_others = row_stochastic(graph)
    u = np.zeros((len(codes), n_classes))
    u[labelled, codes[labelled]] = 1.0
    given = u[labelled]
    for _ in range(SPREADING):
        u = np.asarray(to_others @ u)
        u[labelled] = given
    mass = u.sum(axis=1)
    u[mass == 0] = 1.0
    u /= u.sum(axis=1, keepdims=True)
    return u


def _reached(graph: Graph, codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the samples whose connected component has a label."""
    n_components, component = connected_components(graph)
    has_label = np.zeros(n_components, dtype=np.bool_)
    has_label[component[codes >= 0]] = True
    return np.asarray(has_label[component])
