"""Data terms G(u) = Σ_i G_i(u_i): what ties u to the data, vertex by vertex.

Signals have shape (n,), or (n, C) for vector-valued u. Weights are one number for all, one per
vertex or one per entry. Missing data have a weight of 0, are NaN, or are masked in a masked array.
Terms are immutable and keep copies.

Besides its place in a `Problem`, every term can be called by itself: `value(u)` is G(u),
`conjugate(s)` is G*(s) = sup_u ⟨s, u⟩ - G(u), `prox(v, step)` is the minimiser of
G(u) + ‖u - v‖²/(2 step). The last two are those of G restricted to a range that holds a solution
of every problem with this term (docs/theory/terms.md), which keeps the conjugate finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv import _core
from graphtv._validate import Floats, as_array, as_floats, as_real, describe, first_index, frozen
from graphtv.terms._arrays import (
    as_data,
    as_data_weights,
    as_incomplete_data,
    from_core,
    spread,
    to_core,
    to_core_entries,
)

__all__ = [
    "AbsoluteLoss",
    "EntropicSimplex",
    "HuberLoss",
    "LinearBox",
    "LogisticLoss",
    "PoissonLoss",
    "SquaredLoss",
]


class _CoreTerm:
    """A data term that lives in the core."""

    _shape: tuple[int, ...]
    _core_term: _core.DataTerm

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, "_core_term"):
            raise AttributeError(f"{type(self).__name__} is immutable, cannot set {name}")
        super().__setattr__(name, value)

    def _layout(self) -> tuple[int, int]:
        """Return the numbers of vertices and channels."""
        return self._shape[0], (1 if len(self._shape) == 1 else self._shape[1])

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of u, (n,) or (n, C)."""
        return self._shape

    @property
    def strong_convexity(self) -> float:
        """γ such that G - γ/2 ‖u‖² is convex where a solution can be, or 0."""
        return self._core_term.strong_convexity

    def value(self, u: Any) -> float:
        """Return G(u), infinite where u is not allowed."""
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
        if steps.ndim == 2:
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
        array = as_floats(values, name)
        if array.shape != self._shape:
            raise ValueError(f"{name} must have shape {self._shape}, got {array.shape}")
        return array

    def _arguments(self) -> tuple[Any, ...]:
        """Return what makes an equal term."""
        raise NotImplementedError

    def _describe(self) -> str:
        """Return the arguments for the representation."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._describe()})"


class _WeightedLoss(_CoreTerm):
    """A sum of c_i g(u_i; f_i) with weights c."""

    _data: Floats
    _given_weights: Floats

    def _take(
        self, data: Floats, known: NDArray[np.bool_] | None, weights: Any
    ) -> tuple[int, int, Floats, Floats]:
        """Keep the arguments, and return what the core's terms begin with."""
        self._data, self._shape = data, data.shape
        self._given_weights = as_data_weights(weights, "weights", data.shape, known)
        n_vertices, n_channels = self._layout()
        core_weights = to_core_entries(self._given_weights, data.shape)
        return n_vertices, n_channels, to_core(data), core_weights

    @property
    def weights(self) -> Floats:
        """The weights c of the shape of the signal, read-only; 0 where there is no data."""
        return spread(self._given_weights, self._shape)

    @property
    def _is_complete(self) -> bool:
        """Whether there is data everywhere, without a look at every entry of what is one number."""
        return bool((self._given_weights > 0.0).all())

    def _arguments(self) -> tuple[Any, ...]:
        return self._data, self._given_weights

    def _describe(self) -> str:
        given = self._given_weights
        weights = f"{float(given):g}" if given.ndim == 0 else f"shape {given.shape}"
        return f"shape {self._shape}, weights={weights}"


class SquaredLoss(_WeightedLoss):
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

    def __init__(self, signal: Any, weights: Any = None) -> None:
        self._core_term = _core.SquaredTerm(
            *self._take(*as_incomplete_data(signal, "signal"), weights)
        )

    @property
    def signal(self) -> Floats:
        """The signal f, read-only."""
        return self._data


class AbsoluteLoss(_WeightedLoss):
    """The absolute loss, G(u) = Σ_i c_i |u_i - f_i|; it is not moved by outliers.

    Parameters
    ----------
    signal : array_like, shape (n,) or (n, C)
        The signal f; NaN where there is no data.
    weights : float or array_like, optional
        Weights c ≥ 0, per vertex or per entry; 1 by default, 0 where there is no data.
    """

    def __init__(self, signal: Any, weights: Any = None) -> None:
        self._core_term = _core.AbsoluteTerm(
            *self._take(*as_incomplete_data(signal, "signal"), weights)
        )

    @property
    def signal(self) -> Floats:
        """The signal f, read-only."""
        return self._data


