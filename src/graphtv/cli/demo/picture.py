"""The figure of the demonstration: images at the top, then plots, then forests."""

from __future__ import annotations

from io import BytesIO
from typing import Any, NamedTuple

from graphtv._validate import Floats
from graphtv.applications.cuts.min_cut import Cut
from graphtv.gallery.examples import CLASSES, COLOURS, Pipes, Scene
from graphtv.graph.graph import Graph
from graphtv.result import Result

LEAST_GAP = 1e-16
"""Smaller gaps, including 0, are drawn at this value."""

METHODS = ("linear", "nested", "matroid")


class Findings(NamedTuple):
    """All results of the demonstration."""

    noisy: Floats
    denoised: Floats
    runs: tuple[Result, Result]
    scene: Scene
    labels: Any
    pipes: Pipes
    cut: Cut
    race: dict[str, Result]
    graph: Graph
    positions: Floats


def picture(found: Findings, suffix: str) -> bytes:
    """Return the content of a figure file in this format."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from graphtv.plot import INK, draw_convergence, draw_labels, draw_partitions

    ink = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    style: dict[Any, Any] = {"font.size": 10, "axes.titlesize": 11, **dict.fromkeys(ink, INK)}
    with rc_context(style):
        figure = Figure(figsize=(12.6, 9.6), layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        bands: Any = figure.subfigures(3, 1, hspace=0.04, height_ratios=[2.55, 3.4, 3.65])
        noisy, denoised, scribbled, segmented = bands[0].subplots(
            1, 4, width_ratios=[1, 1, 1.5, 1.5], gridspec_kw={"wspace": 0.04}
        )
        for ax, image, title in (
            (noisy, found.noisy, "An image with noise"),
            (denoised, found.denoised, "Denoised, exactly"),
        ):
            ax.imshow(image, cmap="magma", vmin=-0.1, vmax=1.0, interpolation="nearest")
            ax.set_title(title)
            ax.set_axis_off()
        scene, everything = found.scene, 0 * found.labels
        draw_labels(scene.image, everything, scribbled, colours=["white"], opacity=0.0)
        _draw_scribbles(scribbled, scene)
        scribbled.set_title("Scribbles")
        draw_labels(scene.image, found.labels, segmented, colours=COLOURS)
        segmented.set_title(f"Segmented: {', '.join(CLASSES)}")

        gap, race, cut = bands[1].subplots(1, 3, gridspec_kw={"wspace": 0.06})
        _draw_gap(gap, *found.runs)
        draw_convergence(found.race, race)
        race.set_xscale("log")
        race.minorticks_off()
        race.set_title("Race of preconditioners: certified gap")
        race.set_ylabel("")
        _draw_cut(cut, found.pipes, found.cut)
        draw_partitions(found.graph, ("none", *METHODS), found.positions, figure=bands[2])
        content = BytesIO()
        figure.savefig(content, format=suffix, dpi=90, bbox_inches="tight", pad_inches=0.1)
    return content.getvalue()


def _draw_scribbles(ax: Any, scene: Scene) -> None:
    """Draw the strokes in the colours of their classes, with a white outline."""
    rows, columns = scene.scribbles.nonzero()
    colours = [COLOURS[number - 1] for number in scene.scribbles[rows, columns]]
    ax.scatter(columns, rows, s=12, c="white", linewidths=0)
    ax.scatter(columns, rows, s=5, c=colours, linewidths=0)


def _draw_gap(ax: Any, first: Result, exact: Result) -> None:
    """Plot the gap over iterations, for the first run and the exact run that continues it."""
    from graphtv.plot import COLOURS, GREY
    from graphtv.plot.style import tidy

    last: list[tuple[float, float]] = []  # end of the previous run
    for result, colour in zip((first, exact), COLOURS, strict=False):
        before = last[0][0] if last else 0.0
        points = last + [
            (before + record.iteration, max(record.relative_gap, LEAST_GAP))
            for record in result.history
        ]
        ax.semilogy(*zip(*points, strict=True), color=colour, linewidth=2, label=result.method)
        last = points[-1:]
    ax.legend(loc="lower left", frameon=False)
    ax.minorticks_off()
    ax.axhline(first.tolerance, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    ax.set_title("Denoising: certified gap")
    ax.set_xlabel("iteration")
    tidy(ax)


def _draw_cut(ax: Any, pipes: Pipes, cut: Cut) -> None:
    """Draw the pipes with a line width given by their capacity, and the cut in red."""
    from matplotlib.collections import LineCollection

    from graphtv.plot import COLOURS

    tails, heads = pipes.graph.edges.T
    is_cut = cut.source_side[tails] != cut.source_side[heads]
    colours = ["#D55E00" if yes else "#C3C8CE" for yes in is_cut]
    lines = list(pipes.positions[pipes.graph.edges])
    widths = 0.4 + 0.45 * pipes.graph.weights
    ax.add_collection(LineCollection(lines, colors=colours, linewidths=widths, capstyle="round"))
    sides = [COLOURS[0] if side else COLOURS[1] for side in cut.source_side]
    ax.scatter(*pipes.positions.T, s=26, c=sides, linewidths=0, zorder=3)
    ax.set_aspect("equal")
    ax.margins(0.03)
    ax.set_axis_off()
    ax.set_title(f"Minimum cut of a network: {cut.value}, exactly")
