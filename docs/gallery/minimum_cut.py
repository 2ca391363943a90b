"""Separate coins from their background by minimum cuts, for all thresholds at once.

    python docs/gallery/minimum_cut.py [picture.png]

Needs scikit-image (for its photograph; without it the gallery draws ellipses) and matplotlib.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from graphtv import Graph, cut_path, gallery, grid_graph

THRESHOLD = 115  # grey value above which a pixel prefers the coin label
SMOOTHNESS, CONTRAST = 150, 30.0
SHIFTS = (50, 25, -15)
COLOURS = ("#ffd166", "#ef476f", "#118ab2")


def photograph(step: int) -> np.ndarray:
    """Return an image of grey values 0 … 255."""
    try:
        from skimage.data import coins
    except ImportError:
        noisy, _ = gallery.piecewise_constant_image((240 // step, 320 // step), rng=5)
        return np.clip(np.rint(255 * noisy), 0, 255).astype(int)
    return coins()[70:270:step, 20:370:step].astype(int)


def neighbours(image: np.ndarray) -> Graph:
    """Return the grid. A cut between similar neighbours costs more than one along an outline."""
    weights = [
        1 + np.rint(SMOOTHNESS * np.exp(-((np.diff(image, axis=axis) / CONTRAST) ** 2)))
        for axis in (0, 1)
    ]
    return grid_graph(image.shape, weights)


def main(output: Path, step: int = 1) -> None:
    """Save the picture to `output`, using every `step`-th pixel."""
    image = photograph(step)
    brightness = image.ravel() - THRESHOLD
    path = cut_path(neighbours(image), np.maximum(brightness, 0), np.maximum(-brightness, 0))
    cuts = {shift: path.cut(shift) for shift in SHIFTS}
    assert all(cut.certified for cut in cuts.values())

    figure = Figure(figsize=(10.4, 3.0), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.5, 1.5, 1])
    left.imshow(image, cmap="gray")
    for (shift, cut), colour in zip(cuts.items(), COLOURS, strict=True):
        inside = cut.source_side.reshape(image.shape)
        left.contour(inside, levels=[0.5], colors=colour, linewidths=1.2)
        left.plot([], [], color=colour, label=rf"$\theta={shift}$: value {cut.value}")
    left.legend(loc="lower left", fontsize=7, framealpha=0.85)
    left.set_title("three minimum cuts, proved in integers", fontsize=9)

    joins = path.result.u.reshape(image.shape)
    shown = middle.imshow(joins, cmap="magma")
    middle.set_title(f"where each pixel joins: {len(path)} nested cuts", fontsize=9)
    figure.colorbar(shown, ax=middle, shrink=0.75, label=r"breakpoint $\theta$")
    for axes in (left, middle):
        axes.set_axis_off()

    right.plot(path.breakpoints, path.sizes[:-1] / image.size, color="#444444")
    for shift, colour in zip(SHIFTS, COLOURS, strict=True):
        right.axvline(shift, color=colour, linewidth=1.5)
    right.set_xlim(path.breakpoints[-1], path.breakpoints[0])
    right.set_xlabel(r"$\theta$")
    right.set_ylabel("part on the coins' side")
    right.spines[["top", "right"]].set_visible(False)
    right.set_title("one solution, all thresholds", fontsize=9)
    FigureCanvasAgg(figure)
    figure.savefig(output, dpi=100)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("minimum_cut.png"))