class HuberLoss(_WeightedLoss):
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
    """

    def __init__(self, signal: Any, delta: float = 1.0, weights: Any = None) -> None:
        data = as_incomplete_data(signal, "signal")
        self._delta = as_real(delta, "delta", minimum=0.0, strict=True)
        self._core_term = _core.HuberTerm(*self._take(*data, weights), self._delta)

    @property
    def signal(self) -> Floats:
        """The signal f, read-only."""
        return self._data

    @property
    def delta(self) -> float:
        """The width δ of the quadratic zone."""
        return self._delta

    def _arguments(self) -> tuple[Any, ...]:
        return self._data, self._delta, self._given_weights

    def _describe(self) -> str:
        return f"{super()._describe()}, delta={self._delta:g}"


class LogisticLoss(_WeightedLoss):
    """The logistic loss, G(u) = Σ_i c_i log(1 + exp(-y_i u_i)).

    Its solutions are finite only where a connected component of the graph has labels of both
    kinds; a `Problem` checks that.

    Parameters
    ----------
    labels : array_like, shape (n,) or (n, C)
        Labels y: -1 and 1, or booleans (False is -1). 0 and NaN mean that there is no label.
    weights : float or array_like, optional
        Weights c ≥ 0, per vertex or per entry; 1 by default, 0 where there is no label.
    """

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

    def _restricted(self, lower: float, upper: float) -> _core.LogisticTerm:
        """Return the core's term with a domain that only a graph can give."""
        return _core.LogisticTerm(*self._parts, lower, upper)


class PoissonLoss(_WeightedLoss):
    """The Poisson loss, G(u) = Σ_i c_i (u_i - f_i log u_i) for u ≥ 0.

    This is the negative logarithm of the likelihood of counts f with means u, but for a constant.
    Where f_i = 0 it is c_i u_i, so u_i = 0 is allowed there; elsewhere G is infinite at 0.

    Parameters
    ----------
    counts : array_like, shape (n,) or (n, C)
        The counts f ≥ 0; they need not be whole. NaN means that there is no data.
    weights : float or array_like, optional
        Weights c ≥ 0, per vertex or per entry; 1 by default, 0 where there is no data.
    """

    def __init__(self, counts: Any, weights: Any = None) -> None:
        data, known = as_incomplete_data(counts, "counts")
        if (data < 0).any():
            where = first_index(data < 0)
            raise ValueError(f"counts must not be negative, got {data[where]} at {describe(where)}")
        self._core_term = _core.PoissonTerm(*self._take(data, known, weights))

    @property
    def counts(self) -> Floats:
        """The counts f, read-only."""
        return self._data


class LinearBox(_CoreTerm):
    """A linear cost on a box: G(u) = ⟨cost, u⟩ for lower ≤ u ≤ upper, else infinite.

    With total variation and the box [0, 1] this is the relaxation of a minimum cut, which is exact.

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

    def __init__(self, cost: Any, lower: Any = 0.0, upper: Any = 1.0) -> None:
        self._cost = as_data(cost, "cost")
        self._shape = self._cost.shape
        self._lower = _as_bound(lower, "lower", self._shape)
        self._upper = _as_bound(upper, "upper", self._shape)
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

    def _arguments(self) -> tuple[Any, ...]:
        return self._cost, self._lower, self._upper

    def _describe(self) -> str:
        ends = (
            f"{name}={float(end):g}" if end.ndim == 0 else f"{name}=shape {end.shape}"
            for name, end in (("lower", self._lower), ("upper", self._upper))
        )
        return f"shape {self._shape}, {', '.join(ends)}"


class EntropicSimplex(_CoreTerm):
    """Segmentation into C classes: every vertex has a point of the unit simplex.

    G(u) = ⟨cost, u⟩ + ε Σ_i Σ_c u_ic log u_ic for u_i ≥ 0, Σ_c u_ic = 1, else infinite. It is
    ε-strongly convex.

    Parameters
    ----------
    cost : array_like, shape (n, C)
        The cost of each class at each vertex; 0 where there is no preference.
    epsilon : float, optional
        The factor ε > 0 of the entropy.
    """

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

    def _arguments(self) -> tuple[Any, ...]:
        return self._cost, self._epsilon

    def _describe(self) -> str:
        return f"shape {self._shape}, epsilon={self._epsilon:g}"


def signs_of_booleans(labels: Any) -> Any:
    """Return booleans as -1 and 1, masked entries as such; anything else as it is."""
    given = labels if np.ma.isMaskedArray(labels) else as_array(labels, "labels")
    return 2.0 * given - 1.0 if given.dtype.kind == "b" else given


def _as_bound(values: Any, name: str, shape: tuple[int, ...]) -> Floats:
    bound = as_floats(values, name)
    if bound.shape not in ((), shape[:1], shape):
        forms = " or ".join(str(form) for form in dict.fromkeys((shape[:1], shape)))
        raise ValueError(f"{name} must be a number or have shape {forms}, got shape {bound.shape}")
    return frozen(np.array(bound))
