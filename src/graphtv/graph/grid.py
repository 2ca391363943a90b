"""Grids: Cartesian products of paths, such as the pixels of an image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphtv import _core
from graphtv._memory import EDGE_BYTES, check_memory
from graphtv._validate import (
    INDEX_LIMIT,
    Floats,
    Indices,
    as_array,
    as_floats,
    as_real,
    as_shape,
    as_weights,
    brief,
    describe,
    first_index,
    frozen,
    moderate,
)
from graphtv.graph.graph import Graph, as_graph
from graphtv.graph.neighbourhood import Step, crofton_weights, neighbour_steps, step_slices


@dataclass(frozen=True, eq=False, repr=False)
class GridStructure:
    """Positions of the vertices of a graph in a grid.

    Attributes
    ----------
    shape : tuple of int
        Lengths of the axes.
    coordinates : ndarray of int32, shape (n_vertices, len(shape))
        Position of each vertex, read-only.

    Examples
    --------
    >>> from graphtv import grid_graph
    >>> grid = recognize_grid(grid_graph((2, 3)))
    >>> grid.shape, grid.coordinates[4].tolist()
    ((2, 3), [1, 1])
    """

    shape: tuple[int, ...]
    coordinates: Indices

    def __post_init__(self) -> None:
        object.__setattr__(self, "coordinates", frozen(self.coordinates))

    def __repr__(self) -> str:
        return f"GridStructure(shape={self.shape})"

    def __reduce__(self) -> tuple[Any, ...]:
        return GridStructure, (self.shape, self.coordinates)


def grid_graph(
    shape: int | Sequence[int],
    weights: Any = 1.0,
    *,
    connectivity: int = 1,
    spacing: Any = None,
) -> Graph:
    """Return the grid graph of the given shape: neighbours along each axis are joined.

    Vertices are numbered in row-major order, so that ``signal = image.ravel()``. Edges are ordered
    by axis, axis 0 first, then by their lower vertex. Each edge is (lower, higher) vertex.
    Diagonal edges, if any, come after those along the axes.

    Parameters
    ----------
    shape : int or sequence of int
        Lengths of the axes, each at least 1.
    weights : float or sequence
        One number for all edges, or a sequence with one number or array per axis. The array of
        axis a has the shape of the grid with one entry less along axis a. Its entry at x is the
        weight of the edge from x to x + e_a. Edges of weight zero are dropped. With diagonals it
        must be one number.
    connectivity : int, optional
        By how many coordinates neighbours may differ, as in scikit-image: 1 for neighbours along
        the axes, 2 and 3 for diagonals too, in 2-D and 3-D. Or the number of neighbours: 4, 8 or
        16 in 2-D, and 6, 18 or 26 in 3-D. The weights are then those of the Cauchy-Crofton
        formula: total variation measures lengths and areas nearly equally in all directions.
    spacing : float or sequence of float, optional
        Distance between neighbours along each axis, 1 by default. Weights are divided by it.

    Examples
    --------
    >>> grid_graph((2, 3), weights=[1.0, 5.0]).edges.tolist()
    [[0, 3], [1, 4], [2, 5], [0, 1], [1, 2], [3, 4], [4, 5]]
    >>> grid_graph((2, 2), connectivity=8).weights.round(3)
    array([0.5  , 0.5  , 0.5  , 0.5  , 0.354, 0.354])
    """
    lengths = as_shape(shape)
    steps = neighbour_steps(connectivity, len(lengths))
    distances = as_spacing(spacing, len(lengths))
    if len(steps) > len(lengths):
        if isinstance(weights, Sequence) or np.ndim(weights):
            raise ValueError(
                f"weights must be a number unless connectivity is 1, got {brief(weights)}"
            )
        number = moderate(as_real(weights, "weights", minimum=0.0), "weights")
        factors = crofton_weights(tuple(steps), distances)
        return stepped_graph(lengths, steps, [np.asarray(number * factor) for factor in factors])
    per_axis = _weights_per_axis(weights, lengths)
    if spacing is not None:
        per_axis = [w / h for w, h in zip(per_axis, distances, strict=True)]
    n = math.prod(lengths)
    if n > INDEX_LIMIT:
        raise ValueError(f"shape must have at most {INDEX_LIMIT} vertices, got {lengths}")
    m = n_grid_edges(lengths)
    if m > INDEX_LIMIT:
        raise ValueError(f"shape must have at most {INDEX_LIMIT} edges, got {lengths}")
    check_memory(EDGE_BYTES * m, f"a grid of shape {lengths}")

    edges = np.empty((m, 2), dtype=np.int32)
    omega = np.empty(m)
    vertices = np.arange(n, dtype=np.int32)
    start = 0
    for axis in range(len(lengths)):
        lower = vertices.reshape(_seen_from(axis, lengths))[:, :-1]
        after = lower.shape[-1]
        ends = edges[start : start + lower.size].reshape(*lower.shape, 2)
        ends[..., 0] = lower
        np.add(lower, after, out=ends[..., 1])
        omega[start : start + lower.size] = per_axis[axis].ravel()
        start += lower.size
    positive = omega > 0
    if not positive.all():
        edges, omega = edges[positive], omega[positive]
    return Graph._from_simple(n, edges, omega, _row_major(lengths))


def stepped_graph(shape: tuple[int, ...], steps: list[Step], weights: list[Floats]) -> Graph:
    """Return the graph whose edges join pixels by these steps, with a number or array per step."""
    n = math.prod(shape)
    if n > INDEX_LIMIT:
        raise ValueError(f"shape must have at most {INDEX_LIMIT} vertices, got {shape}")
    slices = [step_slices(shape, step) for step in steps]
    m = sum(
        math.prod(n - abs(x) if n > abs(x) else 0 for n, x in zip(shape, step, strict=True))
        for step in steps
    )
    if m > INDEX_LIMIT:
        raise ValueError(f"shape must have at most {INDEX_LIMIT} edges, got {shape}")
    check_memory(EDGE_BYTES * m, f"a grid of shape {shape}")
    edges, omega = np.empty((m, 2), dtype=np.int32), np.empty(m)
    vertices = np.arange(n, dtype=np.int32).reshape(shape)
    start = 0
    for (here, there), weight in zip(slices, weights, strict=True):
        tails = vertices[here]
        own = slice(start, start + tails.size)
        edges[own, 0], edges[own, 1] = tails.ravel(), vertices[there].ravel()
        omega[own] = weight.ravel()
        start += tails.size
    positive = omega > 0
    if not positive.all():
        edges, omega = edges[positive], omega[positive]
    return Graph._from_simple(n, edges, omega)


def as_spacing(spacing: Any, n_axes: int) -> tuple[float, ...]:
    """Return the distance between neighbours along every axis."""
    if spacing is None:
        return (1.0,) * n_axes
    given = moderate(as_floats(spacing, "spacing"), "spacing")
    if given.shape not in ((), (n_axes,)):
        raise ValueError(
            f"spacing must be a number or have one entry for each of the {n_axes} axes of pixels,"
            f" got shape {given.shape}"
        )
    if not (given > 0).all():
        where = first_index(~(given > 0))
        raise ValueError(f"spacing must be above 0, got {given[where]} at {describe(where)}")
    return tuple(float(h) for h in np.broadcast_to(given, (n_axes,)))


def recognize_grid(graph: Graph) -> GridStructure | None:
    """Recognise a grid graph with vertices in any order, in linear time.

    Parameters
    ----------
    graph : Graph
        The graph; weights are ignored.

    Returns
    -------
    GridStructure or None
        The grid, or None if the graph is not a complete grid: for example if an edge is missing or
        added, for a torus, and for the empty graph. Every axis has at least two vertices, so a path
        has one axis and a hypercube log₂ n. A single vertex has shape (1,).

    Notes
    -----
    Coordinates are unique up to reflections and permutations of the axes. The origin is the
    lowest-numbered corner, and the axes are ordered by the numbers of its neighbours, highest
    first. Thus the vertices of ``grid_graph(shape)`` keep their row-major coordinates, without the
    axes of length 1.

    Examples
    --------
    >>> from graphtv import Graph
    >>> square = Graph(4, [[3, 0], [0, 2], [2, 1], [1, 3]])
    >>> recognize_grid(square).shape
    (2, 2)
    >>> recognize_grid(Graph(3, [[0, 1], [1, 2], [2, 0]])) is None
    True
    """
    known = as_graph(graph)._grid
    if known is not None and graph.n_edges == n_grid_edges(known.shape):
        return _squeeze(known)
    ordered = row_major_shape(graph)
    if ordered and graph.n_edges == n_grid_edges(ordered):
        return _row_major(ordered)
    found = _core.recognize_grid(graph.n_vertices, graph.edges)
    if found is None:
        return None
    shape, coordinates = found
    return GridStructure(tuple(shape.tolist()), coordinates)


def row_major_shape(graph: Graph) -> tuple[int, ...]:
    """Return the shape of the grid whose row-major order the vertices follow; () if none.

    Axes of length 1 are left out. All edges of the graph join neighbours of this grid. Some edges
    of the grid may be missing, but not so many that the match could be a coincidence.
    """
    if graph._grid is not None:
        return tuple(length for length in graph._grid.shape if length > 1)
    return tuple(_core.lattice_shape(graph.n_vertices, graph.edges).tolist())


def _row_major(lengths: tuple[int, ...]) -> GridStructure:
    """Return the positions of the vertices if they are numbered in row-major order."""
    d = len(lengths)
    coordinates = np.empty((math.prod(lengths), d), dtype=np.int32)
    for axis, length in enumerate(lengths):
        seen = coordinates.reshape(*_seen_from(axis, lengths), d)
        seen[..., axis] = np.arange(length, dtype=np.int32)[:, None]
    return GridStructure(lengths, coordinates)


def _seen_from(axis: int, lengths: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the shape (axes before, this axis, axes after); the last entry is the stride."""
    return math.prod(lengths[:axis]), lengths[axis], math.prod(lengths[axis + 1 :])


