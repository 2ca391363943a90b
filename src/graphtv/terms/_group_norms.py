"""Norms of groups of differences, for isotropic and coupled total variation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from graphtv import _core
from graphtv._validate import as_real
from graphtv.terms._units import Units, exactly_scaled

if TYPE_CHECKING:
    from graphtv._validate import Indices


class GroupedPenalty:
    """A sum of h(‖x_g‖) over groups; h is Huber's function of width δ, |·| for δ = 0."""

    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", as_real(self.delta, "delta", minimum=0.0))

    def in_units(self, units: Units) -> Self:
        """Return the penalty divided by 2ᵇ, of differences in that unit; raise if it is inexact."""
        scaled = float(exactly_scaled(self.delta, -units.objective))
        return replace(self, delta=scaled)  # type: ignore[type-var]


def core_groups(
    edge_groups: Indices | None, dual_shape: tuple[int, ...], *, couples: bool, delta: float
) -> _core.Penalty:
    """Return the core's penalty for p of this shape; groups of one entry are total variation."""
    couples = couples and math.prod(dual_shape[1:]) > 1
    has_large = edge_groups is not None and has_repeats(edge_groups)
    if not couples and not has_large:
        return _core.EdgewisePenalty(delta)
    groups: Any = edge_groups if has_large else np.empty(0, dtype=np.int32)
    return _core.GroupNorms(dual_shape[0], groups, couples, delta)


def has_repeats(groups: Indices) -> bool:
    """Whether two edges have the same group."""
    return groups.size > 0 and int(np.bincount(groups).max()) > 1
