"""Where the vertices of a graph go in the plane.

Grids are drawn at their coordinates, other graphs where the caller says or by a layout of our own:
distances in hops are reproduced in the plane as well as they can be, first by pivot scaling
(Brandes and Pich, 2006), then for small graphs by stress majorisation (Gansner, Koren and North,
2004).
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
"""Up to this many vertices all pairs of distances take part in the layout."""


def positions_of(graph: Graph, positions: Any) -> Floats:
    """Return a place per vertex, (n, 2): the given ones, or our own."""
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
    # The first axes of a volume are its slices: those go into depth.
    angles = 0.62 + 0.9 * np.arange(max(d - 3, 0))
    deeper = 0.3 * np.column_stack([np.cos(angles), np.sin(angles)])
    axes = np.concatenate([deeper, directions[2:], directions[:2]])[-d:]
    places: Floats = coordinates @ axes
    return places


def _layout(graph: Graph) -> Floats:
    """Lay out each component, the largest on top and the others in rows beneath it."""
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
    """Return positions whose distances resemble the distances in hops."""
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
    # The long axis lies flat, and signs are fixed, so that the picture is always the same.
    _, _, axes = np.linalg.svd(places, full_matrices=False)
    turned: Floats = places @ axes.T
    turned *= np.where(turned[np.abs(turned).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    return turned


def _majorise(places: Floats, hops: Floats, n_iterations: int = 200) -> Floats:
    """Lower the stress Σ (‖x_i - x_j‖ - d_ij)² / d_ij², by iterated linear least squares."""
    n = len(places)
    np.fill_diagonal(hops, 1.0)
    weights = hops**-2
    np.fill_diagonal(weights, 0.0)
    # Coinciding vertices (twins have the same distances) would never part: give each a nudge.
    places = places + 0.05 * np.random.default_rng(0).standard_normal((n, 2))
    inverse = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + 1 / n) - 1 / n
    for _ in range(n_iterations):
        distances = np.linalg.norm(places[:, np.newaxis] - places, axis=2)
        np.fill_diagonal(distances, 1.0)
        pull = weights * hops / np.maximum(distances, 1e-9)
        places = inverse @ (pull.sum(axis=1)[:, np.newaxis] * places - pull @ places)
    return places
