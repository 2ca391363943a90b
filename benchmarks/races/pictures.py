"""Plots of benchmarks: time to accuracy, performance profiles, cost against size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from graphtv.plot.style import COLOURS, GREY, INK, tidy
from races.contest import UNPROVED
from races.outcome import Outcome
from races.peer_process import OURS
from races.profile import performance_profile
from races.race_tables import peers_of
from races.tables import power

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PEER_COLOURS = (*COLOURS[1:6], GREY)
MARKERS = "sD^vP*X<>o"
DOTS_PER_INCH = 100
N_COLOURS = 128


def styles(peers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return colour and marker of each contestant; graphtv is dark and thick."""
    found: dict[str, dict[str, Any]] = {}
    for number, peer in enumerate(peer for peer in peers if not peer.startswith(OURS)):
        colour = PEER_COLOURS[number % len(PEER_COLOURS)]
        marker = MARKERS[number % len(MARKERS)]
        line = "-" if number < len(PEER_COLOURS) else "--"
        found[peer] = {"color": colour, "marker": marker, "linestyle": line, "linewidth": 1.3}
    found[OURS] = {"color": COLOURS[0], "marker": "o", "linewidth": 2.6, "zorder": 5}
    found[UNPROVED] = {"color": COLOURS[0], "marker": "", "linestyle": ":", "linewidth": 1.6}
    return {peer: style | {"markersize": 4} for peer, style in found.items()}


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure that can be saved without a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def png(figure: Figure) -> bytes:
    """Return the picture as a PNG with a palette, which is a third of the size."""
    from PIL import Image  # comes with matplotlib

    drawn, content = BytesIO(), BytesIO()
    figure.savefig(drawn, format="png", dpi=DOTS_PER_INCH)
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(N_COLOURS).save(content, format="png", optimize=True)
    return content.getvalue()


def finish(axes: Axes) -> None:
    """Apply the common style to axes, with small numbers."""
    tidy(axes)
    axes.tick_params(colors=INK, labelsize=8)


def curves(outcomes: Sequence[Outcome]) -> bytes:
    """Draw, for each problem, the seconds that contestants need to an accuracy."""
    shown = [outcome for outcome in outcomes if outcome.row(OURS) is not None]
    n_columns = min(3, len(shown))
    n_rows = math.ceil(len(shown) / n_columns)
    figure = new_figure(4.0 * n_columns, 2.6 * n_rows + 0.7)
    style = styles(peers_of(shown))
    handles: dict[str, Any] = {}
    for number, outcome in enumerate(shown):
        axes = figure.add_subplot(n_rows, n_columns, number + 1)
        for peer in reversed(peers_of(shown)):
            row = outcome.row(peer)
            if row is None or not row.figures:
                continue
            points = sorted(row.figures.items(), reverse=True)
            x, y = [a for a, _ in points], [figure.seconds for _, figure in points]
            handles[peer] = axes.loglog(x, y, **style[peer])[0]
        axes.invert_xaxis()
        many = f", {outcome.threads} threads" if outcome.threads > 1 else ""
        axes.set_title(outcome.title + many, fontsize=9, color=INK)
        if number >= len(shown) - n_columns:
            axes.set_xlabel("relative accuracy", fontsize=8)
        if number % n_columns == 0:
            axes.set_ylabel("seconds", fontsize=8)
        finish(axes)
    names = [peer for peer in peers_of(shown) if peer in handles]
    figure.legend(
        [handles[name] for name in names],
        names,
        loc="outside lower center",
        ncols=min(5, len(names)),
        frameon=False,
        fontsize=8,
    )
    return png(figure)


