"""Negative log-likelihoods of labels and of counts. Data are given as in `location`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from graphtv import _core
from graphtv._elementary import exp, expm1, log
from graphtv._validate import Floats, as_array, describe, first_index
from graphtv.graph.graph import Graph
from graphtv.terms._arrays import as_incomplete_data
from graphtv.terms._logistic_domain import growth_of, logistic_domain, sparse_logistic_domain
from graphtv.terms._units import largest
from graphtv.terms.traits import Traits
from graphtv.terms.weighted_loss import Mask, WeightedLoss

__all__ = ["LogisticLoss", "PoissonLoss", "signs_of_booleans"]


class LogisticLoss(WeightedLoss):
    """The logistic loss, G(u) = Σ_i c_i log(1 + exp(-y_i u_i)).

    Solutions are finite only if every connected component of the graph has labels of both kinds.
    `Problem` checks this.

    Parameters
    ----------
    labels : array_like, shape (n,) or (n, C)
        Labels y: -1 and 1, or booleans (False is -1). 0 and NaN mean that there is no label.
    weights : float or array_like, optional
        Weights c ≥ 0, per vertex or per entry; 1 by default, 0 where there is no label.

    Examples
    --------
    >>> loss = LogisticLoss([True, False, True])
    >>> round(loss.value([0.0, 0.0, 0.0]), 3), round(loss.value([2.0, -2.0, 2.0]), 3)
    (2.079, 0.381)
    """

    traits = Traits(is_smooth=True, is_curved_in_domain_only=True)

    def __init__(self, labels: Any, weights: Any = None) -> None:
        labels, weights = self._without_labels(labels=labels, weights=weights)
        data, known = as_incomplete_data(signs_of_booleans(labels), "labels")
        wrong = ~np.isin(data, (-1.0, 0.0, 1.0))
        if wrong.any():
            where = first_index(wrong)
            raise ValueError(f"labels must be -1, 0 or 1, got {data[where]} at {describe(where)}")
        self._core_term = _core.LogisticTerm(*self._take(data, known, weights), -np.inf, np.inf)

    @property
    def labels(self) -> Floats:
        """The labels y, read-only."""
        return self._data

    @property
    def observed(self) -> Mask:
        """Mask of the entries that have a label with a positive weight."""
        return np.asarray((self.weights > 0.0) & (self._data != 0.0))

    @property
    def kinds_of_data(self) -> tuple[Mask, ...]:
        """Masks of the labels 1 and -1. If a component lacks one kind, u goes to infinity."""
        return self.observed & (self._data > 0.0), self.observed & (self._data < 0.0)

    def _derivative(self, u: Floats) -> Floats:
        with np.errstate(over="ignore"):
            share = 1.0 / (1.0 + exp(self._data * u))
        return np.asarray(-self.weights * self._data * share)

    def _second_derivative(self, u: Floats) -> Floats:
        with np.errstate(over="ignore"):
            share = 1.0 / (1.0 + exp(self._data * u))
        return np.asarray(self.weights * self._data**2 * share * (1.0 - share))

    def _sizes(self, graph: Graph, centre: Floats | None) -> tuple[float, float]:
        return 1.0, largest(self._given_weights)

    def core_on(self, graph: Graph, penalty: _core.Penalty) -> _core.DataTerm:
        """Return the core's term on the interval that contains a solution on this graph."""
        growth = growth_of(penalty)
        if growth is None:
            raise ValueError(
                "penalty must be one of graphtv's, such as TotalVariation(), for a LogisticLoss:"
                " the range of its solutions is not known for other penalties"
            )
        columns = (graph.n_vertices, self._core_term.n_channels)
        labels, weights = self.labels.reshape(columns), self.weights.reshape(columns)
        return self._restricted(*logistic_domain(graph, labels, weights, growth))

    def with_zero(self, sparsity: Floats) -> _core.DataTerm:
        """Return the core's term with one more vertex, which has no label."""
        zero = np.zeros((1, *self._shape[1:]))
        longer = self._of(np.append(self._data, zero, 0), np.append(self.weights, zero, 0))
        return longer._restricted(*sparse_logistic_domain(self.labels, self.weights, sparsity))

    @property
    def curvature(self) -> float:
        """A quarter of the largest weight, which bounds G''."""
        return 0.25 * largest(self._given_weights)

    def sublevel(self, level: Floats) -> tuple[Floats, Floats]:
        """Return for each entry the ends of an interval outside of which G_i exceeds the level."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = np.where(self.observed, level / self.weights, np.inf)
            far = np.where(share < 600.0, log(expm1(np.minimum(share, 600.0))), share)
        y = self._data
        return np.where(y > 0.0, -far, -np.inf), np.where(y < 0.0, far, np.inf)

    def core_between(self, lower: float, upper: float) -> _core.DataTerm:
        """Return the core's term of G restricted to an interval."""
        return self._restricted(lower, upper)

    def _restricted(self, lower: float, upper: float) -> _core.LogisticTerm:
        """Return the core's term with a domain that depends on the graph."""
        return _core.LogisticTerm(*self._parts, lower, upper)


