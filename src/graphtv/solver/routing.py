"""Flows p with Kᵀp = -g, near a given one and with entries as small as a few steps make them.

g has the dual norm max_S |g(S)|/ω(∂S), which is the least possible size of p, the largest |p_e| (or
the largest norm of a group). A dual point is divided by this size, so it should be close to the
dual norm. The flow δ = Kφ of the smallest norm that corrects p is not: it also enlarges entries
that are at their bound already. Douglas-Rachford steps (Bauschke and Combettes, "Convex analysis
and monotone operator theory in Hilbert spaces", section 28.3) look for a flow in the ball of a
smaller size, and each needs one equation of the Laplacian KᵀK and no product with A.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from graphtv import _core
from graphtv._validate import Floats, Indices
from graphtv.decomposition.cosine_transform import cosine_solver
from graphtv.decomposition.laplacian import has_factors, laplacian_solver
from graphtv.graph.graph import Graph
from graphtv.solver.tuning import Tuning

LEAST_WEIGHT = 1e-6
"""Relative to the largest weight. The Laplacian treats lighter edges as edges of this weight: it
squares the weights, and would be singular in floating point.
"""


class Routing:
    """Finds flows for one graph.

    Parameters
    ----------
    graph : Graph
        The graph.
    components : tuple of int and ndarray
        Number of components, and the component of each vertex.
    penalty : _core.Penalty
        The penalty, which knows its dual ball.
    n_channels : int
        The number of channels.
    tuning : Tuning
        `routing_steps` and `routing_target`.
    """

    def __init__(
        self,
        graph: Graph,
        components: tuple[int, Indices],
        penalty: _core.Penalty,
        n_channels: int,
        tuning: Tuning,
    ) -> None:
        self._graph, self._components = graph, components
        self._penalty, self._n_channels, self._tuning = penalty, n_channels, tuning
        self._K = graph.gradient()
        self._Kt = self._K.T.tocsr()
        self._correct = self._K  # flow of a potential
        self._solve: Callable[[Floats], Floats] | None = None
        self._steps = 0

    def along(self, p: Floats) -> Floats:
        """Return Kᵀp."""
        rows = p.reshape(self._n_channels, -1)
        return np.asarray((self._Kt @ rows.T).T).reshape(-1)

    def size(self, p: Floats) -> float:
        """Return the factor by which p must be divided to be in the dual ball, at least 1."""
        nearest = p.copy()
        self._penalty.project(nearest)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(nearest != 0.0, p / nearest, 1.0)
        return float(max(1.0, ratio.max(initial=1.0)))

    def __call__(self, p: Floats, g: Floats) -> Floats:
        """Return a flow near p with Kᵀp = -g, for g with sum zero on every component."""
        if not p.size:
            return p
        self._prepare()
        z = self._corrected(p, g)
        best, size = z, self.size(z)
        target = 1.0 + self._tuning.routing_target * (size - 1.0)
        for _ in range(self._steps if size > 1.0 else 0):
            inside = self._inside(z, target)
            flow = self._corrected(2.0 * inside - z, g)
            z = z + (flow - inside)
            now = self.size(flow)
            if now < size:
                best, size = flow, now
            if size <= target:
                break
        return self._corrected(best, g)  # what rounding has left

    def _prepare(self) -> None:
        """Choose the solver when it is needed for the first time."""
        if self._solve is not None:
            return
        self._solve, self._steps = cosine_solver(self._graph), self._tuning.routing_steps
        if self._solve is None:
            graph = self._graph
            weights = np.maximum(graph.weights, LEAST_WEIGHT * graph.weights.max())
            is_even = np.array_equal(weights, graph.weights)
            gradient = self._K if is_even else self._conducting(weights)
            # Corrections are projections, as the steps need them, if they follow the weights.
            self._steps = self._steps if is_even and has_factors(gradient) else 0
            self._solve = laplacian_solver(gradient, *self._components)

    def _conducting(self, weights: Floats) -> Any:
        """Return the gradient with other weights, whose potentials have the flow w²∇φ / ω."""
        graph = self._graph
        gradient = Graph(graph.n_vertices, graph.edges, weights).gradient()
        factors = weights / np.maximum(graph.weights, np.finfo(float).tiny)
        self._correct = scipy.sparse.diags_array(factors) @ gradient
        return gradient

    def _inside(self, p: Floats, size: float) -> Floats:
        """Return the nearest point in the ball of a size."""
        out: Floats = p / size
        self._penalty.project(out)
        out *= size
        return out

    def _corrected(self, p: Floats, g: Floats) -> Floats:
        """Return the nearest flow with Kᵀp = -g."""
        rows = (self.along(p) + g).reshape(self._n_channels, -1)
        return np.asarray(
            p - np.concatenate([self._correct @ self._potential(row) for row in rows])
        )

    def _potential(self, r: Floats) -> Floats:
        """Return φ with KᵀKφ = r without the means of r."""
        assert self._solve is not None
        count, component = self._components
        means = np.bincount(component, r, count) / np.bincount(component, minlength=count)
        return self._solve(r - means[component])
