"""Solve with other numbers of the vertices and edges, so that neighbours are close in memory.

A run on a large graph in a random order waits for memory most of the time. The order of a
breadth-first search avoids this (cpp/graph/renumbering.hpp). Points are brought into the new order
when a run begins, and back when it ends. The certificate is recomputed in the order of the user.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphtv import _core
from graphtv._validate import Floats, Indices
from graphtv.graph.graph import Graph
from graphtv.normal_form import put_back
from graphtv.problem import Problem
from graphtv.solver.certificate import Certificate
from graphtv.solver.plan import gains_from_order
from graphtv.solver.tuning import Tuning


@dataclass(frozen=True, eq=False)
class Renumbering:
    """A problem with other numbers of vertices and edges.

    Attributes
    ----------
    problem : Problem
        The problem in the new order.
    vertices, edges : ndarray
        The old numbers of the vertices and of the edges.
    """

    problem: Problem
    vertices: Indices
    edges: Indices

    def started(self, warm: Certificate) -> Certificate:
        """Return a certificate in the new order. Its proof holds in any order."""
        u, p = _taken(warm.u, self.vertices), _taken(warm.p, self.edges)
        return Certificate(self.problem, u, p, warm.proof)

    def ended(self, found: Certificate, problem: Problem) -> Certificate:
        """Return a certificate in the old order."""
        u, p = put_back(found.u, self.vertices), put_back(found.p, self.edges)
        return Certificate(problem, u, p, found.proof)


def renumbered(
    problem: Problem, preconditioner: object, tolerance: float, watch: _core.Watch, tuning: Tuning
) -> Renumbering | None:
    """Return the problem in another order if that is faster; None if not, or without time."""
    graph, reordered = problem.graph, getattr(problem.data, "reordered", None)
    if reordered is None or not isinstance(preconditioner, str):
        return None
    if problem.misfit is not None or problem.delta is None:
        return None
    if graph.n_vertices < tuning.large_graph or graph._grid is not None:
        return None
    misses = _core.misses_per_edge(graph.edges)
    if not gains_from_order(graph.n_vertices, graph.n_edges, misses, tolerance, tuning):
        return None
    try:
        with watch:
            found = _core.renumber(graph.n_vertices, graph.edges)
    except _core.Expired:
        return None
    if found is None:
        return None
    vertices, order, edges = found
    other = Graph._from_simple(graph.n_vertices, edges, graph.weights[order])
    made = problem._like(other, reordered(vertices))
    return Renumbering(made, vertices, order)


def _taken(values: Floats, order: Indices) -> Floats:
    """Return values, channel after channel, in another order."""
    rows: Floats = values.reshape(-1, len(order))[:, order]
    return rows.reshape(-1)
