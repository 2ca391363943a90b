"""Data terms G(u) = Σ_i G_i(u_i), which keep u close to the data at every vertex.

Signals have shape (n,), or (n, C) for vector-valued u. Weights are one number for all, one per
vertex or one per entry. Missing data have a weight of 0, are NaN, or are masked in a masked array.
Terms are immutable and keep copies.

Terms can also be used without a `Problem`: `value(u)` is G(u), `conjugate(s)` is G*(s) = sup_u ⟨s,
u⟩ - G(u), and `prox(v, step)` is the minimiser of G(u) + ‖u - v‖²/(2 step). The last two are
computed for G restricted to an interval that contains a solution of every problem with this term
(docs/theory/terms.md). This keeps the conjugate finite.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from graphtv import _core
from graphtv._elementary import exp, log
from graphtv._validate import Floats, as_array, as_real, describe, first_index
from graphtv.graph.graph import Graph
from graphtv.terms._arrays import (
    as_bound,
    as_data,
    as_incomplete_data,
    spread,
    to_core,
    to_core_entries,
)
from graphtv.terms._logistic_domain import (
    growth_of,
    logistic_domain,
    sparse_logistic_domain,
)
from graphtv.terms._units import Units, exactly_scaled, largest
from graphtv.terms.base import CoreTerm, LocationLoss, Mask, Traits, WeightedLoss

__all__ = [
    "AbsoluteLoss",
    "EntropicSimplex",
    "HuberLoss",
    "LinearBox",
    "LogisticLoss",
    "PoissonLoss",
    "QuantileLoss",
    "SquaredLoss",
]


class SquaredLoss(LocationLoss):
    """The squared loss, G(u) = ½ Σ_i c_i (u_i - f_i)².

    Parameters
    ----------
    signal : array_like, shape (n,) or (n, C)
        The signal f; NaN where there is no data.
    weights : float or array_like, optional
        Weights c ≥ 0, per vertex or per entry; 1 by default, 0 where there is no data.

    Examples
    --------
    >>> loss = SquaredLoss([1.0, 2.0, 0.0], weights=[1.0, 1.0, 0.0])
    >>> loss.value([0.0, 0.0, 5.0])
    2.5
    >>> loss.prox([0.0, 0.0, 1.5], 1.0)
    array([0.5, 1. , 1.5])
    """

    traits = Traits(is_quadratic=True, is_location=True, is_smooth=True, has_closed_prox=True)

    def __init__(self, signal: Any, weights: Any = None) -> None:
        self._core_term = _core.SquaredTerm(
            *self._take(*as_incomplete_data(signal, "signal"), weights)
        )

    def _slope(self, difference: Floats) -> Floats:
        return difference

    def _curvature(self, difference: Floats) -> Floats:
        return np.ones(difference.shape)


class AbsoluteLoss(LocationLoss):
    """The absolute loss, G(u) = Σ_i c_i |u_i - f_i|, which is robust to outliers.

    Parameters
    ----------
    signal : array_like, shape (n,) or (n, C)
        The signal f; NaN where there is no data.
    weights : float or array_like, optional
        Weights c ≥ 0, per vertex or per entry; 1 by default, 0 where there is no data.

    Examples
    --------
    >>> loss = AbsoluteLoss([0.0, 1.0, 100.0])
    >>> loss.value([0.0, 0.0, 0.0]), loss.value([0.0, 1.0, 2.0])
    (101.0, 98.0)
    """

    traits = Traits(is_location=True, has_closed_prox=True)
    _degree = 1

    def __init__(self, signal: Any, weights: Any = None) -> None:
        parts = self._take(*as_incomplete_data(signal, "signal"), weights)
        self._core_term = _core.QuantileTerm(*parts, parts[-1])

    def _slope(self, difference: Floats) -> Floats:
        return np.sign(difference)

    def _dispersion(self, variance: float) -> float:
        return math.sqrt(variance / 2.0)  # Laplace's distribution


class QuantileLoss(LocationLoss):
    """The quantile loss, G(u) = Σ_i c_i (τ (f_i - u_i)₊ + (1 - τ) (u_i - f_i)₊).

    Without a penalty, its minimiser over constants is the τ-quantile of the signal. With τ = ½ it
    is half of the absolute loss.

    Parameters
    ----------
    signal : array_like, shape (n,) or (n, C)
        The signal f; NaN where there is no data.
    tau : float
        The quantile, 0 < τ < 1.
    weights : float or array_like, optional
        Weights c ≥ 0, per vertex or per entry; 1 by default, 0 where there is no data.

    Examples
    --------
    >>> loss = QuantileLoss([0.0, 1.0], tau=0.9)
    >>> loss.value([1.0, 0.0])
    1.0
    """

    traits = Traits(is_location=True, has_closed_prox=True)
    _degree = 1

    def __init__(self, signal: Any, tau: float, weights: Any = None) -> None:
        data = as_incomplete_data(signal, "signal")
        self._tau = as_real(tau, "tau", minimum=0.0, strict=True)
        if not self._tau < 1.0:
            raise ValueError(f"tau must be below 1, got {self._tau}")
        n_vertices, n_channels, f, c = self._take(*data, weights)
        self._core_term = _core.QuantileTerm(n_vertices, n_channels, f, *self._slopes(c))

    @property
    def tau(self) -> float:
        """The quantile τ."""
        return self._tau

    @property
    def slopes(self) -> tuple[Floats, Floats]:
        """The slopes cτ below and c(1 - τ) above the signal, as rounded numbers."""
        return self._slopes(self.weights)

    def _slopes(self, weights: Floats) -> tuple[Floats, Floats]:
        return self._tau * weights, (1.0 - self._tau) * weights

    def _slope(self, difference: Floats) -> Floats:
        return np.sign(difference) * np.where(difference > 0.0, 1.0 - self._tau, self._tau)

    def _of(self, data: Floats, weights: Any) -> Self:
        return type(self)(data, self._tau, weights)

    def _arguments(self) -> tuple[Any, ...]:
        return self._data, self._tau, self._given_weights

    def _describe(self) -> str:
        return f"{super()._describe()}, tau={self._tau:g}"

    def _dispersion(self, variance: float) -> float:
        # The variance of the asymmetric Laplace distribution of scale 1.
        tau = self._tau
        return tau * (1.0 - tau) * math.sqrt(variance / (1.0 - 2.0 * tau + 2.0 * tau**2))


class HuberLoss(LocationLoss):
    """Huber's loss, quadratic near the signal and linear far from it.

    G(u) = Σ_i c_i h(u_i - f_i) with h(r) = r²/2 up to |r| = δ and δ(|r| - δ/2) beyond.

    Parameters
    ----------
    signal : array_like, shape (n,) or (n, C)
        The signal f; NaN where there is no data.
    delta : float, optional
        The width δ > 0 of the quadratic zone.
    weights : float or array_like, optional
        Weights c ≥ 0, per vertex or per entry; 1 by default, 0 where there is no data.

    Examples
    --------
    >>> loss = HuberLoss([0.0, 0.0], delta=1.0)
    >>> loss.value([1.0, 0.0]), loss.value([3.0, 0.0])
    (0.5, 2.5)
    """

    traits = Traits(is_location=True, is_smooth=True, has_closed_prox=True)

    def __init__(self, signal: Any, delta: float = 1.0, weights: Any = None) -> None:
        data = as_incomplete_data(signal, "signal")
        self._delta = as_real(delta, "delta", minimum=0.0, strict=True)
        self._core_term = _core.HuberTerm(*self._take(*data, weights), self._delta)

    @property
    def delta(self) -> float:
        """The width δ of the quadratic zone."""
        return self._delta

    def _slope(self, difference: Floats) -> Floats:
        return np.clip(difference, -self._delta, self._delta)

    def _curvature(self, difference: Floats) -> Floats:
        return np.where(np.abs(difference) < self._delta, 1.0, 0.0)

    def _of(self, data: Floats, weights: Any) -> Self:
        return type(self)(data, self._delta, weights)

    def _in_unit(self, data: Floats, weights: Floats, exponent: int) -> Self:
        return type(self)(data, float(exactly_scaled(self._delta, -exponent)), weights)

    def _arguments(self) -> tuple[Any, ...]:
        return self._data, self._delta, self._given_weights

    def _describe(self) -> str:
        return f"{super()._describe()}, delta={self._delta:g}"


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
        data, known = as_incomplete_data(signs_of_booleans(labels), "labels")
        wrong = ~np.isin(data, (-1.0, 0.0, 1.0))
        if wrong.any():
            where = first_index(wrong)
            raise ValueError(f"labels must be -1, 0 or 1, got {data[where]} at {describe(where)}")
        self._parts = self._take(data, known, weights)
        self._core_term = _core.LogisticTerm(*self._parts, -np.inf, np.inf)

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

    def with_sparsity(self, sparsity: Floats) -> Self:
        """Return c (u - f log u) + μ u as the loss of weight c + μ and count c f / (c + μ)."""
        weights = self.weights + sparsity
        counts = self.weights * self._data / np.where(weights > 0.0, weights, 1.0)
        return self._of(counts, weights)

    def deviance(self, u: Any, variance: float) -> float:
        """Return -2 log-likelihood less that of a perfect fit."""
        perfect = np.where(self._data > 0.0, self._data, 1.0)
        best = float(np.sum(self.weights * self._data * (1.0 - log(perfect))))
        return max(2.0 * self.value(u) - 2.0 * best, 0.0)


class LinearBox(CoreTerm):
    """A linear cost on a box: G(u) = ⟨cost, u⟩ for lower ≤ u ≤ upper, else infinite.

    With total variation and the box [0, 1] this is the relaxation of a minimum cut. The relaxation
    is exact.

    Parameters
    ----------
    cost : array_like, shape (n,) or (n, C)
        The cost, of either sign; 0 where there is no preference.
    lower, upper : float or array_like, optional
        Ends of the box, per vertex or per entry.

    Examples
    --------
    >>> LinearBox([-1.0, 2.0]).conjugate([0.0, 0.0])
    1.0
    """

    traits = Traits(is_linear=True, has_closed_prox=True)

    def __init__(self, cost: Any, lower: Any = 0.0, upper: Any = 1.0) -> None:
        self._cost = as_data(cost, "cost")
        self._shape = self._cost.shape
        self._lower = as_bound(lower, "lower", self._shape)
        self._upper = as_bound(upper, "upper", self._shape)
        wrong = self.lower > self.upper
        if wrong.any():
            where = first_index(wrong)
            raise ValueError(
                f"lower must not exceed upper, got {self.lower[where]} > {self.upper[where]} "
                f"at {describe(where)}"
            )
        self._core_term = _core.LinearBoxTerm(
            *self._layout(),
            to_core(self._cost),
            to_core_entries(self._lower, self._shape),
            to_core_entries(self._upper, self._shape),
        )

    @property
    def cost(self) -> Floats:
        """The cost, read-only."""
        return self._cost

    @property
    def lower(self) -> Floats:
        """The lower end of each entry's box, read-only."""
        return spread(self._lower, self._shape)

    @property
    def upper(self) -> Floats:
        """The upper end of each entry's box, read-only."""
        return spread(self._upper, self._shape)

    def _sizes(self, graph: Graph, centre: Floats | None) -> tuple[float, float]:
        bounds = max(largest(self._lower), largest(self._upper))
        return bounds, largest(self._cost) or largest(graph.weights)

    def in_units(self, units: Units, centre: Floats | None) -> LinearBox:
        """Return the term of v, where u = 2ᵃ v, divided by 2ᵇ; raise if it is inexact."""
        a, b = units
        lower, upper = (exactly_scaled(end, -a) for end in (self._lower, self._upper))
        return LinearBox(exactly_scaled(self._cost, a - b), lower, upper)

    def _arguments(self) -> tuple[Any, ...]:
        return self._cost, self._lower, self._upper

    def _describe(self) -> str:
        ends = (
            f"{name}={float(end):g}" if end.ndim == 0 else f"{name}=shape {end.shape}"
            for name, end in (("lower", self._lower), ("upper", self._upper))
        )
        return f"shape {self._shape}, {', '.join(ends)}"


