"""Isotropic total variation of images and volumes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Never

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Indices, as_flag
from graphtv.graph.graph import Graph
from graphtv.graph.grid import row_major_shape
from graphtv.terms._group_norms import GroupedPenalty, core_groups


@dataclass(frozen=True)
class IsotropicTV(GroupedPenalty):
    """Isotropic total variation on a grid, F(Ku) = Σ_x ‖∇u(x)‖ with forward differences.

    The entries of ∇u(x) are the weighted differences ω_e (u(x) - u(x + e_a)) along the edges that
    leave the pixel x in forward direction. A missing edge, at a border or in a mask, does not count
    in the norm. The length of a boundary is measured nearly equally in all directions, so corners
    are rounded. On a grid with a single axis it is `TotalVariation`, and as fast.

    The graph must be a `grid_graph`, or have its vertices and edges in row-major order like one.
    The dual variable has one entry per edge, as for other penalties. The conjugate is 0 where ‖p‖ ≤
    1 for the edges that leave each pixel, and infinite elsewhere.

    Parameters
    ----------
    coupled : bool
        Whether to take the norm over axes and channels together. By default the channels are
        independent.
    delta : float, optional
        The width δ of a quadratic zone: Σ_x h(‖∇u(x)‖) with h(x) = x²/(2δ) up to δ and x - δ/2
        beyond, as in `HuberTV`. By default there is none.

    Examples
    --------
    >>> from graphtv import Problem, SquaredLoss, grid_graph
    >>> problem = Problem(grid_graph((2, 2)), SquaredLoss([[0.0, 3.0], [4.0, 7.0]]), IsotropicTV())
    >>> problem.primal([[0.0, 3.0], [4.0, 7.0]])  # √(3² + 4²) + 4 + 3
    12.0
    """

    coupled: bool = False
    delta: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "coupled", as_flag(self.coupled, "coupled"))

    @property
    def couples(self) -> bool:
        """Whether channels are coupled."""
        return self.coupled

    def value(self, x: Any) -> float:
        """Raise: without a grid the groups of the entries of x are not known."""
        self._needs_grid("primal")

    def conjugate(self, p: Any) -> float:
        """Raise: without a grid the groups of the entries of p are not known."""
        self._needs_grid("dual")

    def prox_conjugate(self, v: Any, step: Any) -> Floats:
        """Raise: without a grid the groups of the entries of v are not known."""
        self._needs_grid("core_penalty.prox_conjugate")

    def _needs_grid(self, method: str) -> Never:
        raise ValueError(
            f"{self!r} has no value without a grid: use Problem.{method}, where the graph is known"
        )

    def core_penalty_on(self, graph: Graph, dual_shape: tuple[int, ...]) -> _core.Penalty:
        """Return the core's penalty on a grid for p of this shape."""
        groups = forward_groups(graph)
        return core_groups(groups, dual_shape, couples=self.coupled, delta=self.delta)

    def entry_groups(self, graph: Graph, dual_shape: tuple[int, ...]) -> Indices:
        """Return the group of each entry of p, of shape (m, C)."""
        n_channels = math.prod(dual_shape[1:])
        pixels = np.repeat(forward_groups(graph)[:, None], n_channels, axis=1)
        channels = np.arange(n_channels, dtype=np.int32)
        return pixels if self.coupled else pixels * np.int32(n_channels) + channels


def forward_groups(graph: Graph) -> Indices:
    """Return the pixel that each edge leaves in forward direction."""
    if graph._grid is None and graph.n_edges and not row_major_shape(graph):
        raise ValueError(
            "graph must be a grid with vertices in row-major order for IsotropicTV, such as"
            f" grid_graph(shape), got {graph!r}"
        )
    return np.minimum(graph.edges[:, 0], graph.edges[:, 1])
