"""Small parts of a graph, merged into larger ones for the solve.

A part of a few thousand vertices costs mostly the tasks around it, and is mostly border. The only
bound on the size of a part is the memory of a worker. So small parts are merged with the neighbours
with which they share the most edges. Signals and solutions keep the parts that the user chose.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from graphtv._validate import Floats
from graphtv.scale.part_graph import PartGraph
from graphtv.scale.task_graph import TaskGraph
from graphtv.scale.tuning import TUNING
from graphtv.scale.window import interleaved

Counts = Mapping[tuple[int, int], int]


def groups_of(sizes: Sequence[int], across: Counts, least: int) -> list[list[int]]:
    """Return groups of parts: the smallest one is merged until all have a size of `least`.

    No merged group is larger than twice that. A group without a neighbour that fits is merged with
    a group that shares no edge with it, so that many tiny components do not remain.
    """
    size, members = list(sizes), [[part] for part in range(len(sizes))]
    shared: list[dict[int, int]] = [{} for _ in sizes]
    for (low, high), count in across.items():
        shared[low][high] = shared[high][low] = count
    pending = [(length, part) for part, length in enumerate(size) if length < least]
    heapq.heapify(pending)
    rest: Any = None  # a group whose neighbours are all too large
    while pending:
        length, part = heapq.heappop(pending)
        if not members[part] or length != size[part]:
            continue
        fitting = [o for o in shared[part] if size[o] + length <= 2 * least]
        other: Any = max(fitting, key=lambda o: (shared[part][o], -o), default=None)
        if other is None:
            other, rest = rest, part
            if other in (None, part) or not members[other] or size[other] + length > 2 * least:
                continue
            rest = None
        keep, gone = min(part, other), max(part, other)
        members[keep] += members[gone]
        members[gone] = []
        size[keep] += size[gone]
        for neighbour, count in shared[gone].items():
            del shared[neighbour][gone]
            if neighbour != keep:
                shared[keep][neighbour] = shared[keep].get(neighbour, 0) + count
                shared[neighbour][keep] = shared[keep][neighbour]
        shared[gone] = {}
        if size[keep] < least:
            heapq.heappush(pending, (size[keep], keep))
    return [sorted(group) for group in members if group]


class Piece(NamedTuple):
    """The edges between two of the old parts: their number, and whether their direction changes."""

    pair: tuple[int, int]
    n_edges: int
    is_reversed: bool


@dataclass(frozen=True, eq=False)
class Merging:
    """Old parts in groups.

    Attributes
    ----------
    groups : list of list of int
        The old parts of each new one.
    sizes, n_inner : tuple of int
        Numbers of vertices and of inner edges of the old parts.
    across : dict
        Numbers of edges between the old parts.
    """

    groups: list[list[int]]
    sizes: Sequence[int]
    n_inner: Sequence[int]
    across: Counts

    @cached_property
    def group(self) -> dict[int, int]:
        """The new part of each old one."""
        return {part: k for k, group in enumerate(self.groups) for part in group}

    @cached_property
    def offset(self) -> dict[int, int]:
        """Where the vertices of an old part begin in the new one."""
        found: dict[int, int] = {}
        for group in self.groups:
            begins = itertools.accumulate((self.sizes[part] for part in group), initial=0)
            found |= dict(zip(group, begins, strict=False))
        return found

    @cached_property
    def joined(self) -> list[list[Piece]]:
        """The edges across old parts that are inside each new part, after its other edges."""
        found: list[list[Piece]] = [[] for _ in self.groups]
        for (low, high), count in sorted(self.across.items()):
            if self.group[low] == self.group[high]:
                found[self.group[low]].append(Piece((low, high), count, False))
        return found

    @cached_property
    def crossing(self) -> dict[tuple[int, int], list[Piece]]:
        """The edges between new parts."""
        found: dict[tuple[int, int], list[Piece]] = {}
        for (low, high), count in sorted(self.across.items()):
            first, second = self.group[low], self.group[high]
            if first != second:
                pair = min(first, second), max(first, second)
                found.setdefault(pair, []).append(Piece((low, high), count, first > second))
        return dict(sorted(found.items()))

    def part_sizes(self) -> list[int]:
        """Return the numbers of vertices of the new parts."""
        return [sum(self.sizes[part] for part in group) for group in self.groups]

    def inner_counts(self) -> list[int]:
        """Return the numbers of edges inside the new parts."""
        return [
            sum(self.n_inner[part] for part in group) + sum(piece.n_edges for piece in pieces)
            for group, pieces in zip(self.groups, self.joined, strict=True)
        ]

    def crossing_counts(self) -> dict[tuple[int, int], int]:
        """Return the numbers of edges between the new parts."""
        return {pair: sum(p.n_edges for p in pieces) for pair, pieces in self.crossing.items()}

    def part_graphs(self, graphs: Sequence[Any], neighbours: Any) -> list[Any]:
        """Return the edges of the new parts, given those of the old ones, as delayed objects.

        `neighbours` returns the neighbours of an old part.
        """
        tasks, found = TaskGraph(), []
        for number, group in enumerate(self.groups):
            outer = [
                (1 if number == low else -1, [self._end(p, number, neighbours) for p in pieces])
                for (low, high), pieces in self.crossing.items()
                if number in (low, high)
            ]
            inner = [self._end(piece, number, neighbours) for piece in self.joined[number]]
            begins = [self.offset[part] for part in group]
            members = [graphs[part] for part in group]
            found.append(tasks.add("merge-parts", _merged, members, begins, inner, outer))
        return tasks.delayed(found)

    def _end(self, piece: Piece, number: int, neighbours: Any) -> End:
        low, high = piece.pair
        here, there = (low, high) if self.group[low] == number else (high, low)
        return End(
            self.groups[number].index(here),
            neighbours(here).index(there),
            self.offset[here],
            self.offset[there],
        )


class End(NamedTuple):
    """Edges to a neighbour of an old part, and where the vertices of both begin in new parts."""

    member: int
    at: int
    begin_here: int
    begin_there: int

    def of(self, members: Sequence[PartGraph]) -> tuple[Any, Any, Any]:
        """Return the ends here and there, and the weights."""
        part = members[self.member]
        where = slice(int(part.starts[self.at]), int(part.starts[self.at + 1]))
        near = part.near[where] + np.int32(self.begin_here)
        return near, part.far[where] + np.int32(self.begin_there), part.crossing[where]


def _merged(
    members: list[PartGraph], begins: list[int], inner: list[End], outer: list[tuple[int, Any]]
) -> PartGraph:
    """Return several parts as one."""
    edges = [part.edges + np.int32(begin) for part, begin in zip(members, begins, strict=True)]
    weights = [part.weights for part in members]
    for end in inner:
        near, far, crossing = end.of(members)
        edges.append(np.stack([near, far], axis=1))
        weights.append(crossing)
    order = interleaved([len(part) for part in weights])
    none = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty(0)
    pieces, starts = [none], [0]
    for _, ends in outer:
        pieces += [end.of(members) for end in ends]
        starts.append(sum(len(piece[0]) for piece in pieces))
    near, far, crossing = map(np.concatenate, zip(*pieces, strict=True))
    return PartGraph(
        np.concatenate(edges)[order],
        np.concatenate(weights)[order],
        near,
        far,
        crossing,
        np.array(starts, dtype=np.int64),
        np.array([sign for sign, _ in outer], dtype=np.int64),
    )


@dataclass(frozen=True, eq=False)
class MergedNumbering:
    """Where the vertices and edges of merged parts are in the whole graph.

    Attributes
    ----------
    merging : Merging
        Which parts were merged.
    numbering : Numbering
        That of the old parts.
    """

    merging: Merging
    numbering: Any

    def blocks(self, values: Any) -> list[Any]:
        """Return the values of the vertices of each new part, as delayed arrays."""
        old, graph = self.numbering.blocks(values), TaskGraph()
        return graph.delayed(
            [
                graph.add("join", np.concatenate, [old[part] for part in group])
                for group in self.merging.groups
            ]
        )

    def vertex_values(self, blocks: Sequence[Any], channels: tuple[int, ...]) -> Any:
        """Return values of all vertices, given those of each new part."""
        merging, graph, found = self.merging, TaskGraph(), []
        for part, size in enumerate(merging.sizes):
            begin, block = merging.offset[part], blocks[merging.group[part]]
            found.append(graph.add("slice", _rows_between, block, begin, begin + size, 1.0))
        return self.numbering.vertex_values(graph.delayed(found), channels)

    def edge_values(
        self,
        inside: Sequence[Any],
        across: dict[tuple[int, int], Any],
        channels: tuple[int, ...],
    ) -> Any:
        """Return values of all edges, given those inside new parts and those across."""
        merging, graph = self.merging, TaskGraph()
        inner: dict[int, Any] = {}
        outer: dict[tuple[int, int], Any] = {}
        for number, group in enumerate(merging.groups):
            counts = [merging.n_inner[part] for part in group]
            counts += [piece.n_edges for piece in merging.joined[number]]
            values, begin = graph.add("reorder", _in_lists, inside[number], counts), 0
            for part in group:
                end = begin + merging.n_inner[part]
                inner[part] = graph.add("slice", _rows_between, values, begin, end, 1.0)
                begin = end
            _slices(graph, values, merging.joined[number], begin, outer)
        for pair, pieces in merging.crossing.items():
            _slices(graph, across[pair], pieces, 0, outer)
        pairs = list(merging.across)
        found = graph.delayed([*(inner[k] for k in range(len(inner))), *(outer[k] for k in pairs)])
        pieces_across = dict(zip(pairs, found[len(inner) :], strict=True))
        return self.numbering.edge_values(found[: len(inner)], pieces_across, channels)


def _slices(graph: TaskGraph, values: Any, pieces: list[Piece], begin: int, found: Any) -> None:
    """Add the slices of values that belong to each pair of old parts."""
    for pair, count, is_reversed in pieces:
        sign = -1.0 if is_reversed else 1.0
        found[pair] = graph.add("slice", _rows_between, values, begin, begin + count, sign)
        begin += count


def _in_lists(values: Floats, counts: list[int]) -> Floats:
    """Return interleaved values list after list."""
    found = np.empty(values.shape)
    found[interleaved(counts)] = values
    return found


def _rows_between(values: Floats, begin: int, end: int, sign: float) -> Floats:
    return sign * values[begin:end]


def merging_of(graph: Any, n_channels: int) -> Merging | None:
    """Return which parts of a graph to merge, None if all are large enough."""
    sizes = [n + m for n, m in zip(graph.sizes, graph.inner_counts, strict=True)]
    least = TUNING.least_part // max(n_channels, 1)
    if least == 0 or min(sizes) >= least:
        return None
    across = graph.crossing_counts
    groups = groups_of(sizes, across, least)
    if len(groups) == len(sizes):
        return None
    return Merging(groups, graph.sizes, graph.inner_counts, across)
