"""Data terms with a constraint at every vertex: a box for cuts, a simplex for segmentation."""

from __future__ import annotations

from typing import Any

from graphtv import _core
from graphtv._validate import Floats, as_real, describe, first_index
from graphtv.graph.graph import Graph
from graphtv.terms._arrays import as_bound, as_data, spread, to_core, to_core_entries
from graphtv.terms._units import Units, exactly_scaled, largest
from graphtv.terms.core_term import CoreTerm
from graphtv.terms.traits import Traits

__all__ = ["EntropicSimplex", "LinearBox"]


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
        cost, lower, upper = self._without_labels(cost=cost, lower=lower, upper=upper)
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
        (cost,) = self._without_labels(cost=cost)
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
