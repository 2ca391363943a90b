"""Total variation of vector-valued signals, with one norm per edge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Indices, as_floats
from graphtv.graph.graph import Graph
from graphtv.terms._group_norms import GroupedPenalty, core_groups
from graphtv.terms.penalty import as_steps

INSIDE = 1.0 - 1e-15
"""Keeps a projection inside its ball in spite of rounding."""


@dataclass(frozen=True)
class CoupledTV(GroupedPenalty):
    """Total variation that couples the channels, F(Ku) = Σ_e ω_e ‖u_i - u_j‖.

    The norm of an edge is the Euclidean norm over the channels. So all channels change across the
    same edges. This is the penalty of the network lasso, of convex clustering and of colour images
    without fringes. With one channel it is `TotalVariation`, and as fast.

    The conjugate is 0 where every ‖p_e‖ ≤ 1 and infinite elsewhere.

    Parameters
    ----------
    delta : float, optional
        The width δ of a quadratic zone: F(Ku) = Σ_e h(‖(Ku)_e‖) with h(x) = x²/(2δ) up to δ and
        x - δ/2 beyond, as in `HuberTV`. By default there is none.

    Examples
    --------
    >>> from graphtv import Problem, SquaredLoss, grid_graph, solve
    >>> problem = Problem(grid_graph((2,)), SquaredLoss([[0.0, 0.0], [3.0, 4.0]]), CoupledTV())
    >>> solve(problem, tol=1e-12).u.round(3)
    array([[0.6, 0.8],
           [2.4, 3.2]])
    """

    delta: float = 0.0

    @property
    def couples(self) -> bool:
        """Whether channels are coupled."""
        return True

    def value(self, x: Any) -> float:
        """Return F(x)."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            norm = _norms(_as_rows(x, "x"))
            near = 0.5 * norm * (norm / self.delta)
            return float(np.where(norm < self.delta, near, norm - 0.5 * self.delta).sum())

    def conjugate(self, p: Any) -> float:
        """Return F*(p), infinite unless every ‖p_e‖ ≤ 1."""
        given = _as_rows(p, "p")
        core = self.core_penalty_on(None, given.shape)
        return core.conjugate(np.ascontiguousarray(given.reshape(len(given), -1).T).reshape(-1))

    def prox_conjugate(self, v: Any, step: Any) -> Floats:
        """Return the minimiser of F*(p) + Σ_e ‖p_e - v_e‖²/(2 step_e)."""
        given = _as_rows(v, "v")
        p = given / (1.0 + self.delta * as_steps(step, given.shape))
        norm = _norms(p).reshape(-1, *(1 for _ in given.shape[1:]))
        return np.asarray(np.where(norm <= INSIDE, p, p * (INSIDE / np.maximum(norm, INSIDE))))

    def core_penalty_on(self, graph: Graph | None, dual_shape: tuple[int, ...]) -> _core.Penalty:
        """Return the core's penalty for p of this shape."""
        return core_groups(None, dual_shape, couples=True, delta=self.delta)

    def entry_groups(self, graph: Graph, dual_shape: tuple[int, ...]) -> Indices:
        """Return the group of each entry of p, of shape (m, C)."""
        m, *channels = dual_shape
        return np.repeat(np.arange(m, dtype=np.int32)[:, None], math.prod(channels), axis=1)


def _as_rows(x: Any, name: str) -> Floats:
    """Return values with a row per edge."""
    given = as_floats(x, name)
    if given.ndim not in (1, 2):
        raise ValueError(f"{name} must have the shape (m,) or (m, C), got {given.shape}")
    return given


def _norms(x: Floats) -> Floats:
    """Return the norm of every row."""
    return np.abs(x) if x.ndim == 1 else np.asarray(np.linalg.norm(x, axis=1))
