"""Contrast between neighbouring pixels: colours in which it is measured, and weights from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtv._elementary import exp
from graphtv._validate import Floats
from graphtv.graph.graph import Graph
from graphtv.graph.grid import grid_graph, stepped_graph
from graphtv.graph.neighbourhood import crofton_weights, neighbour_steps, step_slices

__all__ = ["contrast_graph", "opponent"]

HUE = 2.0
"""Weight of opponent colours relative to lightness."""


def opponent(pixels: Floats) -> Floats:
    """Return RGB as lightness and two opponent colours; other channels are unchanged.

    Hue distinguishes classes better than lightness does. The transformation is orthogonal up to
    scaling: lightness is a mean, and opponent colours are multiplied by HUE. It is linear, so the
    scale of the image does not matter. CIELAB is similar, but would need to know the scale.
    """
    if pixels.shape[-1] != 3:
        return pixels
    red, green, blue = np.moveaxis(pixels, -1, 0)
    lightness = (red + green + blue) / 3.0
    return np.stack(
        [lightness, HUE * (red - green) / 2**0.5, HUE * (red + green - 2.0 * blue) / 6**0.5],
        axis=-1,
    )


def contrast_graph(pixels: Floats, xi: float, connectivity: Any) -> Graph:
    """Return the pixel graph with ω = exp(-ξ‖I_i - I_j‖²), where the mean of ‖I_i - I_j‖² is 4.

    With diagonals, the weights are multiplied by those of the Cauchy-Crofton formula.
    """
    shape = pixels.shape[:-1]
    steps = neighbour_steps(connectivity, len(shape))
    pairs = [step_slices(shape, step) for step in steps]
    squares = [((pixels[a] - pixels[b]) ** 2).sum(axis=-1) for a, b in pairs]
    n_edges = sum(square.size for square in squares)
    mean = sum(float(square.sum()) for square in squares) / max(n_edges, 1)
    factor = 4.0 * xi / mean if mean > 0.0 else 0.0
    weights = [exp(-factor * square) for square in squares]
    if len(steps) == len(shape):
        return grid_graph(shape, weights)
    lengths = crofton_weights(tuple(steps), (1.0,) * len(shape))
    scaled = [length * omega for length, omega in zip(lengths, weights, strict=True)]
    return stepped_graph(shape, steps, scaled)
