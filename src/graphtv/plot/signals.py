"""Plot signals on graphs: maps, meshes and graphs without positions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats, as_array, as_choice, as_edges, as_flag, as_floats
from graphtv.graph.graph import Graph, as_graph
from graphtv.graph.labelled import in_order
from graphtv.plot.layout import positions_of
from graphtv.plot.style import INK, axes_or_current, check_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EDGES = ("auto", "all", "jumps", "none")

DOT = 1.0
"""Diameter of a dot relative to the distance of its neighbours, within the limits below."""

DOT_SIZES = (0.6, 60.0)

MOST_EDGES = 5000
"""Up to this many edges are drawn by default."""


def draw_signal(
    graph: Graph,
    signal: Any,
    positions: Any = None,
    ax: Axes | None = None,
    *,
    triangles: Any = None,
    geographic: bool = False,
    view: tuple[float, float] = (20.0, -60.0),
    edges: str = "auto",
    cmap: str = "viridis",
    limits: tuple[float, float] | None = None,
    label: str | None = None,
    colorbar: bool = True,
) -> Axes:
    """Draw the values at the vertices of a graph as colours.

    Parameters
    ----------
    graph : Graph
        The graph.
    signal : array_like of shape (n,), pandas, xarray, dict or str
        The values, matched with the names of the graph as in `fused_lasso`; NaN is drawn in grey.
    positions : array_like, shape (n, 2) or (n, 3), optional
        Positions of the vertices in 2-D (possibly longitude and latitude) or 3-D. By default they
        are the coordinates of a grid, or a layout computed from the distances in the graph.
    ax : matplotlib Axes, optional
        Where to draw; by default the current axes.
    triangles : array_like of int, shape (t, 3), optional
        The faces of a mesh, which are coloured instead of dots.
    geographic : bool, optional
        Whether positions are longitude and latitude. The aspect ratio is then that of the middle
        latitude.
    view : (elevation, azimuth), optional
        Direction of view for 3-D positions, in degrees.
    edges : {'auto', 'all', 'jumps', 'none'}
        Which edges to draw. If the signal is piecewise constant, edges along which it jumps are
        dark and the others are faint. ``auto`` draws all edges of a small graph.
    cmap : str, optional
        Matplotlib colour map.
    limits : (low, high), optional
        Values at the ends of the colour map; by default the minimum and the maximum.
    label : str, optional
        Label of the colour bar.
    colorbar : bool, optional
        Whether to draw a colour bar.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from graphtv import datasets
    >>> data = datasets.us_counties()  # doctest: +SKIP
    >>> draw_signal(
    ...     data.graph, data.unemployment, data.coordinates, geographic=True
    ... )  # doctest: +SKIP
    """
    n = as_graph(graph).n_vertices
    values = _as_values(in_order(signal, "signal", graph), n)
    style = as_choice(edges, "edges", EDGES)
    is_map = as_flag(geographic, "geographic")
    faces = None if triangles is None else _as_triangles(triangles, n)
    places, depth = _places(graph, positions, view)
    low, high = _limits(values, limits)
    check_axes(ax)
    axes = axes_or_current(ax)
    scale: dict[str, Any] = {"cmap": cmap, "clim": (low, high)}
    if faces is not None:
        drawn = _draw_faces(axes, places, depth, faces, values, scale)
    else:
        _draw_edges(axes, graph, places, values, style)
        drawn = _draw_dots(axes, graph, places, depth, values, scale)
    axes.set_aspect(_aspect(places) if is_map else "equal")
    axes.margins(0.03)
    axes.autoscale_view()
    axes.set_axis_off()
    if as_flag(colorbar, "colorbar"):
        bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.7, pad=0.02, label=label or "")
        bar.outline.set_visible(False)
    return axes


def _as_values(signal: Any, n: int) -> Floats:
    values = as_array(signal, "signal")
    if values.shape != (n,) or values.dtype.kind not in "buif":
        raise ValueError(
            f"signal must be real numbers of shape ({n},), got {values.dtype} of shape"
            f" {values.shape}"
        )
    return np.asarray(values, dtype=np.float64)


def _as_triangles(triangles: Any, n: int) -> NDArray[Any]:
    faces = as_array(triangles, "triangles")
    if faces.ndim != 2 or faces.shape[1] != 3:
        raise ValueError(f"triangles must have shape (t, 3), got {faces.shape}")
    as_edges(faces[:, :2], "triangles", n)
    as_edges(faces[:, 1:], "triangles", n)
    return faces


def _places(
    graph: Graph, positions: Any, view: tuple[float, float]
) -> tuple[Floats, Floats | None]:
    """Return positions in the plane and, for 3-D positions, their depth."""
    if positions is None or np.shape(positions)[-1:] != (3,):
        return positions_of(graph, positions), None
    points = as_floats(positions, "positions")
    if points.shape != (graph.n_vertices, 3):
        raise ValueError(f"positions must have shape ({graph.n_vertices}, 3), got {points.shape}")
    elevation, azimuth = np.deg2rad(as_floats(view, "view"))
    towards = np.array(
        [
            math.cos(elevation) * math.cos(azimuth),
            math.cos(elevation) * math.sin(azimuth),
            math.sin(elevation),
        ]
    )
    right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    up = np.cross(towards, right)
    return points @ np.stack([right, up], axis=1), points @ towards


def _limits(values: Floats, limits: Any) -> tuple[float, float]:
    if limits is not None:
        low, high = as_floats(limits, "limits")
        return float(low), float(high)
    known = values[np.isfinite(values)]
    if not known.size:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _draw_faces(
    axes: Any,
    places: Floats,
    depth: Floats | None,
    faces: NDArray[Any],
    values: Floats,
    scale: dict[str, Any],
) -> Any:
    """Draw triangles, the farthest first; a 3-D mesh is shaded."""
    from matplotlib.collections import PolyCollection

    order, light = np.arange(len(faces)), None
    if depth is not None:
        order = np.argsort(depth[faces].mean(axis=1), kind="stable")
        corners = np.concatenate([places, depth[:, None]], axis=1)[faces[order]]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        lengths = np.maximum(np.linalg.norm(normals, axis=1), 1e-300)
        light = 0.55 + 0.45 * np.abs(normals[:, 2]) / lengths
    means = values[faces[order]].mean(axis=1)
    drawn = PolyCollection(list(places[faces[order]]), array=means, edgecolors="face", **scale)
    drawn.set_linewidth(0.2)
    axes.add_collection(drawn)
    if light is None:
        return drawn
    shades = drawn.to_rgba(means)
    shades[:, :3] *= light[:, None]
    axes.add_collection(
        PolyCollection(list(places[faces[order]]), facecolors=shades, edgecolors=shades, lw=0.2)
    )
    return drawn


def _draw_edges(axes: Any, graph: Graph, places: Floats, values: Floats, style: str) -> None:
    from matplotlib.collections import LineCollection

    is_small = graph.n_edges <= MOST_EDGES
    tails, heads = graph.edges.T
    jumps = values[tails] != values[heads]
    # If nearly every edge is a jump, there are no pieces to distinguish.
    has_pieces = 2 * int(jumps.sum()) < graph.n_edges
    width = min(1.2, max(0.15, 18 / math.sqrt(graph.n_edges + 1)))
    if style == "all" or (style == "auto" and is_small):
        lines = places[graph.edges[~jumps] if has_pieces else graph.edges]
        axes.add_collection(LineCollection(list(lines), colors="#C3C8CE", linewidths=width))
    if style == "jumps" or (style != "none" and has_pieces and (style == "all" or is_small)):
        lines = places[graph.edges[jumps]]
        axes.add_collection(LineCollection(list(lines), colors=INK, linewidths=1.6 * width))


def _draw_dots(
    axes: Any,
    graph: Graph,
    places: Floats,
    depth: Floats | None,
    values: Floats,
    scale: dict[str, Any],
) -> Any:
    sizes = _dot_sizes(axes, graph, places)
    order = np.arange(len(places)) if depth is None else np.argsort(depth, kind="stable")
    unknown = np.isnan(values[order])
    grey, known = order[unknown], order[~unknown]
    if len(grey):
        axes.scatter(*places[grey].T, s=sizes[grey], c="#B5BAC1", linewidths=0, zorder=3)
    low, high = scale["clim"]
    return axes.scatter(
        *places[known].T,
        s=sizes[known],
        c=values[known],
        cmap=scale["cmap"],
        vmin=low,
        vmax=high,
        linewidths=0,
        zorder=3,
    )


def _dot_sizes(axes: Any, graph: Graph, places: Floats) -> Floats:
    """Return the areas of the dots in points², given by the distances of neighbours."""
    n = len(places)
    if not n:
        return np.empty(0)
    tails, heads = graph.edges.T
    lengths = np.linalg.norm(places[tails] - places[heads], axis=1)
    total = np.bincount(tails, lengths, n) + np.bincount(heads, lengths, n)
    degree = np.bincount(tails, minlength=n) + np.bincount(heads, minlength=n)
    usual = float(np.median(lengths)) if len(lengths) else 1.0
    spacing = np.where(degree > 0, total / np.maximum(degree, 1), usual)
    room = np.asarray(axes.get_window_extent().size) * 72.0 / axes.figure.dpi
    points_per_unit = float((room / np.maximum(np.ptp(places, axis=0), 1e-12)).min())
    sizes: Floats = np.clip((DOT * spacing * points_per_unit) ** 2, *DOT_SIZES)
    return sizes


def _aspect(places: Floats) -> float:
    """Return the length of a degree of latitude relative to one of longitude."""
    if not len(places):
        return 1.0
    middle = 0.5 * float(places[:, 1].min() + places[:, 1].max())
    return 1.0 / max(math.cos(math.radians(middle)), 0.05)