class EntropicSimplex(CoreTerm):
    """Segmentation into C classes: u is a point of the unit simplex at every vertex.

    G(u) = ⟨cost, u⟩ + ε Σ_i Σ_c u_ic log u_ic for u_i ≥ 0, Σ_c u_ic = 1, else infinite. It is
    ε-strongly convex.

    Parameters
    ----------
    cost : array_like, shape (n, C)
        The cost of each class at each vertex; 0 where there is no preference.
    epsilon : float, optional
        The factor ε > 0 of the entropy.

    Examples
    --------
    >>> loss = EntropicSimplex([[0.0, 2.0]], epsilon=0.5)
    >>> loss.value([[1.0, 0.0]]), loss.value([[0.0, 1.0]])
    (0.0, 2.0)
    """

    traits = Traits(is_simplex=True)

    def __init__(self, cost: Any, epsilon: float = 1.0) -> None:
        self._cost = as_data(cost, "cost")
        if self._cost.ndim != 2:
            raise ValueError(f"cost must have shape (n, C), got {self._cost.shape}")
        self._epsilon = as_real(epsilon, "epsilon", minimum=0.0, strict=True)
        self._shape = self._cost.shape
        self._core_term = _core.EntropicSimplexTerm(
            *self._layout(), to_core(self._cost), self._epsilon
        )

    @property
    def cost(self) -> Floats:
        """The cost of each class at each vertex, read-only."""
        return self._cost

    @property
    def epsilon(self) -> float:
        """The factor ε of the entropy."""
        return self._epsilon

    def _sizes(self, graph: Graph, centre: Floats | None) -> tuple[float, float]:
        return 1.0, max(largest(self._cost), self._epsilon)

    def in_units(self, units: Units, centre: Floats | None) -> EntropicSimplex:
        """Return the term divided by 2ᵇ; raise if it is inexact."""
        b = units.objective
        epsilon = float(exactly_scaled(self._epsilon, -b))
        return EntropicSimplex(exactly_scaled(self._cost, -b), epsilon)

    def _arguments(self) -> tuple[Any, ...]:
        return self._cost, self._epsilon

    def _describe(self) -> str:
        return f"shape {self._shape}, epsilon={self._epsilon:g}"


def signs_of_booleans(labels: Any) -> Any:
    """Return booleans as -1 and 1, with masked entries kept; return anything else unchanged."""
    given = labels if np.ma.isMaskedArray(labels) else as_array(labels, "labels")
    return 2.0 * given - 1.0 if given.dtype.kind == "b" else given
