"""Where the vertices and edges of parts are in the whole graph, in memory or as dask arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray

from graphtv._validate import Floats
from graphtv.scale.scheduler import compute
from graphtv.scale.task_graph import TaskGraph

Pairs = dict[tuple[int, int], tuple[NDArray[np.int64], Floats]]


@dataclass(frozen=True, eq=False)
class ArrayNumbering:
    """The numbers of vertices and edges in a graph in memory.

    Attributes
    ----------
    vertices, inside : list of ndarray
        The numbers of the vertices and of the inner edges of each part.
    across : dict of ndarray
        The numbers of the edges between two parts, and 1 if they lead from the first to the second
        in the whole graph, otherwise -1.
    """

    vertices: list[NDArray[np.int64]]
    inside: list[NDArray[np.int64]]
    across: Pairs

    def blocks(self, values: Any) -> list[Any]:
        """Return the values of the vertices of each part, as delayed arrays."""
        given = values if isinstance(values, np.ndarray) else np.asarray(values)
        return [delayed(given[vertices], traverse=False) for vertices in self.vertices]

    def vertex_rows(self) -> Any:
        """Return the vertices, part after part."""
        return np.concatenate(self.vertices)

    def vertex_values(self, blocks: Sequence[Any], channels: tuple[int, ...]) -> Any:
        """Return values of all vertices, given those of each part."""
        values = np.empty((sum(map(len, self.vertices)), *channels))
        for vertices, block in zip(self.vertices, compute(blocks), strict=True):
            values[vertices] = block
        return values

    def edge_values(
        self,
        inside: Sequence[Any],
        across: dict[tuple[int, int], Any],
        channels: tuple[int, ...],
    ) -> Any:
        """Return values of all edges, given those inside parts and those across borders."""
        n_edges = sum(map(len, self.inside)) + sum(len(e) for e, _ in self.across.values())
        values = np.empty((n_edges, *channels))
        for edges, block in zip(self.inside, compute(inside), strict=True):
            values[edges] = block
        for pair, block in zip(across, compute(list(across.values())), strict=True):
            edges, signs = self.across[pair]
            values[edges] = signs.reshape(-1, *(1 for _ in channels)) * block
        return values


@dataclass(frozen=True, eq=False)
class RangeNumbering:
    """Vertices and edges are numbered part after part, then the edges across border by border.

    Attributes
    ----------
    sizes, n_inner : tuple of int
        The numbers of vertices and of inner edges of each part.
    n_across : dict
        The numbers of edges between two parts.
    """

    sizes: tuple[int, ...]
    n_inner: tuple[int, ...]
    n_across: dict[tuple[int, int], int]

    def blocks(self, values: Any) -> list[Any]:
        """Return the values of the vertices of each part, as delayed arrays."""
        if not isinstance(values, da.Array):
            ends = np.cumsum(self.sizes)
            return [
                delayed(values[end - size : end], traverse=False)
                for end, size in zip(ends, self.sizes, strict=True)
            ]
        whole = values.rechunk((self.sizes, *(-1 for _ in values.shape[1:])))
        # If arrays were optimised separately, different tasks would have the same name.
        return list(whole.to_delayed(optimize_graph=False).reshape(len(self.sizes)))

    def vertex_rows(self) -> Any:
        """Return the vertices, which are numbered part after part."""
        return da.arange(sum(self.sizes), chunks=(self.sizes,))

    def vertex_values(self, blocks: Sequence[Any], channels: tuple[int, ...]) -> Any:
        """Return values of all vertices as a dask array with a chunk per part."""
        return _concatenated(blocks, self.sizes, channels)

    def edge_values(
        self,
        inside: Sequence[Any],
        across: dict[tuple[int, int], Any],
        channels: tuple[int, ...],
    ) -> Any:
        """Return values of all edges as a dask array."""
        counts = [*self.n_inner, *(self.n_across[pair] for pair in across)]
        return _concatenated([*inside, *across.values()], counts, channels)


@dataclass(frozen=True, eq=False)
class ChunkNumbering(RangeNumbering):
    """Vertices are rows of a dask array, and each chunk has vertices of several parts.

    Attributes
    ----------
    lengths : tuple of int
        The lengths of the chunks.
    counts : ndarray, shape (chunks, parts)
        How many vertices of each part a chunk has. Within a part they keep their order.
    labels : sequence of delayed arrays
        The part of each row of a chunk.
    """

    lengths: tuple[int, ...]
    counts: NDArray[np.int64]
    labels: Sequence[Any]

    def blocks(self, values: Any) -> list[Any]:
        """Return the values of the vertices of each part, as delayed arrays."""
        chunks = (self.lengths, *(-1 for _ in values.shape[1:]))
        whole = values.rechunk(chunks) if isinstance(values, da.Array) else None
        whole = da.from_array(values, chunks=chunks) if whole is None else whole
        given = whole.to_delayed(optimize_graph=False).reshape(len(self.lengths))
        graph, found = TaskGraph(), []
        for part, size in enumerate(self.sizes):
            chosen = np.flatnonzero(self.counts[:, part]).tolist() if size else [0]
            pieces = [graph.add("pick", _rows_of, given[c], self.labels[c], part) for c in chosen]
            found.append(graph.add("join", np.concatenate, pieces))
        return graph.delayed(found)

    def vertex_values(self, blocks: Sequence[Any], channels: tuple[int, ...]) -> Any:
        """Return values of all vertices as a dask array, in the chunks of the rows."""
        graph, found = TaskGraph(), []
        ends = np.cumsum(self.counts, axis=0)
        begins = ends - self.counts
        for chunk, length in enumerate(self.lengths):
            parts = [int(part) for part in np.flatnonzero(self.counts[chunk])]
            pieces = [
                graph.add(
                    "slice", _rows_between, blocks[k], *map(int, (begins[chunk, k], ends[chunk, k]))
                )
                for k in parts
            ]
            shape = (length, *channels)
            found.append(graph.add("merge", _merged, self.labels[chunk], parts, pieces, shape))
        return _concatenated(graph.delayed(found), self.lengths, channels)

    def vertex_rows(self) -> Any:
        """Return the rows of the vertices, part after part."""
        rows = da.arange(sum(self.lengths), chunks=(self.lengths,))
        return _concatenated(self.blocks(rows), self.sizes, (), dtype=np.int64)


Numbering = ArrayNumbering | RangeNumbering


def _rows_of(values: NDArray[Any], labels: NDArray[Any], part: int) -> NDArray[Any]:
    found: NDArray[Any] = values[labels == part]
    return found


def _rows_between(values: NDArray[Any], begin: int, end: int) -> NDArray[Any]:
    return values[begin:end]


def _merged(
    labels: NDArray[Any], parts: list[int], pieces: list[Floats], shape: tuple[int, ...]
) -> Floats:
    """Return the values of a chunk, given those of each part in it."""
    values = np.empty(shape)
    for part, piece in zip(parts, pieces, strict=True):
        values[labels == part] = piece
    return values


def _concatenated(
    blocks: Sequence[Any], lengths: Sequence[int], channels: tuple[int, ...], dtype: Any = float
) -> Any:
    return da.concatenate(
        [
            da.from_delayed(block, (length, *channels), dtype=dtype)
            for block, length in zip(blocks, lengths, strict=True)
        ]
    )
