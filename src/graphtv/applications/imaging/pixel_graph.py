"""The graph of the pixels of an image: neighbours and edge weights.

Four neighbours in 2-D (2d in d dimensions) give the anisotropic total variation, with the edge
weight weight / spacing along each axis. Larger neighbourhoods have the weights of the
Cauchy-Crofton formula, see `graph/neighbourhood.py`. They are scaled such that a given `weight`
smooths equally with every neighbourhood.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphtv._validate import (
    Floats,
    as_array,
    as_real,
    as_weights,
    moderate,
)
from graphtv.graph.graph import Graph
from graphtv.graph.grid import as_spacing, grid_graph, stepped_graph, weights_of_axes
from graphtv.graph.neighbourhood import crofton_weights, neighbour_steps, step_slices


def pixel_graph(
    shape: tuple[int, ...],
    weight: Any,
    spacing: Any,
    connectivity: Any,
    *,
    isotropic: bool = False,
) -> Graph:
    """Return the graph of the pixels of an image, in row-major order.

    Parameters
    ----------
    shape : tuple of int
        Lengths of the axes.
    weight : float, ndarray or list
        One number, an array with a number per pixel (an edge takes the mean of its ends), or a
        list with one number or array per axis as in `grid_graph`.
    spacing : float, sequence of float or None
        Distance between neighbouring pixels along each axis.
    connectivity : int
        How many coordinates of a neighbour may differ, or the number of neighbours.
    isotropic : bool
        Let the edges that leave a pixel in forward direction have its weight, not the mean.
    """
    distances = as_spacing(spacing, len(shape))
    steps = neighbour_steps(connectivity, len(shape))
    if len(steps) == len(shape):
        parts = _axis_weights(weight, shape, isotropic)
        return grid_graph(shape, [w / h for w, h in zip(parts, distances, strict=True)])
    pixels = _pixel_weights(weight, shape)
    factors = crofton_weights(tuple(steps), distances)
    return stepped_graph(
        shape,
        steps,
        [
            factor * (0.5 * (pixels[here] + pixels[there]) if pixels.ndim else pixels)
            for factor, (here, there) in zip(
                factors, (step_slices(shape, step) for step in steps), strict=True
            )
        ],
    )


def _axis_weights(weight: Any, shape: tuple[int, ...], isotropic: bool) -> list[Floats]:
    """Return the weights of the edges along each axis, each a number or an array."""
    if not _is_per_axis(weight):
        pixels = _pixel_weights(weight, shape)
        if pixels.ndim == 0:
            return [pixels] * len(shape)
        lower, upper = slice(None, -1), slice(1, None)
        axes = [(slice(None),) * axis for axis in range(len(shape))]
        if isotropic:
            return [pixels[(*before, lower)] for before in axes]
        return [0.5 * (pixels[(*before, lower)] + pixels[(*before, upper)]) for before in axes]
    if len(weight) != len(shape):
        raise ValueError(
            f"weight must have one entry for each of the {len(shape)} axes of pixels if it is a"
            f" {type(weight).__name__}, got {len(weight)}"
        )
    return weights_of_axes(weight, "weight", shape)


def _pixel_weights(weight: Any, shape: tuple[int, ...]) -> Floats:
    """Return one weight for all pixels, of shape (), or one for each."""
    if _is_per_axis(weight):
        raise ValueError(
            "weight must be a number or an array with one number per pixel unless connectivity is"
            f" 1, got a {type(weight).__name__}"
        )
    if isinstance(weight, str):
        raise ValueError(f"weight must be a number, an array or 'auto', got {weight!r}")
    given = as_array(weight, "weight")
    if given.ndim == 0:
        return np.asarray(moderate(as_real(given, "weight", minimum=0.0), "weight"))
    return np.asarray(moderate(as_weights(given, "weight", shape), "weight"))


def _is_per_axis(weight: Any) -> bool:
    return isinstance(weight, Sequence) and not isinstance(weight, str)
