"""Layers with any smooth loss and any penalty of the library, for batches of signals."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats, as_real
from graphtv.derivatives.reweighted import reweighted
from graphtv.derivatives.solution import as_smooth_loss, pieces_of, solution_gradient
from graphtv.graph.graph import Graph
from graphtv.problem import Problem
from graphtv.solver import solve
from graphtv.terms import (
    HuberLoss,
    LogisticLoss,
    Penalty,
    PoissonLoss,
    SquaredLoss,
    TotalVariation,
)

Pieces = NDArray[np.int32]

LOSSES: dict[str, Callable[..., Any]] = {
    "squared": SquaredLoss,
    "huber": HuberLoss,
    "logistic": LogisticLoss,
    "poisson": PoissonLoss,
}

TOLERANCE = 1e-10
"""Relative gap of solutions that have no exact finish. Their flat parts are exactly flat."""


@dataclass(frozen=True)
class Layer:
    """A problem without its data and weights.

    All arrays have the shapes (B, C, n) for data, vertex weights and solutions, and (B, m) for edge
    weights. Channels are fused independently unless the penalty couples them.
    """

    graph: Graph
    loss: str | Callable[..., Any] = "squared"
    penalty: Penalty = TotalVariation()  # noqa: RUF009
    tol: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.loss, str) and self.loss not in LOSSES:
            names = ", ".join(map(repr, LOSSES))
            raise ValueError(f"loss must be one of {names} or a callable, got {self.loss!r}")
        if not isinstance(self.loss, str) and not callable(self.loss):
            raise ValueError(f"loss must be a name or a callable, got {self.loss!r}")
        if not hasattr(self.penalty, "entry_groups"):
            raise ValueError(
                "penalty must be TotalVariation(), HuberTV(delta), CoupledTV() or IsotropicTV(),"
                f" got {self.penalty!r}"
            )
        if self.tol is not None:
            as_real(self.tol, "tol", minimum=0.0)

    @property
    def is_plain(self) -> bool:
        """Whether it is total variation with the squared loss: `solve_batch` is faster."""
        return self.loss == "squared" and self.penalty == TotalVariation()

    @property
    def couples(self) -> bool:
        """Whether the penalty couples the channels of a signal."""
        return bool(getattr(self.penalty, "couples", False))

    def solve(self, f: NDArray[Any], omega: NDArray[Any], c: NDArray[Any]) -> tuple[Floats, Pieces]:
        """Return the solutions and their pieces, which are 0 if the penalty has curvature."""
        u, pieces = np.empty(f.shape), np.zeros(f.shape, dtype=np.int32)
        for k in range(len(f)):
            problem, _ = self._problem(f[k], omega[k], c[k])
            tol = self.tol
            if tol is None:
                tol = 0.0 if problem.delta == 0.0 else TOLERANCE
            result = solve(problem, tol=tol)
            if result.status != "optimal":
                warnings.warn(
                    f"tv_denoise ended with status {result.status!r} and relative gap"
                    f" {result.relative_gap:.2g} instead of {tol:g}",
                    RuntimeWarning,
                    stacklevel=2,
                )
            u[k] = result.u.T
            found = pieces_of(problem, result)
            if found is not None:
                pieces[k] = found.T
        return u, pieces

    def gradient(
        self,
        f: NDArray[Any],
        omega: NDArray[Any],
        c: NDArray[Any],
        u: NDArray[Any],
        pieces: Pieces,
        cotangent: NDArray[Any],
    ) -> tuple[Floats, Floats, Floats]:
        """Return the derivatives with respect to the data, the edge and the vertex weights."""
        of_data, of_costs = np.empty(f.shape), np.empty(f.shape)
        of_edges = np.zeros(omega.shape)
        for k in range(len(f)):
            problem, used = self._problem(f[k], omega[k], c[k])
            known = pieces[k].T if problem.delta == 0.0 else None
            point, g = (np.ascontiguousarray(x[k].T, dtype=np.float64) for x in (u, cotangent))
            found = solution_gradient(problem, point, known, g)
            of_data[k], of_costs[k] = found.signal.T, found.vertex_weights.T
            of_edges[k, used] = found.edge_weights
        return of_data, of_edges, of_costs

    def _problem(
        self, f: NDArray[Any], omega: NDArray[Any], c: NDArray[Any]
    ) -> tuple[Problem, NDArray[np.bool_]]:
        """Return the problem of one signal of the batch, and which edges it has."""
        weighted, used = reweighted(self.graph, omega)
        make = LOSSES[self.loss] if isinstance(self.loss, str) else self.loss
        data, costs = (np.ascontiguousarray(x.T, dtype=np.float64) for x in (f, c))
        problem = Problem(weighted, make(data, weights=costs), self.penalty)
        as_smooth_loss(problem)
        return problem, used
