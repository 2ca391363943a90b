"""The fused lasso for many λ: warm starts, degrees of freedom, model-selection criteria."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphtv._deprecation import renamed_keywords
from graphtv._elementary import geometric
from graphtv._ties import first_least, first_up_to
from graphtv._validate import (
    Floats,
    Rng,
    as_choice,
    as_count,
    as_flag,
    as_real,
    moderate,
)
from graphtv.applications.fused.cross_validation import as_folds, cross_validate
from graphtv.applications.fused.degrees_of_freedom import (
    degrees_of_freedom,
    noise_variance_of,
)
from graphtv.applications.fused.fused_lasso import graph_of_signal
from graphtv.applications.fused.fused_model import FusedModel
from graphtv.applications.fused.lambda_max import lambda_max, lambda_min
from graphtv.applications.keywords import check_keywords
from graphtv.applications.lambdas import as_lambdas, as_ratio, shared_options
from graphtv.graph.graph import Graph
from graphtv.graph.labelled import array_of, in_order, is_labelled, with_labels
from graphtv.result import Result

__all__ = ["FusedLassoPath", "fused_lasso_path"]

CRITERIA = ("aic", "bic", "gcv", "cv", "cv_1se")

USUAL_TOLERANCE = 1e-6
"""Tolerance of paths whose solutions max-flow cannot compute exactly."""

USUAL_RATIO = 1e-3
"""Default ratio of the smallest and the largest λ of a path."""

SHOWN_ROWS = 12
"""Number of rows in the printed table of a path."""


@dataclass(frozen=True, eq=False, repr=False)
class FusedLassoPath:
    """The solutions of a fused lasso for decreasing λ, with model-selection criteria.

    Attributes
    ----------
    lambdas : ndarray, shape (L,)
        The values of λ, in decreasing order.
    results : tuple of Result
        The certified solution for each λ.
    df : ndarray of int, shape (L,)
        Degrees of freedom: the number of pieces with data; with sparsity, of nonzero pieces.
    deviance : ndarray, shape (L,)
        -2 log-likelihood, minus that of a perfect fit.
    n_observations : int
        Number of entries with data.
    noise_variance : float
        The variance of the noise of an observation of weight 1, given or estimated; 1 for the
        logistic and the Poisson loss.
    lambda_max : float or None
        The smallest λ at which everything is fused (see `fused_lasso_path`), if computed.
    cv_errors : ndarray, shape (folds, L), or None
        Mean loss at the held-out vertices, per fold.

    Examples
    --------
    >>> from graphtv import fused_lasso_path, gallery
    >>> path = fused_lasso_path(gallery.path_graph(6), [0.0, 0.1, 0.0, 5.0, 5.1, 5.0], n_lambdas=10)
    >>> path.df[:3].tolist()
    [1, 2, 2]
    >>> path.best("bic").u.round(1).tolist()
    [0.1, 0.1, 0.1, 5.0, 5.0, 5.0]
    """

    lambdas: Floats
    results: tuple[Result, ...]
    df: np.ndarray[Any, np.dtype[np.int64]]
    deviance: Floats
    n_observations: int
    noise_variance: float
    lambda_max: float | None = None
    cv_errors: Floats | None = None

    @property
    def u(self) -> Floats:
        """The solutions, an array of shape (L, n) or (L, n, C), in the order of the signal."""
        return np.stack([array_of(result.u, "u") for result in self.results])

    @property
    def relative_gap(self) -> Floats:
        """The certified relative gap at every λ."""
        return np.array([result.relative_gap for result in self.results])

    @property
    def aic(self) -> Floats:
        """Akaike's criterion, deviance + 2 df."""
        return self.deviance + 2.0 * self.df

    @property
    def bic(self) -> Floats:
        """Schwarz's criterion, deviance + log(n) df."""
        return self.deviance + math.log(max(self.n_observations, 1)) * self.df

    @property
    def gcv(self) -> Floats:
        """Generalised cross-validation, (deviance / n) / (1 - df / n)²; infinite at df = n."""
        n = max(self.n_observations, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = self.deviance / n / (1.0 - self.df / n) ** 2
        return np.where(self.df < n, score, np.inf)

    @property
    def cv_mean(self) -> Floats:
        """The mean of the cross-validation error over the folds."""
        return np.asarray(self._cv().mean(axis=0))

    @property
    def cv_std(self) -> Floats:
        """The standard error of that mean."""
        errors = self._cv()
        with np.errstate(invalid="ignore"):
            spread = errors.std(axis=0, ddof=1) if len(errors) > 1 else np.zeros(errors.shape[1])
        return np.asarray(spread / math.sqrt(len(errors)))

    def best_index(self, criterion: str = "bic") -> int:
        """Return the index of the λ that a criterion chooses; the largest λ in case of ties.

        Values with a relative difference below 1e-9 count as equal, so that the choice does not
        depend on rounding.
        ``aic``, ``bic``, ``gcv`` and ``cv`` choose the smallest value. ``cv_1se`` chooses the
        largest λ whose cross-validation error is within one standard error of the smallest.
        """
        name = as_choice(criterion, "criterion", CRITERIA)
        if name == "cv_1se":
            least = first_least(self.cv_mean)
            return first_up_to(self.cv_mean, float(self.cv_mean[least] + self.cv_std[least]))
        return first_least(self.cv_mean if name == "cv" else getattr(self, name))

    def best(self, criterion: str = "bic") -> Result:
        """Return the solution that a criterion chooses (see `best_index`)."""
        return self.results[self.best_index(criterion)]

    def best_lambda(self, criterion: str = "bic") -> float:
        """Return the λ that a criterion chooses (see `best_index`)."""
        return float(self.lambdas[self.best_index(criterion)])

    def end_of_path(self, criterion: str = "bic") -> str | None:
        """Return a sentence if a criterion chooses a λ at an end of the path, None otherwise.

        In this case the best λ may lie outside the path. At λ_max every connected component of the
        graph is one piece, and larger λ change nothing; the sentence then says that the fit is
        constant.
        """
        index, last = self.best_index(criterion), len(self) - 1
        if last == 0 or self.lambda_max == 0.0:
            return None
        if index == last:
            return (
                f"{criterion} chooses the smallest λ of the path, {self.lambdas[last]:.4g}:"
                " the best may be smaller"
            )
        shape = array_of(self.results[0].u, "u").shape
        n_channels = 1 if len(shape) == 1 else shape[1]
        if index == 0 and self.lambda_max is None:
            return (
                f"{criterion} chooses the largest λ of the path, {self.lambdas[0]:.4g}:"
                " the best may be larger"
            )
        if index == 0 and self.df[0] <= n_channels:
            return (
                f"{criterion} chooses λ_max = {self.lambdas[0]:.4g}: the fit is constant, since the"
                " edges of the graph do not follow the data (check the features and their scales)"
            )
        return None

    def _cv(self) -> Floats:
        if self.cv_errors is None:
            raise ValueError(
                "criterion must not be 'cv' or 'cv_1se': the path was computed with cv=None"
            )
        return self.cv_errors

    def __len__(self) -> int:
        return len(self.lambdas)

    def __repr__(self) -> str:
        names = ["aic", "bic", "gcv"] + (["cv"] if self.cv_errors is not None else [])
        chosen = {name: self.best_index(name) for name in names}
        values = {name: self.cv_mean if name == "cv" else getattr(self, name) for name in names}
        spaced = np.linspace(0, len(self) - 1, min(SHOWN_ROWS, len(self))).round().astype(int)
        rows = sorted({*spaced.tolist(), *chosen.values()})
        lines = [
            f"FusedLassoPath of {len(self)} λ, {self.n_observations} observations,"
            f" relative gap ≤ {self.relative_gap.max(initial=0.0):.1e}",
            f"  {'λ':>10} {'df':>8}" + "".join(f" {name:>11}" for name in names),
        ]
        for k in rows:
            marks = [name for name in names if chosen[name] == k]
            lines.append(
                f"  {self.lambdas[k]:10.4g} {self.df[k]:8d}"
                + "".join(f" {values[name][k]:11.5g}" for name in names)
                + (f"  ← {', '.join(marks)}" if marks else "")
            )
        return "\n".join(lines)


@renamed_keywords(random_state="rng")
def fused_lasso_path(
    graph: Any,
    signal: Any,
    lambdas: Any = None,
    n_lambdas: int = 50,
    *,
    ratio: float | None = None,
    vertex_weights: Any = None,
    sparsity: Any = 0.0,
    loss: str = "squared",
    delta: float = 1.0,
    noise_variance: float | None = None,
    cv: Any = None,
    rng: Rng = 0,
    verbose: bool = False,
    **solve_options: Any,
) -> FusedLassoPath:
    """Solve a fused lasso for many λ and compute model-selection criteria.

    Parameters
    ----------
    graph, signal, vertex_weights, sparsity, loss, delta
        As in `fused_lasso`.
    lambdas : array_like, optional
        Values of λ > 0, in any order. By default `n_lambdas` values, evenly spaced on a
        logarithmic scale from λ_max, the smallest λ at which everything is fused, down to
        `ratio` λ_max.
    n_lambdas : int, optional
        Number of values, if `lambdas` is not given.
    ratio : float, optional
        Ratio of the smallest and the largest λ, if `lambdas` is not given. The default is 1e-3 or
        less: the path ends where noise is hardly fused, at λ = 0.25 d / D with the median d of the
        differences along the edges and the median degree D. (A bridge of small weight between parts
        of large weights makes λ_max large, which says nothing about suitable λ inside the parts.)
    noise_variance : float, optional
        The variance of the noise of an observation of weight 1, for AIC, BIC and GCV with the
        squared, absolute and Huber loss. By default it is estimated from the median of the
        differences along the edges.
    cv : int or array_like of int, optional
        Cross-validation: the number of folds, or the fold of each vertex (negative: never held
        out). The vertices of a fold are held out and predicted by the fit to the others. Folds are
        spread evenly over the graph, so that neighbours are usually in different folds.
    rng : int, Generator or None
        Seed or generator of the folds. None gives others in every call.
    verbose : bool
        Print a line per λ, and per fold.
    **solve_options
        Options of `solve` for every λ. By default `tol` is 0 (the exact solution) where max-flow
        can compute it: for all losses but the absolute one, and with sparsity as described in
        `fused_lasso`. Otherwise it is 1e-6.

    Returns
    -------
    FusedLassoPath
        Results, degrees of freedom and criteria. ``path.best("bic")`` is the solution with the
        best BIC.

    Notes
    -----
    λ_max is exact for smooth losses. It is an upper bound for the absolute loss, and if sparsity
    sets everything to 0. The largest and the smallest λ are solved first. Every other λ then lies
    between two that are solved, and starts between their solutions. All results are kept with u
    and p, which takes L (n + m) numbers. The u of each result has the labels of the signal, if it
    has any. Ctrl-C, or a callback that returns True, raises KeyboardInterrupt.

    With the squared loss the deviance is RSS / σ², as in scikit-learn's ``LassoLarsIC``. For the
    absolute loss it is that of a Laplace distribution with the same variance. For the Huber loss it
    is twice the loss divided by σ².

    References
    ----------
    .. [1] R. J. Tibshirani, J. Taylor, "The solution path of the generalized lasso", Annals of
       Statistics 39, 2011.
    .. [2] R. J. Tibshirani, J. Taylor, "Degrees of freedom in lasso problems", Annals of
       Statistics 40, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from graphtv import grid_graph
    >>> noise = np.random.default_rng(0).normal(size=60)
    >>> signal = np.repeat([0.0, 4.0, 1.0], 20) + 0.5 * noise
    >>> path = fused_lasso_path(grid_graph((60,)), signal, [0.2, 1.0, 5.0, 25.0, 125.0])
    >>> path.lambdas, path.df
    (array([125. ,  25. ,   5. ,   1. ,   0.2]), array([ 1,  2,  6,  9, 36]))
    >>> path.best_lambda("bic"), path.best("bic").u[10::20].round(2)
    (1.0, array([-0.2 ,  3.93,  1.18]))
    """
    made = graph_of_signal(graph, signal)
    model = FusedModel.of(made, signal, vertex_weights, loss, delta, sparsity)
    chatty = as_flag(verbose, "verbose")
    variance = _as_variance(noise_variance)
    check_keywords(fused_lasso_path, solve_options)
    if "warm_start" in solve_options:
        raise ValueError("warm_start must not be given: a path uses its own warm starts")
    given = None if lambdas is None else as_lambdas(lambdas)
    count = as_count(n_lambdas, "n_lambdas", minimum=1)
    part = None if ratio is None else as_ratio(ratio)
    folds = None
    if cv is not None:
        folds = as_folds(in_order(cv, "cv", made), model, rng)
    options = {"tol": 0.0 if model.is_exact else USUAL_TOLERANCE, **solve_options}

    largest, start = None, None
    if given is None:
        largest, start = lambda_max(model, **shared_options(options))
        given = _usual_lambdas(model, count, part, largest)
        if chatty:
            print(f"λ_max = {largest:.6g}", flush=True)
    results = _solve_path(model, given, start, options, chatty)
    if variance is None:
        variance = noise_variance_of(model)
    return FusedLassoPath(
        lambdas=given,
        results=tuple(_labelled(result, signal, made) for result in results),
        df=np.array([degrees_of_freedom(model, result) for result in results]),
        deviance=np.array([model.loss.deviance(result.u, variance) for result in results]),
        n_observations=int(model.observed.sum()),
        noise_variance=variance,
        lambda_max=largest,
        cv_errors=None if folds is None else cross_validate(model, given, folds, options, chatty),
    )


def _labelled(result: Result, signal: Any, graph: Graph) -> Result:
    """Return a result with the labels of the signal."""
    if not is_labelled(signal):
        return result
    return replace(result, u=with_labels(result.u, signal, "signal", graph))


def _as_variance(noise_variance: Any) -> float | None:
    if noise_variance is None:
        return None
    variance = as_real(noise_variance, "noise_variance", minimum=0.0, strict=True)
    return float(moderate(variance, "noise_variance"))


def _usual_lambdas(model: FusedModel, count: int, ratio: float | None, largest: float) -> Floats:
    """Return λ evenly spaced on a logarithmic scale, in decreasing order from λ_max."""
    if ratio is None and largest > 0.0:
        ratio = min(USUAL_RATIO, lambda_min(model) / largest)
    return geometric(1.0, ratio or USUAL_RATIO, count) * (largest or 1.0)


def _solve_path(
    model: FusedModel,
    lambdas: Floats,
    start: tuple[Floats, Floats] | None,
    options: dict[str, Any],
    is_chatty: bool,
) -> list[Result]:
    """Return the solutions in the order of `lambdas`, given that of the first one if known."""
    results: dict[int, Result] = {}
    for k, result in model.solutions(lambdas, options, start):
        results[k] = result
        if is_chatty:
            print(
                f"λ {k + 1:3d}/{len(lambdas)} = {lambdas[k]:10.4g}: {result.status}, relative gap"
                f" {result.relative_gap:.1e}, df {degrees_of_freedom(model, result):6d},"
                f" {result.setup_time + result.solve_time:.3f} s",
                flush=True,
            )
    return [results[k] for k in range(len(lambdas))]
