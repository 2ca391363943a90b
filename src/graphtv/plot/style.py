"""Colours and common matplotlib helpers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442")
"""The colours of Okabe and Ito, which are safe for colour-blind readers."""

GREY = "#8A8F98"
INK = "#22262B"

FAINT = "#E3E5E8"
"""Style of grid lines."""


def pyplot() -> Any:
    """Return matplotlib.pyplot; raise ImportError with instructions if it is missing."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('drawing needs matplotlib: pip install "graphtv[plot]"') from error
    return pyplot


def check_axes(ax: Any) -> None:
    """Raise if `ax` is neither axes nor None."""
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
    """Keep two spines and add a faint grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