def profiles(outcomes: Sequence[Outcome], accuracies: Sequence[float]) -> bytes:
    """Draw the performance profile over all problems, a panel for each accuracy."""
    figure = new_figure(4.0 * len(accuracies), 3.6)
    peers = [peer for peer in peers_of(outcomes) if peer != UNPROVED]
    style = styles(peers)
    widest = 1.0
    panels = figure.subplots(1, len(accuracies), sharey=True, squeeze=False)[0]
    for axes, accuracy in zip(panels, accuracies, strict=True):
        instances = []
        for outcome in outcomes:
            known = {peer: outcome.seconds(peer, accuracy) for peer in peers}
            times = {peer: time for peer, time in known.items() if time is not None}
            if times:
                instances.append(times)
        found = performance_profile(instances)
        widest = max([widest, *(ratios[-1] for ratios in found.values())])
        for peer in reversed(peers):
            ratios = found.get(peer, np.empty(0))
            x = np.concatenate([[1.0], ratios, [1e6]])
            heights = np.arange(1, len(ratios) + 1) / max(len(instances), 1)
            y = np.concatenate([[0.0], heights, heights[-1:] if len(heights) else [0.0]])
            look = {k: v for k, v in style[peer].items() if k not in ("marker", "markersize")}
            axes.step(x, y, where="post", label=peer, **look)
        axes.set_title(f"to {power(accuracy)}", fontsize=9, color=INK)
        axes.set(xscale="log", ylim=(0.0, 1.03))
        axes.set_xlabel("time over that of the fastest, τ", fontsize=8)
        finish(axes)
    for axes in panels:
        axes.set_xlim(1.0, 2.0 * widest)
    panels[0].set_ylabel("share of the problems within τ", fontsize=8)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(
        handles[::-1], names[::-1], loc="outside lower center", ncols=5, frameon=False, fontsize=8
    )
    return png(figure)


def scaling(rows: Sequence[dict[str, Any]]) -> bytes:
    """Draw the cost of an iteration and of the exact solution against the number of elements."""
    figure = new_figure(9.0, 3.6)
    panels = figure.subplots(1, 2)
    for kind, colour, element in (
        ("grid", COLOURS[0], "vertex"),
        ("random graph", COLOURS[1], "edge"),
    ):
        for threads, line in zip(
            sorted({row["threads"] for row in rows}), ("o-", "s--", "^:", "v:"), strict=False
        ):
            mine = [row for row in rows if row["kind"] == kind and row["threads"] == threads]
            size = np.array([row["elements"] for row in mine])
            label = f"{kind}, per {element}" + (f", {threads} threads" if threads > 1 else "")
            for axes, column, unit in zip(
                panels, ("iteration_seconds", "exact_seconds"), (1e9, 1e6), strict=True
            ):
                cost = unit * np.array([row[column] for row in mine]) / size
                axes.plot(size, cost, line, color=colour, label=label, markersize=4)
    panels[0].set_ylabel("nanoseconds", fontsize=9)
    panels[1].set_ylabel("microseconds", fontsize=9)
    for axes, name in zip(
        panels, ("One iteration of descent", "Exact answer, whole call"), strict=True
    ):
        axes.set_title(name, fontsize=10, color=INK)
        axes.set_xlabel("vertices of grids, edges of random graphs", fontsize=9)
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, fontsize=8)
        finish(axes)
    return png(figure)


def chains(rows: Sequence[dict[str, Any]]) -> bytes:
    """Draw the time of the fastest peer on chains relative to graphtv, per signal and weight."""
    figure = new_figure(9.0, 3.6)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, what in zip(panels, ("uniform", "weighted"), strict=True):
        kinds = list(dict.fromkeys((row["chains"], row["signal"]) for row in rows))
        for number, (count, signal) in enumerate(kinds):
            mine = [row for row in rows if (row["chains"], row["signal"]) == (count, signal)]
            x, y = [row["weight"] for row in mine], [row[f"{what}_ratio"] for row in mine]
            n_signals = len(kinds) // len({count for count, _ in kinds})
            line = "o-" if number < n_signals else "s--"
            label = f"{signal}, {'one chain' if count == 1 else f'{count} chains'}"
            colour = COLOURS[number % n_signals]
            axes.loglog(x, y, line, color=colour, label=label, markersize=4, linewidth=1.2)
        axes.axhline(1.0, color=INK, linewidth=1.0)
        axes.set_title("One weight" if what == "uniform" else "A weight per edge", fontsize=10)
        axes.set_xlabel("weight", fontsize=9)
        finish(axes)
    panels[0].set_ylabel("prox_tv's fastest over graphtv", fontsize=9)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right center", frameon=False, fontsize=8)
    return png(figure)
