"""Graphs in parts: their vertices are divided, and their edges lie inside parts or across."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats, Indices, as_array, as_count, brief
from graphtv.graph.graph import Graph, as_graph
from graphtv.scale.part_graph import PartGraph
from graphtv.scale.partition import partition
from graphtv.scale.tuning import TUNING


class PartitionedGraph:
    """A graph in parts, which Dask solves part by part to the certified optimum.

    `fused_lasso` and `Problem` accept it in place of a graph. Each part must fit into the memory of
    a worker, the graph need not.

    Parameters
    ----------
    graph : Graph
        The graph.
    parts : int or array_like of int, shape (n_vertices,), optional
        The number of parts, or the part of each vertex: numbers from 0. Parts may be empty and need
        not be connected. By default parts have about 250,000 vertices.
    method : {'auto', 'points', 'breadth-first', 'metis'}
        How vertices are divided if `parts` is a number: by recursive bisection of the `points` or
        of breadth-first orders, or by METIS, which needs pymetis.
    points : array_like, shape (n_vertices, dimension), optional
        Positions of the vertices, for short borders.

    See Also
    --------
    graphtv.fused_lasso, graphtv.solve

    Examples
    --------
    >>> from graphtv import fused_lasso, gallery, grid_graph
    >>> parts = PartitionedGraph(grid_graph((20, 30)), 4)
    >>> parts.n_parts, parts.sizes
    (4, (150, 150, 150, 150))
    >>> noisy, truth = gallery.piecewise_constant_image((20, 30), rng=1)
    >>> fused_lasso(parts, noisy.ravel(), lam=0.2).status
    'optimal'
    """

    _make_numbering: Callable[..., Any] | None = None
    _whole: tuple[Graph, NDArray[np.int32]] | None = None

    def __init__(
        self, graph: Graph, parts: Any = None, *, method: str = "auto", points: Any = None
    ) -> None:
        whole = as_graph(graph)
        if parts is None:
            parts = max(1, round(whole.n_vertices / TUNING.part_size))
        if np.ndim(parts) == 0:
            count = as_count(parts, "parts", minimum=1)
            labels = partition(whole, count, method, points)
        else:
            labels = _as_labels(parts, whole.n_vertices)
            count = int(labels.max(initial=0)) + 1
        self._divide(whole, labels, count)
        self._whole = whole, labels

    def _divide(self, graph: Graph, labels: NDArray[np.int32], count: int) -> None:
        """Split a graph by the labels of its vertices."""
        order = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels, minlength=count)
        vertices = np.split(order, np.cumsum(sizes)[:-1])
        place = np.empty(graph.n_vertices, dtype=np.int32)
        place[order] = np.arange(graph.n_vertices) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        tails, heads = labels[graph.edges[:, 0]], labels[graph.edges[:, 1]]
        is_inside = tails == heads
        inner = np.flatnonzero(is_inside)
        inner = inner[np.argsort(tails[inner], kind="stable")]
        counts = np.bincount(tails[inner], minlength=count)
        inside = np.split(inner, np.cumsum(counts)[:-1])
        outer = np.flatnonzero(~is_inside)
        low, high = np.minimum(tails, heads)[outer], np.maximum(tails, heads)[outer]
        keys = low.astype(np.int64) * count + high
        by_pair = np.argsort(keys, kind="stable")
        pairs, first = np.unique(keys[by_pair], return_index=True)
        across = {}
        for key, (begin, end) in zip(pairs, itertools.pairwise([*first, len(keys)]), strict=True):
            pair, edges = (int(key // count), int(key % count)), outer[by_pair[begin:end]]
            across[pair] = edges, np.where(tails[edges] == pair[0], 1.0, -1.0)
        self._places: Any = vertices, inside, across
        self._assign(sizes, counts, {pair: len(edges) for pair, (edges, _) in across.items()})
        self._parts: list[Any] = [
            _part_of(graph, place, inside[k], self.neighbours(k), k, across) for k in range(count)
        ]

    def _assign(
        self, sizes: Iterable[int], n_inner: Iterable[int], across: dict[tuple[int, int], int]
    ) -> None:
        """Set what the client knows of the parts."""
        self._sizes, self._n_inner = tuple(map(int, sizes)), tuple(map(int, n_inner))
        self._across = across
        self._neighbours = _neighbours(len(self._sizes), across)

    @classmethod
    def from_dask(cls, sizes: Any, edges: Any, weights: Any = 1.0) -> Self:
        """Make a graph in parts from dask collections, which are never in memory as a whole.

        Parameters
        ----------
        sizes : sequence of int
            Number of vertices of each part, such as the chunks of the signal. Vertices are numbered
            part after part. Number them so that parts have short borders.
        edges : dask array, shape (m, 2), or dask DataFrame with two columns
            The end vertices of each edge.
        weights : float, dask array, shape (m,), or dask Series
            Nonnegative weights, in the blocks of the edges.

        Returns
        -------
        PartitionedGraph
            Simple, as `Graph` is. Its parts stay on the workers. Signals and solutions are dask
            arrays in the order of the vertices, and p has the order of `edge_arrays`.

        Examples
        --------
        >>> import dask.array as da
        >>> from graphtv import fused_lasso
        >>> edges = da.from_array([[0, 1], [1, 2], [2, 3], [3, 0]], chunks=(2, 2))
        >>> parts = PartitionedGraph.from_dask((2, 2), edges)
        >>> signal = da.from_array([0.1, -0.1, 2.0, 1.8], chunks=2)
        >>> fused_lasso(parts, signal, lam=0.2, tol=0).u.compute().round(3)
        array([0.2, 0.2, 1.7, 1.7])
        """
        from graphtv.scale.edge_blocks import collect

        lengths = _as_sizes(sizes)
        return cls._made_of(lengths, *collect(lengths, edges, weights))

    @classmethod
    def _made_of(
        cls,
        sizes: tuple[int, ...],
        n_inner: Iterable[int],
        across: dict[tuple[int, int], int],
        parts: list[Any],
        numbering: Callable[..., Any] | None = None,
    ) -> Self:
        """Return a graph whose parts are on the workers; `numbering` makes that of its vertices."""
        made = cls.__new__(cls)
        made._assign(sizes, n_inner, across)
        made._parts, made._places, made._make_numbering = parts, None, numbering
        return made

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return sum(self._sizes)

    @property
    def n_edges(self) -> int:
        """Number of edges, inside parts and across."""
        return sum(self._n_inner) + self.n_across

    @property
    def n_across(self) -> int:
        """Number of edges across borders of parts."""
        return sum(self._across.values())

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return len(self._sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of vertices of each part."""
        return self._sizes

    @property
    def inner_counts(self) -> tuple[int, ...]:
        """Number of edges inside each part."""
        return self._n_inner

    @property
    def crossing_counts(self) -> dict[tuple[int, int], int]:
        """Number of edges between each two neighbouring parts, the smaller number first."""
        return dict(self._across)

    def neighbours(self, part: int) -> tuple[int, ...]:
        """Return the parts that share edges with a part."""
        return self._neighbours[part]

    @property
    def numbering(self) -> Any:
        """Where the vertices and edges of parts are in the whole graph."""
        from graphtv.scale.numbering import ArrayNumbering, RangeNumbering

        if self._places is None:
            make = self._make_numbering or RangeNumbering
            return make(self._sizes, self._n_inner, self._across)
        return ArrayNumbering(*self._places)

    @property
    def is_lazy(self) -> bool:
        """Whether the graph was made from dask collections."""
        return self._places is None

    def edge_arrays(self) -> tuple[Any, Any]:
        """Return the edges and their weights as dask arrays: part after part, then those across.

        Only for graphs made from dask collections. The dual point of a solution has the same order.
        Vertices are numbered part after part; see `vertex_rows`.
        """
        from graphtv.scale.edge_blocks import edge_arrays

        if not self.is_lazy:
            raise ValueError("edge_arrays needs a graph made by from_dask; use the graph's edges")
        return edge_arrays(self)

    def vertex_rows(self) -> Any:
        """Return, for vertices numbered part after part, their rows in signals and solutions.

        They are rows of the points for a graph made by `knn_graph` from a dask array, and otherwise
        the vertices of the graph.
        """
        return self.numbering.vertex_rows()

    def part_graphs(self) -> list[Any]:
        """Return the edges of each part, as delayed objects."""
        from dask.delayed import delayed

        return [
            delayed(part, traverse=False) if isinstance(part, PartGraph) else part
            for part in self._parts
        ]

    def merged(self, n_channels: int = 1) -> PartitionedGraph:
        """Return the graph with small parts merged, for signals with this many channels."""
        from graphtv.scale.merging import MergedNumbering, merging_of

        merging = merging_of(self, as_count(n_channels, "n_channels", minimum=1))
        if merging is None:
            return self
        if self._whole is not None:
            graph, labels = self._whole
            group = np.array([merging.group[part] for part in range(self.n_parts)])
            return type(self)(graph, group[labels])
        return type(self)._made_of(
            tuple(merging.part_sizes()),
            merging.inner_counts(),
            merging.crossing_counts(),
            merging.part_graphs(self.part_graphs(), self.neighbours),
            lambda *_: MergedNumbering(merging, self.numbering),
        )

    def problem(self, data: Any, penalty: Any, factor: float = 1.0) -> Any:
        """Return the problem on this graph, with a factor for all weights; `Problem` calls this."""
        try:
            import dask  # noqa: F401
        except ImportError:
            raise ImportError("graphs in parts need Dask: pip install 'graphtv[dask]'") from None
        from graphtv.scale.partitioned_problem import PartitionedProblem

        return PartitionedProblem(self, data, penalty, factor)

    def __repr__(self) -> str:
        return (
            f"PartitionedGraph({self.n_vertices} vertices in {self.n_parts} parts,"
            f" {self.n_edges} edges, {self.n_across} of them across)"
        )


