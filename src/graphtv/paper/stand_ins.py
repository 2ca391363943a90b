"""Stand-ins for unavailable vision instances of Table 2, from scikit-image's pictures.

They are of the same kind and about the same size as those of the paper, but otherwise unrelated.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from graphtv._validate import Floats
from graphtv.applications.cuts.cut_problem import CutProblem
from graphtv.graph.graph import Graph
from graphtv.graph.grid import grid_graph
from graphtv.paper.experiment import UnavailableError
from graphtv.paper.instances import Instance, merged

EIGHT = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Half of the 8 neighbours of a pixel."""


def texture(quick: bool, data: Path | None) -> Instance:
    """Return the seam between two overlapping patches of a texture.

    A seam between two pixels costs the sum of the differences of the patches at these pixels
    (Kwatra et al., "Graphcut textures", 2003). The outermost columns belong to one patch each.
    """
    bricks = _image("brick").astype(np.int64)
    height, width, margin = (24, 28, 2) if quick else (96, 112, 8)
    left = bricks[:height, :width]
    right = bricks[170 : 170 + height, 203 : 203 + width]
    difference = np.abs(left - right).ravel()
    edges, _ = lattice((height, width), EIGHT)
    weights = 1 + difference[edges[:, 0]] + difference[edges[:, 1]]
    column = np.arange(height * width) % width
    ends = np.flatnonzero(column < margin), np.flatnonzero(column >= width - margin)
    return Instance.of(merged(Graph(height * width, edges, weights), *ends))


def line_art(quick: bool, data: Path | None) -> Instance:
    """Return one colour of LazyBrush on a line drawing, a grid.

    Borders are cheap along dark lines: the weight is 1 on black and K on white, where K is twice
    the sum of the sides. Soft scribbles have a twentieth of K as their capacity, and there are no
    other data (Sýkora, Dingliana, Collins, "LazyBrush: flexible painting tool for hand-drawn
    cartoons", 2009).
    """
    grey = _image("astronaut").mean(axis=2) / 255.0
    side = 40 if quick else 768
    large = ndimage.zoom(grey, side / 512.0, order=1, grid_mode=True, mode="nearest")
    slope = ndimage.gaussian_gradient_magnitude(large, 0.7 if quick else 1.5)
    white = 1.0 - np.clip(slope / np.quantile(slope, 0.95), 0.0, 1.0)
    k = 4 * side
    ink = 1 + np.rint((k - 1) * white**2).astype(np.int64)
    down = np.minimum(ink[1:], ink[:-1])
    right = np.minimum(ink[:, 1:], ink[:, :-1])
    rows, columns = np.mgrid[:side, :side] / side
    suit = _stroke(rows, columns, (0.62, 0.2), (0.9, 0.42)) | _stroke(
        rows, columns, (0.75, 0.6), (0.95, 0.75)
    )
    rest = (
        _stroke(rows, columns, (0.05, 0.05), (0.4, 0.15))
        | _stroke(rows, columns, (0.1, 0.7), (0.45, 0.9))
        | _stroke(rows, columns, (0.12, 0.38), (0.3, 0.5))
    )
    pull = max(1, k // 20)
    graph = grid_graph((side, side), [down, right])
    return Instance.of(CutProblem.of_graph(graph, pull * suit.ravel(), pull * rest.ravel()))


def colour_models(quick: bool, data: Path | None) -> Instance:
    """Return a segmentation by colours: mixtures of Gaussians for the cup and for the rest.

    Unary terms are negative log-likelihoods. Weights decrease with the contrast and the distance of
    the 8 neighbours (Rother, Kolmogorov, Blake, "GrabCut", 2004). All numbers are rounded to
    tenths.
    """
    image = _image("coffee").astype(float)
    if quick:
        image = image[::10, ::10]
    height, width = image.shape[:2]
    rows, columns = np.mgrid[:height, :width] / [[[height]], [[width]]]
    inside = (rows - 0.5) ** 2 / 0.2**2 + (columns - 0.5) ** 2 / 0.15**2 < 1
    outside = np.minimum(np.minimum(rows, 1 - rows), np.minimum(columns, 1 - columns)) < 0.06
    pixels = image.reshape(-1, 3)
    cost_inside, cost_outside = (
        mixture_cost(pixels[seeds.ravel()], pixels) for seeds in (inside, outside)
    )
    edges, lengths = lattice((height, width), EIGHT)
    contrast = ((pixels[edges[:, 0]] - pixels[edges[:, 1]]) ** 2).sum(axis=1)
    weights = 50.0 * np.exp(-contrast / (2.0 * contrast.mean())) / lengths
    whole = np.maximum(np.rint(10.0 * weights), 1.0)
    least = np.minimum(cost_inside, cost_outside)
    source, sink = (np.rint(10.0 * (cost - least)) for cost in (cost_outside, cost_inside))
    graph = Graph(height * width, edges, whole)
    return Instance.of(CutProblem.of_graph(graph, source, sink))


def mixture_cost(samples: Floats, pixels: Floats, n_components: int = 5) -> Floats:
    """Return -log of the density of a mixture of Gaussians, one per cluster of the samples."""
    from scipy.cluster.vq import kmeans2

    _, clusters = kmeans2(samples, n_components, minit="++", seed=np.random.default_rng(0))
    density = np.full(len(pixels), 1e-30)
    for k in np.unique(clusters):
        members = samples[clusters == k]
        covariance = np.cov(members.T) + 4.0 * np.eye(3) if len(members) > 3 else 25.0 * np.eye(3)
        away = pixels - members.mean(axis=0)
        exponent = -0.5 * np.einsum("ni,ij,nj->n", away, np.linalg.inv(covariance), away)
        scale = len(members) / len(samples) / np.sqrt(np.linalg.det(2.0 * np.pi * covariance))
        density += scale * np.exp(exponent)
    cost: Floats = -np.log(density)
    return cost


def lattice(
    shape: tuple[int, int], offsets: Sequence[tuple[int, int]]
) -> tuple[NDArray[np.int64], Floats]:
    """Return the edges between pixels at the given offsets, and their lengths."""
    height, width = shape
    rows, columns = np.divmod(np.arange(height * width), width)
    parts, lengths = [], []
    for down, right in offsets:
        there = (rows + down < height) & (columns + right >= 0) & (columns + right < width)
        tails = np.flatnonzero(there)
        parts.append(np.stack([tails, tails + down * width + right], axis=1))
        lengths.append(np.full(len(tails), np.hypot(down, right)))
    return np.concatenate(parts), np.concatenate(lengths)


def _stroke(
    rows: Floats, columns: Floats, start: tuple[float, float], end: tuple[float, float]
) -> NDArray[np.bool_]:
    """Return the pixels near the straight line between two points of the unit square."""
    line = np.subtract(end, start)
    away = np.stack([rows - start[0], columns - start[1]])
    share = np.clip(np.tensordot(line, away, 1) / (line @ line), 0.0, 1.0)
    distance = np.hypot(away[0] - share * line[0], away[1] - share * line[1])
    near: NDArray[np.bool_] = distance < 0.012
    return near


def _image(name: str) -> NDArray[Any]:
    try:
        from skimage import data
    except ImportError:
        raise UnavailableError("needs scikit-image: pip install scikit-image") from None
    image: NDArray[Any] = getattr(data, name)()
    return image
