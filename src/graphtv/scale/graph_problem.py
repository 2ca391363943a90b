"""A problem on a graph in parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from graphtv.scale import steps
from graphtv.scale.layout import Index, Pair
from graphtv.scale.loss import SQUARED, Loss
from graphtv.scale.part import Part
from graphtv.scale.strips import matchings
from graphtv.scale.tuning import TUNING

if TYPE_CHECKING:
    from graphtv.scale.partitioned_graph import PartitionedGraph


@dataclass(frozen=True, eq=False)
class GraphProblem:
    """A loss and total variation on a graph in parts.

    Attributes
    ----------
    graph : PartitionedGraph
        The graph.
    f, c : ndarray, shape (n,) or (n, C)
        Data and vertex weights, in the order of the vertices of the graph; c = 0 for missing data.
        If c is None, all weights are 1.
    factor : float
        Factor of the edge weights.
    delta : float
        Width of the Huber penalty, 0 for total variation.
    name : str
        The name of the data in error messages.
    loss : Loss
        The loss; its data are f and c.
    couples : bool
        Whether the norm of an edge is over its channels; always false.
    """

    graph: PartitionedGraph
    f: Any
    c: Any
    factor: float = 1.0
    delta: float = 0.0
    name: str = "signal"
    loss: Loss = SQUARED
    couples: bool = False

    @property
    def n_entries(self) -> int:
        """Numbers in f."""
        return int(np.prod(self.f.shape))

    @property
    def input(self) -> str:
        """What the user gave, for error messages."""
        return "a graph in parts"

    @property
    def n_channel_axes(self) -> int:
        """0, or 1 if u has channels."""
        return int(self.f.ndim) - 1

    @property
    def kind(self) -> type[Any]:
        """The class of the parts."""
        return Part

    @property
    def keys(self) -> list[Index]:
        """The parts."""
        return [(part,) for part in range(self.graph.n_parts)]

    @property
    def signature(self) -> Any:
        """The sizes of the parts and the numbers of edges across, as JSON."""
        across = [[*pair, count] for pair, count in sorted(self.graph.crossing_counts.items())]
        return [list(self.graph.sizes), across, self.loss.name, self.loss.delta]

    @property
    def bytes_per_round(self) -> int:
        """The bytes of all strips and of their returned points, from the sizes of the parts.

        All sides of a part have at most `strip_share` times its vertices, and on average as many
        inner edges per vertex as the graph. The ends of the edges across borders are added.
        """
        graph, channels = self.graph, self.n_entries // max(self.graph.n_vertices, 1)
        fraction = TUNING.strip_share if graph.n_parts > 1 else 0.0
        vertices, edges = fraction * graph.n_vertices, fraction * (graph.n_edges - graph.n_across)
        data = 2 + (self.c is not None)  # f, the outer flows, c
        numbers = vertices * (data + 2) * channels + edges * (2 + 2 * channels)
        return int(8 * (numbers + graph.n_across * (4 + 6 * channels)))

    def description(self) -> dict[str, str]:
        """Return what the log says about the graph."""
        return {"graph": repr(self.graph)}

    def ingredients(self) -> dict[Index, tuple[Any, ...]]:
        """Return f, c, the edges and the factor of their weights for every part."""
        numbering = self.graph.numbering
        f = numbering.blocks(self.f)
        c = [None] * len(f) if self.c is None else numbering.blocks(self.c)
        graphs = self.graph.part_graphs()
        return {
            (part,): (f[part], c[part], graphs[part], self.factor)
            for part in range(self.graph.n_parts)
        }

    def strips(self) -> list[list[Pair]]:
        """Return the strips across all borders, in matchings of the parts."""
        return [
            [Pair((a,), (b,), self._place[a][b], self._place[b][a]) for a, b in matching]
            for matching in matchings(self.graph.crossing_counts)
        ]

    def beyond(self, key: Index) -> list[tuple[Index, Any] | None]:
        """Return, for each neighbour that comes later, where its ends of common edges are."""
        (part,) = key
        return [
            ((other,), self._place[other][part]) if part < other else None
            for other in self.graph.neighbours(part)
        ]

    def borders(self) -> list[tuple[int, int, int, int]]:
        """Return the pairs of neighbouring parts."""
        return [(a, b, self._place[a][b], self._place[b][a]) for a, b in self.graph.crossing_counts]

    def coarser(self) -> None:
        """Return None: the start is that of clusters."""
        return None

    def starts(self, coarse: Any) -> dict[Index, tuple[Any, ...]]:
        """Raise an error, since there is no coarser problem of the same kind."""
        raise NotImplementedError

    @cached_property
    def _place(self) -> list[dict[int, int]]:
        """The number of each neighbour among those of a part."""
        return [
            {other: number for number, other in enumerate(self.graph.neighbours(part))}
            for part in range(self.graph.n_parts)
        ]


def primal_point(parts: Any) -> Any:
    """Return u in the order of the graph's vertices."""
    problem = parts.problem
    blocks = [parts.task(steps.primal_block, key, parts.coordinates) for key in problem.keys]
    return problem.graph.numbering.vertex_values(blocks, problem.f.shape[1:])


def dual_point(parts: Any) -> Any:
    """Return p in the order of the graph's edges."""
    problem = parts.problem
    inside = [parts.task(steps.dual_inside, key) for key in problem.keys]
    across = {
        (low, high): parts.task(steps.dual_across, (low,), at)
        for low, high, at, _ in problem.borders()
    }
    return problem.graph.numbering.edge_values(inside, across, problem.f.shape[1:])
