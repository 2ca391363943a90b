"""Colours, and what all pictures ask of matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442")
"""Okabe and Ito's colours, which people with any colour vision can tell apart."""

GREY = "#8A8F98"
INK = "#22262B"

FAINT = "#E3E5E8"
"""Of grid lines."""


def pyplot() -> Any:
    """Return matplotlib's pyplot, or say what is missing."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('drawing needs matplotlib: pip install "graphtv[plot]"') from error
    return pyplot


def check_axes(ax: Any) -> None:
    """Raise if this is something else than axes or None."""
    if ax is not None and not hasattr(ax, "add_collection"):
        raise ValueError(f"ax must be matplotlib axes, got {ax!r}")


def axes_or_current(ax: Axes | None) -> Axes:
    """Return the axes, or the current ones."""
    axes: Axes = pyplot().gca() if ax is None else ax
    return axes


def palette(n: int) -> list[Any]:
    """Return n colours."""
    if n <= len(COLOURS):
        return list(COLOURS[:n])
    from matplotlib import colormaps

    return list(colormaps["viridis"](np.linspace(0, 1, n)))


def tidy(ax: Any) -> None:
    """Leave two spines and a faint grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
