"""The points of all tiles of a grid as dask arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dask.array as da
import numpy as np

from graphtv._validate import Floats
from graphtv.scale import steps
from graphtv.scale.layout import Index
from graphtv.scale.tiling import Tiling


def primal_array(parts: Any) -> Any:
    """Return u as a dask array."""
    tiling: Tiling = parts.problem.tiling
    return _assemble(
        parts,
        {
            index: (parts.task(steps.primal_block, index, parts.coordinates), tiling.lengths(index))
            for index in tiling
        },
    )


def dual_arrays(parts: Any) -> tuple[Any, ...]:
    """Return p along each axis as dask arrays."""
    tiling: Tiling = parts.problem.tiling
    arrays = []
    for axis, count in enumerate(tiling.counts):
        blocks = {}
        for index in tiling:
            is_last = index[axis] + 1 == count
            lengths = list(tiling.lengths(index))
            lengths[axis] -= is_last
            blocks[index] = parts.task(steps.dual_block, index, axis, is_last), lengths
        arrays.append(_assemble(parts, blocks))
    return tuple(arrays)


def _assemble(parts: Any, blocks: Mapping[Index, tuple[Any, Sequence[int]]]) -> Any:
    shape, counts = parts.problem.f.shape, parts.problem.tiling.counts
    channels = shape[len(counts) :]
    meta: Floats = np.empty((0,) * len(shape))
    arrays = np.empty(counts, dtype=object)
    for index, (block, lengths) in blocks.items():
        arrays[index] = da.from_delayed(block, (*lengths, *channels), meta=meta)
    joined = arrays.tolist()
    for _ in channels:
        joined = _wrap(joined, len(counts))
    return da.block(joined)


def _wrap(blocks: Any, depth: int) -> Any:
    """Wrap every array of nested lists in a list, so that `da.block` adds an axis."""
    return [_wrap(block, depth - 1) for block in blocks] if depth else [blocks]