class PoissonLoss(WeightedLoss):
    """The Poisson loss, G(u) = Σ_i c_i (u_i - f_i log u_i) for u ≥ 0.

    This is the negative log-likelihood of counts f with means u, up to a constant. If f_i = 0, the
    summand is c_i u_i, and u_i = 0 is allowed. Otherwise it is infinite at u_i = 0.

    Parameters
    ----------
    counts : array_like, shape (n,) or (n, C)
        The counts f ≥ 0, which need not be integers. NaN means that there is no data.
    weights : float or array_like, optional
        Weights c ≥ 0, per vertex or per entry; 1 by default, 0 where there is no data.

    Examples
    --------
    >>> loss = PoissonLoss([3.0, 0.0])
    >>> loss.value([3.0, 0.0]) < loss.value([2.0, 0.0])
    True
    """

    traits = Traits(is_smooth=True, is_curved_in_domain_only=True, has_closed_prox=True)
    _degree = 1
    _unit = 1.0

    def __init__(self, counts: Any, weights: Any = None) -> None:
        counts, weights = self._without_labels(counts=counts, weights=weights)
        data, known = as_incomplete_data(counts, "counts")
        if (data < 0).any():
            where = first_index(data < 0)
            raise ValueError(f"counts must not be negative, got {data[where]} at {describe(where)}")
        self._core_term = _core.PoissonTerm(*self._take(data, known, weights), self._unit)

    def _in_unit(self, data: Floats, weights: Floats, exponent: int) -> Self:
        """Return the loss of u × unit for counts × unit, divided by the unit."""
        loss = type(self).__new__(type(self))
        object.__setattr__(loss, "_unit", float(np.ldexp(1.0, exponent)))
        loss.__init__(data, weights)  # type: ignore[misc]
        return loss

    @property
    def counts(self) -> Floats:
        """The counts f, read-only."""
        return self._data

    def _derivative(self, u: Floats) -> Floats:
        # At the end of the domain every slope up to c is a subgradient, including 0.
        inside = u > 0.0
        with np.errstate(over="ignore"):  # an infinite slope is the right answer
            slope = self.weights * (1.0 - self._data / np.where(inside, u, 1.0))
        return np.where(inside, slope, 0.0)

    def _second_derivative(self, u: Floats) -> Floats:
        inside = u > 0.0
        safe = np.where(inside, u, 1.0)
        return np.where(inside, self.weights * self._data / safe / safe, 0.0)

    def _mixed_derivative(self, u: Floats) -> Floats:
        inside = u > 0.0
        return np.where(inside, -self.weights / np.where(inside, u, 1.0), 0.0)

    def least_values(self) -> Floats:
        """Return the minimum c (f - f log f) of each summand."""
        f = self._data
        return np.asarray(self.weights * f * (1.0 - log(np.where(f > 0.0, f, 1.0))))

    def sublevel(self, level: Floats) -> tuple[Floats, Floats]:
        """Return for each entry the ends of an interval outside of which G_i exceeds the level.

        f log u ≤ u/2 + f log(2f) - f, so u/2 ≤ level/c + f log(2f) - f.
        """
        f = self._data
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = np.where(self.weights > 0.0, level / self.weights, np.inf)
            far = 2.0 * (share + f * (log(np.where(f > 0.0, 2.0 * f, 1.0)) - 1.0))
        # Without data u may have either sign.
        return np.where(self.weights > 0.0, 0.0, -np.inf), np.maximum(far, f)

    def core_between(self, lower: float, upper: float) -> _core.DataTerm:
        """Return the core's term of G restricted to an interval."""
        return _core.PoissonTerm(*self._parts, self._unit, (lower, upper))

    def with_sparsity(self, sparsity: Floats) -> Self:
        """Return c (u - f log u) + μ u as the loss of weight c + μ and count c f / (c + μ)."""
        weights = self.weights + sparsity
        counts = self.weights * self._data / np.where(weights > 0.0, weights, 1.0)
        return self._of(counts, weights)

    def deviance(self, u: Any, variance: float) -> float:
        """Return -2 log-likelihood minus that of a perfect fit."""
        perfect = np.where(self._data > 0.0, self._data, 1.0)
        best = float(np.sum(self.weights * self._data * (1.0 - log(perfect))))
        return max(2.0 * self.value(u) - 2.0 * best, 0.0)


def signs_of_booleans(labels: Any) -> Any:
    """Return booleans as -1 and 1, with masked entries kept; return anything else unchanged."""
    given = labels if np.ma.isMaskedArray(labels) else as_array(labels, "labels")
    return 2.0 * given - 1.0 if given.dtype.kind == "b" else given
