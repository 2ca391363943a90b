"""Convergence plots that several experiments use; files are written atomically."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphtv._atomic import replaced
from graphtv.plot import COLOURS, GREY, INK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST_GAP = 1e-16
"""Smaller gaps, including 0, are drawn at this value."""

STYLES: dict[str, tuple[str, str]] = {
    "none": (GREY, "-"),
    "diagonal": (COLOURS[3], "-"),
    "linear": (COLOURS[0], "-"),
    "chains": (COLOURS[0], "-"),
    "nested": (COLOURS[1], "-"),
    "matroid": (COLOURS[2], "-"),
    "auto": (INK, "--"),
}
"""Colour and line of each preconditioner, the same in all pictures."""

LABELS = {
    "none": "none",
    "diagonal": "diagonal",
    "linear": "linear forests",
    "chains": "chains",
    "nested": "nested forests",
    "matroid": "matroid",
    "auto": "our default",
}


@contextmanager
def picture(path: Path, width: float, height: float) -> Iterator[Figure]:
    """Yield a figure of this size in inches, and write it as PNG if the block succeeds."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    ink = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    style: dict[Any, Any] = {
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        **dict.fromkeys(ink, INK),
    }
    with rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        yield figure
        content = BytesIO()
        figure.savefig(content, format="png", dpi=110)
    with replaced(path) as file:
        file.write(content.getvalue())


def draw_gaps(
    ax: Axes,
    curves: Mapping[str, Sequence[Sequence[float]]],
    by: str,
    tolerance: float | None = None,
) -> None:
    """Plot relative gaps over iterations or seconds, on logarithmic axes.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw.
    curves : mapping
        By preconditioner, triples of iteration, seconds and relative gap.
    by : {'iterations', 'seconds'}
        The horizontal axis.
    tolerance : float, optional
        Marked by a line.
    """
    column = ("iterations", "seconds").index(by)
    for name, triples in curves.items():
        points = [(t[column], max(t[2], LEAST_GAP)) for t in triples if t[column] > 0]
        if not points:
            continue
        colour, line = STYLES[name]
        style: dict[str, Any] = {"color": colour, "linestyle": line, "linewidth": 1.8}
        marker = "o" if len(points) == 1 else None
        ax.plot(*zip(*points, strict=True), label=LABELS[name], marker=marker, **style)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.minorticks_off()  # they would take most of the drawing time
    if tolerance is not None:
        ax.axhline(tolerance, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    ax.set_xlabel(by)
    ax.grid(True, color="#E3E5E8", linewidth=0.6)


def share_legend(figure: Figure, axes: Any) -> None:
    """Add one legend for all axes above them."""
    handles = {}
    for ax in axes.flat:
        handles.update(dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True)))
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside upper center",
        ncols=len(handles),
        frameon=False,
    )
