"""Laplacians of graphs solved by a factorisation or by preconditioned conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import splu

from graphtv import _core
from graphtv._validate import Floats, Indices

BAND_LIMIT = 7000
"""Up to this bandwidth (after Cuthill-McKee) Laplacians are factorised, above it iterated."""


def laplacian_solver(
    gradient: scipy.sparse.csr_array, n_components: int, components: Any
) -> Callable[[Floats], Floats]:
    """Return the map b ↦ x with GᵀG x = b, for b with sum zero on every component."""
    laplacian = scipy.sparse.csr_array(gradient.T @ gradient)
    if has_factors(gradient):
        return _factorised(laplacian, components, "MMD_AT_PLUS_A")
    return conjugate_gradients(gradient, laplacian, n_components, components)


def has_factors(gradient: scipy.sparse.csr_array) -> bool:
    """Whether `laplacian_solver` factorises, so that many right sides are cheap."""
    order = _order(gradient)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    ends = place[gradient.indices.reshape(-1, 2)]
    return bool(np.abs(ends[:, 0] - ends[:, 1]).max() <= BAND_LIMIT)


def _order(gradient: scipy.sparse.csr_array) -> Indices:
    """Return the vertices in reverse Cuthill-McKee order."""
    ends = np.ascontiguousarray(gradient.indices.reshape(-1, 2), dtype=np.int32)
    return _core.reverse_cuthill_mckee(gradient.shape[1], ends)


def _diagonal(laplacian: scipy.sparse.csr_array) -> Floats:
    """Return the diagonal, with 1 at isolated vertices."""
    diagonal: Floats = laplacian.diagonal()
    return np.where(diagonal > 0.0, diagonal, 1.0)


def _factorised(
    laplacian: scipy.sparse.csr_array, components: Any, ordering: str
) -> Callable[[Floats], Floats]:
    """Factorise a Laplacian, grounded at one vertex of every component."""
    # Additional weight on the diagonal of one vertex sets its value to zero and nothing else.
    roots = np.unique(components, return_index=True)[1]
    ground = np.zeros(laplacian.shape[0])
    ground[roots] = _diagonal(laplacian)[roots]
    grounded = scipy.sparse.csc_array(laplacian + scipy.sparse.diags_array(ground))
    factors = splu(
        grounded, permc_spec=ordering, diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    solve: Callable[[Floats], Floats] = factors.solve
    return solve


def conjugate_gradients(
    gradient: scipy.sparse.csr_array,
    laplacian: scipy.sparse.csr_array,
    n_components: int,
    components: Any,
    tolerance: float = 1e-10,
) -> Callable[[Floats], Floats]:
    """Precondition by the diagonal plus the maximum-weight spanning forest, scaled.

    The diagonal works for similar weights on well-connected graphs, the forest for weights over
    many orders of magnitude. Their sum is about as good as the better of the two. The forest alone
    would be too large by the stretch of the other edges, so a Rayleigh quotient scales it.
    """
    n = laplacian.shape[0]
    inverse_diagonal = 1 / _diagonal(laplacian)
    solve_forest = _forest_solver(gradient, components)
    sizes = np.bincount(components, minlength=n_components)

    def project(x: Floats) -> Floats:
        means: Floats = (np.bincount(components, x) / sizes)[components]
        return x - means

    probe = project(np.random.default_rng(0).standard_normal(n))
    response = solve_forest(probe)
    stretch = float((response @ (laplacian @ response)) / (response @ probe))

    def precondition(r: Floats) -> Floats:
        return project(inverse_diagonal * r + solve_forest(r) / stretch)

    def solve(b: Floats) -> Floats:
        x = np.zeros(n)
        # Remove the component in the kernel that rounding leaves: no x can produce it.
        r = project(b)
        z = precondition(r)
        direction = z
        energy = first = float(r @ z)
        for _ in range(10 * n):
            if energy <= tolerance**2 * first:
                break
            image = laplacian @ direction
            step = energy / float(direction @ image)
            x += step * direction
            r -= step * image
            z = precondition(r)
            previous, energy = energy, float(r @ z)
            direction = z + (energy / previous) * direction
        return x

    return solve


def heaviest_forest(gradient: scipy.sparse.csr_array) -> Any:
    """Return the edges of a maximum-weight spanning forest, heaviest first."""
    n = gradient.shape[1]
    ends = gradient.indices.reshape(-1, 2)
    heaviest_first = np.argsort(-np.abs(gradient.data[::2]), kind="stable")
    # scipy minimises and treats 0 as no edge, so the weights are ranks: 1 for the heaviest.
    ranks = np.empty(len(ends))
    ranks[heaviest_first] = np.arange(1.0, len(ends) + 1)
    links = scipy.sparse.csr_array((ranks, (ends[:, 0], ends[:, 1])), shape=(n, n))
    chosen = csgraph.minimum_spanning_tree(links).data.astype(np.int64) - 1
    return heaviest_first[np.sort(chosen)]


def _forest_solver(gradient: scipy.sparse.csr_array, components: Any) -> Callable[[Floats], Floats]:
    """Return a linear-time solver for a maximum-weight spanning forest."""
    n = gradient.shape[1]
    forest = gradient[heaviest_forest(gradient)]
    laplacian = scipy.sparse.csr_array(forest.T @ forest)
    # In reverse breadth-first order every vertex precedes its parent, so there is no fill-in.
    order = _order(forest)
    solve_ordered = _factorised(laplacian[order][:, order], components[order], "NATURAL")

    def solve(b: Floats) -> Floats:
        x = np.empty(n)
        x[order] = solve_ordered(b[order])
        return x

    return solve