def _neighbours(count: int, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    found: list[set[int]] = [set() for _ in range(count)]
    for low, high in pairs:
        found[low].add(high)
        found[high].add(low)
    return [tuple(sorted(others)) for others in found]


def _as_sizes(sizes: Any) -> tuple[int, ...]:
    if np.ndim(sizes) != 1 or len(sizes) == 0:
        raise ValueError(f"sizes must hold the number of vertices of each part, got {brief(sizes)}")
    return tuple(as_count(size, "sizes") for size in sizes)


def _as_labels(parts: Any, n_vertices: int) -> NDArray[np.int32]:
    labels = as_array(parts, "parts")
    if labels.shape != (n_vertices,) or labels.dtype.kind not in "bui":
        raise ValueError(
            f"parts must be a number or hold one integer per vertex, shape ({n_vertices},),"
            f" got shape {labels.shape} of {labels.dtype}"
        )
    if n_vertices and (labels.min() < 0 or labels.max() >= max(2 * n_vertices, 1 << 10)):
        wrong = labels.min() if labels.min() < 0 else labels.max()
        raise ValueError(f"parts must be numbered from 0, got {wrong}")
    return labels.astype(np.int32)


def _part_of(
    graph: Graph,
    place: Indices,
    inside: NDArray[np.int64],
    neighbours: tuple[int, ...],
    part: int,
    across: dict[tuple[int, int], tuple[NDArray[np.int64], Floats]],
) -> PartGraph:
    """Return the edges of a part."""
    none = np.empty(0, dtype=np.int32)
    near, far, crossing = [none], [none], [np.empty(0)]
    for other in neighbours:
        edges, signs = across[min(part, other), max(part, other)]
        is_tail = (signs > 0.0) == (part < other)
        ends = graph.edges[edges]
        near.append(place[np.where(is_tail, ends[:, 0], ends[:, 1])])
        far.append(place[np.where(is_tail, ends[:, 1], ends[:, 0])])
        crossing.append(graph.weights[edges])
    return PartGraph(
        np.ascontiguousarray(place[graph.edges[inside]]),
        graph.weights[inside],
        np.concatenate(near),
        np.concatenate(far),
        np.concatenate(crossing),
        np.cumsum([0, *map(len, crossing[1:])], dtype=np.int64),
        np.array([1 if part < other else -1 for other in neighbours], dtype=np.int64),
    )
