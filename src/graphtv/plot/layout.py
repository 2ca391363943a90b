"""Positions of the vertices of a graph in the plane.

Grids are drawn at their coordinates. For other graphs the caller gives positions, or a layout is
computed whose distances approximate the distances in hops. It uses pivot scaling (Brandes and Pich,
2006), followed by stress majorisation for small graphs (Gansner, Koren and North, 2004).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse import csgraph

from graphtv._validate import Floats, as_floats
from graphtv.graph.graph import Graph
from graphtv.graph.grid import recognize_grid

MAJORISATION_LIMIT = 1000
"""Up to this many vertices the layout uses the distances of all pairs."""


def positions_of(graph: Graph, positions: Any) -> Floats:
    """Return the given positions of the vertices, shape (n, 2), or a computed layout."""
    if positions is not None:
        places = as_floats(positions, "positions")
        if places.shape != (graph.n_vertices, 2):
            raise ValueError(
                f"positions must have shape ({graph.n_vertices}, 2), got {places.shape}"
            )
        return places
    grid = graph._grid or recognize_grid(graph)
    if grid is not None:
        return _grid_positions(grid.coordinates.astype(np.float64))
    return _layout(graph)


def _grid_positions(coordinates: Floats) -> Floats:
    """Project lattice points: rows downwards, columns to the right, further axes obliquely."""
    directions = np.array([[0.0, -1.0], [1.0, 0.0], [0.38, 0.27]])
    d = coordinates.shape[1]
    if d == 1:
        return np.column_stack([coordinates[:, 0], np.zeros(len(coordinates))])
    # The first axis of a volume is drawn as depth.
    angles = 0.62 + 0.9 * np.arange(max(d - 3, 0))
    deeper = 0.3 * np.column_stack([np.cos(angles), np.sin(angles)])
    axes = np.concatenate([deeper, directions[2:], directions[:2]])[-d:]
    places: Floats = coordinates @ axes
    return places


def _layout(graph: Graph) -> Floats:
    """Lay out each component, the largest at the top and the others in rows below."""
    n, ends = graph.n_vertices, graph.edges
    links = scipy.sparse.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    _, components = csgraph.connected_components(links, directed=False)
    sizes = np.bincount(components, minlength=1)
    members = np.split(np.argsort(components, kind="stable"), np.cumsum(sizes)[:-1])
    places = np.zeros((n, 2))
    total = left = top = depth = 0.0
    for vertices in sorted(members, key=len, reverse=True):
        part = _layout_component(links[vertices][:, vertices])
        part -= part.min(axis=0, initial=0.0)
        width, height = part.max(axis=0, initial=0.0)
        total = total or max(float(width), 0.5 * math.sqrt(n))
        if left + width > total + 1e-9:
            left, top, depth = 0.0, top - depth - 1.0, 0.0
        places[vertices] = part + np.array([left, top - height])
        left, depth = left + float(width) + 1.0, max(depth, float(height))
    return places


def _layout_component(links: scipy.sparse.csr_array) -> Floats:
    """Return positions whose distances approximate the distances in hops."""
    n = links.shape[0]
    if n < 3:
        return np.column_stack([np.arange(n, dtype=np.float64), np.zeros(n)])
    pivots = np.arange(n) if n <= MAJORISATION_LIMIT else np.linspace(0, n - 1, 100).astype(int)
    hops = csgraph.dijkstra(links, directed=False, unweighted=True, indices=pivots)
    squares = hops**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, np.newaxis] + squares.mean()
    _, scales, vectors = np.linalg.svd(-0.5 * centred, full_matrices=False)
    places: Floats = vectors[:2].T * np.sqrt(scales[:2])
    if n <= MAJORISATION_LIMIT:
        places = _majorise(places, hops)
    places -= places.mean(axis=0)
    # The long axis is horizontal and signs are fixed, so that the layout is reproducible.
    _, _, axes = np.linalg.svd(places, full_matrices=False)
    turned: Floats = places @ axes.T
    turned *= np.where(turned[np.abs(turned).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    return turned


def _majorise(places: Floats, hops: Floats, n_iterations: int = 200) -> Floats:
    """Reduce the stress Σ (‖x_i - x_j‖ - d_ij)² / d_ij² by iterated linear least squares."""
    n = len(places)
    np.fill_diagonal(hops, 1.0)
    weights = hops**-2
    np.fill_diagonal(weights, 0.0)
    # Coinciding vertices (with equal distances to all others) would stay together: perturb them.
    places = places + 0.05 * np.random.default_rng(0).standard_normal((n, 2))
    inverse = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + 1 / n) - 1 / n
    for _ in range(n_iterations):
        distances = np.linalg.norm(places[:, np.newaxis] - places, axis=2)
        np.fill_diagonal(distances, 1.0)
        pull = weights * hops / np.maximum(distances, 1e-9)
        places = inverse @ (pull.sum(axis=1)[:, np.newaxis] * places - pull @ places)
    return places
