"""The problems of the benchmarks: min ½‖u - f‖² + Σ ω_e |u_i - u_j|, all seeded.

| name | graph | weights | signal |
|---|---|---|---|
| P1, P1L | grid 512² | 0.1, 1 | the picture `camera` in 0 … 1 + N(0, 0.1²) |
| P2 | 6 nearest neighbours of 10⁵ points of a square | 0.5 exp(-d²/σ²) | cells + N(0, 0.5²) |
| P3, P3S | random, 50,000 vertices and 150,000 edges | U(0.1, 1), 0.3 U(0.1, 1) | N(0, 1) |
| P4 | chain of 10⁶ | 10 | steps of N(0, 2²) + N(0, 0.5²) |
| P5 | grid 64³ | 0.1 | ellipsoids + N(0, 0.1²) |
| rmf-…, wash-… | networks: RMF long and wide, Washington random levels | capacities | their cuts |
| S1, S3S | P1 on 64², P3S with 1,000 vertices, for solvers that are not for more | | |

The picture is that of scikit-image; without scikit-image the gallery's ellipses take its place, and
the instance says so in its note. Every instance has a small version for quick runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graphtv import FlowNetwork, Graph, grid_graph, knn_graph
from graphtv._validate import Floats
from graphtv.gallery import (
    erdos_renyi_graph,
    genrmf,
    piecewise_constant_image,
    washington_rlg,
)
from races.peers.task import Task, imported


@dataclass(frozen=True)
class Instance:
    """A graph and a signal; for grids also the image's shape and the weight of all edges."""

    name: str
    graph: Graph
    signal: Floats
    shape: tuple[int, ...] = ()
    weight: float = 0.0
    note: str = ""

    def task(self, n_threads: int = 1, budget: float = 60.0) -> Task:
        """Return the task for a contestant."""
        graph = self.graph
        of_graph = (self.signal, graph.edges, graph.weights, self.shape, self.weight)
        return Task(*of_graph, n_threads, budget)


def grid(name: str, image: Floats, weight: float, note: str = "") -> Instance:
    """Return the denoising of an image or a volume."""
    graph = grid_graph(image.shape, weight)
    return Instance(name, graph, np.ascontiguousarray(image).ravel(), image.shape, weight, note)


def picture(side: int) -> tuple[Floats, str]:
    """Return a square image in 0 … 1 (at most 512²) without noise, and its name."""
    try:
        camera = imported("skimage.data").camera
    except ImportError:
        return piecewise_constant_image((side, side), noise=0.0)[1], "ellipses, not the camera"
    step = max(1, 512 // side)
    return camera()[::step, ::step][:side, :side] / 255.0, ""


def camera_denoising(name: str, weight: float, side: int) -> Instance:
    """Return the denoising of the camera man."""
    clean, note = picture(side)
    noise = np.random.default_rng(0).normal(0.0, 0.1, clean.shape)
    return grid(name, clean + noise, weight, note)


def nearest_neighbours(n: int) -> Instance:
    """25 cells of the unit square have values N(0, 1)."""
    rng = np.random.default_rng(0)
    points = rng.random((n, 2))
    column, row = (5 * points).astype(int).T
    signal = rng.standard_normal((5, 5))[column, row] + rng.normal(0.0, 0.5, n)
    graph = knn_graph(points, 6)
    return Instance("P2", Graph(n, graph.edges, 0.5 * graph.weights), signal)


def random_graph(name: str, n: int, scale: float) -> Instance:
    """Return noise on a random graph with three edges per vertex."""
    rng = np.random.default_rng(0)
    weights = scale * rng.uniform(0.1, 1.0, 3 * n)
    return Instance(name, erdos_renyi_graph(n, 3 * n, 0, weights), rng.standard_normal(n))


def chain(n: int) -> Instance:
    """Return steps of a hundred vertices under noise."""
    rng = np.random.default_rng(0)
    steps = np.repeat(2 * rng.standard_normal(n // 100 + 1), 100)[:n]
    return grid("P4", steps + 0.5 * rng.standard_normal(n), 10.0)


def volume(side: int) -> Instance:
    """Return the denoising of ellipsoids."""
    return grid("P5", piecewise_constant_image((side,) * 3)[0], 0.1)


def flow(name: str, network: FlowNetwork) -> Instance:
    """Return the total variation whose level sets are the cuts of a network."""
    graph, signal = network.rof()
    return Instance(name, graph, signal)


Maker = Callable[[], Instance]

PROBLEMS: dict[str, tuple[str, Maker, Maker]] = {
    "P1": (
        "512² image, weight 0.1",
        lambda: camera_denoising("P1", 0.1, 512),
        lambda: camera_denoising("P1", 0.1, 16),
    ),
    "P1L": (
        "512² image, weight 1",
        lambda: camera_denoising("P1L", 1.0, 512),
        lambda: camera_denoising("P1L", 1.0, 16),
    ),
    "P5": ("64³ volume", lambda: volume(64), lambda: volume(8)),
    "P4": ("chain of 10⁶", lambda: chain(1_000_000), lambda: chain(300)),
    "P2": (
        "nearest neighbours of 10⁵ points",
        lambda: nearest_neighbours(100_000),
        lambda: nearest_neighbours(200),
    ),
    "P3": (
        "random graph, 150,000 edges",
        lambda: random_graph("P3", 50_000, 1.0),
        lambda: random_graph("P3", 100, 1.0),
    ),
    "P3S": (
        "random graph, weights × 0.3",
        lambda: random_graph("P3S", 50_000, 0.3),
        lambda: random_graph("P3S", 100, 0.3),
    ),
    "rmf-long": (
        "RMF long, a = 16, b = 256",
        lambda: flow("rmf-long", genrmf(16, 256)),
        lambda: flow("rmf-long", genrmf(3, 8)),
    ),
    "rmf-wide": (
        "RMF wide, a = 64, b = 8",
        lambda: flow("rmf-wide", genrmf(64, 8)),
        lambda: flow("rmf-wide", genrmf(6, 3)),
    ),
    "wash-rlg-long": (
        "Washington, 64 × 1024",
        lambda: flow("wash-rlg-long", washington_rlg(64, 1024)),
        lambda: flow("wash-rlg-long", washington_rlg(4, 16)),
    ),
    "S1": (
        "64² image, weight 0.1",
        lambda: camera_denoising("S1", 0.1, 64),
        lambda: camera_denoising("S1", 0.1, 12),
    ),
    "S3S": (
        "random graph, 3,000 edges",
        lambda: random_graph("S3S", 1000, 0.3),
        lambda: random_graph("S3S", 60, 0.3),
    ),
}
"""For each problem: its title, the instance and its small version."""


def title(name: str, *, small: bool = False) -> str:
    """Return a short description of the problem of that name."""
    return PROBLEMS[name][0] + (", small twin" if small else "")


def make(name: str, *, small: bool = False) -> Instance:
    """Return the problem of that name, or its small version."""
    _, whole, twin = PROBLEMS[name]
    return twin() if small else whole()
