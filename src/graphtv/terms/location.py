"""Losses of the difference u - f: squared, absolute, quantile and Huber's loss.

Signals have shape (n,), or (n, C) for vector-valued u. Weights are one number for all, one per
vertex or one per entry. Missing data have a weight of 0, are NaN, or are masked in a masked array.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, as_real
from graphtv.terms._arrays import as_incomplete_data
from graphtv.terms._units import exactly_scaled, largest
from graphtv.terms.traits import Traits
from graphtv.terms.weighted_loss import WeightedLoss

__all__ = ["AbsoluteLoss", "HuberLoss", "QuantileLoss", "SquaredLoss"]


class LocationLoss(WeightedLoss):
    """A loss that depends only on the differences u - f."""

    @property
    def signal(self) -> Floats:
        """The signal f, read-only."""
        return self._data

    def _derivative(self, u: Floats) -> Floats:
        return np.asarray(self.weights * self._slope(u - self._data))

    def _slope(self, difference: Floats) -> Floats:
        """Return the derivative of each summand without its weight."""
        raise NotImplementedError

    def sublevel(self, level: Floats) -> tuple[Floats, Floats]:
        """Return for each entry the ends of an interval outside of which G_i exceeds the level."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            radius = self._radius(level / self.weights)
        radius = np.where(self.weights > 0.0, radius, np.inf)
        return self._data - radius, self._data + radius

    def _radius(self, level: Floats) -> Floats:
        """Return the distance beyond which a summand of weight 1 exceeds the level."""
        raise NotImplementedError

    def _second_derivative(self, u: Floats) -> Floats:
        return np.asarray(self.weights * self._curvature(u - self._data))

    def _mixed_derivative(self, u: Floats) -> Floats:
        return -self._second_derivative(u)

    def _curvature(self, difference: Floats) -> Floats:
        """Return the second derivative of one summand without its weight; 0 where it is linear."""
        return np.zeros(difference.shape)

    def deviance(self, u: Any, variance: float) -> float:
        """Return -2 log-likelihood minus that of a perfect fit, for noise of this variance."""
        misfit = 2.0 * self.value(u)
        with np.errstate(divide="ignore"):
            return float(np.divide(misfit, self._dispersion(variance))) if misfit > 0.0 else 0.0

    def _dispersion(self, variance: float) -> float:
        """Return the factor between the loss and minus the log-likelihood."""
        return variance


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
        signal, weights = self._without_labels(signal=signal, weights=weights)
        self._core_term = _core.SquaredTerm(
            *self._take(*as_incomplete_data(signal, "signal"), weights)
        )

    def _slope(self, difference: Floats) -> Floats:
        return difference

    def _curvature(self, difference: Floats) -> Floats:
        return np.ones(difference.shape)

    @property
    def curvature(self) -> float:
        """The largest weight, which bounds G''."""
        return largest(self._given_weights)

    def _radius(self, level: Floats) -> Floats:
        return np.sqrt(2.0 * level)

    def core_between(self, lower: float, upper: float) -> _core.DataTerm:
        """Return the core's term of G restricted to an interval."""
        return _core.SquaredTerm(*self._parts, (lower, upper))


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
        signal, weights = self._without_labels(signal=signal, weights=weights)
        parts = self._take(*as_incomplete_data(signal, "signal"), weights)
        self._core_term = _core.QuantileTerm(*parts, parts[-1])

    def _slope(self, difference: Floats) -> Floats:
        return np.sign(difference)

    def _radius(self, level: Floats) -> Floats:
        return level

    def core_between(self, lower: float, upper: float) -> _core.DataTerm:
        """Return the core's term of G restricted to an interval."""
        return _core.QuantileTerm(*self._parts, self._parts[-1], (lower, upper))

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
        signal, weights = self._without_labels(signal=signal, weights=weights)
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

    def _radius(self, level: Floats) -> Floats:
        return level / min(self._tau, 1.0 - self._tau)

    def core_between(self, lower: float, upper: float) -> _core.DataTerm:
        """Return the core's term of G restricted to an interval."""
        n_vertices, n_channels, f, c = self._parts
        return _core.QuantileTerm(n_vertices, n_channels, f, *self._slopes(c), (lower, upper))

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
        signal, weights = self._without_labels(signal=signal, weights=weights)
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

    @property
    def curvature(self) -> float:
        """The largest weight, which bounds G''."""
        return largest(self._given_weights)

    def _radius(self, level: Floats) -> Floats:
        return level / self._delta + self._delta

    def core_between(self, lower: float, upper: float) -> _core.DataTerm:
        """Return the core's term of G restricted to an interval."""
        return _core.HuberTerm(*self._parts, self._delta, (lower, upper))

    def _of(self, data: Floats, weights: Any) -> Self:
        return type(self)(data, self._delta, weights)

    def _in_unit(self, data: Floats, weights: Floats, exponent: int) -> Self:
        return type(self)(data, float(exactly_scaled(self._delta, -exponent)), weights)

    def _arguments(self) -> tuple[Any, ...]:
        return self._data, self._delta, self._given_weights

    def _describe(self) -> str:
        return f"{super()._describe()}, delta={self._delta:g}"
