"""Penalties F on the weighted differences x = Ku along the edges, and how to write one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Indices, as_floats, as_real
from graphtv.graph.graph import Graph
from graphtv.terms._arrays import as_objective, from_core, spread, to_core
from graphtv.terms._units import Units, exactly_scaled

__all__ = ["HuberTV", "Penalty", "TotalVariation"]

LEAST_STEP = 1e-30
"""A proximal map with this step is a projection."""


@runtime_checkable
class Penalty(Protocol):
    """The interface of a penalty: any object with these three methods is a penalty.

    x = Ku and p have the shape (m,) for m edges, or (m, C) for C channels. The function F must be
    convex, and it must not increase when an entry of x moves towards 0. Certificates are correct
    only if these conditions hold and `value` and `conjugate` are correct.

    The attribute `edge_groups` is optional. It contains m nonnegative integers, which are equal for
    edges that belong together. F is a sum over these groups. Without it every edge is a separate
    group. The channels of an edge always belong to the same group.

    Solvers work with PDHG over edges. `TotalVariation` and `HuberTV` are sums over single edges and
    channels, and have faster methods.

    Examples
    --------
    The Euclidean norm over the channels of each edge, F(x) = Σ_e ‖x_e‖:

    >>> import numpy as np
    >>> from graphtv import Problem, SquaredLoss, grid_graph
    >>> class EdgeNorms:
    ...     def value(self, x):
    ...         return np.sum(np.linalg.norm(x, axis=1))
    ...
    ...     def conjugate(self, p):  # 0 where every ‖p_e‖ ≤ 1
    ...         return 0.0 if (np.linalg.norm(p, axis=1) <= 1).all() else np.inf
    ...
    ...     def prox_conjugate(self, v, step):  # projects onto the balls, in spite of rounding
    ...         size = np.linalg.norm(v, axis=1, keepdims=True)
    ...         return v / np.maximum(1, size * (1 + 1e-15))
    >>> problem = Problem(grid_graph((2,)), SquaredLoss([[0.0, 0.0], [3.0, 4.0]]), EdgeNorms())
    >>> problem.primal([[0.0, 0.0], [3.0, 4.0]])
    5.0
    """

    def value(self, x: Floats) -> float:
        """Return F(x)."""
        ...

    def conjugate(self, p: Floats) -> float:
        """Return F*(p) = sup_x ⟨p, x⟩ - F(x), infinite outside of its domain."""
        ...

    def prox_conjugate(self, v: Floats, step: Floats) -> Floats:
        """Return the minimiser of F*(p) + Σ_e ‖p_e - v_e‖²/(2 step_e).

        F* must be finite at the result, in spite of rounding. `step` is a read-only array of
        positive numbers with the shape of v. All entries of a group have the same step.
        """
        ...


def as_steps(step: Any, shape: tuple[int, ...]) -> Floats:
    """Return the steps of a proximal map for v of this shape."""
    steps = as_floats(step, "step")
    if steps.shape not in ((), shape):
        raise ValueError(f"step must be a number or have the shape {shape} of v, got {steps.shape}")
    return steps


class _EdgewisePenalty:
    """A sum of h(x_ec) over edges and channels; h is Huber's function of width δ, |x| for δ = 0."""

    delta: float

    def value(self, x: Any) -> float:
        """Return F(x)."""
        size = np.abs(as_floats(x, "x"))
        far = size - 0.5 * self.delta
        with np.errstate(over="ignore"):  # an infinite value is the right answer
            if self.delta > 0.0:
                far = np.where(size < self.delta, 0.5 * size * (size / self.delta), far)
            return float(far.sum())

    def conjugate(self, p: Any) -> float:
        """Return F*(p), infinite unless every |p| ≤ 1."""
        given = as_floats(p, "p")
        if (np.abs(given) > 1.0).any():
            return np.inf
        return 0.5 * self.delta * float(np.sum(given**2))

    def prox_conjugate(self, v: Any, step: Any) -> Floats:
        """Return the minimiser of F*(p) + Σ_e ‖p_e - v_e‖²/(2 step_e)."""
        given = as_floats(v, "v")
        steps = as_steps(step, given.shape)
        with np.errstate(over="ignore"):  # a division by infinity is 0
            return np.clip(given / (1.0 + self.delta * steps), -1.0, 1.0)

    def in_units(self, units: Units) -> Self:
        """Return the penalty divided by 2ᵇ, of differences in that unit; raise if it is inexact."""
        return self

    @property
    def couples(self) -> bool:
        """Whether channels are coupled."""
        return False

    def core_penalty(self) -> _core.Penalty:
        """Return the core's penalty."""
        return _core.EdgewisePenalty(self.delta)

    def entry_groups(self, graph: Graph, dual_shape: tuple[int, ...]) -> Indices:
        """Return the group of each entry of p, of shape (m, C)."""
        m, *channels = dual_shape
        return np.arange(math.prod(dual_shape), dtype=np.int32).reshape(m, math.prod(channels))


