"""Plot forest partitions with one colour per forest and κ, as in Figure 1 of the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from graphtv._validate import Floats, as_choice
from graphtv.decomposition.condition import condition_number
from graphtv.decomposition.partition import METHODS, ForestPartition, decompose
from graphtv.graph.graph import Graph, as_graph
from graphtv.plot.layout import positions_of
from graphtv.plot.style import GREY, INK, axes_or_current, check_axes, palette, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

TITLES = {
    "none": "No preconditioning",
    "diagonal": "Diagonal preconditioning",
    "chains": "Chains",
    "linear": "Greedy linear forests",
    "nested": "Greedy nested forests",
    "matroid": "Matroid partitioning",
    "custom": "Forests",
}


def draw_partition(
    partition: ForestPartition, ax: Axes | None = None, positions: Any = None
) -> Axes:
    """Draw a graph with one colour per forest, and κ below.

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

    Examples
    --------
    >>> axes = draw_partition(decompose(grid_graph((6, 8))))  # doctest: +SKIP
    """
    if not isinstance(partition, ForestPartition):
        raise ValueError(f"partition must be a ForestPartition, got {partition!r}")
    places = positions_of(partition.graph, positions)
    check_axes(ax)
    axes = axes_or_current(ax)
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
        Figure to draw into; by default a new one of suitable size.

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
    places = positions_of(graph, positions)
    parts = [decompose(graph, name) if name in METHODS else name for name in methods]
    if figure is None:
        width, height = np.ptp(places, axis=0) + 1e-9 if len(places) else (1.0, 1.0)
        panel = 3.2 * min(max(float(height / width), 0.3), 1.6) + 0.6
        figure = pyplot().figure(figsize=(3.2 * len(methods), panel), layout="constrained")
    axes = figure.subplots(1, len(methods), squeeze=False)
    for ax, part in zip(axes[0], parts, strict=True):
        _draw(ax, graph, places, part)
    return figure


def _draw(ax: Axes, graph: Graph, places: Floats, part: ForestPartition | str) -> None:
    from matplotlib.collections import LineCollection

    lines = list(places[graph.edges])
    # Thinner lines for many edges, so that large graphs remain readable.
    width = min(1.8, max(0.3, 22 / math.sqrt(graph.n_edges + 1)))
    if isinstance(part, str):
        name, colours = part, [GREY] * graph.n_edges
    else:
        shades = palette(part.n_forests)
        name, colours = part.method, [shades[label] for label in part.labels]
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


def _kappa(graph: Graph, part: ForestPartition | str) -> str:
    """Return κ as text: exactly, such as √3, if a theorem gives it, otherwise as a decimal."""
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
