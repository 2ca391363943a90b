"""Total variation denoising as a function of JAX, with derivatives.

A callback computes the solution on the CPU. JAX computes the derivative, which is an average over
pieces (see `graphtv.derivatives`). The derivative is defined in forward mode, from which JAX
derives reverse mode and higher derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from graphtv.derivatives.batch import solve_batch
from graphtv.derivatives.layer import Layer
from graphtv.graph.graph import Graph, as_graph
from graphtv.terms import Penalty, TotalVariation

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError('JAX is not installed: pip install "graphtv[jax]"') from error

__all__ = ["tv_denoise"]


_TOTAL_VARIATION = TotalVariation()


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

    It works under ``jit``, ``grad`` and ``vmap``. Other losses and penalties are options.

    Parameters
    ----------
    signal : array, shape (..., n)
        The data f: one value per vertex along the last axis. All other axes are batches.
    graph : Graph
        The graph with n vertices and m edges.
    weights : array, shape (), (m,) or (..., m), optional
        The edge weights ω ≥ 0: one for all edges, one per edge, or one per edge and signal. The
        default is the weights of the graph.
    vertex_weights : array, shape (n,) or (..., n), optional
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
    array
        The solutions u, of the shape and type of `signal`.

    Notes
    -----
    The solution is computed in float64, and rounded to float32 if `signal` has this type. The
    derivatives are those of `graphtv.solution_vjp`; at ties they keep the pieces. With the squared
    loss and total variation there are also derivatives in forward mode and of higher order.

    Examples
    --------
    >>> import jax
    >>> from graphtv import grid_graph
    >>> signal = jax.numpy.array([1.0, 0.0, 5.0])
    >>> tv_denoise(signal, grid_graph(3), 0.5)
    Array([0.75, 0.75, 4.5 ], dtype=float32)
    >>> jax.grad(lambda w: tv_denoise(signal, grid_graph(3), w)[0])(0.5)
    Array(0.5, dtype=float32, weak_type=True)
    """
    f = jnp.asarray(signal)
    if not jnp.issubdtype(f.dtype, jnp.floating):
        f = f.astype(jnp.result_type(float))
    layer = Layer(as_graph(graph), loss, penalty, tol)
    n, m = graph.n_vertices, graph.n_edges
    omega = jnp.asarray(graph.weights if weights is None else weights).astype(f.dtype)
    c = jnp.ones(n, f.dtype) if vertex_weights is None else jnp.asarray(vertex_weights, f.dtype)
    if omega.ndim == 0:
        omega = jnp.broadcast_to(omega, (m,))
    for array, name, length in ((f, "signal", n), (omega, "weights", m), (c, "vertex_weights", n)):
        if array.ndim == 0 or array.shape[-1] != length:
            raise ValueError(f"{name} must have shape (..., {length}), got {array.shape}")
    return _solution(graph, f, omega, c)[0] if layer.is_plain else _by_layer(layer, f, omega, c)


def _by_layer(layer: Layer, f: Any, omega: Any, c: Any) -> Any:
    """Return the solution for any loss and penalty, with all arrays in the shapes of `Layer`."""
    is_single = not layer.couples or f.ndim == 1
    f, c = jnp.broadcast_arrays(f, c)
    if is_single:
        f, c = f[..., None, :], c[..., None, :]
    batch = np.broadcast_shapes(f.shape[:-2], omega.shape[:-1])
    f, c = (jnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (f, c))
    u = _layer_solution(layer, f, jnp.broadcast_to(omega, (*batch, omega.shape[-1])), c)
    return u[..., 0, :] if is_single else u


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _layer_solution(layer: Layer, f: Any, omega: Any, c: Any) -> Any:
    """Return the solution of a layer, which NumPy differentiates."""
    return _layer_forward(layer, f, omega, c)[0]


def _layer_forward(layer: Layer, f: Any, omega: Any, c: Any) -> Any:
    kinds = jax.ShapeDtypeStruct(f.shape, f.dtype), jax.ShapeDtypeStruct(f.shape, np.int32)
    host = partial(_layer_on_host, layer.solve)
    u, pieces = jax.pure_callback(host, kinds, f, omega, c, vmap_method="broadcast_all")
    return u, (f, omega, c, u, pieces)


