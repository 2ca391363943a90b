"""The edges of a graph in parts, from blocks of edges that are never in memory as a whole.

Part k has the vertices between two bounds. Every block is split by the parts of its edges. Then
each part collects its edges from all blocks, inside and across. Both parts of a border sort the
edges across in the same way, so they agree on the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray

from graphtv import _core
from graphtv._validate import Floats, Indices, as_edges, as_weights
from graphtv.scale.part_graph import PartGraph
from graphtv.scale.scheduler import compute, persist
from graphtv.scale.task_graph import TaskGraph

Ends = NDArray[np.int64]
Split = dict[tuple[int, int], tuple[Ends, Floats]]
"""Edges by their parts, the smaller number first: places in these parts, and weights."""


def collect(
    sizes: tuple[int, ...], edges: Any, weights: Any
) -> tuple[list[int], dict[tuple[int, int], int], list[Any]]:
    """Return the numbers of inner edges and of edges across, and the edges of parts on the workers.

    `sizes` has the number of vertices of each part.
    """
    return collect_blocks(sizes, _blocks(edges, weights))


def collect_blocks(
    sizes: tuple[int, ...], blocks: Sequence[tuple[Any, Any]], *, is_sum: bool = True
) -> tuple[list[int], dict[tuple[int, int], int], list[Any]]:
    """Return the same for delayed pairs of edges and weights.

    Weights of the same edge are added, or they are equal and one is used.
    """
    bounds = np.cumsum([0, *sizes], dtype=np.int64)
    graph = TaskGraph()
    pieces = persist(graph.delayed([graph.add("split", split, *b, bounds) for b in blocks]))
    graph = TaskGraph()
    present = compute(graph.delayed([graph.add("parts-in", parts_in, p) for p in pieces]))
    found = []
    for part, size in enumerate(sizes):
        mine = [
            graph.add("edges-of", edges_of, piece, part)
            for piece, parts in zip(pieces, present, strict=True)
            if part in parts
        ]
        found.append(graph.add("collect", collected, part, size, mine, is_sum))
    return known_parts(persist(graph.delayed(found)))


def known_parts(found: Sequence[Any]) -> tuple[list[int], dict[tuple[int, int], int], list[Any]]:
    """Return the numbers of edges of parts on the workers, and the parts."""
    graph = TaskGraph()
    sizes = compute(graph.delayed([graph.add("sizes-of", sizes_of, block) for block in found]))
    n_inner, across = [], {}
    for part, (neighbours, count, crossing) in enumerate(sizes):
        n_inner.append(int(count))
        pairs = zip(neighbours, crossing, strict=True)
        across.update({(part, other): int(m) for other, m in pairs if part < other})
    return n_inner, across, [block[1] for block in found]


def edge_arrays(graph: Any) -> tuple[Any, Any]:
    """Return the edges and weights of a graph in parts as dask arrays, in the order of p."""
    bounds, parts, numbering = np.cumsum([0, *graph.sizes]), graph.part_graphs(), graph.numbering
    edges = [delayed(_inner_edges)(part, bounds[k]) for k, part in enumerate(parts)]
    weights = [delayed(getattr)(part, "weights") for part in parts]
    across, crossing = {}, {}
    for low, high in graph.crossing_counts:
        at = graph.neighbours(low).index(high)
        across[low, high] = delayed(_edges_across)(parts[low], at, bounds[low], bounds[high])
        crossing[low, high] = delayed(_weights_across)(parts[low], at)
    return (
        numbering.edge_values(edges, across, (2,)).astype(np.int64),
        numbering.edge_values(weights, crossing, ()),
    )


def _inner_edges(part: PartGraph, begin: int) -> Any:
    return (part.edges + begin).astype(np.float64)


def _edges_across(part: PartGraph, at: int, begin: int, begin_there: int) -> Any:
    which = slice(part.starts[at], part.starts[at + 1])
    ends = part.near[which] + begin, part.far[which] + begin_there
    return np.stack(ends, axis=1).astype(np.float64)


def _weights_across(part: PartGraph, at: int) -> Any:
    return part.crossing[part.starts[at] : part.starts[at + 1]]


def _blocks(edges: Any, weights: Any) -> list[tuple[Any, Any]]:
    """Return the blocks of edges with their weights."""
    if isinstance(edges, da.Array):
        if edges.ndim != 2 or edges.shape[1] != 2:
            raise ValueError(f"edges must have shape (m, 2), got {edges.shape}")
        edges = edges.rechunk({1: -1})
        if isinstance(weights, da.Array) and not np.isnan(edges.shape[0]):
            if weights.shape != edges.shape[:1]:
                raise ValueError(f"weights must have shape {edges.shape[:1]}, got {weights.shape}")
            weights = weights.rechunk((edges.chunks[0],))
    elif not hasattr(edges, "to_delayed"):
        raise ValueError(
            f"edges must be a dask array or a dask DataFrame, got {type(edges).__name__}"
        )
    blocks = _delayed(edges)
    given = _delayed(weights) if hasattr(weights, "to_delayed") else [weights] * len(blocks)
    if len(given) != len(blocks):
        raise ValueError(
            f"weights must have a block for each of the {len(blocks)} blocks of edges,"
            f" got {len(given)}"
        )
    return list(zip(blocks, given, strict=True))


def _delayed(values: Any) -> list[Any]:
    return list(np.ravel(np.array(values.to_delayed(optimize_graph=False), dtype=object)))


def split(edges: Any, weights: Any, bounds: NDArray[np.int64]) -> Split:
    """Split a block of edges, given as an array or a data frame, by the parts of their ends."""
    ends = _as_ends(edges, int(bounds[-1]))
    given = as_weights(np.asarray(weights, dtype=np.float64), "weights", (len(ends),))
    kept = (given > 0.0) & (ends[:, 0] != ends[:, 1])
    ends, given = np.sort(ends[kept], axis=1), given[kept]
    parts = np.searchsorted(bounds, ends, side="right") - 1
    keys = parts[:, 0] * len(bounds) + parts[:, 1]
    order = np.argsort(keys, kind="stable")
    found, first = np.unique(keys[order], return_index=True)
    blocks: Split = {}
    for key, chosen in zip(found, np.split(order, first[1:]), strict=False):
        low, high = divmod(int(key), len(bounds))
        blocks[low, high] = ends[chosen] - bounds[[low, high]], given[chosen]
    return blocks


def parts_in(blocks: Split) -> set[int]:
    """Return the parts that have edges in a block."""
    return {part for pair in blocks for part in pair}


def edges_of(blocks: Split, part: int) -> Split:
    """Return the edges of one part."""
    return {pair: found for pair, found in blocks.items() if part in pair}


def collected(
    part: int, size: int, blocks: list[Split], is_sum: bool = True
) -> tuple[tuple[int, ...], PartGraph]:
    """Return the neighbours of a part and its edges, parallel ones summed or used once."""
    pairs = {pair for block in blocks for pair in block}
    inner = _gathered(blocks, (part, part))
    edges, weights = _core.simplify(size, *(inner if is_sum else _summed(*inner, is_sum=False)))
    others = tuple(sorted({*chain.from_iterable(pairs)} - {part}))
    near, far, crossing = [np.empty(0, np.int32)], [np.empty(0, np.int32)], [np.empty(0)]
    for other in others:
        ends, sums = _summed(*_gathered(blocks, (min(part, other), max(part, other))), is_sum)
        here = 0 if part < other else 1
        near.append(ends[:, here])
        far.append(ends[:, 1 - here])
        crossing.append(sums)
    return others, PartGraph(
        edges,
        weights,
        np.concatenate(near),
        np.concatenate(far),
        np.concatenate(crossing),
        np.cumsum([len(each) for each in near], dtype=np.int64),
        np.array([1 if part < other else -1 for other in others], dtype=np.int64),
    )


def _gathered(blocks: list[Split], pair: tuple[int, int]) -> tuple[Indices, Floats]:
    """Return the edges between two parts, or inside one, from all blocks."""
    found = [block[pair] for block in blocks if pair in block]
    ends = np.concatenate([np.empty((0, 2), np.int64), *(ends for ends, _ in found)])
    return ends.astype(np.int32), np.concatenate([np.empty(0), *(sums for _, sums in found)])


def sizes_of(found: tuple[tuple[int, ...], PartGraph]) -> tuple[tuple[int, ...], int, Any]:
    """Return the neighbours of a part, its number of inner edges, and those to each neighbour."""
    neighbours, graph = found
    return neighbours, len(graph.edges), np.diff(graph.starts)


def _as_ends(edges: Any, n_vertices: int) -> Ends:
    array = np.asarray(edges)
    if array.ndim == 2 and array.shape[1] == 2 and n_vertices > np.iinfo(np.int32).max:
        if array.dtype.kind not in "ui" or (array.size and not _are_in(array, n_vertices)):
            raise ValueError(
                f"edges must be integers from 0 to {n_vertices - 1}, got dtype {array.dtype}"
                f" between {array.min()} and {array.max()}"
            )
        return array.astype(np.int64)
    return as_edges(array, "edges", n_vertices).astype(np.int64)


def _are_in(array: NDArray[Any], n: int) -> bool:
    return bool(array.min() >= 0 and array.max() < n)


def _summed(ends: Indices, weights: Floats, is_sum: bool = True) -> tuple[Indices, Floats]:
    """Return distinct edges in lexicographic order, with sums of weights or the first of each."""
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends, weights = ends[order], weights[order]
    is_first = np.ones(len(ends), dtype=bool)
    is_first[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    if not is_sum:
        return ends[is_first], weights[is_first]
    return ends[is_first], np.add.reduceat(weights, np.flatnonzero(is_first))
