"""Base classes of the core's data terms: validation, and the properties that solvers use."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from graphtv import _core
from graphtv._validate import Floats, as_floats, describe, first_index
from graphtv.graph.graph import Graph
from graphtv.graph.labelled import Labelling, Places, aligned, array_of, labelling_of
from graphtv.terms._arrays import (
    GridShape,
    as_data_weights,
    from_core,
    spread,
    to_core,
    to_core_entries,
)
from graphtv.terms._units import Units, centred, exactly_scaled, exponent_of, largest

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Traits:
    """The properties of a data term that methods use. The defaults hold for every term.

    Attributes
    ----------
    is_separable : bool
        Whether G is a sum over the vertices.
    is_quadratic : bool
        Whether the term has a `signal` and `weights`, and is ½ Σ c (u - f)².
    is_linear : bool
        Whether the term has a `cost` and bounds `lower` and `upper`, and is ⟨cost, u⟩ between them.
    is_location : bool
        Whether the term has a `signal`, and G depends only on u - f.
    is_smooth : bool
        Whether G is differentiable inside its domain.
    is_simplex : bool
        Whether u is a point of the unit simplex at every vertex.
    is_curved_in_domain_only : bool
        Whether `strong_convexity` holds only inside the domain of G.
    has_closed_prox : bool
        Whether the proximal map is a closed formula in the core, which costs next to nothing.
    """

    is_separable: bool = True
    is_quadratic: bool = False
    is_linear: bool = False
    is_location: bool = False
    is_smooth: bool = False
    is_simplex: bool = False
    is_curved_in_domain_only: bool = False
    has_closed_prox: bool = False


class Box(Protocol):
    """A linear cost on a box."""

    @property
    def cost(self) -> Floats:
        """The cost of each entry."""
        ...

    @property
    def lower(self) -> Floats:
        """The lower bound of each entry."""
        ...

    @property
    def upper(self) -> Floats:
        """The upper bound of each entry."""
        ...


class CoreTerm:
    """A data term that is implemented in the core."""

    traits: ClassVar[Traits] = Traits()
    _degree: ClassVar[int] = 1
    """The term of t u and t times the data is t^degree times that of u and the data."""

    _shape: tuple[int, ...]
    _core_term: _core.DataTerm
    _labelling: Labelling | None = None

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, "_core_term"):
            raise AttributeError(f"{type(self).__name__} is immutable, cannot set {name}")
        super().__setattr__(name, value)

    def _layout(self) -> tuple[int, int]:
        """Return the numbers of vertices and channels."""
        return self._shape[0], math.prod(self._shape[1:])

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of u: (n,) or (n, C), or the axes of a grid and C if there are channels."""
        return self._shape

    @property
    def strong_convexity(self) -> float:
        """γ such that G - γ/2 ‖u‖² is convex on the domain, or 0 if there is none."""
        return self._core_term.strong_convexity

    @property
    def labelling(self) -> Labelling | None:
        """The labels of the data, None if it has none."""
        return self._labelling

    def _without_labels(self, **given: Any) -> list[Any]:
        """Store the labels of the first argument, and return all arguments in its order."""
        (name, data), *others = given.items()
        if isinstance(data, str):
            raise ValueError(
                f"{name} must hold numbers, got {data!r};"
                " graph.vertex_attributes has the attributes of a graph by name"
            )
        if type(data) is not np.ndarray:
            self._labelling = labelling_of(data)
        return [
            array_of(data, name),
            *(aligned(values, key, self._labelling, name) for key, values in others),
        ]

    def _at(self, places: Places) -> Self:
        """Return the term with its rows in another order, without labels."""
        given = (
            value[places] if isinstance(value, np.ndarray) and value.ndim > 0 else value
            for value in self._arguments()
        )
        return type(self)(*given)

    def _with_rows(self, n_axes: int) -> Self:
        """Return the term with one row per vertex, if its first axes are those of a grid."""
        rows = GridShape.of(self._shape, n_axes).rows
        given = (
            spread(value, self._shape).reshape(rows)
            if isinstance(value, np.ndarray) and value.ndim > 0
            else value
            for value in self._arguments()
        )
        return type(self)(*given)

    def core_on(self, graph: Graph, penalty: _core.Penalty) -> _core.DataTerm:
        """Return the core's term of a problem on a graph with a penalty."""
        return self._core_term

    def units(self, graph: Graph, centre: Floats | None, radix: int) -> Units:
        """Return the units in which data and weights are of moderate size, 1 to 2 for radix 1."""
        data, weights = (exponent_of(size, radix) for size in self._sizes(graph, centre))
        return Units(data, self._degree * data + weights)

    def _sizes(self, graph: Graph, centre: Floats | None) -> tuple[float, float]:
        """Return the sizes of the data, 1 if u has no unit, and of the weights."""
        raise NotImplementedError

    def in_units(self, units: Units, centre: Floats | None) -> CoreTerm:
        """Return the term of v, where u = centre + 2ᵃ v, divided by 2ᵇ; raise if it is inexact."""
        raise NotImplementedError

    def value(self, u: Any) -> float:
        """Return G(u), infinite outside of the domain of G."""
        return self._core_term.value(to_core(self._entries(u, "u")))

    def conjugate(self, s: Any) -> float:
        """Return G*(s)."""
        return self._core_term.conjugate(to_core(self._entries(s, "s")))

    def prox(self, v: Any, step: Any) -> Floats:
        """Return the minimiser of G(u) + Σ_i ‖u_i - v_i‖²/(2 step_i).

        `step` is one positive number, one per vertex, or an array of the shape of v with the same
        step in all channels of a vertex.
        """
        given = self._entries(v, "v")
        steps = as_floats(step, "step")
        if steps.shape not in ((), self._shape[:1], self._shape):
            forms = " or ".join(str(form) for form in dict.fromkeys((self._shape[:1], self._shape)))
            raise ValueError(
                f"step must be a number or have shape {forms}, got shape {steps.shape}"
            )
        if not (steps > 0).all():
            where = first_index(~(steps > 0))
            raise ValueError(f"step must be above 0, got {steps[where]} at {describe(where)}")
        if steps.ndim > 1:
            steps = steps.reshape(len(steps), -1)
            differs = steps != steps[:, :1]
            if differs.any():
                where = first_index(differs)
                raise ValueError(
                    "step must be the same in all channels of a vertex,"
                    f" got {steps[where]} at {describe(where)} and {steps[where[0], 0]} before"
                )
            steps = np.ascontiguousarray(steps[:, 0])
        out = np.empty(given.size)
        self._core_term.prox(to_core(given), steps.reshape(-1), out)
        return from_core(out, self._shape)

    def _entries(self, values: Any, name: str) -> Floats:
        array = as_floats(aligned(values, name, self._labelling, "the data"), name)
        if array.shape != self._shape:
            raise ValueError(f"{name} must have shape {self._shape}, got {array.shape}")
        return array

    def _arguments(self) -> tuple[Any, ...]:
        """Return the constructor arguments of an equal term."""
        raise NotImplementedError

    def _describe(self) -> str:
        """Return the arguments for the representation."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        made = type(self), self._arguments()
        return made if self._labelling is None else (_labelled, (*made, self._labelling))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._describe()})"


def _labelled(kind: type[CoreTerm], arguments: tuple[Any, ...], labelling: Labelling) -> CoreTerm:
    """Return a term whose data has labels."""
    term = kind(*arguments)
    object.__setattr__(term, "_labelling", labelling)
    return term


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
        """Return -2 log-likelihood less that of a perfect fit, for noise of this variance."""
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
        """Return -2 log-likelihood less that of a perfect fit, for noise of this variance."""
        misfit = 2.0 * self.value(u)
        with np.errstate(divide="ignore"):
            return float(np.divide(misfit, self._dispersion(variance))) if misfit > 0.0 else 0.0

    def _dispersion(self, variance: float) -> float:
        """Return the factor between the loss and minus the log-likelihood."""
        return variance


def traits_of(data: object) -> Traits:
    """Return the traits of a term. Custom terms have the most general ones."""
    if isinstance(data, CoreTerm):
        return data.traits
    return Traits(is_separable=bool(getattr(data, "is_separable", True)))


def as_quadratic(data: object) -> LocationLoss | None:
    """Return the term if it is quadratic, otherwise None."""
    return cast(LocationLoss, data) if traits_of(data).is_quadratic else None


def as_location(data: object) -> LocationLoss | None:
    """Return the term if it is a loss of u - f, otherwise None."""
    return cast(LocationLoss, data) if traits_of(data).is_location else None


def as_box(data: object) -> Box | None:
    """Return the term if it is linear on a box, otherwise None."""
    return cast(Box, data) if traits_of(data).is_linear else None
