"""A data term and a penalty on a graph in parts, as `graphtv.solve` accepts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphtv._validate import brief
from graphtv.scale.graph_problem import GraphProblem
from graphtv.scale.result import PartitionedResult
from graphtv.scale.solve import solve_partitioned
from graphtv.terms.penalty import edge_delta
from graphtv.terms.traits import as_quadratic
from graphtv.terms.weighted_loss import WeightedLoss

if TYPE_CHECKING:
    from graphtv.scale.partitioned_graph import PartitionedGraph


class PartitionedProblem:
    """Minimise G(u) + F(Ku) on a graph in parts. `Problem` makes it.

    Parameters
    ----------
    graph : PartitionedGraph
        The graph.
    data : SquaredLoss
        The data term, with one row per vertex.
    penalty : TotalVariation or HuberTV
        The penalty.
    factor : float
        Factor of the edge weights.
    """

    def __init__(
        self, graph: PartitionedGraph, data: Any, penalty: Any, factor: float = 1.0
    ) -> None:
        loss, delta = as_quadratic(data), edge_delta(penalty)
        if loss is None or not isinstance(loss, WeightedLoss):
            raise ValueError(f"data must be a SquaredLoss on a graph in parts, got {brief(data)}")
        if delta is None:
            raise ValueError(
                "penalty must be TotalVariation() or HuberTV(delta) on a graph in parts,"
                f" got {penalty!r}"
            )
        if loss.shape[0] != graph.n_vertices or len(loss.shape) > 2:
            raise ValueError(
                f"data must have one row for each of the {graph.n_vertices} vertices of the graph,"
                f" got shape {loss.shape}"
            )
        self.graph, self.data, self.penalty = graph, data, penalty
        c = None if loss.common_weight == 1.0 else loss.weights
        self._layout = GraphProblem(graph, loss.data, c, factor, delta)

    def solve_in_parts(self, options: dict[str, Any], caller: str = "solve") -> PartitionedResult:
        """Solve the problem; see `graphtv.solve`."""
        return solve_partitioned(self._layout, caller, options)

    def __repr__(self) -> str:
        return f"PartitionedProblem({self.graph!r}, {self.data!r}, {self.penalty!r})"
