"""Total variation on a graph as a functional of scico."""

from __future__ import annotations

from typing import Any

from graphtv._validate import as_real
from graphtv.graph.graph import Graph, as_graph
from graphtv.jax import tv_denoise

try:
    import jax.numpy as jnp
    from scico.functional import Functional
except ImportError as error:
    raise ImportError("scico is not installed: pip install scico") from error

__all__ = ["GraphTV"]


class GraphTV(Functional):  # type: ignore[misc]
    """σ Σ_e ω_e |x_i - x_j| with an exact proximal map.

    Parameters
    ----------
    graph : Graph
        The graph with its weights ω; ``grid_graph(shape)`` for images of this shape.
    sigma : float
        The factor σ > 0.
    """

    has_eval = True
    has_prox = True

    def __init__(self, graph: Graph, sigma: float = 1.0) -> None:
        super().__init__()
        self.graph = as_graph(graph)
        self.sigma = as_real(sigma, "sigma", minimum=0.0, strict=True)

    def __call__(self, x: Any) -> Any:
        """Return the value at x."""
        flat = x.reshape(-1)
        tails, heads = self.graph.edges.T
        weights = jnp.asarray(self.graph.weights, flat.dtype)
        return self.sigma * (weights * jnp.abs(flat[tails] - flat[heads])).sum()

    def prox(self, v: Any, lam: Any = 1.0, **options: Any) -> Any:
        """Return the minimiser of λ times the functional plus ‖x - v‖²/2 over x."""
        weights = lam * self.sigma * jnp.asarray(self.graph.weights, v.dtype)
        return tv_denoise(v.reshape(-1), self.graph, weights).reshape(v.shape)
