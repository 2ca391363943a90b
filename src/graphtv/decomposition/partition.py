"""Partitions of the edges of a graph into forests, which define the preconditioner.

The methods differ in the number of forests, in the condition number κ (given by Theorem 3 of the
paper, where it applies), and in the cost of the exact TV solver on the forests:

=========  =====================================  ======================  =======================
method     forests                                κ                       solver
=========  =====================================  ======================  =======================
chains     the axes of a grid                     sqrt(number of axes)    chains
linear     paths, heaviest edges first            no theorem              chains
nested     greedy spanning forests                sqrt(L / l̂)             trees
matroid    fewest nested forests (arboricity)     smallest sqrt(L / l̂)    trees
=========  =====================================  ======================  =======================
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from graphtv import _core
from graphtv._deprecation import renamed_keywords
from graphtv._validate import (
    Indices,
    Rng,
    as_array,
    as_choice,
    as_generator,
    first_index,
    frozen,
)
from graphtv.graph.graph import Graph, as_graph
from graphtv.graph.grid import GridStructure, recognize_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METHODS: tuple[str, ...] = ("chains", "linear", "nested", "matroid", "auto")
SPANNING = ("maximum_weight", "breadth_first", "depth_first", "random")
ORDERS = ("weight", "paper")

HUB_FACTOR = 4
"""`auto` avoids linear forests if a hub needs this many times more than the degeneracy."""

ROWS_SHOWN = 6
"""Number of forests in the printed table of a partition."""


@dataclass(frozen=True, eq=False, repr=False)
class ForestPartition:
    """A partition of the edges of a graph into L forests.

    Created by `decompose`, or by `from_labels` for a custom partition. `is_linear` and `is_nested`
    are computed from the labels and do not rely on the method.

    Attributes
    ----------
    graph : Graph
        The graph 𝒢.
    labels : ndarray of int32, shape (n_edges,)
        Forest of each edge, 0, …, n_forests - 1, read-only.
    n_forests : int
        The number L of forests. It is 0 if and only if the graph has no edges.
    method : str
        The method that created the partition, ``"custom"`` for `from_labels`.
    is_linear : bool
        Whether all trees are paths.
    is_nested : bool
        Whether ran Π_1 ⊇ ran Π_2 ⊇ …: each forest connects the ends of every edge of the next.
    n_spanning : int
        l̂, the number of leading forests that span every component of the graph, ran Π_l = ran ∇ᵀ.
    condition_number : float or None
        κ(T^-1/2 K) where a theorem gives it: sqrt(L / l̂) for nested forests, sqrt(d) for the chains
        of a whole grid with d axes.
    n_edges_per_forest, n_trees_per_forest, longest_path_per_forest : ndarray of int32
        Per forest: number of edges, number of trees with an edge, vertices on the longest path.
    reason : str
        Why the method was chosen.
    setup_time : float
        Seconds that the computation took.

    Examples
    --------
    >>> from graphtv import decompose, grid_graph
    >>> partition = decompose(grid_graph((3, 4)))
    >>> partition.n_forests, partition.is_linear, partition.n_edges_per_forest.tolist()
    (2, True, [8, 9])
    >>> ForestPartition.from_labels(partition.graph, partition.labels).method
    'custom'
    """

    graph: Graph
    labels: Indices
    n_forests: int
    method: str
    is_linear: bool
    is_nested: bool
    n_spanning: int
    condition_number: float | None
    n_edges_per_forest: Indices
    n_trees_per_forest: Indices
    longest_path_per_forest: Indices
    reason: str
    setup_time: float = field(default=0.0)

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, frozen(value))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(vars(self).values())

    @classmethod
    def from_labels(cls, graph: Graph, labels: Any) -> Self:
        """Make a partition from the forest of each edge.

        Parameters
        ----------
        graph : Graph
            The graph whose edges are partitioned.
        labels : array_like of int, shape (n_edges,)
            Forest of each edge: the numbers 0, …, L - 1, each at least once. No forest may contain
            a cycle.
        """
        start = time.perf_counter()
        as_graph(graph)
        array = as_array(labels, "labels")
        if array.shape != (graph.n_edges,):
            raise ValueError(f"labels must have shape ({graph.n_edges},), got {array.shape}")
        if array.size == 0:  # the dtype of [] is float
            array = np.empty(0, dtype=np.int32)
        if array.dtype.kind not in "ui":
            raise ValueError(f"labels must hold integers, got dtype {array.dtype}")
        outside = (array < 0) | (array >= graph.n_edges)
        if outside.any():
            (e,) = first_index(outside)
            raise ValueError(
                f"labels must lie in [0, {graph.n_edges}), got {array[e]} at index {e}"
            )
        checked = array.astype(np.int32)
        empty = np.bincount(checked) == 0
        if empty.any():
            raise ValueError(
                f"labels must be consecutive from 0, got {len(empty) - 1} but no {np.argmax(empty)}"
            )
        return cls._judge(graph, checked, "custom", "the labels were given", None, start)

    @classmethod
    def _judge(
        cls,
        graph: Graph,
        labels: Indices,
        method: str,
        reason: str,
        known_condition_number: float | None,
        start: float,
    ) -> Self:
        """Return the partition with all attributes computed from the labels."""
        n_forests = int(labels.max()) + 1 if labels.size else 0
        facts = _core.profile_partition(graph.n_vertices, graph.edges, labels, n_forests)
        if facts.cyclic >= 0:
            raise ValueError(f"labels must make forests, got a cycle in forest {facts.cyclic}")
        if n_forests and facts.is_nested:
            known_condition_number = math.sqrt(n_forests / facts.n_spanning)
        return cls(
            graph,
            labels,
            n_forests,
            method,
            bool((facts.max_degree <= 2).all()),
            facts.is_nested,
            facts.n_spanning,
            known_condition_number,
            facts.edges,
            facts.trees,
            facts.longest,
            reason=reason,
            setup_time=time.perf_counter() - start,
        )

    @classmethod
    def _of_axes(cls, graph: Graph, grid: GridStructure, reason: str, start: float) -> Self:
        """Return the chains of a complete grid with edges ordered by axis, without a check."""
        lengths = np.array(grid.shape, dtype=np.int32)
        n_chains = (graph.n_vertices // lengths).astype(np.int32)
        n_edges = (n_chains * (lengths - 1)).astype(np.int32)
        d = len(lengths)
        return cls(
            graph,
            np.repeat(np.arange(d, dtype=np.int32), n_edges),
            d,
            "chains",
            True,
            d == 1,
            int(d == 1),
            math.sqrt(d),
            n_edges,
            n_chains,
            lengths,
            reason=reason,
            setup_time=time.perf_counter() - start,
        )

    def draw(self, ax: Axes | None = None, positions: Any = None) -> Axes:
        """Draw the graph with one colour per forest; see `graphtv.plot.draw_partition`."""
        from graphtv.plot import draw_partition

        return draw_partition(self, ax=ax, positions=positions)

    def __repr__(self) -> str:
        kinds = [
            name
            for name, is_so in (("linear", self.is_linear), ("nested", self.is_nested))
            if is_so
        ]
        kappa = self.condition_number
        lines = [
            f"ForestPartition of {self.graph.n_edges} edges on {self.graph.n_vertices} vertices",
            f"  method     {self.method}: {self.reason}",
            f"  forests    L = {self.n_forests}, the first l̂ = {self.n_spanning} of them spanning",
            f"  kind       {' and '.join(kinds) or 'neither linear nor nested'}",
            f"  κ          {'not given by a theorem' if kappa is None else f'{kappa:.4g}'}",
            f"  time       {self.setup_time:.3g} s",
        ]
        if self.n_forests:
            lines.append(f"  {'forest':>6} {'edges':>10} {'trees':>10} {'longest path':>14}")
            lines += map(self._row, range(min(self.n_forests, ROWS_SHOWN)))
        if self.n_forests > ROWS_SHOWN + 1:
            lines.append(f"  {'…':>6}")
        if self.n_forests > ROWS_SHOWN:
            lines.append(self._row(self.n_forests - 1))
        return "\n".join(lines)

    def _row(self, forest: int) -> str:
        return (
            f"  {forest:>6} {self.n_edges_per_forest[forest]:>10}"
            f" {self.n_trees_per_forest[forest]:>10} {self.longest_path_per_forest[forest]:>14}"
        )


@renamed_keywords(seed="rng")
def decompose(
    graph: Graph,
    method: str = "auto",
    *,
    spanning: str = "maximum_weight",
    order: str = "weight",
    rng: Rng = 0,
) -> ForestPartition:
    """Partition the edges of a graph into forests.

    Parameters
    ----------
    graph : Graph
        The graph to decompose.
    method : {'auto', 'chains', 'linear', 'nested', 'matroid'}
        ``chains``: one linear forest per axis of a grid, whose vertices may be in any order.
        ``linear``: greedy linear forests.
        ``nested``: greedy nested forests, each a spanning forest of the remaining edges.
        ``matroid``: the smallest number of nested forests (the arboricity), with as many spanning
        ones as possible in front. This gives the smallest κ of all nested forests.
        ``auto``: ``chains`` on a grid; ``nested`` if the graph is a forest or has hubs, which need
        many linear forests; ``linear`` otherwise.
    spanning : {'maximum_weight', 'breadth_first', 'depth_first', 'random'}
        Which spanning forests ``nested`` uses.
    order : {'weight', 'paper'}
        How ``linear`` builds its forests. ``weight`` adds edges by decreasing weight, each to the
        first forest that stays linear. ``paper`` follows the paper, one forest at a time.
    rng : int, Generator or None
        Seed or generator of the random spanning forests. None gives others in every call.

    Returns
    -------
    ForestPartition
        The forest of each edge and the properties of the forests.

    References
    ----------
    .. [1] T. Möllenhoff, Z. Ye, T. Wu, D. Cremers, "Combinatorial Preconditioners for Proximal
       Algorithms on Graphs", AISTATS 2018, Section 3.2.
    .. [2] J. Roskind, R. E. Tarjan, "A note on finding minimum-cost edge-disjoint spanning trees",
       Mathematics of Operations Research 10, 1985.

    Examples
    --------
    >>> from graphtv import grid_graph
    >>> partition = decompose(grid_graph((2, 3)))
    >>> partition.method, partition.labels.tolist()
    ('chains', [0, 0, 0, 1, 1, 1, 1])
    """
    as_graph(graph)
    as_choice(method, "method", METHODS)
    as_choice(spanning, "spanning", SPANNING)
    as_choice(order, "order", ORDERS)
    return _decompose(graph, method, spanning, order, as_generator(rng), None)


def _decompose(
    graph: Graph, method: str, spanning: str, order: str, rng: Rng, watch: _core.Watch | None
) -> ForestPartition:
    """Partition the edges; raise `_core.Expired` when the watch expires."""
    start, reason = time.perf_counter(), "requested"
    whole_grid = recognize_grid(graph) if method in ("auto", "chains") else None
    grid = graph._grid or whole_grid
    if method == "auto":
        method, reason = _choose(graph, grid, watch)
    if method == "chains":
        if grid is None:
            raise ValueError(
                "method must not be 'chains' unless the graph is a grid;"
                " 'linear' and 'nested' work for any graph"
            )
        return _chains(graph, grid, whole_grid, reason, start)
    if method == "nested":
        labels = _nested(graph, spanning, rng, watch)
    else:
        build = {
            ("linear", "weight"): _core.linear_forests,
            ("linear", "paper"): _core.linear_forests_of_paper,
        }.get((method, order), _core.matroid_partition)
        heaviest_first = _core.heaviest_first(graph.weights, watch)
        labels = build(graph.n_vertices, graph.edges, heaviest_first, watch)
    return ForestPartition._judge(graph, labels, method, reason, None, start)


def _chains(
    graph: Graph, grid: GridStructure, whole_grid: GridStructure | None, reason: str, start: float
) -> ForestPartition:
    """Return one forest per axis. The theorem gives κ if the graph has all edges of the grid."""
    if whole_grid is not None and graph._grid is not None and graph.n_edges:
        return ForestPartition._of_axes(graph, whole_grid, reason, start)
    labels = _axes(graph, grid)
    is_known = whole_grid is not None and labels.size
    kappa = math.sqrt(int(labels.max()) + 1) if is_known else None
    return ForestPartition._judge(graph, labels, "chains", reason, kappa, start)


def _choose(graph: Graph, grid: GridStructure | None, watch: _core.Watch | None) -> tuple[str, str]:
    """Return the method that `auto` chooses and the reason."""
    n, m = graph.n_vertices, graph.n_edges
    if m == 0:
        return "nested", "there are no edges"
    if grid is not None:
        return "chains", f"the graph is a grid of shape {grid.shape}"
    degeneracy = _core.degeneracy(n, graph.edges, watch)
    if degeneracy == 1:
        return "nested", "the graph is a forest"
    largest = _core.largest_degree(n, graph.edges)
    if largest > 2 * HUB_FACTOR * degeneracy:
        return "nested", (
            f"a vertex has degree {largest} and needs at least {(largest + 1) // 2} linear forests"
        )
    return "linear", "no degree is excessive"


def _axes(graph: Graph, grid: GridStructure) -> Indices:
    """Return the axis along which each edge runs, counting only axes that have edges."""
    tails, heads = graph.edges.T
    labels = np.empty(graph.n_edges, dtype=np.int32)
    n_used = 0
    for coordinate in grid.coordinates.T:
        along = coordinate[tails] != coordinate[heads]
        if along.any():
            labels[along] = n_used
            n_used += 1
    return labels


def _nested(graph: Graph, spanning: str, rng: Rng, watch: _core.Watch | None) -> Indices:
    if spanning == "breadth_first":
        return _core.breadth_first_forests(graph.n_vertices, graph.edges)
    if spanning == "depth_first":
        return _core.depth_first_forests(graph.n_vertices, graph.edges)
    if spanning == "random":
        order = np.random.default_rng(rng).permutation(graph.n_edges).astype(np.int32)
    else:
        order = _core.heaviest_first(graph.weights, watch)
    return _core.nested_forests(graph.n_vertices, graph.edges, order, watch)
