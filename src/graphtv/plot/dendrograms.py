"""Plot the hierarchy of convex clustering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphtv._validate import Floats, as_count
from graphtv.applications.learning.convex_clustering_path import ConvexClusteringPath
from graphtv.plot.style import COLOURS, GREY, INK, axes_or_current, check_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = list[tuple[float, float]]


def draw_dendrogram(
    path: ConvexClusteringPath, ax: Axes | None = None, *, n_clusters: int | None = None
) -> Axes:
    """Plot at which λ the clusters of a path fuse.

    Points are at the bottom. A horizontal line joins the clusters that fuse at its λ. Colours show
    the clusters of one solution, which a dashed line marks.

    Parameters
    ----------
    path : ConvexClusteringPath
        What `convex_clustering_path` returned.
    ax : matplotlib Axes, optional
        Where to draw; by default the current axes.
    n_clusters : int, optional
        Colour the first solution of the path with at least this number of clusters. By default the
        one that `ConvexClusteringPath.best` chooses.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> axes = draw_dendrogram(convex_clustering_path(X))  # doctest: +SKIP
    """
    if not isinstance(path, ConvexClusteringPath):
        raise ValueError(f"path must be a ConvexClusteringPath, got {path!r}")
    if n_clusters is None:
        chosen = path.best_index()
    else:
        least = as_count(n_clusters, "n_clusters", minimum=1)
        enough = np.flatnonzero(path.n_clusters >= least)
        chosen = int(enough[0]) if len(enough) else len(path) - 1
    check_axes(ax)
    axes = axes_or_current(ax)
    from matplotlib.collections import LineCollection

    rows = path.linkage()
    floor = float(path.lambdas[-1]) / 2
    at = float(path.lambdas[chosen])
    lines, points = _lines(rows, len(path.results[0].labels), floor)
    labels = path.results[chosen].labels
    colours = [
        INK if height > at else COLOURS[int(labels[point]) % len(COLOURS)]
        for (_, _, height, _), point in zip(rows.tolist(), points, strict=True)
        if np.isfinite(height)
    ]
    axes.add_collection(LineCollection(lines, colors=colours, linewidths=1.2))
    axes.set_yscale("log")
    axes.set_xlim(-1, len(labels))
    axes.set_ylim(floor, float(path.lambdas[0]) * 1.5)
    axes.axhline(at, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    count = path.results[chosen].n_clusters
    axes.set_title(f"{count} clusters at λ = {at:.3g}", loc="right", fontsize="medium", color=INK)
    axes.set_xticks([])
    axes.set_xlabel("points")
    axes.set_ylabel("λ")
    tidy(axes)
    return axes


def _lines(rows: Floats, n: int, floor: float) -> tuple[list[Points], list[int]]:
    """Return the three sides of each fusion, and a point of it."""
    place = np.empty(n + len(rows))
    place[_order(rows, n)] = np.arange(n)
    height = np.full(n + len(rows), floor)
    member = np.concatenate([np.arange(n), np.empty(len(rows), dtype=np.int64)])
    lines: list[Points] = []
    for k, (a, b, top, _) in enumerate(rows.tolist()):
        i, j, new = int(a), int(b), n + k
        place[new], height[new], member[new] = (place[i] + place[j]) / 2, top, member[i]
        if np.isfinite(top):
            sides = [(place[i], height[i]), (place[i], top), (place[j], top), (place[j], height[j])]
            lines.append([(float(x), float(y)) for x, y in sides])
    return lines, [int(point) for point in member[n:]]


def _order(rows: Floats, n: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the points such that each cluster is a range."""
    order: list[int] = []
    waiting = [n + len(rows) - 1] if len(rows) else [0]
    while waiting:
        cluster = waiting.pop()
        if cluster < n:
            order.append(cluster)
        else:
            waiting += [int(rows[cluster - n, 1]), int(rows[cluster - n, 0])]
    return np.array(order, dtype=np.int64)
