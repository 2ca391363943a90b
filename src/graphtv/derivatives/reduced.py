r"""Derivatives for penalties with curvature: Huber functions, and norms over axes or channels.

Such a penalty is a sum of h(‖x_g‖) over groups g of weighted differences x = Ku. A group that is 0
stays 0 under small changes, unless h is smooth there. So u moves in the space of all u that are
constant across such groups. In this space F is twice differentiable at the solution. The implicit
function theorem applies to the optimality condition ∇G(u) + Kᵀ∇F(Ku) = 0 (S. Vaiter, C. Deledalle,
J. Fadili, G. Peyré, C. Dossal, "The degrees of freedom of partly smooth regularizers", 2017).

Let P map values of pieces to vertices, and g be the derivative of a scalar with respect to u. With

    v = P (Pᵀ (∇²G + Kᵀ ∇²F K) P)⁻¹ Pᵀ g

the derivative of the scalar is -v_i ∂G_i'/∂θ with respect to a parameter θ of G_i, and

    -((∇v)_e (∇F)_e + (∇²F Kv)_e (∇u)_e)

with respect to ω_e, where ∇ are differences without weights. With x̂ = x_g/‖x_g‖, the Hessian of a
group is 1/δ in the quadratic zone, ‖x_g‖ < δ, and (1 - x̂x̂ᵀ)/‖x_g‖ elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse import linalg as sparse_linalg

from graphtv._validate import Floats, Indices
from graphtv.graph.graph import Graph

FLAT = 1e-10
"""Differences below this part of the range of u count as 0. Larger ones have a curvature of up to
1/FLAT, which fuses their vertices nearly as well."""

DIRECT = 50_000
"""Systems with more unknowns are solved by conjugate gradients, if these converge."""

ITERATIVE_ERROR = 1e-12
"""The relative residual at which conjugate gradients end."""

MOST_ITERATIONS = 5_000
"""After this many iterations of conjugate gradients, a system is solved directly."""


@dataclass(frozen=True)
class Curvature:
    """The derivatives of F at x = Ku, as flat arrays with all channels of an edge together.

    Attributes
    ----------
    slope : ndarray
        ∇F, 0 for groups that are 0.
    is_fused : ndarray of bool
        Whether the group of an entry stays 0.
    scale : ndarray
        The Hessian is diag(scale) - Σ_g outer(normal_g).
    normals : sparse array, shape (number of groups, number of entries)
        The vectors normal_g.
    """

    slope: Floats
    is_fused: np.ndarray[Any, np.dtype[np.bool_]]
    scale: Floats
    normals: sparse.csr_array

    @classmethod
    def of(cls, x: Floats, groups: Indices, delta: float, least: Floats) -> Curvature:
        """Return the derivatives at x, whose entries below `least` count as 0 if δ = 0."""
        count = int(groups.max(initial=-1)) + 1
        norms = np.sqrt(np.bincount(groups, x * x, count))
        largest = np.zeros(count)
        np.maximum.at(largest, groups, np.abs(x) > least)
        is_far = norms >= delta if delta > 0.0 else largest > 0.0
        inverse = np.divide(1.0, norms, out=np.zeros(count), where=is_far)
        is_single = np.bincount(groups, minlength=count) == 1
        bend = np.where(is_single, 0.0, inverse)
        inner = 1.0 / delta if delta > 0.0 else 0.0
        slope = x * np.where(is_far, inverse, inner)[groups]
        scale = np.where(is_far, bend, inner)[groups]
        normal = slope * np.sqrt(np.where(is_far, bend, 0.0))[groups]
        entries = np.arange(len(x))
        normals = sparse.csr_array((normal, (groups, entries)), shape=(count, len(x)))
        is_fused = np.zeros(len(x), dtype=bool) if delta > 0.0 else ~is_far[groups]
        return cls(slope, is_fused, scale, normals)

    def times(self, y: Floats) -> Floats:
        """Return ∇²F y."""
        return np.asarray(self.scale * y - self.normals.T @ (self.normals @ y))


def reduced_adjoint(
    graph: Graph, u: Floats, cotangent: Floats, curvature: Floats, groups: Indices, delta: float
) -> tuple[Floats, Floats]:
    """Return v and the derivative with respect to the weight of each edge.

    Parameters
    ----------
    graph : Graph
        The graph.
    u, cotangent, curvature : ndarray, shape (n, C)
        The solution, the derivative of a scalar with respect to it, and ∇²G.
    groups : ndarray of int, shape (m, C)
        The group of each difference.
    delta : float
        The width of the quadratic zone.
    """
    n_channels = u.shape[1]
    weights = np.repeat(graph.weights, n_channels)
    K = sparse.kron(graph.gradient(), sparse.eye_array(n_channels), format="csr")
    x = np.asarray(K @ u.ravel())
    extent = float(np.ptp(u, axis=0).max(initial=0.0)) if u.size else 0.0
    of_F = Curvature.of(x, groups.ravel(), delta, FLAT * extent * weights)
    P = _expansion(graph, of_F.is_fused)
    KP = K @ P
    bends = of_F.normals @ KP
    hessian = KP.T @ sparse.diags_array(of_F.scale) @ KP - bends.T @ bends
    stiffness = P.T @ curvature.ravel()
    v = P @ _solution(hessian, stiffness, P.T @ cotangent.ravel())
    of_edges = -(K @ v / weights * of_F.slope + of_F.times(K @ v) * x / weights)
    return v.reshape(u.shape), of_edges.reshape(-1, n_channels).sum(axis=1)


def _expansion(graph: Graph, is_fused: np.ndarray[Any, np.dtype[np.bool_]]) -> sparse.csr_array:
    """Return P, which maps values of pieces to the entries of u."""
    m = max(graph.n_edges, 1)
    n_channels = max(len(is_fused) // m, 1)
    size = graph.n_vertices * n_channels
    ends = graph.edges[:, :, None].astype(np.int64) * n_channels + np.arange(n_channels)
    tails, heads = ends[:, 0].ravel()[is_fused], ends[:, 1].ravel()[is_fused]
    joined = sparse.coo_array((np.ones(len(tails)), (tails, heads)), shape=(size, size))
    count, pieces = csgraph.connected_components(joined, directed=False)
    entries = np.arange(size)
    return sparse.csr_array((np.ones(size), (entries, pieces)), shape=(size, count))


def _solution(hessian: Any, stiffness: Floats, right: Floats) -> Floats:
    """Return (hessian + diag(stiffness))⁻¹ right, and 0 in components without stiffness."""
    count, component = csgraph.connected_components(hessian, directed=False)
    kept = np.flatnonzero((np.bincount(component, stiffness, count) > 0.0)[component])
    found = np.zeros(len(right))
    if kept.size == 0:
        return found
    system = sparse.csc_array(hessian + sparse.diags_array(stiffness))[kept][:, kept]
    found[kept] = _solve(sparse.csc_array(system), right[kept])
    return found


def _solve(system: Any, right: Floats) -> Floats:
    """Solve a sparse, symmetric and positive semidefinite system."""
    if len(right) > DIRECT:
        diagonal = system.diagonal()
        jacobi = sparse.diags_array(1.0 / np.where(diagonal > 0.0, diagonal, 1.0))
        found, failure = sparse_linalg.cg(
            system, right, rtol=ITERATIVE_ERROR, maxiter=MOST_ITERATIONS, M=jacobi
        )
        if not failure:
            return np.asarray(found)
    try:
        factors = sparse_linalg.splu(
            system,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        return np.asarray(factors.solve(right))
    except RuntimeError:  # singular: u is not unique where there is no data
        return np.asarray(sparse_linalg.minres(system, right, rtol=ITERATIVE_ERROR)[0])
