"""The constraint R(u) = Σ μ |u_i| for lower ≤ u ≤ upper, infinite elsewhere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, as_real, as_weights, describe, first_index
from graphtv.terms._arrays import to_core_entries

__all__ = ["Constraint"]

NEAR = 1e-9
"""Distance to a bound or to 0, relative to the largest entry, that counts as none."""


class Constraint:
    """Bounds of u, and a multiple of its ℓ1 norm. Arrays are the core's flat arrays.

    Parameters
    ----------
    shape : tuple of int
        Shape of u, (n,) or (n, C).
    lower, upper : float or array_like, optional
        Bounds of u: one number, one per vertex or one per entry. None or infinite for no bound.
    sparsity : float or array_like
        The factor μ ≥ 0 of |u_i|: one number, or one per vertex.
    """

    def __init__(
        self, shape: tuple[int, ...], lower: Any = None, upper: Any = None, sparsity: Any = 0.0
    ) -> None:
        self.shape, self.size = shape, math.prod(shape)
        self.sparsity = _as_factor(sparsity, shape)
        self.given = lower, upper, sparsity
        self.lower = _as_bound(lower, "lower", shape, -np.inf)
        self.upper = _as_bound(upper, "upper", shape, np.inf)
        wrong = np.broadcast_to(self.lower > self.upper, self.size)
        if wrong.any():
            i = int(np.argmax(wrong))
            low, high = (np.broadcast_to(x, self.size)[i] for x in (self.lower, self.upper))
            raise ValueError(
                f"lower must not exceed upper, got {low} > {high} at {describe(first_index(wrong))}"
            )
        self.is_uniform = self.lower.size == self.upper.size == 1

    @property
    def is_bounded(self) -> bool:
        """Whether there are bounds."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    @property
    def largest_bound(self) -> float:
        """The largest |bound|, 0 without bounds."""
        bounds = np.abs(np.concatenate([self.lower, self.upper]))
        return float(bounds[np.isfinite(bounds)].max(initial=0.0))

    @property
    def is_free(self) -> bool:
        """Whether R = 0."""
        return not self.has_sparsity and not self.is_bounded

    @property
    def has_sparsity(self) -> bool:
        """Whether some entry has a factor μ > 0."""
        return bool((self.sparsity > 0.0).any())

    def norm(self, u: Floats) -> float:
        """Return Σ μ |u_i|."""
        if not self.has_sparsity:
            return 0.0
        if self.sparsity.size == 1:
            return float(self.sparsity[0]) * float(np.abs(u).sum())
        return float(np.dot(self.sparsity, np.abs(u)))

    def project(self, u: Floats) -> Floats:
        """Return the nearest point within the bounds."""
        return np.clip(u, self.lower, self.upper)

    def contains(self, u: Floats) -> bool:
        """Whether u is within the bounds."""
        return bool(((u >= self.lower) & (u <= self.upper)).all())

    def prox(self, v: Floats, step: float | Floats) -> Floats:
        """Return the minimiser of R(u) + ‖u - v‖²/(2 step)."""
        if self.has_sparsity:
            tilt = self.sparsity * step
            v = np.sign(v) * np.maximum(np.abs(v) - tilt, 0.0)
        return self.project(v)

    def subgradients(self, u: Floats) -> tuple[Floats, Floats]:
        """Return the smallest and the largest subgradient of R near each entry of u."""
        near = NEAR * float(np.abs(u).max(initial=0.0))
        slope = self.sparsity * np.sign(u)
        is_zero = np.abs(u) <= near
        low = np.where(is_zero, -self.sparsity, slope)
        high = np.where(is_zero, self.sparsity, slope)
        is_low, is_high = u <= self.lower + near, u >= self.upper - near
        return np.where(is_low, -np.inf, low), np.where(is_high, np.inf, high)

    def core_term(self, lower: float, upper: float) -> _core.DataTerm:
        """Return the core's term of R restricted to an interval that contains a solution."""
        n_vertices, n_channels = self.shape[0], math.prod(self.shape[1:])
        low, high = np.maximum(self.lower, lower), np.minimum(self.upper, upper)
        if self.is_uniform and low[0] <= 0.0 <= high[0]:
            zero, slope = np.zeros(self.size), self.sparsity
            ends = float(low[0]), float(high[0])
            return _core.QuantileTerm(n_vertices, n_channels, zero, slope, slope, ends)
        sign = np.where(low >= 0.0, 1.0, -1.0)
        if self.has_sparsity and ((low < 0.0) & (high > 0.0)).any():
            raise ValueError(
                "lower and upper must be numbers, or of the same sign at each vertex, if sparsity"
                f" is above 0, got sparsity={self._shown_sparsity}"
            )
        cost = np.broadcast_to(self.sparsity * sign, self.size)
        return _core.LinearBoxTerm(n_vertices, n_channels, np.ascontiguousarray(cost), low, high)

    def describe(self) -> str:
        """Return the arguments for the representation of a problem."""
        parts = []
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            if np.isfinite(bound).any():
                shown = f"{bound[0]:g}" if bound.size == 1 else f"shape {self.shape}"
                parts.append(f"{name}={shown}")
        if self.has_sparsity:
            parts.append(f"sparsity={self._shown_sparsity}")
        return ", ".join(parts)

    @property
    def _shown_sparsity(self) -> str:
        return f"{self.sparsity[0]:g}" if self.sparsity.size == 1 else f"shape {self.shape[:1]}"


def _as_factor(sparsity: Any, shape: tuple[int, ...]) -> Floats:
    """Return one number or one per entry."""
    if np.ndim(sparsity) == 0:
        return np.full(1, as_real(sparsity, "sparsity", minimum=0.0))
    by_vertex = as_weights(sparsity, "sparsity", shape[:1])
    return np.tile(by_vertex, math.prod(shape[1:]))


def _as_bound(values: Any, name: str, shape: tuple[int, ...], missing: float) -> Floats:
    """Return one number or one per entry; infinite where there is no bound."""
    if values is None:
        return np.full(1, missing)
    try:
        bound = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got {values!r}") from None
    if bound.shape not in ((), shape[:1], shape):
        forms = " or ".join(str(form) for form in dict.fromkeys((shape[:1], shape)))
        raise ValueError(f"{name} must be a number or have shape {forms}, got shape {bound.shape}")
    wrong = np.isnan(bound) | (bound == -missing)
    if wrong.any():
        where = first_index(wrong)
        raise ValueError(f"{name} must be a number, got {bound[where]} at {describe(where)}")
    return to_core_entries(bound, shape)
