"""Total variation denoising as a function of JAX, with derivatives.

A callback computes the solution on the CPU. JAX computes the derivative, which is an average over
pieces (see `graphtv.derivatives`). The derivative is defined in forward mode, from which JAX
derives reverse mode and higher derivatives.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from graphtv.derivatives.batch import solve_batch
from graphtv.graph.graph import Graph, as_graph

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError('JAX is not installed: pip install "graphtv[jax]"') from error

__all__ = ["tv_denoise"]


def tv_denoise(
    signal: Any, graph: Graph, weights: Any = None, *, vertex_weights: Any = None
) -> Any:
    """Minimise ½ Σ_i c_i (u_i - f_i)² + Σ_e ω_e |u_i - u_j| exactly, with derivatives.

    It can be differentiated in forward and reverse mode with respect to all arrays, and it works
    under ``jit``, ``grad``, ``jvp`` and ``vmap``.

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

    Returns
    -------
    array
        The solutions u, of the shape and type of `signal`.

    Notes
    -----
    The solution is exact up to rounding. It is computed in float64, and rounded to float32 if
    `signal` has this type. At ties the derivative keeps the pieces, as in `graphtv.solution_vjp`.

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
    n, m = as_graph(graph).n_vertices, graph.n_edges
    omega = jnp.asarray(graph.weights if weights is None else weights).astype(f.dtype)
    c = jnp.ones(n, f.dtype) if vertex_weights is None else jnp.asarray(vertex_weights, f.dtype)
    if omega.ndim == 0:
        omega = jnp.broadcast_to(omega, (m,))
    for array, name, length in ((f, "signal", n), (omega, "weights", m), (c, "vertex_weights", n)):
        if array.ndim == 0 or array.shape[-1] != length:
            raise ValueError(f"{name} must have shape (..., {length}), got {array.shape}")
    return _solution(graph, f, omega, c)[0]


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
