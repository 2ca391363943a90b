"""The problems of the benchmarks: min ½‖u - f‖² + Σ ω_e |u_i - u_j|, all seeded.

| name | graph | weights | signal |
|---|---|---|---|
| P1, P1L | grid 512² | 0.1, 1 | the picture `camera` in 0 … 1 + N(0, 0.1²) |
| P2 | 6 nearest neighbours of 10⁵ points of a square | 0.5 exp(-d²/σ²) | cells + N(0, 0.5²) |
| P3, P3S | random, 50,000 vertices and 150,000 edges | U(0.1, 1), 0.3 U(0.1, 1) | N(0, 1) |
| P5 | grid 64³ | 0.1 | ellipsoids + N(0, 0.1²) |
| P6 | flow networks: RMF long and wide, Washington random levels | capacities | their min cuts |

The picture is that of scikit-image; without scikit-image the gallery's ellipses take its place, and
the instance says so in its note. Every instance has a small twin for smoke tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphtv import FlowNetwork, Graph, grid_graph, knn_graph
from graphtv.gallery import (
    erdos_renyi_graph,
    genrmf,
    piecewise_constant_image,
    washington_rlg,
)


@dataclass(frozen=True)
class Instance:
    """A graph and a signal; for grids also the image's shape and the weight of all edges."""

    name: str
    graph: Graph
    signal: NDArray[np.float64]
    shape: tuple[int, ...] | None = None
    weight: float | None = None
    note: str = ""

    @property
    def image(self) -> NDArray[np.float64]:
        """The signal in the shape of the grid."""
        assert self.shape is not None
        return self.signal.reshape(self.shape)

    def primal(self, u: NDArray[np.floating]) -> float:
        """Return the objective at u, in double precision."""
        x = np.asarray(u, dtype=np.float64).ravel()
        jumps = np.abs(x[self.graph.edges[:, 0]] - x[self.graph.edges[:, 1]])
        return float(0.5 * np.sum((x - self.signal) ** 2) + np.sum(self.graph.weights * jumps))

    def __str__(self) -> str:
        size = f"{self.graph.n_vertices:,} vertices, {self.graph.n_edges:,} edges"
        return f"{self.name}: {size}" + (f" ({self.note})" if self.note else "")


def grid(name: str, image: NDArray[np.float64], weight: float, note: str = "") -> Instance:
    """Return the denoising of an image or a volume."""
    graph = grid_graph(image.shape, weight)
    return Instance(name, graph, np.ascontiguousarray(image).ravel(), image.shape, weight, note)


def picture(side: int) -> tuple[NDArray[np.float64], str]:
    """Return a square picture in 0 … 1 (at most 512²) without noise, and what it is."""
    try:
        from skimage.data import camera
    except ImportError:
        return piecewise_constant_image((side, side), noise=0.0)[1], "ellipses, not the camera"
    step = max(1, 512 // side)
    return camera()[::step, ::step][:side, :side] / 255.0, ""


def camera_denoising(name: str, weight: float, side: int) -> Instance:
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
    rng = np.random.default_rng(0)
    weights = scale * rng.uniform(0.1, 1.0, 3 * n)
    return Instance(name, erdos_renyi_graph(n, 3 * n, 0, weights), rng.standard_normal(n))


def volume(side: int) -> Instance:
    return grid("P5", piecewise_constant_image((side,) * 3)[0], 0.1)


def flow(name: str, network: FlowNetwork) -> Instance:
    graph, signal = network.rof()
    return Instance(name, graph, signal)


# Of each problem, the instance and its small twin.
PROBLEMS: dict[str, tuple[Callable[[], Instance], Callable[[], Instance]]] = {
    "P1": (lambda: camera_denoising("P1", 0.1, 512), lambda: camera_denoising("P1", 0.1, 16)),
    "P1L": (lambda: camera_denoising("P1L", 1.0, 512), lambda: camera_denoising("P1L", 1.0, 16)),
    "P2": (lambda: nearest_neighbours(100_000), lambda: nearest_neighbours(200)),
    "P3": (lambda: random_graph("P3", 50_000, 1.0), lambda: random_graph("P3", 100, 1.0)),
    "P3S": (lambda: random_graph("P3S", 50_000, 0.3), lambda: random_graph("P3S", 100, 0.3)),
    "P5": (lambda: volume(64), lambda: volume(8)),
    "rmf-long": (lambda: flow("rmf-long", genrmf(16, 256)), lambda: flow("rmf-long", genrmf(3, 8))),
    "rmf-wide": (lambda: flow("rmf-wide", genrmf(64, 8)), lambda: flow("rmf-wide", genrmf(6, 3))),
    "wash-rlg-long": (
        lambda: flow("wash-rlg-long", washington_rlg(64, 1024)),
        lambda: flow("wash-rlg-long", washington_rlg(4, 16)),
    ),
}


def make(name: str, *, small: bool = False) -> Instance:
    """Return the problem of that name, or its small twin."""
    return PROBLEMS[name][small]()
