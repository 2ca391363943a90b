"""Total variation on a graph as an operator of PyProximal."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtv._validate import Floats, as_floats, as_real
from graphtv.derivatives.batch import solve_batch
from graphtv.graph.graph import Graph, as_graph

try:
    from pyproximal.ProxOperator import ProxOperator, _check_tau
except ImportError as error:
    raise ImportError("PyProximal is not installed: pip install pyproximal") from error

__all__ = ["GraphTV"]


class GraphTV(ProxOperator):  # type: ignore[misc]
    """σ Σ_e ω_e |x_i - x_j| with an exact proximal map.

    Parameters
    ----------
    graph : Graph
        The graph with its weights ω; ``grid_graph(shape)`` for images, which PyProximal handles
        as flat vectors.
    sigma : float
        The factor σ > 0.

    Examples
    --------
    >>> from graphtv import grid_graph
    >>> total_variation = GraphTV(grid_graph(3), sigma=0.5)
    >>> total_variation([1.0, 0.0, 5.0])
    3.0
    >>> total_variation.prox(np.array([1.0, 0.0, 5.0]), 1.0)
    array([0.75, 0.75, 4.5 ])
    """

    def __init__(self, graph: Graph, sigma: float = 1.0) -> None:
        super().__init__(None, False)
        self.graph = as_graph(graph)
        self.sigma = as_real(sigma, "sigma", minimum=0.0, strict=True)

    def __call__(self, x: Any) -> float:
        """Return the value at x."""
        values = self._checked(x)
        tails, heads = self.graph.edges.T
        return self.sigma * float(self.graph.weights @ np.abs(values[tails] - values[heads]))

    @_check_tau  # type: ignore[untyped-decorator]
    def prox(self, x: Any, tau: float) -> Floats:
        """Return the minimiser of the function plus ‖y - x‖²/(2τ) over y."""
        values = self._checked(x)
        solved = solve_batch(self.graph, values[None], tau * self.sigma * self.graph.weights)
        return solved.u.reshape(-1)

    def _checked(self, x: Any) -> Floats:
        values = as_floats(x, "x")
        if values.shape != (self.graph.n_vertices,):
            raise ValueError(f"x must have shape ({self.graph.n_vertices},), got {values.shape}")
        return values
