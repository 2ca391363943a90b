"""Small generated examples: a landscape with scribbles, a network of pipes, and roads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtv import gallery
from graphtv._validate import Floats
from graphtv.graph.graph import Graph
from graphtv.problem import Problem
from graphtv.terms import SquaredLoss

CLASSES = ("sky", "mountains", "meadow", "lake")

COLOURS = ("#56B4E9", "#8A6BBE", "#009E73", "#0B4F8A")

STROKES = (
    (((0.10, 0.12), (0.14, 0.88)), ((0.28, 0.48), (0.47, 0.63))),
    (((0.54, 0.06), (0.38, 0.20)), ((0.54, 0.78), (0.46, 0.92))),
    (((0.72, 0.06), (0.92, 0.16)), ((0.68, 0.93), (0.93, 0.88)), ((0.95, 0.40), (0.94, 0.60))),
    (((0.75, 0.36), (0.79, 0.66)),),
)
"""Strokes of each class: start and end, relative to height and width."""


class Scene(NamedTuple):
    """A landscape, its true labels, and a few brush strokes of each class."""

    image: Floats
    truth: NDArray[np.int64]
    scribbles: NDArray[np.int64]


class Pipes(NamedTuple):
    """A graph of pipes with capacities, positions, sources and sinks."""

    graph: Graph
    positions: Floats
    sources: Floats
    sinks: Floats


def landscape(height: int = 120, width: int = 180) -> Scene:
    """Return mountains behind a lake, with overlapping colour distributions."""
    rng = np.random.default_rng(5)
    y, x = np.mgrid[0:height, 0:width]
    y, x = (y + 0.5) / height, (x + 0.5) / width
    ridge = 0.42 - 0.13 * np.sin(7.1 * x + 0.2) - 0.05 * np.sin(17.0 * x) - 0.02 * np.sin(43.0 * x)
    shore = 0.60 + 0.03 * np.sin(5.0 * x + 1.0)
    truth = np.ones((height, width), dtype=np.int64)
    truth[y > ridge] = 2
    truth[y > shore] = 3
    truth[((x - 0.52) / 0.30) ** 2 + ((y - 0.77) / 0.11) ** 2 < 1.0] = 4

    down = (y / 0.6)[..., None]
    sky = (1.0 - down) * np.array([0.36, 0.58, 0.86]) + down * np.array([0.86, 0.84, 0.78])
    rock = np.array([0.50, 0.46, 0.55]) - 0.35 * (ridge - y)[..., None] * np.array([1.0, 1.1, 0.9])
    grass = np.array([0.36, 0.52, 0.24]) + 0.10 * np.sin(60.0 * x + 24.0 * y)[..., None]
    water = np.array([0.30, 0.46, 0.62]) + 0.14 * (y - 0.77)[..., None] / 0.11
    image = np.select([truth[..., None] == k for k in (1, 2, 3, 4)], [sky, rock, grass, water])
    coarse = rng.normal(0.0, 0.035, (height // 4 + 1, width // 4 + 1, 1))
    image = image + np.kron(coarse, np.ones((4, 4, 1)))[:height, :width]
    image = image + rng.normal(0.0, 0.05, image.shape)
    return Scene(np.clip(image, 0.0, 1.0), truth, _scribbles(height, width))


def _scribbles(height: int, width: int) -> NDArray[np.int64]:
    """Return the strokes, two pixels wide."""
    marks = np.zeros((height, width), dtype=np.int64)
    share = np.linspace(0.0, 1.0, 4 * max(height, width))[:, None]
    for number, strokes in enumerate(STROKES, start=1):
        for begin, end in strokes:
            points = (1.0 - share) * np.array(begin) + share * np.array(end)
            rows, columns = (points * [height, width]).astype(int).T
            marks[rows, columns] = marks[np.minimum(rows + 1, height - 1), columns] = number
    return marks


def pipes() -> Pipes:
    """Return pipes in a square with integer capacities; water flows from left to right.

    It enters and leaves near two opposite sides.
    """
    graph, positions = gallery.delaunay_graph(60, 130, rng=3)
    capacities = np.random.default_rng(3).integers(1, 10, graph.n_edges)
    weighted = Graph(graph.n_vertices, graph.edges, capacities)
    x = positions[:, 0]
    return Pipes(
        weighted, positions, np.where(x < 0.15, np.inf, 0.0), np.where(x > 0.85, np.inf, 0.0)
    )


def roads(n_vertices: int = 10_000) -> Problem:
    """Return noisy measurements on a sparse graph like a road map, with edges of all lengths."""
    n_edges = 13 * n_vertices // 10
    graph, positions = gallery.delaunay_graph(n_vertices, n_edges, rng=1)
    rng = np.random.default_rng(1)
    away = np.hypot(*(positions - 0.5).T)
    truth = np.where(away < 0.3, 1.0, 0.0) + np.where(positions[:, 0] > 0.7, 0.5, 0.0)
    weights = 4.0 * np.exp(0.5 * rng.standard_normal(n_edges))
    signal = truth + 0.5 * rng.standard_normal(n_vertices)
    return Problem(Graph(n_vertices, graph.edges, weights), SquaredLoss(signal))
