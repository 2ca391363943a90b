"""Condition numbers of preconditioned gradients.

The finite condition number κ(T^-½ K S^-½) = σ_max / σ_min>0 governs the convergence of first-order
methods (Möllenhoff et al., AISTATS 2018, Section 2). For every preconditioner, the problem reduces
to the Laplacian of a weighted graph ℋ:

- ``"none"``: ℋ is the graph with weights ω², S = I;
- ``"diagonal"`` (Pock and Chambolle, ICCV 2011): T_e = 2 ω_e^α and S_i = Σ_e∋i ω_e^(2-α), hence
  half the normalised Laplacian of the graph with weights ω^(2-α);
- forests: Π = Σ_l ∇_lᵀ(∇_l∇_lᵀ)⁻¹∇_l, where Π_l subtracts from a vector its mean on each tree of
  forest l. Replace each tree by a star with a new vertex at its centre: Π is the Schur complement
  of the unweighted Laplacian of these stars after eliminating the centres (whose values are the
  means). It does not depend on the weights.

The kernel is known: it is spanned by the indicators of the connected components. It is never
estimated from small singular values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator, eigsh

from graphtv._validate import Floats, Indices, as_choice, as_real
from graphtv.decomposition.laplacian import heaviest_forest, laplacian_solver
from graphtv.decomposition.partition import METHODS, ForestPartition, decompose
from graphtv.graph.graph import Graph, as_graph

DENSE_LIMIT = 400
"""Up to this many vertices, "auto" computes the singular values of a dense matrix."""

LEAST_WEIGHT = 1e-150
"""Smallest entry of the operator, relative to the largest, whose square does not underflow."""


def condition_number(
    graph: Graph,
    preconditioner: str | ForestPartition,
    *,
    alpha: float = 1.0,
    method: str = "auto",
) -> float:
    """Return κ(T^-½ K S^-½), the ratio of the largest and the smallest nonzero singular value.

    Parameters
    ----------
    graph : Graph
        A graph with at least one edge; it need not be connected.
    preconditioner : str or ForestPartition
        ``"none"`` (S = I, T = I), ``"diagonal"`` (S_j = Σ_i |K_ij|^(2-α), T_i = Σ_j |K_ij|^α), the
        name of a decomposition method, or a partition of `graph` (S = I, T_l = K_l K_lᵀ).
    alpha : float
        The exponent α in [0, 2] of the diagonal preconditioner.
    method : {"auto", "dense", "iterative"}
        ``"dense"`` computes all singular values and is meant for small graphs. ``"iterative"`` runs
        Lanczos on the operator and on its pseudoinverse. Its result is a lower bound of κ that in
        practice agrees with κ to six digits or more. ``"auto"`` chooses by size, and uses the
        theorems where they apply: √(L/l̂) for nested forests, √d for the chains of a grid.

    Returns
    -------
    float
        The condition number, at least 1. For forests it does not depend on the weights.

    References
    ----------
    T. Möllenhoff, Z. Ye, T. Wu, D. Cremers, Combinatorial Preconditioners for Proximal Algorithms
    on Graphs, AISTATS 2018.

    Examples
    --------
    >>> from graphtv import grid_graph
    >>> round(condition_number(grid_graph((4, 5)), "chains") ** 2, 9)
    2.0
    """
    as_graph(graph)
    exponent = as_real(alpha, "alpha", minimum=0.0)
    if exponent > 2:
        raise ValueError(f"alpha must be at most 2, got {exponent}")
    how = as_choice(method, "method", ("auto", "dense", "iterative"))
    if not isinstance(preconditioner, ForestPartition):
        as_choice(preconditioner, "preconditioner", ("none", "diagonal", *METHODS))
    elif preconditioner.graph is not graph and not _same_edges(preconditioner.graph, graph):
        raise ValueError(
            f"preconditioner must be a partition of graph, got one of {preconditioner.graph!r}"
        )
    if graph.n_edges == 0:
        raise ValueError("graph must have an edge for its condition number to exist, got none")
    if isinstance(preconditioner, str) and preconditioner in METHODS:
        preconditioner = decompose(graph, preconditioner)
    known = getattr(preconditioner, "condition_number", None)
    if how == "auto" and known is not None:
        return float(known)
    return _computed(graph, _operator(graph, preconditioner, exponent), how)


def _operator(graph: Graph, preconditioner: str | ForestPartition, exponent: float) -> _Operator:
    """Return the preconditioned gradient."""
    if isinstance(preconditioner, ForestPartition):
        return _of_stars(graph.edges, preconditioner.labels)
    if preconditioner == "diagonal":
        return _of_weights(graph.edges, graph.weights, 2 - exponent, normalised=True)
    return _of_weights(graph.edges, graph.weights, 2.0, normalised=False)


def _computed(graph: Graph, operator: _Operator, how: str) -> float:
    """Return the condition number of an operator."""
    if how == "dense" or (how == "auto" and len(operator.scale) <= DENSE_LIMIT):
        return _dense(operator)
    try:
        return _iterative(operator)
    except RuntimeError as error:  # a singular factor, or Lanczos failed on a nearly singular one
        raise ValueError(
            "graph must have weights of a narrower range for method 'iterative', got"
            f" {graph.weights.min()} and {graph.weights.max()}; 'dense' supports a wider range"
        ) from error


class _Operator(NamedTuple):
    """The map x ↦ gradient @ extend(x / scale) whose singular values are computed.

    The columns of `gradient` beyond the length of `scale` are centres of stars. `extend` sets them
    to the mean of their neighbours, which minimises the energy.
    """

    gradient: scipy.sparse.csr_array
    scale: Floats


def _same_edges(one: Graph, other: Graph) -> bool:
    return one.n_vertices == other.n_vertices and np.array_equal(one.edges, other.edges)


def _of_weights(edges: Indices, weights: Floats, power: float, *, normalised: bool) -> _Operator:
    """Return √(ω^power) (u_i - u_j), relative to the largest weight, without isolated vertices."""
    vertices, ends = np.unique(edges, return_inverse=True)
    ends = ends.reshape(-1, 2)
    relative = (weights / weights.max()) ** (power / 2)
    if relative.min() < LEAST_WEIGHT:
        raise ValueError(
            "graph must have weights of a narrower range for its condition number,"
            f" got {weights.min()} and {weights.max()}"
        )
    scale = np.ones(len(vertices))
    if normalised:
        scale = np.sqrt(np.bincount(ends.ravel(), np.repeat(relative**2, 2)))
    return _Operator(_gradient(ends[:, 0], ends[:, 1], relative, len(vertices)), scale)


def _of_stars(edges: Indices, labels: Indices) -> _Operator:
    """Return the gradient of the stars that replace the trees of each forest."""
    vertices, ends = np.unique(edges, return_inverse=True)
    n = len(vertices)
    # Pairs (forest, vertex): each vertex occurs once in every forest that has an edge at it.
    pairs, pair_ends = np.unique(
        labels[:, np.newaxis].astype(np.int64) * n + ends.reshape(-1, 2), return_inverse=True
    )
    pair_ends = pair_ends.reshape(-1, 2)
    n_trees, trees = _components(pair_ends[:, 0], pair_ends[:, 1], len(pairs))
    star = _gradient(pairs % n, n + trees, np.ones(len(pairs)), n + n_trees)
    return _Operator(star, np.ones(n))


def _gradient(tails: Any, heads: Any, weights: Floats, n: int) -> scipy.sparse.csr_array:
    m = len(weights)
    entries = np.stack([weights, -weights], axis=1).ravel()
    # Older versions of scipy's graph routines accept 32-bit indices only.
    index = np.int32 if 2 * m <= np.iinfo(np.int32).max else np.int64
    columns = np.stack([tails, heads], axis=1).ravel().astype(index)
    begins = np.arange(0, 2 * m + 1, 2, dtype=index)
    return scipy.sparse.csr_array((entries, columns, begins), shape=(m, n))


def _components(tails: Any, heads: Any, n: int) -> tuple[int, Any]:
    links = scipy.sparse.coo_array((np.ones(len(tails), dtype=np.int8), (tails, heads)), (n, n))
    count, labels = csgraph.connected_components(links, directed=False)
    return int(count), labels


def _averages(operator: _Operator) -> scipy.sparse.csr_array:
    """Return the matrix that maps the vertices to the centres, the means of their stars."""
    n = len(operator.scale)
    incidence = abs(operator.gradient[:, n:]).T @ abs(operator.gradient[:, :n])
    sizes = np.asarray(incidence.sum(axis=1)).ravel()
    return scipy.sparse.csr_array(scipy.sparse.diags_array(1 / sizes) @ incidence)


def _kernel(operator: _Operator) -> tuple[int, Any]:
    ends = operator.gradient.indices.reshape(-1, 2)
    return _components(ends[:, 0], ends[:, 1], operator.gradient.shape[1])


def _dense(operator: _Operator) -> float:
    n = len(operator.scale)
    matrix = operator.gradient[:, :n] + operator.gradient[:, n:] @ _averages(operator)
    values = scipy.linalg.svdvals(matrix.toarray() / operator.scale, overwrite_a=True)
    n_components, _ = _kernel(operator)
    smallest = values[n - n_components - 1]
    return float(values[0] / min(smallest, _weakest_cut(operator)))


def _iterative(operator: _Operator) -> float:
    """Run Lanczos on AᵀA and on its pseudoinverse, then recompute the quotient ‖Ax‖ / ‖x‖."""
    gradient, scale = operator
    n = len(scale)
    averages = _averages(operator)
    n_components, components = _kernel(operator)
    solve = laplacian_solver(gradient, n_components, components)
    visible = components[:n]
    masses = np.bincount(visible, scale**2)
    pad = np.zeros(gradient.shape[1] - n)

    def project(x: Floats) -> Floats:
        means: Floats = (np.bincount(visible, scale * x) / masses)[visible]
        return x - scale * means

    def apply(x: Floats) -> Floats:
        y = x / scale
        z: Floats = gradient @ np.concatenate([y, averages @ y])
        return z

    def normal(x: Floats) -> Floats:
        y = gradient.T @ apply(x)
        # The rows of the centres are zero, because their values are means. Only vertices remain.
        return project(y[:n] / scale)

    def pseudoinverse(x: Floats) -> Floats:
        return project(scale * solve(np.concatenate([scale * project(x), pad]))[:n])

    start = project(np.random.default_rng(0).standard_normal(n))
    largest = math.sqrt(_largest_eigenvalue(normal, start))
    inverse = LinearOperator((n, n), matvec=pseudoinverse, dtype=np.float64)
    _, vectors = eigsh(inverse, k=1, which="LA", v0=start, tol=1e-8)
    # A factorisation loses edges that are 10⁻¹² of their neighbours to rounding, but the quotient
    # does not. However, ‖Ax‖ amplifies components of x along large singular values, and rounding in
    # Lanczos leaves such components. One step of inverse iteration damps them by σ_min² / σ².
    x = pseudoinverse(vectors[:, 0])
    x = project(x / np.abs(x).max())
    smallest = float(np.linalg.norm(apply(x)) / np.linalg.norm(x))
    return max(largest / min(smallest, _weakest_cut(operator)), 1.0)


def _weakest_cut(operator: _Operator) -> float:
    """Return ‖Ax‖ / ‖x‖ for an x that is constant on each side of the weakest bridge.

    The quotient is an upper bound of σ_min. If one edge is many orders of magnitude weaker than all
    others and connects two parts, the quotient equals σ_min, while other methods lose that edge to
    rounding.
    """
    gradient, scale = operator
    n = len(scale)
    if gradient.shape[1] > n:
        return math.inf  # the edges of stars have unit weights
    n_components, components = _kernel(operator)
    forest = heaviest_forest(gradient)
    ends = gradient.indices.reshape(-1, 2)[forest[:-1]]
    _, parts = _components(ends[:, 0], ends[:, 1], n)
    side = (parts == parts[gradient.indices[2 * forest[-1]]]).astype(np.float64)
    masses = np.bincount(components, scale**2, minlength=n_components)
    means = (np.bincount(components, scale**2 * side) / masses)[components]
    return float(np.linalg.norm(gradient @ side) / np.linalg.norm(scale * (side - means)))


def _largest_eigenvalue(matvec: Callable[[Floats], Floats], start: Floats) -> float:
    """Run plain Lanczos until a quarter more steps change the largest Ritz value by 10⁻⁷ or less.

    The largest eigenvalues are often clustered, for example for a path. Lanczos cannot resolve the
    eigenvectors of such a cluster, but it finds the largest eigenvalue: the error decreases like
    1/steps² for any spectral gap. Without reorthogonalisation, copies of eigenvalues appear. They
    do not change the largest one.
    """
    previous, v = np.zeros_like(start), start / np.linalg.norm(start)
    diagonal: list[float] = []
    beside: list[float] = []
    value, checkpoint = 0.0, 8
    for _ in range(100_000):
        w = matvec(v)
        diagonal.append(float(v @ w))
        w -= diagonal[-1] * v
        if beside:
            w -= beside[-1] * previous
        beta = float(np.linalg.norm(w))
        exhausted = beta <= 1e-14 * max(diagonal)
        if exhausted or len(diagonal) == checkpoint:
            top = len(diagonal) - 1
            last, value = (
                value,
                float(
                    scipy.linalg.eigh_tridiagonal(
                        diagonal, beside, eigvals_only=True, select="i", select_range=(top, top)
                    )[0]
                ),
            )
            if exhausted or value - last <= 1e-7 * value:
                break
            checkpoint += max(8, checkpoint // 4)
        beside.append(beta)
        previous, v = v, w / beta
    return value
