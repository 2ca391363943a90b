"""The graph of the pixels of an image: neighbours and edge weights.

Four neighbours in 2-D (2d in d dimensions) give the anisotropic total variation, with the edge
weight weight / spacing along each axis.

Eight neighbours use the Cauchy-Crofton formula: the length of a curve is the mean number of its
intersections with straight lines, ½ ∫ n(φ, ρ) dφ dρ. If lines along the four directions e_k of the
grid represent a range of angles Δφ_k each, this is a cut metric with weights Δφ_k / 2|e_k| per area
of a pixel [1]. The anisotropic total variation of a straight edge, averaged over all directions, is
4/π times its length. Weights are scaled by this factor, such that a given `weight` smooths equally
with either neighbourhood: ω_k = weight · (2/π) Δφ_k / |e_k|, which is weight/2 along the axes and
weight/√8 along the diagonals of square pixels.

[1] Y. Boykov, V. Kolmogorov, "Computing geodesics and minimal surfaces via graph cuts", ICCV 2003.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphtv._validate import (
    Floats,
    Indices,
    as_array,
    as_count,
    as_floats,
    as_real,
    as_weights,
    describe,
    first_index,
    moderate,
)
from graphtv.graph.graph import Graph
from graphtv.graph.grid import grid_graph, weights_of_axes


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
    connectivity : {1, 2}
        1: neighbours along the axes. 2: also along the diagonals, in 2-D only.
    isotropic : bool
        Let the edges that leave a pixel in forward direction have its weight, not the mean.
    """
    distances = as_spacing(spacing, len(shape))
    if as_count(connectivity, "connectivity", minimum=1, maximum=2) == 1:
        parts = _axis_weights(weight, shape, isotropic)
        return grid_graph(shape, [w / h for w, h in zip(parts, distances, strict=True)])
    if len(shape) != 2:
        raise ValueError(
            f"connectivity must be 1 unless the image has two axes of pixels, got {connectivity}"
            f" for the shape {shape}"
        )
    return _eight_neighbours(shape, _pixel_weights(weight, shape), distances)


def _eight_neighbours(
    shape: tuple[int, ...], weight: Floats, distances: tuple[float, ...]
) -> Graph:
    down, right = distances
    diagonal = math.hypot(down, right)
    # Range of angles nearest to each direction: half the angles to its two neighbours.
    to_diagonal = math.atan2(down, right)
    factors = [
        2 / math.pi * fan / length
        for fan, length in (
            (math.pi / 2 - to_diagonal, down),
            (to_diagonal, right),
            (math.pi / 4, diagonal),
            (math.pi / 4, diagonal),
        )
    ]
    vertices = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
    edges, weights = [], []
    for (tails, heads), factor in zip(_pairs(vertices), factors, strict=True):
        edges.append(np.stack([tails.ravel(), heads.ravel()], axis=1))
        if weight.ndim == 0:
            weights.append(np.full(tails.size, factor * float(weight)))
        else:
            ends = weight.ravel()[edges[-1]]
            weights.append(factor * 0.5 * (ends[:, 0] + ends[:, 1]))
    all_edges, omega = np.concatenate(edges), np.concatenate(weights)
    positive = omega > 0
    if not positive.all():
        all_edges, omega = all_edges[positive], omega[positive]
    return Graph._from_simple(vertices.size, all_edges, omega)


def _pairs(v: Indices) -> list[tuple[Indices, Indices]]:
    """Return the end vertices of the edges down, right, down right and down left."""
    return [
        (v[:-1], v[1:]),
        (v[:, :-1], v[:, 1:]),
        (v[:-1, :-1], v[1:, 1:]),
        (v[:-1, 1:], v[1:, :-1]),
    ]


def as_spacing(spacing: Any, ndim: int) -> tuple[float, ...]:
    """Return the distance between neighbours along every axis."""
    if spacing is None:
        return (1.0,) * ndim
    given = moderate(as_floats(spacing, "spacing"), "spacing")
    if given.shape not in ((), (ndim,)):
        raise ValueError(
            f"spacing must be a number or have one entry for each of the {ndim} axes of pixels,"
            f" got shape {given.shape}"
        )
    if not (given > 0).all():
        where = first_index(~(given > 0))
        raise ValueError(f"spacing must be above 0, got {given[where]} at {describe(where)}")
    return tuple(float(h) for h in np.broadcast_to(given, (ndim,)))


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
            f"weight must be a number or an array with one number per pixel for connectivity=2,"
            f" got a {type(weight).__name__}"
        )
    if isinstance(weight, str):
        raise ValueError(f"weight must be a number, an array or 'auto', got {weight!r}")
    given = as_array(weight, "weight")
    if given.ndim == 0:
        return np.asarray(moderate(as_real(given, "weight", minimum=0.0), "weight"))
    return np.asarray(moderate(as_weights(given, "weight", shape), "weight"))


def _is_per_axis(weight: Any) -> bool:
    return isinstance(weight, Sequence) and not isinstance(weight, str)
