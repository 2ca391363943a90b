"""A data term and a penalty on a graph in parts, as `graphtv.solve` accepts it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from graphtv._validate import brief
from graphtv.scale.graph_problem import GraphProblem
from graphtv.scale.loss import Loss, weights_of
from graphtv.scale.result import PartitionedResult
from graphtv.scale.solve import solve_partitioned
from graphtv.terms.penalty import edge_delta

if TYPE_CHECKING:
    from graphtv.scale.partitioned_graph import PartitionedGraph


class PartitionedProblem:
    """Minimise G(u) + F(Ku) on a graph in parts. `Problem` makes it.

    Parameters
    ----------
    graph : PartitionedGraph
        The graph.
    data : SquaredLoss, HuberLoss, LogisticLoss or PoissonLoss
        The data term, with one row per vertex.
    penalty : TotalVariation or HuberTV
        The penalty.
    factor : float
        Factor of the edge weights.
    """

    def __init__(
        self, graph: PartitionedGraph, data: Any, penalty: Any, factor: float = 1.0
    ) -> None:
        loss, delta = Loss.of(data), edge_delta(penalty)
        if loss is None:
            raise ValueError(
                "data must be a SquaredLoss, HuberLoss, LogisticLoss or PoissonLoss on a graph in"
                f" parts, got {brief(data)}"
            )
        if delta is None:
            raise ValueError(
                "penalty must be TotalVariation() or HuberTV(delta) on a graph in parts,"
                f" got {penalty!r}"
            )
        if data.shape[0] != graph.n_vertices or len(data.shape) > 2:
            raise ValueError(
                f"data must have one row for each of the {graph.n_vertices} vertices of the graph,"
                f" got shape {data.shape}"
            )
        self.graph, self.data, self.penalty = graph, data, penalty
        c = weights_of(data)
        merged = graph.merged(math.prod(data.shape[1:]))
        self._layout = GraphProblem(merged, data.data, c, factor, delta, loss=loss)

    def solve_in_parts(self, options: dict[str, Any], caller: str = "solve") -> PartitionedResult:
        """Solve the problem; see `graphtv.solve`."""
        return solve_partitioned(self._layout, caller, options)

    def __repr__(self) -> str:
        return f"PartitionedProblem({self.graph!r}, {self.data!r}, {self.penalty!r})"
