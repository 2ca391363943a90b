"""Plot regularisation paths of the fused lasso and the criteria that choose λ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphtv._validate import as_array, as_choice, as_count
from graphtv.applications.fused.fused_lasso_path import CRITERIA, FusedLassoPath
from graphtv.plot.style import COLOURS, GREY, INK, axes_or_current, check_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 200
"""Number of vertices to draw by default, evenly selected."""


def draw_path(
    path: FusedLassoPath,
    ax: Axes | None = None,
    *,
    vertices: Any = None,
    criterion: str | None = "bic",
    channel: int = 0,
    cmap: str = "viridis",
) -> Axes:
    """Plot the solutions of a fused lasso over λ.

    Parameters
    ----------
    path : FusedLassoPath
        What `fused_lasso_path` returned.
    ax : matplotlib Axes, optional
        Where to draw; by default the current axes.
    vertices : array_like of int, optional
        The vertices to draw; by default all, or 200 evenly selected ones.
    criterion : str or None
        The criterion whose choice is marked by a line; see `FusedLassoPath.best_index`.
    channel : int, optional
        The column to draw, if the signal has several.
    cmap : str, optional
        Matplotlib colour map for the values at the smallest λ.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> axes = draw_path(fused_lasso_path(graph, signal), criterion="bic")  # doctest: +SKIP
    """
    _check_path(path)
    chosen = None if criterion is None else as_choice(criterion, "criterion", CRITERIA)
    u = path.u
    if u.ndim == 3:
        u = u[:, :, as_count(channel, "channel", maximum=u.shape[2] - 1)]
    n = u.shape[1]
    if vertices is None:
        shown = np.unique(np.linspace(0, n - 1, min(n, MOST_LINES)).round().astype(int))
    else:
        shown = np.atleast_1d(as_array(vertices, "vertices"))
        if shown.dtype.kind not in "ui" or ((shown < 0) | (shown >= n)).any():
            raise ValueError(f"vertices must be integers in [0, {n}), got {vertices!r}")
    at = None if chosen is None else path.best_lambda(chosen)
    check_axes(ax)
    axes = axes_or_current(ax)
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    lines = [np.column_stack([path.lambdas, u[:, v]]) for v in shown]
    last = u[-1, shown]
    ranks = np.argsort(np.argsort(last, kind="stable")) / max(len(shown) - 1, 1)
    width = min(1.6, max(0.5, 24 / len(shown) ** 0.5 / 2))
    axes.add_collection(
        LineCollection(lines, colors=list(colormaps[cmap](0.05 + 0.85 * ranks)), linewidths=width)
    )
    axes.set_xscale("log")
    axes.autoscale_view()
    axes.margins(x=0.02)
    if at is not None and chosen is not None:
        _mark(axes, at, f"{chosen.upper()}: λ = {at:.3g}")
    axes.set_xlabel("λ")
    axes.set_ylabel("fused value")
    tidy(axes)
    return axes


def draw_criterion(path: FusedLassoPath, ax: Axes | None = None, *, criterion: str = "bic") -> Axes:
    """Plot a criterion over λ and mark the λ that it chooses.

    Parameters
    ----------
    path : FusedLassoPath
        What `fused_lasso_path` returned.
    ax : matplotlib Axes, optional
        Where to draw; by default the current axes.
    criterion : {'bic', 'aic', 'gcv', 'cv', 'cv_1se'}
        The criterion. Cross-validation is drawn with a band of one standard error.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> axes = draw_criterion(fused_lasso_path(graph, signal), criterion="aic")  # doctest: +SKIP
    """
    _check_path(path)
    name = as_choice(criterion, "criterion", CRITERIA)
    is_cv = name.startswith("cv")
    values = path.cv_mean if is_cv else getattr(path, name)
    at = path.best_lambda(name)
    check_axes(ax)
    axes = axes_or_current(ax)
    finite = np.isfinite(values)
    axes.semilogx(
        path.lambdas[finite], values[finite], "o-", color=COLOURS[0], markersize=3, linewidth=1.6
    )
    if is_cv:
        low, high = values - path.cv_std, values + path.cv_std
        axes.fill_between(path.lambdas, low, high, color=COLOURS[0], alpha=0.18, linewidth=0)
    df = int(path.df[path.best_index(name)])
    _mark(axes, at, f"λ = {at:.3g}, df = {df}")
    axes.set_xlabel("λ")
    axes.set_ylabel("cross-validation error" if is_cv else name.upper())
    tidy(axes)
    return axes


def _check_path(path: Any) -> None:
    if not isinstance(path, FusedLassoPath):
        raise ValueError(f"path must be a FusedLassoPath, got {path!r}")


def _mark(axes: Any, at: float, text: str) -> None:
    """Draw a labelled line at a λ."""
    axes.axvline(at, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_title(text, loc="right", fontsize="medium", color=INK)