@dataclass(frozen=True)
class TotalVariation(_EdgewisePenalty):
    """Total variation, F(Ku) = Σ_e |(Ku)_e| = Σ_e ω_e |u_i - u_j|.

    Its conjugate is 0 where every |p_e| ≤ 1 and infinite elsewhere. Channels of a vector-valued u
    are summed.

    Examples
    --------
    >>> from graphtv import Problem, SquaredLoss, grid_graph
    >>> problem = Problem(grid_graph((3,)), SquaredLoss([0.0, 0.0, 2.0]), TotalVariation())
    >>> problem.primal([0.0, 0.0, 2.0])
    2.0
    """

    delta: float = field(default=0.0, init=False, repr=False)


@dataclass(frozen=True)
class HuberTV(_EdgewisePenalty):
    """Total variation, rounded off at zero.

    F(Ku) = Σ_e h((Ku)_e) with h(x) = x²/(2δ) up to δ and |x| - δ/2 beyond.

    Its conjugate is δ/2 ‖p‖² where every |p_e| ≤ 1 and infinite elsewhere. Small differences are
    smoothed instead of removed, so edges stay sharp and plateaus become slopes.

    Parameters
    ----------
    delta : float
        The width δ > 0 of the quadratic zone.

    Examples
    --------
    >>> from graphtv import Problem, SquaredLoss, grid_graph
    >>> problem = Problem(grid_graph((3,)), SquaredLoss([0.0, 0.1, 2.0]), HuberTV(0.5))
    >>> problem.primal([0.0, 0.1, 2.0])
    1.66
    """

    delta: float

    def in_units(self, units: Units) -> Self:
        """Return the penalty divided by 2ᵇ, of differences in that unit; raise if it is inexact."""
        return type(self)(float(exactly_scaled(self.delta, -units.objective)))

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", as_real(self.delta, "delta", minimum=0.0, strict=True))


class _Adapter:
    """Adapts a user's penalty to the core's flat arrays, and validates its results."""

    def __init__(self, penalty: Penalty, shape: tuple[int, ...]) -> None:
        self._penalty, self._shape = penalty, shape

    def value(self, x: Floats) -> float:
        return as_objective(self._penalty.value(from_core(x, self._shape)), "penalty.value")

    def conjugate(self, p: Floats) -> float:
        value = self._penalty.conjugate(from_core(p, self._shape))
        return as_objective(value, "penalty.conjugate")

    def project(self, p: Floats) -> Floats:
        return self.prox_conjugate(p, np.array([LEAST_STEP]))

    def prox_conjugate(self, v: Floats, steps: Floats) -> Floats:
        step = spread(steps if steps.size > 1 else steps.reshape(()), self._shape)
        name = "penalty.prox_conjugate(v, step)"
        p = as_floats(self._penalty.prox_conjugate(from_core(v, self._shape), step), name)
        if p.shape != self._shape:
            raise ValueError(f"{name} must have shape {self._shape}, got {p.shape}")
        return to_core(p)


def edge_delta(penalty: Any) -> float | None:
    """Return δ if the penalty is a sum of Huber functions over edges; 0 for total variation."""
    made = getattr(penalty, "core_penalty", None)
    return None if made is None else made().delta


def core_penalty_of(penalty: Penalty, graph: Graph, dual_shape: tuple[int, ...]) -> _core.Penalty:
    """Return the core's penalty for a penalty on a graph and p of this shape."""
    made = getattr(penalty, "core_penalty", None)
    if made is not None:
        core: _core.Penalty = made()
        return core
    made_on = getattr(penalty, "core_penalty_on", None)
    if made_on is not None:
        core = made_on(graph, dual_shape)
        return core
    return _core.PythonPenalty(_Adapter(penalty, dual_shape), _edge_groups(penalty, dual_shape[0]))


def _edge_groups(penalty: Penalty, n_edges: int) -> Any:
    """Return the group of every edge; empty if every edge is a separate group."""
    given = getattr(penalty, "edge_groups", None)
    if given is None:
        return np.empty(0, dtype=np.int32)
    groups = np.asarray(given)
    if groups.shape != (n_edges,) or groups.dtype.kind not in "iu":
        raise ValueError(
            f"penalty.edge_groups must be {n_edges} integers, got shape {groups.shape}"
            f" of {groups.dtype}"
        )
    # Numbers without gaps, so that the core can use them as indices.
    return np.unique(groups, return_inverse=True)[1].astype(np.int32)
