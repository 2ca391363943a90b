"""A window: a subgraph whose outer flows are fixed, and the block solve on it.

The fixed flows out of a window add a linear term ⟨b, u⟩ to its problem, where b is their
divergence. For the squared loss this is the same loss for the data f - C⁻¹b. Other losses are
tilted (see `loss`). So a window is a problem of the same kind as the whole, and `graphtv.solve`
solves it.

A vertex without data (c = 0) has a term ρ/2 (u - a)² in its window, where the anchor a is u at the
beginning of the round. For these vertices this is a proximal point method, with u_x = a - (Kᵀx)/ρ.
The anchor is the same for all windows of a round. If each window started from its own u, rounds
could end in a cycle. The certificate does not contain this term (see `certificate`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtv import _core
from graphtv._validate import Floats
from graphtv.graph.graph import Graph
from graphtv.problem import Problem
from graphtv.scale import certificate
from graphtv.scale.certificate import Share
from graphtv.scale.loss import SQUARED, Loss, TiltedLoss
from graphtv.scale.tuning import TUNING
from graphtv.solver import solve
from graphtv.solver.termination import EXACT_GAP
from graphtv.terms import CoupledTV, HuberTV, SquaredLoss, TotalVariation
from graphtv.terms._arrays import from_core, to_core


class Unknown(NamedTuple):
    """The loss of all parts, and the treatment of vertices without data.

    Attributes
    ----------
    rho : float
        Weight of the proximal term.
    least, most : ndarray, one entry per channel
        Bounds of the optimal values.
    loss : Loss
        The loss.
    """

    rho: float
    least: Floats
    most: Floats
    loss: Loss = SQUARED


class Border(NamedTuple):
    """The edges across the border of a part.

    Attributes
    ----------
    near, crossing : ndarray
        Their ends in the part, and their weights.
    starts : ndarray
        Where the edges to each neighbour begin.
    """

    near: NDArray[Any]
    crossing: Floats
    starts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Window:
    """A subgraph with its part of the problem and of the points.

    Attributes
    ----------
    f : ndarray, shape (n,) or (n, C)
        The data.
    c : ndarray of the same shape or None
        Vertex weights; None means 1 everywhere.
    graph : Graph
        The inner edges.
    outflow : ndarray, shape of f
        The divergence of the fixed flows.
    u, p : ndarray
        The points, with one row per vertex and per inner edge.
    delta : float
        Width of the Huber penalty, 0 for total variation.
    anchor : ndarray or None
        The anchor of the proximal term; needed only where there is no data.
    couples : bool
        Whether the norm of an edge is over its channels.
    """

    f: NDArray[Any]
    c: NDArray[Any] | None
    graph: Graph
    outflow: Floats
    u: Floats
    p: Floats
    delta: float = 0.0
    anchor: Floats | None = None
    couples: bool = False

    def relax(
        self,
        allowed: float,
        *,
        relative: float = 0.0,
        is_cold: bool = False,
        unknown: Unknown,
        n_threads: int | None = 1,
        time_limit: float | None = None,
    ) -> Window:
        """Return the window solved to a gap of `allowed`, given the outer flows.

        A gap of `relative` times its own objective is always allowed. If `is_cold` is true, the
        present point is not used as a warm start. If the gap is already small enough, the window
        itself is returned.
        """
        if self.graph.n_edges == 0 and self.f.shape[0] <= 1:
            return self
        if not unknown.loss.is_squared:
            return self._relax_tilted(allowed, relative, is_cold, unknown, n_threads, time_limit)
        c = self._c(unknown.rho)
        data = self._data(c)
        inflow = divergence(self.graph, self.p)
        primal, gap = self._share(data, c, inflow)[:2]
        allowed = max(allowed, relative * primal)
        if gap <= allowed and self._is_balanced(allowed, inflow, unknown):
            return self
        if relative == 0.0 and self._has_unknown():
            allowed = 0.0  # flows into vertices without data contribute linearly to the gap
        problem = Problem(self.graph, SquaredLoss(data, weights=c), self._penalty())
        start = None
        # A solution that is exact for the solver may still send too much flow into such vertices.
        if not is_cold and gap > EXACT_GAP * primal:
            start = self.u, self.p
        tolerance = allowed / max(primal, np.finfo(float).tiny)
        if self.couples:
            tolerance = max(tolerance, TUNING.least_coupled)
        result = solve(
            problem,
            tol=tolerance if tolerance > EXACT_GAP else 0.0,
            warm_start=start,
            n_threads=n_threads,
            time_limit=time_limit,
        )
        p = certificate.inside_balls(result.p) if self.couples else result.p
        return replace(self, u=result.u, p=p)

    def _penalty(self) -> CoupledTV | HuberTV | TotalVariation:
        if self.couples:
            return CoupledTV(self.delta)
        return HuberTV(self.delta) if self.delta else TotalVariation()

    def _relax_tilted(
        self,
        allowed: float,
        relative: float,
        is_cold: bool,
        unknown: Unknown,
        n_threads: int | None,
        time_limit: float | None,
    ) -> Window:
        """Solve the window for a loss that is not squared."""
        problem, loss = self._tilted(unknown, unknown.rho), unknown.loss
        allowed = max(allowed, relative * abs(self._objective(loss)))
        proof = problem.objective.prove(to_core(self.u), to_core(self.p))
        gaps = [proof.gap]
        if unknown.rho > 0.0 and loss.is_flat(self.f, self.c).any():
            gaps.append(
                self._tilted(unknown, 0.0).objective.prove(to_core(self.u), to_core(self.p)).gap
            )
        if max(gaps) <= allowed:
            return self
        if relative == 0.0 and len(gaps) > 1:
            allowed = 0.0  # as for the squared loss without data
        tolerance = allowed / max(abs(proof.primal), abs(proof.dual), np.finfo(float).tiny)
        result = solve(
            problem,
            tol=tolerance if tolerance > EXACT_GAP else 0.0,
            warm_start=None if is_cold else (self.u, self.p),
            n_threads=n_threads,
            time_limit=time_limit,
        )
        return replace(self, u=result.u, p=result.p)

    def _tilted(self, unknown: Unknown, rho: float) -> Problem:
        loss, f = unknown.loss, np.asarray(self.f, dtype=np.float64)
        anchor = self.u if self.anchor is None else self.anchor
        scale = rho * (1.0 if self.c is None else np.where(self.c > 0.0, self.c, 1.0))
        proximal = np.where(loss.is_flat(f, self.c), scale, 0.0)
        data = TiltedLoss(loss, f, self.c, self.outflow, proximal, anchor)
        return Problem(self.graph, data, HuberTV(self.delta) if self.delta else TotalVariation())

    def _objective(self, loss: Loss) -> float:
        """Return the objective of the window without the flows out of it."""
        weights, inner = rows(self.graph.weights, self.p), differences(self.graph.edges, self.u)
        value = loss.term(self.f, self.c).value(to_core(self.u))
        return float(value) + certificate.edges(weights, self.p, inner, self.delta).primal

    def gap(self, unknown: Unknown) -> float:
        """Return the gap of the window's problem."""
        if not unknown.loss.is_squared:
            proof = self._tilted(unknown, unknown.rho).objective.prove(
                to_core(self.u), to_core(self.p)
            )
            return float(proof.gap)
        c = self._c(unknown.rho)
        return self._share(self._data(c), c, divergence(self.graph, self.p)).gap

    def _share(self, data: Floats, c: Floats | None, inflow: Floats) -> Share:
        errors = np.zeros(data.shape)
        edges = certificate.coupled_edges if self.couples else certificate.edges
        return certificate.joined(
            [
                certificate.vertices(self.u, data, c, inflow, errors),
                edges(
                    rows(self.graph.weights, self.p),
                    self.p,
                    differences(self.graph.edges, self.u),
                    self.delta,
                ),
            ]
        )

    def _data(self, c: Floats | None) -> Floats:
        """Return f - C⁻¹b."""
        f = self.f
        if self.c is not None:
            f = np.where(self.c > 0.0, f, self.u if self.anchor is None else self.anchor)
        data: Floats = f - (self.outflow if c is None else self.outflow / c)
        return data

    def _c(self, rho: float) -> Floats | None:
        """Return the vertex weights, rho for missing data; None means 1 everywhere."""
        return None if self.c is None else np.where(self.c > 0.0, self.c, rho)

    def _has_unknown(self) -> bool:
        return self.c is not None and not (self.c > 0.0).all()

    def _is_balanced(self, allowed: float, inflow: Floats, unknown: Unknown) -> bool:
        """Return whether flows into vertices without data cause little of the gap."""
        if self.c is None or not self._has_unknown():
            return True
        ends, errors = (unknown.least, unknown.most), np.zeros(self.f.shape)
        whole = inflow + self.outflow
        return certificate.unknown_vertices(self.u, self.c, whole, errors, *ends).gap <= allowed


