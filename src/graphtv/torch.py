"""Total variation denoising as a layer of PyTorch, with derivatives.

graphtv computes the solution on the CPU. PyTorch computes the derivative, which is an average over
pieces (see `graphtv.derivatives`). It can be differentiated twice.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from graphtv._validate import as_count
from graphtv.derivatives.batch import solve_batch
from graphtv.derivatives.layer import Layer
from graphtv.graph.graph import Graph, as_graph
from graphtv.graph.grid import grid_graph
from graphtv.terms import Penalty, TotalVariation

try:
    import torch
except ImportError as error:
    raise ImportError('PyTorch is not installed: pip install "graphtv[torch]"') from error

__all__ = ["TVDenoise", "TVDenoise2d", "TVDenoise3d", "tv_denoise"]

_TOTAL_VARIATION = TotalVariation()
_NO_GRAPH = Graph(1, [])


def tv_denoise(
    signal: Any,
    graph: Graph,
    weights: Any = None,
    *,
    vertex_weights: Any = None,
    loss: Any = "squared",
    penalty: Penalty = _TOTAL_VARIATION,
    tol: float | None = None,
) -> Any:
    """Minimise ½ Σ_i c_i (u_i - f_i)² + Σ_e ω_e |u_i - u_j| exactly, with derivatives.

    Other losses and penalties are options.

    Parameters
    ----------
    signal : Tensor, shape (..., n)
        The data f: one value per vertex along the last axis. All other axes are batches and
        channels.
    graph : Graph
        The graph with n vertices and m edges.
    weights : float or Tensor, shape (), (m,) or (..., m), optional
        The edge weights ω ≥ 0: one for all edges, one per edge, or one per edge and signal. The
        default is the weights of the graph.
    vertex_weights : Tensor, shape (n,) or (..., n), optional
        The weights c > 0 of the data, 1 by default.
    loss : {'squared', 'huber', 'logistic', 'poisson'} or callable
        A callable is called as ``loss(signal, weights=...)`` with arrays. It returns a smooth loss,
        for example ``functools.partial(graphtv.HuberLoss, delta=0.1)``.
    penalty : Penalty
        `TotalVariation`, `HuberTV`, `CoupledTV` or `IsotropicTV`. If it couples channels, these are
        the second axis from the end, and `weights` has no axis of channels.
    tol : float, optional
        The relative gap of the solution. The default is 0, the exact solution, for total variation
        and 1e-10 for other penalties.

    Returns
    -------
    Tensor
        The solutions u, of the type and on the device of `signal`.

    Notes
    -----
    The solution is computed in float64 on the CPU. Float64 tensors on the CPU are not copied.
    Tensors on other devices are moved to the CPU, with one warning. The derivatives are those of
    `graphtv.solution_vjp`; at ties they keep the pieces. With the squared loss and total variation
    they can be differentiated again. All signals of a batch with the same weights are then solved
    together.

    Examples
    --------
    >>> import torch
    >>> from graphtv import grid_graph
    >>> weight = torch.tensor(0.5, requires_grad=True)
    >>> u = tv_denoise(torch.tensor([1.0, 0.0, 5.0]), grid_graph(3), weight)
    >>> u.tolist()
    [0.75, 0.75, 4.5]
    >>> u[0].backward()
    >>> weight.grad
    tensor(0.5000)
    """
    layer = Layer(as_graph(graph), loss, penalty, tol)
    n, m = graph.n_vertices, graph.n_edges
    if not isinstance(signal, torch.Tensor) or not signal.is_floating_point():
        raise ValueError(f"signal must be a tensor of floating-point numbers, got {signal!r}")
    kind = {"dtype": signal.dtype, "device": signal.device}
    omega = torch.as_tensor(np.array(graph.weights) if weights is None else weights, **kind)
    omega = omega.expand(m) if omega.ndim == 0 else omega
    tensors = {"signal": (signal, n), "weights": (omega, m)}
    if vertex_weights is not None:
        tensors["vertex_weights"] = (torch.as_tensor(vertex_weights, **kind), n)
    for name, (tensor, length) in tensors.items():
        if tensor.ndim == 0 or tensor.shape[-1] != length:
            raise ValueError(f"{name} must have shape (..., {length}), got {tuple(tensor.shape)}")
    if not layer.is_plain:
        return _by_layer(layer, *(tensor for tensor, _ in tensors.values()))
    batch = torch.broadcast_shapes(*(tensor.shape[:-1] for tensor, _ in tensors.values()))
    rows = [
        tensor if tensor.ndim == 1 and name != "signal" else _as_rows(tensor, batch)
        for name, (tensor, _) in tensors.items()
    ]
    return _Solution.apply(graph, *rows, *[None] * (3 - len(rows))).reshape(*batch, n)


def _by_layer(layer: Layer, f: Any, omega: Any, c: Any = None) -> Any:
    """Return the solution for any loss and penalty, with all tensors in the shapes of `Layer`."""
    is_single = not layer.couples or f.ndim == 1
    c = torch.ones_like(f) if c is None else c
    f, c = torch.broadcast_tensors(f, c)
    if is_single:
        f, c = f.unsqueeze(-2), c.unsqueeze(-2)
    batch = torch.broadcast_shapes(f.shape[:-2], omega.shape[:-1])
    f, c = (x.expand(*batch, *x.shape[-2:]).reshape(-1, *x.shape[-2:]) for x in (f, c))
    u = _LayerSolution.apply(layer, f, _as_rows(omega, batch), c)
    shape = (*batch, u.shape[-1]) if is_single else (*batch, *u.shape[-2:])
    return u.reshape(shape)


class TVDenoise(torch.nn.Module):  # type: ignore[misc]
    """A layer that denoises images, volumes or sequences by total variation, exactly.

    It minimises ½‖u - f‖² + Σ ω |difference of neighbours| for every image and channel. Its weight
    is positive and learned together with the rest of a network. Another part of the network may
    provide weights per pixel or per edge instead.

    Parameters
    ----------
    n_dims : {1, 2, 3}
        Number of spatial axes, the last ones: 2 for images of shape (..., H, W).
    weight : float or sequence of float
        The initial weight, above 0: one for all axes, or one per axis. It has the unit of the
        image.
    learnable : bool
        Whether the weight is a parameter of the module.
    penalty : Penalty
        As in `tv_denoise`. If it couples channels, these are the axis before the spatial ones.

    Attributes
    ----------
    log_weight : Parameter or buffer
        The logarithm of the weight.

    Examples
    --------
    >>> import torch
    >>> layer = TVDenoise(2, weight=0.5)
    >>> image = torch.tensor([[0.0, 1.0], [0.0, 5.0]])
    >>> layer(image).sum().backward()
    >>> round(layer.weight.item(), 3), layer.log_weight.grad is not None
    (0.5, True)
    """

    def __init__(
        self,
        n_dims: int = 2,
        weight: Any = 0.1,
        *,
        learnable: bool = True,
        penalty: Penalty = _TOTAL_VARIATION,
    ) -> None:
        super().__init__()
        self.penalty = Layer(_NO_GRAPH, penalty=penalty).penalty
        self.n_dims = as_count(n_dims, "n_dims", minimum=1, maximum=3)
        given = torch.as_tensor(weight, dtype=torch.get_default_dtype())
        if tuple(given.shape) not in ((), (self.n_dims,)) or not (given > 0.0).all():
            raise ValueError(
                f"weight must be one number above 0 or {self.n_dims} of them, got {weight!r}"
            )
        if learnable:
            self.log_weight = torch.nn.Parameter(given.log())
        else:
            self.register_buffer("log_weight", given.log())
        self._graphs: dict[tuple[int, ...], Graph] = {}

    @property
    def weight(self) -> Any:
        """The weight, one number or one per axis."""
        return self.log_weight.exp()

    def forward(self, image: Any, weights: Any = None) -> Any:
        """Return the denoised image.

        Parameters
        ----------
        image : Tensor, shape (..., *spatial)
            Images with `n_dims` spatial axes at the end; all others are batches and channels.
        weights : Tensor or sequence of Tensor, optional
            Weights ω ≥ 0 to use instead of those of the module. A tensor of shape (..., *spatial)
            has one number per pixel, and an edge uses the mean of its two pixels. A sequence has
            one tensor of edge weights per axis, which is shorter than the image by one along this
            axis. Leading axes broadcast with those of the image.
        """
        shape = tuple(image.shape[image.ndim - self.n_dims :])
        if len(shape) != self.n_dims:
            raise ValueError(
                f"image must have at least {self.n_dims} axes, got shape {tuple(image.shape)}"
            )
        if shape not in self._graphs:
            self._graphs[shape] = grid_graph(shape)
        omega = self._own_weights(shape) if weights is None else _edge_weights(weights, shape)
        flat = image.reshape(*image.shape[: image.ndim - self.n_dims], math.prod(shape))
        u = tv_denoise(flat, self._graphs[shape], omega, penalty=self.penalty)
        return u.reshape(*u.shape[:-1], *shape)

    def _own_weights(self, shape: tuple[int, ...]) -> Any:
        if self.log_weight.ndim == 0:
            return self.weight
        counts = [math.prod(sides) for sides in _shapes_of_edges(shape)]
        per_axis = zip(self.weight, counts, strict=True)
        return torch.cat([weight.expand(count) for weight, count in per_axis])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_graphs": {}}

    def extra_repr(self) -> str:
        """Return the text inside the parentheses of the representation."""
        penalty = "" if self.penalty == _TOTAL_VARIATION else f", penalty={self.penalty}"
        return f"n_dims={self.n_dims}, weight={self.weight.tolist()}{penalty}"


class TVDenoise2d(TVDenoise):
    """`TVDenoise` for images of shape (..., H, W).

    Parameters
    ----------
    weight, learnable, penalty
        As in `TVDenoise`.

    Examples
    --------
    >>> import torch
    >>> from graphtv import IsotropicTV
    >>> layer = TVDenoise2d(weight=0.5, penalty=IsotropicTV())
    >>> layer(torch.zeros(4, 3, 8, 8)).shape
    torch.Size([4, 3, 8, 8])
    """

    def __init__(self, weight: Any = 0.1, **options: Any) -> None:
        super().__init__(2, weight, **options)


class TVDenoise3d(TVDenoise):
    """`TVDenoise` for volumes of shape (..., D, H, W).

    Parameters
    ----------
    weight, learnable, penalty
        As in `TVDenoise`.

    Examples
    --------
    >>> import torch
    >>> TVDenoise3d(weight=[0.1, 0.2, 0.2])(torch.zeros(2, 1, 4, 8, 8)).shape
    torch.Size([2, 1, 4, 8, 8])
    """

    def __init__(self, weight: Any = 0.1, **options: Any) -> None:
        super().__init__(3, weight, **options)


class _Solution(torch.autograd.Function):  # type: ignore[misc]
    """The solution for signals (B, n), edge weights (m,) or (B, m), vertex weights (n,) or (B, n).

    The backward pass consists of operations of PyTorch, so that it has a derivative too.
    """

    @staticmethod
    def forward(ctx: Any, graph: Graph, f: Any, omega: Any, c: Any) -> Any:
        if f.device.type != "cpu":
            _warn_of_device(f.device.type)
        costs = None if c is None else _on_host(c)
        solved = solve_batch(graph, _on_host(f), _on_host(omega), costs)
        u = torch.from_numpy(solved.u).to(dtype=f.dtype, device=f.device)
        pieces = torch.from_numpy(solved.pieces).to(device=f.device, dtype=torch.int64)
        ctx.graph, ctx.is_shared = graph, omega.ndim == 1
        ctx.save_for_backward(f, c, u, pieces)
        return u

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        f, c, u, pieces = ctx.saved_tensors
        stiffness = torch.ones_like(u) if c is None else c.expand_as(u)
        v = _sum(g, pieces) / _sum(stiffness, pieces)
        of_edges = of_costs = None
        if ctx.needs_input_grad[2]:
            tails, heads = torch.from_numpy(ctx.graph.edges.T.astype(np.int64)).to(u.device)
            is_inner = pieces[:, tails] == pieces[:, heads]
            jumps = torch.sign(u[:, heads] - u[:, tails]).masked_fill(is_inner, 0.0)
            of_edges = jumps * (v[:, tails] - v[:, heads])
            of_edges = of_edges.sum(dim=0) if ctx.is_shared else of_edges
        if ctx.needs_input_grad[3]:
            of_costs = (f - u) * v
            of_costs = of_costs.sum(dim=0) if c.ndim == 1 else of_costs
        return None, v if c is None else c * v, of_edges, of_costs


class _LayerSolution(torch.autograd.Function):  # type: ignore[misc]
    """The solution of a `Layer`, which NumPy differentiates."""

    @staticmethod
    def forward(ctx: Any, layer: Layer, f: Any, omega: Any, c: Any) -> Any:
        if f.device.type != "cpu":
            _warn_of_device(f.device.type)
        arrays = [_on_host(x) for x in (f, omega, c)]
        u, pieces = layer.solve(*arrays)
        ctx.layer, ctx.arrays, ctx.kind = layer, (*arrays, u, pieces), (f, omega, c)
        return torch.from_numpy(u).to(dtype=f.dtype, device=f.device)

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, g: Any) -> Any:
        found = ctx.layer.gradient(*ctx.arrays, _on_host(g))
        made = (torch.from_numpy(x) for x in found)
        return None, *(
            x.to(dtype=like.dtype, device=like.device)
            for x, like in zip(made, ctx.kind, strict=True)
        )


def _sum(values: Any, pieces: Any) -> Any:
    """Return the sum over the piece of each entry."""
    return torch.zeros_like(values).scatter_add(1, pieces, values).gather(1, pieces)


def _on_host(tensor: Any) -> Any:
    """Return the array of a tensor; on the CPU it shares its memory."""
    return tensor.detach().cpu().numpy()


def _as_rows(tensor: Any, batch: Any) -> Any:
    """Return one row per signal of the batch."""
    length = tensor.shape[-1]
    return tensor.expand(*batch, length).reshape(-1, length)


def _shapes_of_edges(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the shape of the edge weights along each axis."""
    return [(*shape[:k], shape[k] - 1, *shape[k + 1 :]) for k in range(len(shape))]


