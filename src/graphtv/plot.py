"""Pictures of forest partitions: one colour per forest, κ beneath, as in Figure 1 of the paper.

Grids are drawn at their coordinates, other graphs where the caller says or by a layout of our own:
distances in hops are reproduced in the plane as well as they can be, first by pivot scaling
(Brandes and Pich, 2006), then for small graphs by stress majorisation (Gansner, Koren and North,
2004).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from scipy.sparse import csgraph

from graphtv._validate import Floats, as_choice, as_floats
from graphtv.condition import condition_number
from graphtv.decomposition import METHODS, ForestPartition, decompose
from graphtv.graph import Graph, as_graph
from graphtv.grid import recognize_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442")
"""Okabe and Ito's colours, which people with any colour vision can tell apart."""

GREY = "#8A8F98"
INK = "#22262B"

TITLES = {
    "none": "No preconditioning",
    "diagonal": "Diagonal preconditioning",
    "chains": "Chains",
    "linear": "Greedy linear forests",
    "nested": "Greedy nested forests",
    "matroid": "Matroid partitioning",
    "custom": "Forests",
}

MAJORISATION_LIMIT = 1000
"""Up to this many vertices all pairs of distances take part in the layout."""


def draw_partition(
    partition: ForestPartition, ax: Axes | None = None, positions: Any = None
) -> Axes:
    """Draw a graph with one colour per forest, and κ beneath.

    Parameters
    ----------
    partition : ForestPartition
        The partition to draw.
    ax : matplotlib Axes, optional
        Where to draw; by default the current axes.
    positions : array_like, shape (n_vertices, 2), optional
        Where the vertices are.

    Returns
    -------
    matplotlib Axes
    """
    if not isinstance(partition, ForestPartition):
        raise ValueError(f"partition must be a ForestPartition, got {partition!r}")
    places = _positions(partition.graph, positions)
    _check_axes(ax)
    pyplot = _pyplot()
    axes = pyplot.gca() if ax is None else ax
    _draw(axes, partition.graph, places, partition)
    return axes


def draw_partitions(
    graph: Graph,
    methods: Sequence[str] = ("none", "linear", "nested", "matroid"),
    positions: Any = None,
    figure: Figure | SubFigure | None = None,
) -> Figure | SubFigure:
    """Draw a graph once per preconditioner, side by side.

    Parameters
    ----------
    graph : Graph
        The graph to draw.
    methods : sequence of str
        ``"none"``, ``"diagonal"`` and methods of `decompose`.
    positions : array_like, shape (n_vertices, 2), optional
        Where the vertices are.
    figure : matplotlib Figure or SubFigure, optional
        Where to draw; by default a new figure of a fitting size.

    Returns
    -------
    matplotlib Figure or SubFigure

    Examples
    --------
    >>> figure = draw_partitions(grid_graph((6, 8)), ("none", "chains"))  # doctest: +SKIP
    """
    as_graph(graph)
    if isinstance(methods, str) or not isinstance(methods, Sequence) or not methods:
        raise ValueError(f"methods must be a sequence of at least one name, got {methods!r}")
    for method in methods:
        as_choice(method, "methods", ("none", "diagonal", *METHODS))
    if figure is not None and not hasattr(figure, "subplots"):
        raise ValueError(f"figure must be a matplotlib figure, got {figure!r}")
    places = _positions(graph, positions)
    parts = [decompose(graph, name) if name in METHODS else name for name in methods]
    pyplot = _pyplot()
    if figure is None:
        width, height = np.ptp(places, axis=0) + 1e-9 if len(places) else (1.0, 1.0)
        panel = 3.2 * min(max(float(height / width), 0.3), 1.6) + 0.6
        figure = pyplot.figure(figsize=(3.2 * len(methods), panel), layout="constrained")
    axes = figure.subplots(1, len(methods), squeeze=False)
    for ax, part in zip(axes[0], parts, strict=True):
        _draw(ax, graph, places, part)
    return figure


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('drawing needs matplotlib: pip install "graphtv[plot]"') from error
    return pyplot


def _check_axes(ax: Any) -> None:
    if ax is not None and not hasattr(ax, "add_collection"):
        raise ValueError(f"ax must be matplotlib axes, got {ax!r}")


def _draw(ax: Axes, graph: Graph, places: Floats, part: ForestPartition | str) -> None:
    from matplotlib.collections import LineCollection

    lines = list(places[graph.edges])
    # Thin lines for many edges, so that a picture of thousands is still a picture.
    width = min(1.8, max(0.3, 22 / math.sqrt(graph.n_edges + 1)))
    if isinstance(part, str):
        name, colours = part, [GREY] * graph.n_edges
    else:
        palette = _palette(part.n_forests)
        name, colours = part.method, [palette[label] for label in part.labels]
    ax.add_collection(LineCollection(lines, colors=colours, linewidths=width, capstyle="round"))
    size = min(14.0, max(0.2, 1200 / (graph.n_vertices + 1)))
    ax.scatter(places[:, 0], places[:, 1], s=size, c=INK, linewidths=0, zorder=3)
    ax.set_aspect("equal")
    ax.margins(0.04)
    ax.set_axis_off()
    label = f"{TITLES[name]}\n{_kappa(graph, part)}" if graph.n_edges else TITLES[name]
    ax.text(
        0.5, -0.01, label, transform=ax.transAxes, ha="center", va="top", color=INK, linespacing=1.4
    )


def _palette(n_forests: int) -> list[Any]:
    if n_forests <= len(COLOURS):
        return list(COLOURS[:n_forests])
    from matplotlib import colormaps

    return list(colormaps["viridis"](np.linspace(0, 1, n_forests)))


def _kappa(graph: Graph, part: ForestPartition | str) -> str:
    """Return κ as one would write it: √3 where a theorem says so, 5.13 elsewhere."""
    value = condition_number(graph, part)
    scaled = {"none": "K", "diagonal": "T^{-1/2}KS^{-1/2}"}
    name = scaled[part] if isinstance(part, str) else "T^{-1/2}K"
    if isinstance(part, ForestPartition) and part.condition_number is not None:
        square = Fraction(value**2).limit_denominator(max(part.n_spanning, 1))
        root = math.isqrt(square.numerator)
        if square.denominator == 1 and root * root == square.numerator:
            return rf"$\kappa({name}) = {root}$"
        return rf"$\kappa({name}) = \sqrt{{{square}}}$"
    return (
        rf"$\kappa({name}) = {value:.3g}$" if value >= 1e4 else rf"$\kappa({name}) = {value:.2f}$"
    )


def _positions(graph: Graph, positions: Any) -> Floats:
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
