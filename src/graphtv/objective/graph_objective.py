"""The objectives of G(u) + F(Ku). Arrays are the core's flat arrays, channel after channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.graph.graph import Graph
from graphtv.objective.proof import Proof

Slope = tuple[Floats, Floats]
"""-Kᵀp, and bounds on the rounding errors of its entries in units of the roundoff."""


class GraphObjective:
    """The primal objective G(u) + F(Ku) and the dual objective -G*(-Kᵀp) - F*(p).

    Parameters
    ----------
    graph : Graph
        The graph.
    term : _core.DataTerm
        The term G.
    penalty : _core.Penalty
        The penalty F.
    size : int
        The number of entries of u.
    """

    def __init__(
        self, graph: Graph, term: _core.DataTerm, penalty: _core.Penalty, size: int
    ) -> None:
        self.term = term
        self._graph, self._penalty, self._size = graph, penalty, size

    def split(self, dual: Any) -> tuple[Any, None]:
        """Return the parts of a dual point: p, and None since there is no q."""
        return dual, None

    def primal(self, u: Floats, n_threads: int = 1) -> float:
        """Return G(u) + F(Ku)."""
        return self.term.value(u, n_threads) + self.penalty(u, n_threads)

    def penalty(self, u: Floats, n_threads: int = 1) -> float:
        """Return F(Ku)."""
        graph = self._graph
        return self._penalty.value(graph.n_vertices, graph.edges, graph.weights, u, n_threads)

    def dual(self, p: Floats | Rounded, n_threads: int = 1) -> float:
        """Return -G*(-Kᵀp) - F*(p); p may be rounded."""
        penalty = self._penalty.conjugate(p, n_threads)
        if penalty == np.inf:
            return -np.inf
        graph, s = self._graph, np.empty(self._size)
        _core.adjoint(graph.n_vertices, graph.edges, graph.weights, p, -1.0, s, n_threads)
        return 0.0 - self.term.conjugate(s, n_threads) - penalty

    def slope(self, p: Floats | Rounded, n_threads: int = 1) -> Slope:
        """Return -Kᵀp and bounds on its errors; p may be rounded."""
        graph = self._graph
        s, errors = np.empty((2, self._size))
        _core.slope(graph.n_vertices, graph.edges, graph.weights, p, s, errors, n_threads)
        return s, errors

    def prove(
        self, u: Floats, p: Floats | Rounded, n_threads: int = 1, slope: Slope | None = None
    ) -> Proof:
        """Return the proof of u and p; p may be rounded, and its slope given."""
        slope = slope or self.slope(p, n_threads)
        graph, penalty = self._graph, self._penalty
        found = _core.certify(
            self.term, graph.edges, graph.weights, penalty, u, p, *slope, n_threads
        )
        return Proof(*found)