def _edge_weights(weights: Any, shape: tuple[int, ...]) -> Any:
    """Return weights per pixel, or per axis and edge, in the order of the edges of a grid."""
    n_dims = len(shape)
    if isinstance(weights, torch.Tensor):
        axes = range(weights.ndim - n_dims, weights.ndim)
        if tuple(weights.shape[weights.ndim - n_dims :]) != shape:
            raise ValueError(
                f"weights must end with the axes {shape} of the image,"
                f" got shape {tuple(weights.shape)}"
            )
        lengths = zip(axes, shape, strict=True)
        sides = [(weights.narrow(a, 0, n - 1), weights.narrow(a, 1, n - 1)) for a, n in lengths]
        parts = [0.5 * (before + after) for before, after in sides]
    else:
        parts = list(weights)
        shapes = [tuple(part.shape[part.ndim - n_dims :]) for part in parts]
        if shapes != _shapes_of_edges(shape):
            raise ValueError(
                f"weights must end with the axes {_shapes_of_edges(shape)}, got {shapes}"
            )
    return torch.cat([part.flatten(part.ndim - n_dims) for part in parts], dim=-1)


_WARNED: set[str] = set()


def _warn_of_device(device: str) -> None:
    if device not in _WARNED:
        _WARNED.add(device)
        warnings.warn(
            f"graphtv solves on the CPU: tensors on {device} are copied there and back",
            RuntimeWarning,
            stacklevel=2,
        )