def n_grid_edges(shape: tuple[int, ...]) -> int:
    """Return the number of edges of a whole grid."""
    n = math.prod(shape)
    return sum(n // length * (length - 1) for length in shape)


def _weights_per_axis(weights: Any, shape: tuple[int, ...]) -> list[Floats]:
    """Return the validated weights of each axis, a number or an array."""
    if not isinstance(weights, Sequence):
        weights = as_array(weights, "weights")
        if weights.ndim == 0:
            return [as_weights(weights, "weights", ())] * len(shape)
    if len(weights) != len(shape):
        raise ValueError(
            f"weights must be a number or have one entry for each of the {len(shape)} axes,"
            f" got {len(weights)}"
        )
    return weights_of_axes(weights, "weights", shape)


def weights_of_axes(given: Sequence[Any], name: str, shape: tuple[int, ...]) -> list[Floats]:
    """Return validated edge weights, a number or array per axis; errors call them `name`."""
    checked = []
    for axis, entry in enumerate(given):
        values = as_floats(entry, f"{name}[{axis}]")
        sides = (*shape[:axis], shape[axis] - 1, *shape[axis + 1 :])
        checked.append(as_weights(values, f"{name}[{axis}]", sides if values.ndim else ()))
    return checked


def _squeeze(grid: GridStructure) -> GridStructure:
    """Remove the axes of length 1, but keep at least one axis."""
    axes = [axis for axis, length in enumerate(grid.shape) if length > 1] or [0]
    if len(axes) == len(grid.shape):
        return grid
    shape = tuple(grid.shape[axis] for axis in axes)
    return GridStructure(shape, np.ascontiguousarray(grid.coordinates[:, axes]))
