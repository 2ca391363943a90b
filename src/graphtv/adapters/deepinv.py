"""Total variation on a graph as a prior of deepinv."""

from __future__ import annotations

import math
from typing import Any

from graphtv.graph.graph import Graph
from graphtv.graph.grid import grid_graph
from graphtv.torch import tv_denoise

try:
    import torch
    from deepinv.optim.prior import Prior
except ImportError as error:
    raise ImportError("deepinv is not installed: pip install deepinv") from error

__all__ = ["GraphTV"]


class GraphTV(Prior):  # type: ignore[misc]
    """The prior Σ_e ω_e |x_i - x_j| per image and channel, with an exact proximal map.

    The proximal map is differentiable with respect to the image and the step, in linear time.
    The ``TVPrior`` of deepinv is isotropic. It is computed iteratively and differentiated through
    its iterations.

    Parameters
    ----------
    graph : Graph, optional
        A graph with a vertex per pixel. By default the grid of the image, with weights 1.
    n_dims : int
        Number of spatial axes, the last ones of an image of shape (B, C, H, W).
    """

    def __init__(self, graph: Graph | None = None, n_dims: int = 2) -> None:
        super().__init__()
        self.explicit_prior = True
        self.graph, self.n_dims = graph, n_dims

    def fn(self, x: Any, *args: Any, **options: Any) -> Any:
        """Return the value for each image of the batch."""
        graph, flat = self._flat(x)
        tails, heads = (torch.from_numpy(ends.astype("int64")) for ends in graph.edges.T)
        weights = torch.as_tensor(graph.weights.copy(), dtype=x.dtype, device=x.device)
        sizes = (flat[..., tails] - flat[..., heads]).abs() * weights
        return sizes.reshape(len(x), -1).sum(dim=1)

    def prox(self, x: Any, *args: Any, gamma: Any = 1.0, **options: Any) -> Any:
        """Return the minimiser of γ times the prior plus ‖y - x‖²/2 over y."""
        graph, flat = self._flat(x)
        weights = torch.as_tensor(graph.weights.copy(), dtype=x.dtype, device=x.device)
        step = torch.as_tensor(gamma, dtype=x.dtype, device=x.device)
        # deepinv may pass a separate step for each image of the batch.
        step = step.reshape(-1, *[1] * (flat.ndim - 1)) if step.numel() > 1 else step.reshape(())
        return tv_denoise(flat, graph, step * weights).reshape(x.shape)

    def _flat(self, x: Any) -> tuple[Graph, Any]:
        """Return the graph, and the images with one axis of pixels."""
        shape = tuple(x.shape[x.ndim - self.n_dims :])
        graph = self.graph or grid_graph(shape)
        return graph, x.reshape(*x.shape[: x.ndim - self.n_dims], math.prod(shape))
