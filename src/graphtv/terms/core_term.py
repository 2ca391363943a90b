"""The base class of data terms that the core implements: validation, shape, labels and units."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, as_floats, describe, first_index
from graphtv.graph.graph import Graph
from graphtv.graph.labelled import Labelling, Places, aligned, array_of, labelling_of
from graphtv.terms._arrays import GridShape, from_core, spread, to_core
from graphtv.terms._units import Units, exponent_of
from graphtv.terms.traits import Traits


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
