"""The base class of losses with data and a weight per entry."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphtv import _core
from graphtv._validate import Floats, Indices
from graphtv.graph.graph import Graph
from graphtv.terms._arrays import as_data_weights, spread, to_core, to_core_entries
from graphtv.terms._units import Units, centred, exactly_scaled, largest
from graphtv.terms.core_term import CoreTerm

Mask = NDArray[np.bool_]


class WeightedLoss(CoreTerm):
    """A sum of c_i g(u_i; f_i) with weights c."""

    _degree = 2

    _data: Floats
    _given_weights: Floats
    _parts: tuple[int, int, Floats, Floats]

    def _take(
        self, data: Floats, known: NDArray[np.bool_] | None, weights: Any
    ) -> tuple[int, int, Floats, Floats]:
        """Store the arguments, and return the first arguments of the core's terms."""
        self._data, self._shape = data, data.shape
        self._given_weights = as_data_weights(weights, "weights", data.shape, known)
        n_vertices, n_channels = self._layout()
        core_weights = to_core_entries(self._given_weights, data.shape)
        self._parts = n_vertices, n_channels, to_core(data), core_weights
        return self._parts

    @property
    def weights(self) -> Floats:
        """The weights c with the shape of the signal, read-only; 0 where data is missing."""
        return spread(self._given_weights, self._shape)

    @property
    def data(self) -> Floats:
        """The data f, read-only: a signal, labels or counts."""
        return self._data

    @property
    def observed(self) -> Mask:
        """Mask of the entries with data."""
        return np.asarray(self.weights > 0.0)

    @property
    def kinds_of_data(self) -> tuple[Mask, ...]:
        """Masks of entries. A connected component needs an entry of each for a unique solution."""
        return (self.observed,)

    @cached_property
    def is_complete(self) -> bool:
        """Whether no data is missing. A single number is not expanded for this check."""
        return bool((self._given_weights > 0.0).all())

    @cached_property
    def common_weight(self) -> float | None:
        """The positive weight of all entries, or None if weights differ."""
        first = self._given_weights.flat[0] if self._data.size else 0.0
        return float(first) if first > 0.0 and (self._given_weights == first).all() else None

    def _sizes(self, graph: Graph, centre: Floats | None) -> tuple[float, float]:
        values = centred(self._data, centre)
        values = values if self.is_complete else values[self.observed]
        return largest(values), largest(self._given_weights)

    def in_units(self, units: Units, centre: Floats | None) -> CoreTerm:
        """Return the loss of v, where u = centre + 2ᵃ v, divided by 2ᵇ; raise if it is inexact."""
        a, b = units
        values = centred(self._data, centre)
        if not self.is_complete:
            values = np.where(self.observed, values, 0.0)
        weights = exactly_scaled(self._given_weights, self._degree * a - b)
        return self._in_unit(exactly_scaled(values, -a), weights, a)

    def _in_unit(self, data: Floats, weights: Floats, exponent: int) -> Self:
        """Return a loss of the same kind, whose other parameters are in the unit of u."""
        return self._of(data, weights)

    def derivative(self, u: Any) -> Floats:
        """Return G'(u) of each entry; at a kink of G, the subgradient nearest to 0."""
        return self._derivative(self._entries(u, "u"))

    def _derivative(self, u: Floats) -> Floats:
        raise NotImplementedError

    def second_derivative(self, u: Any) -> Floats:
        """Return G''(u) by entry; at a kink of G' the smaller one."""
        return self._second_derivative(self._entries(u, "u"))

    def _second_derivative(self, u: Floats) -> Floats:
        return np.zeros(self._shape)

    def mixed_derivative(self, u: Any) -> Floats:
        """Return the derivative of G'(u) with respect to the data, by entry."""
        return self._mixed_derivative(self._entries(u, "u"))

    def _mixed_derivative(self, u: Floats) -> Floats:
        return np.zeros(self._shape)

    def with_weights(self, weights: Any) -> Self:
        """Return the loss for the same data with other weights."""
        return self._of(self._data, weights)

    def reordered(self, vertices: Indices) -> Self:
        """Return the loss of u[vertices], with the data and weights of these vertices."""
        weights = self._given_weights
        return self._of(self._data[vertices], weights if weights.ndim == 0 else weights[vertices])

    def with_zero(self, sparsity: Floats) -> _core.DataTerm:
        """Return the core's term with one more vertex, whose signal is 0.

        Its domain then contains 0 and a minimiser of every G_i + μ_i |·|.
        """
        zero = np.zeros((1, *self._shape[1:]))
        weights = np.concatenate([self.weights, zero + 1.0])
        return self._of(np.concatenate([self._data, zero]), weights)._core_term

    @property
    def curvature(self) -> float | None:
        """A bound of G'' everywhere, or None if there is none."""
        return None

    def least_values(self) -> Floats:
        """Return the minimum of each summand."""
        return np.zeros(self._shape)

    def sublevel(self, level: Floats) -> tuple[Floats, Floats]:
        """Return for each entry the ends of an interval outside of which G_i exceeds the level.

        Ends are infinite where there is no bound.
        """
        raise NotImplementedError

    def core_between(self, lower: float, upper: float) -> _core.DataTerm:
        """Return the core's term of G restricted to an interval."""
        raise NotImplementedError

    def with_sparsity(self, sparsity: Floats) -> Self | None:
        """Return G + Σ μ_i |u_i| if it is a loss of the same kind, otherwise None."""
        return None

    def deviance(self, u: Any, variance: float) -> float:
        """Return -2 log-likelihood minus that of a perfect fit, for noise of this variance."""
        return 2.0 * self.value(u)

    def _of(self, data: Floats, weights: Any) -> Self:
        """Return a loss of the same kind."""
        return type(self)(data, weights)  # type: ignore[call-arg]

    def _arguments(self) -> tuple[Any, ...]:
        return self._data, self._given_weights

    def _describe(self) -> str:
        given = self._given_weights
        weights = f"{float(given):g}" if given.ndim == 0 else f"shape {given.shape}"
        return f"shape {self._shape}, weights={weights}"
