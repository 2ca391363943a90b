"""Windows compared with chain pieces: two ways to split a problem at the borders of chunks.

Chain pieces: forests are the rows and the columns of every chunk, and for each axis the edges
across borders (a matching). Accelerated descent over these forests is what a distributed version
would run; its sweeps are counted here in memory, where they need no exchange. Each of them would
send the faces of all chunks, u one way and p the other, 16 bytes per edge.
"""

from __future__ import annotations

import functools
from typing import Any

import dask.array as da
import numpy as np

from graphtv import ForestPartition, Problem, SquaredLoss, denoise_tv, grid_graph
from graphtv import solve as solve_in_memory
from scale.turns import header, make_image, race, row


def chain_pieces(shape: tuple[int, ...], weight: float, length: int) -> ForestPartition:
    """Return rows and columns inside chunks, and matchings of the edges between them."""
    labels = []
    for axis, n in enumerate(shape):
        is_border = (np.arange(1, n) % length == 0).reshape(
            [-1 if a == axis else 1 for a in range(len(shape))]
        )
        edges = [m - (a == axis) for a, m in enumerate(shape)]
        labels.append(np.broadcast_to(axis + len(shape) * is_border, edges).ravel())
    return ForestPartition.from_labels(grid_graph(shape, weight), np.concatenate(labels))


def against_chains(quick: bool) -> None:
    """Print exchanges, bytes and time of both for several chunks and weights."""
    header(
        "Windows (first) against chain pieces (second)",
        "image", "weight", "tol", "chunks", "exchanges", "bytes moved, in those of f",
        "processor time, µs per pixel",
    )  # fmt: skip
    for side, length in [(128, 64)] if quick else [(512, 128), (512, 256), (2048, 1024)]:
        image = make_image((side, side))
        for weight in (0.1, 1.0):
            for tol in (1e-3, 1e-6):
                _compare(image, weight, tol, length)


def _compare(image: Any, weight: float, tol: float, length: int) -> None:
    partition = chain_pieces(image.shape, weight, length)
    problem = Problem(partition.graph, SquaredLoss(image.ravel()))
    tiled = da.from_array(image, chunks=length)
    best = race(
        {
            "windows": functools.partial(
                denoise_tv, tiled, weight, tol=tol, n_threads=1, return_result=True
            ),
            "chains": functools.partial(
                solve_in_memory, problem, method="descent", preconditioner=partition, tol=tol,
                max_iterations=5000, n_threads=1,
            ),
        },
        1,
    )  # fmt: skip
    (_, windows), chains = best["windows"].outcome, best["chains"].outcome
    crossing = int((partition.labels >= image.ndim).sum())
    moved = windows.iterations * windows.bytes_per_round, chains.iterations * 16 * crossing
    row(
        f"{image.shape[0]}²", weight, f"{tol:g}", f"{length}²",
        f"{windows.iterations}, {chains.iterations}",
        ", ".join(f"{bytes / image.nbytes:.2f}" for bytes in moved),
        ", ".join(f"{1e6 * best[name].processor / image.size:.2f}" for name in best),
    )  # fmt: skip