def interleaved(counts: Sequence[int]) -> NDArray[np.int64]:
    """Return an order of edges from several lists that takes from all of them at the same rate.

    The solver builds forests in the order of the edges. If those that join two parts came last, it
    would need up to twice as many iterations.
    """
    places = [(np.arange(count) + 0.5) / max(count, 1) for count in counts]
    return np.argsort(np.concatenate([np.empty(0), *places]), kind="stable")


def divergence(graph: Graph, p: Floats) -> Floats:
    """Return Kᵀp for p of shape (m,) or (m, C)."""
    shape = (graph.n_vertices, *p.shape[1:])
    out = np.empty(int(np.prod(shape)))
    _core.adjoint(graph.n_vertices, graph.edges, graph.weights, to_core(p), 1.0, out, 1)
    return np.ascontiguousarray(from_core(out, shape))


def joined_anchor(low: Any, high: Any) -> Floats | None:
    """Return the anchors of two windows together."""
    if low.anchor is None and high.anchor is None:
        return None
    return np.concatenate([w.u if w.anchor is None else w.anchor for w in (low, high)])


def differences(edges: NDArray[Any], u: Floats) -> Floats:
    """Return u_i - u_j for the edges (i, j)."""
    found: Floats = u[edges[:, 0]] - u[edges[:, 1]]
    return found


def rows(weights: Floats, p: Floats) -> Floats:
    """Return weights of edges in a shape that can be multiplied with p."""
    return weights if p.ndim == 1 else weights[:, None]