def _layer_backward(layer: Layer, residuals: Any, g: Any) -> Any:
    kinds = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in residuals[:3])
    host = partial(_layer_on_host, layer.gradient)
    return jax.pure_callback(host, kinds, *residuals, g, vmap_method="broadcast_all")


_layer_solution.defvjp(_layer_forward, _layer_backward)


def _layer_on_host(call: Callable[..., tuple[Any, ...]], f: Any, omega: Any, *others: Any) -> Any:
    """Call a method of a layer with one leading axis instead of any number of them."""
    batch, kind = np.shape(omega)[:-1], np.asarray(f).dtype
    data = [np.asarray(x).reshape(-1, *np.shape(f)[-2:]) for x in (f, *others)]
    found = call(data[0], np.asarray(omega).reshape(len(data[0]), -1), *data[1:])
    shaped = (x.reshape(*batch, *x.shape[1:]) for x in found)
    return tuple(x if x.dtype == np.int32 else x.astype(kind) for x in shaped)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _solution(graph: Graph, f: Any, omega: Any, c: Any) -> Any:
    """Return the solution and its pieces by a callback."""
    batch = np.broadcast_shapes(f.shape[:-1], omega.shape[:-1], c.shape[:-1])
    shape = (*batch, f.shape[-1])
    kinds = jax.ShapeDtypeStruct(shape, f.dtype), jax.ShapeDtypeStruct(shape, np.int32)
    return jax.pure_callback(
        partial(_on_host, graph), kinds, f, omega, c, vmap_method="broadcast_all"
    )


@_solution.defjvp  # type: ignore[untyped-decorator]
def _derivative(graph: Graph, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Differentiate Σ_A c (u - f) + Σ ω sign = 0 on every piece A."""
    f, omega, c = primals
    df, domega, dc = tangents
    u, pieces = _solution(graph, f, omega, c)
    tails, heads = graph.edges.T
    jumps = jnp.sign(u[..., tails] - u[..., heads])
    jumps = jnp.where(pieces[..., tails] == pieces[..., heads], 0.0, jumps)
    pull = jnp.broadcast_to(jumps * domega, (*u.shape[:-1], graph.n_edges))
    force = jnp.broadcast_to(c * df + dc * (f - u), u.shape)
    force = force.at[..., tails].add(-pull).at[..., heads].add(pull)
    du = _sum(force, pieces) / _sum(jnp.broadcast_to(c, u.shape), pieces)
    return (u, pieces), (du, np.zeros(pieces.shape, jax.dtypes.float0))


def _sum(values: Any, pieces: Any) -> Any:
    """Return the sum over the piece of each entry."""

    def row(v: Any, p: Any) -> Any:
        return jax.ops.segment_sum(v, p, num_segments=v.shape[0])[p]

    n = values.shape[-1]
    rows = jax.vmap(row)(values.reshape(-1, n), pieces.reshape(-1, n))
    return rows.reshape(values.shape)


def _on_host(graph: Graph, f: Any, omega: Any, c: Any) -> Any:
    """Solve for NumPy arrays, to all of which vmap may have added leading axes."""
    f, omega, c = (np.asarray(x) for x in (f, omega, c))
    batch = np.broadcast_shapes(f.shape[:-1], omega.shape[:-1], c.shape[:-1])
    signals = np.broadcast_to(f, (*batch, f.shape[-1])).reshape(-1, f.shape[-1])
    costs = np.broadcast_to(c, (*batch, c.shape[-1])).reshape(signals.shape)
    weights = np.broadcast_to(omega, (*batch, omega.shape[-1])).reshape(len(signals), -1)
    same = len(weights) > 0 and bool((weights == weights[0]).all())
    solved = solve_batch(graph, signals, weights[0] if same else weights, costs)
    shape = (*batch, f.shape[-1])
    return solved.u.astype(f.dtype).reshape(shape), solved.pieces.reshape(shape)
