"""Generators of graphs and problems for tests, benchmarks and examples.

Random results depend only on the arguments, including `rng`: a seed or a `numpy.random.Generator`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import Delaunay

from graphtv._deprecation import renamed_keywords
from graphtv._memory import EDGE_BYTES, check_memory
from graphtv._validate import (
    INDEX_LIMIT,
    Floats,
    Rng,
    as_count,
    as_generator,
    as_real,
    as_shape,
    moderate,
)
from graphtv.applications.cuts.flow_network import FlowNetwork
from graphtv.graph.graph import Graph
from graphtv.graph.grid import grid_graph

__all__ = [
    "FlowInstance",
    "broom_graph",
    "caterpillar_graph",
    "delaunay_graph",
    "erdos_renyi_graph",
    "genrmf",
    "path_graph",
    "piecewise_constant_image",
    "random_tree",
    "star_graph",
    "three_moons",
    "washington_rlg",
]


FlowInstance = FlowNetwork
"""Former name of the networks of the generators."""


def path_graph(n_vertices: int, weights: Any = 1.0) -> Graph:
    """Return the path 0 - 1 - … - (n_vertices - 1).

    Examples
    --------
    >>> path_graph(4).edges.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    n = _affordable(as_count(n_vertices, "n_vertices"))
    vertices = np.arange(n, dtype=np.int32)
    return Graph(n, np.stack([vertices[:-1], vertices[1:]], axis=1), weights)


def star_graph(n_vertices: int, weights: Any = 1.0) -> Graph:
    """Return the star with centre 0 and n_vertices - 1 leaves.

    Examples
    --------
    >>> star_graph(4).edges.tolist()
    [[0, 1], [0, 2], [0, 3]]
    """
    n = _affordable(as_count(n_vertices, "n_vertices"))
    leaves = np.arange(1, max(n, 1), dtype=np.int32)
    return Graph(n, np.stack([np.zeros_like(leaves), leaves], axis=1), weights)


def caterpillar_graph(spine: int, legs: int, weights: Any = 1.0) -> Graph:
    """Return a path of `spine` vertices, each with `legs` leaves.

    The path is 0 - 1 - … - (spine - 1); the leaves follow, in the order of their spine vertices.

    Examples
    --------
    >>> caterpillar_graph(2, 1).edges.tolist()
    [[0, 1], [0, 2], [1, 3]]
    """
    s = as_count(spine, "spine", minimum=1)
    k = as_count(legs, "legs", maximum=INDEX_LIMIT // s - 1)
    _affordable(s + s * k)
    bodies = np.repeat(np.arange(s, dtype=np.int32), k)
    leaves = np.arange(s, s + s * k, dtype=np.int32)
    edges = np.concatenate([path_graph(s).edges, np.stack([bodies, leaves], axis=1)])
    return Graph(s + s * k, edges, weights)


def broom_graph(handle: int, bristles: int, weights: Any = 1.0) -> Graph:
    """Return a path of `handle` vertices whose last vertex has `bristles` leaves.

    Examples
    --------
    >>> broom_graph(2, 2).edges.tolist()
    [[0, 1], [1, 2], [1, 3]]
    """
    h = as_count(handle, "handle", minimum=1)
    k = as_count(bristles, "bristles", maximum=INDEX_LIMIT - h)
    _affordable(h + k)
    leaves = np.arange(h, h + k, dtype=np.int32)
    brush = np.stack([np.full_like(leaves, h - 1), leaves], axis=1)
    return Graph(h + k, np.concatenate([path_graph(h).edges, brush]), weights)


@renamed_keywords(seed="rng")
def random_tree(n_vertices: int, rng: Rng = 0, weights: Any = 1.0) -> Graph:
    """Return a random recursive tree: the parent of vertex v > 0 is uniform in 0, …, v - 1.

    Its depth is about e·log n, and half its vertices are leaves.

    Examples
    --------
    >>> random_tree(20, rng=1)
    Graph(20 vertices, 19 edges)
    """
    n = _affordable(as_count(n_vertices, "n_vertices"))
    vertices = np.arange(1, max(n, 1), dtype=np.int32)
    parents = as_generator(rng).integers(vertices)
    return Graph(n, np.stack([parents, vertices], axis=1), weights)


@renamed_keywords(seed="rng")
def erdos_renyi_graph(n_vertices: int, n_edges: int, rng: Rng = 0, weights: Any = 1.0) -> Graph:
    """Return a graph drawn uniformly from all graphs with `n_edges` edges, G(n, m).

    Examples
    --------
    >>> erdos_renyi_graph(20, 30, rng=1)
    Graph(20 vertices, 30 edges)
    """
    n = as_count(n_vertices, "n_vertices")
    n_pairs = n * (n - 1) // 2
    m = _affordable(as_count(n_edges, "n_edges", maximum=min(n_pairs, INDEX_LIMIT)))
    chosen = (
        as_generator(rng).choice(n_pairs, m, replace=False, shuffle=False) if m else np.arange(0)
    )
    # qn + i ↦ {i, i + q + 1 mod n} is a bijection from 0, …, n(n-1)/2 - 1 to the pairs.
    shift, tail = np.divmod(chosen, max(n, 1))
    return Graph(n, np.stack([tail, (tail + shift + 1) % max(n, 1)], axis=1), weights)


@renamed_keywords(seed="rng")
def delaunay_graph(n_vertices: int, n_edges: int, rng: Rng = 0) -> tuple[Graph, Floats]:
    """Return a connected planar graph, and the positions of its vertices.

    The points are spread over the unit square. The graph consists of the shortest spanning tree of
    their Delaunay triangulation and of its shortest other edges, `n_edges` in total. All weights
    are 1.

    Parameters
    ----------
    n_vertices : int
        Number of vertices, at least 4.
    n_edges : int
        Number of edges, at least n_vertices - 1 and at most the number of edges of the
        triangulation, which is nearly 3 n_vertices.
    rng : int, Generator or None
        Seed of the random numbers.

    Examples
    --------
    >>> graph, positions = delaunay_graph(96, 150, rng=1)
    >>> graph, positions.shape
    (Graph(96 vertices, 150 edges), (96, 2))
    """
    n = as_count(n_vertices, "n_vertices", minimum=4)
    m = as_count(n_edges, "n_edges", minimum=n - 1)
    rng = as_generator(rng)
    # A Kronecker sequence in the powers of the plastic number covers the square very evenly. For a
    # random graph, the points are perturbed by a third of the mean distance.
    plastic = 1.324717957244746
    lattice = rng.random(2) + np.outer(np.arange(n), [1 / plastic, 1 / plastic**2])
    points = lattice % 1.0 + rng.normal(0.0, 0.3 / np.sqrt(n), (n, 2))
    triangles = Delaunay(points).simplices
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    edges = np.unique(np.sort(pairs, axis=1), axis=0)
    if m > len(edges):
        raise ValueError(f"n_edges must be at most {len(edges)} for these points, got {m}")
    lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    tree = minimum_spanning_tree(sparse.csr_array((lengths, edges.T), shape=(n, n))).tocoo()
    in_tree = np.isin(edges @ [n, 1], tree.row.astype(np.int64) * n + tree.col)
    kept = np.sort(np.lexsort([lengths, ~in_tree])[:m])
    return Graph(n, edges[kept]), points


@renamed_keywords(seed="rng")
def genrmf(a: int, b: int, c1: int = 1, c2: int = 10_000, rng: Rng = 0) -> FlowNetwork:
    """Return an RMF network: b frames of a × a vertices.

    Neighbours in a frame are joined both ways with capacity c2·a². The vertices of a frame are
    joined to those of the next by a random permutation, forwards, with capacities uniform in
    {c1, …, c2}. The source is the first vertex of the first frame, the sink the last of the last.

    References
    ----------
    D. Goldfarb and M. D. Grigoriadis, A computational comparison of the Dinic and network simplex
    methods for maximum flow, Annals of Operations Research 13, 1988.

    Examples
    --------
    >>> network = genrmf(3, 4, rng=1)
    >>> network.n_vertices, len(network.arcs)
    (36, 123)
    """
    side = as_count(a, "a", minimum=1)
    frames = as_count(b, "b", minimum=1)
    low = as_count(c1, "c1")
    high = as_count(c2, "c2", minimum=low)
    area = side * side
    n = as_count(area * frames, "the number of vertices a²b", minimum=2, maximum=INDEX_LIMIT // 6)
    rng = as_generator(rng)
    frame = grid_graph((side, side)).edges
    starts = area * np.arange(frames, dtype=np.int32)[:, None, None]
    within = (starts + np.concatenate([frame, frame[:, ::-1]])).reshape(-1, 2)
    vertices = np.arange(n, dtype=np.int32).reshape(frames, area)
    onward = np.stack([vertices[:-1], rng.permuted(vertices[1:], axis=1)], axis=2).reshape(-1, 2)
    capacities = rng.integers(low, high, len(onward), endpoint=True)
    return FlowNetwork(
        n_vertices=n,
        source=0,
        sink=n - 1,
        arcs=np.concatenate([within, onward]),
        capacities=np.concatenate([np.full(len(within), high * area), capacities]),
    )


@renamed_keywords(seed="rng")
def washington_rlg(rows: int, columns: int, capacity: int = 10_000, rng: Rng = 0) -> FlowNetwork:
    """Return a random level graph of the Washington generator.

    Every vertex has arcs to three distinct random vertices of the next column, with capacities
    uniform in {1, …, capacity}. Arcs of three times `capacity` lead from the source to the first
    column and from the last column to the sink. Vertices are numbered column by column, the
    terminals last.

    References
    ----------
    D. S. Johnson and C. C. McGeoch (eds.), Network Flows and Matching: First DIMACS Implementation
    Challenge, American Mathematical Society, 1993.

    Examples
    --------
    >>> network = washington_rlg(4, 5, rng=1)
    >>> network.n_vertices, len(network.arcs)
    (22, 56)
    """
    r = as_count(rows, "rows", minimum=3)
    c = as_count(columns, "columns", minimum=1)
    largest = as_count(capacity, "capacity", minimum=1)
    inner = as_count(r * c, "the number of vertices rows · columns", maximum=INDEX_LIMIT // 4)
    rng = as_generator(rng)
    vertices = np.arange(inner, dtype=np.int32).reshape(c, r)
    tails = np.repeat(vertices[:-1].ravel(), 3)
    # Three distinct rows: each draw skips the rows drawn before, in increasing order.
    first, second, third = (rng.integers(0, r - k, inner - r) for k in range(3))
    second += second >= first
    third += third >= np.minimum(first, second)
    third += third >= np.maximum(first, second)
    next_column = np.repeat(vertices[1:, 0], r)[:, None]
    heads = (next_column + np.stack([first, second, third], axis=1)).ravel()
    source, sink = np.full(r, inner), np.full(r, inner + 1)
    return FlowNetwork(
        n_vertices=inner + 2,
        source=inner,
        sink=inner + 1,
        arcs=np.concatenate(
            [
                np.stack([source, vertices[0]], axis=1),
                np.stack([tails, heads], axis=1),
                np.stack([vertices[-1], sink], axis=1),
            ]
        ).astype(np.int32),
        capacities=np.concatenate(
            [
                np.full(r, 3 * largest),
                rng.integers(1, largest, len(tails), endpoint=True),
                np.full(r, 3 * largest),
            ]
        ),
    )


@renamed_keywords(seed="rng")
def three_moons(
    n_per_moon: int = 500, noise: float = 0.14, dimension: int = 100, rng: Rng = 0
) -> tuple[Floats, NDArray[np.int64]]:
    """Return points around three interlocking half circles and their labels.

    The half circles are drawn in the first two coordinates: upper ones of radius 1 about (0, 0) and
    (3, 0), a lower one of radius 1.5 about (1.5, 0.4). Gaussian noise is added to all coordinates.

    Parameters
    ----------
    n_per_moon : int
        Number of points of each moon.
    noise : float
        Standard deviation of the noise.
    dimension : int
        Number of coordinates, at least 2.
    rng : int, Generator or None
        Seed of the random numbers.

    Returns
    -------
    points : ndarray, shape (3 n_per_moon, dimension)
        The points, moon by moon.
    labels : ndarray of int, shape (3 n_per_moon,)
        0, 1 or 2.

    References
    ----------
    C. Garcia-Cardona et al., Multiclass data segmentation using diffuse interface methods on
    graphs, IEEE Transactions on Pattern Analysis and Machine Intelligence 36, 2014.

    Examples
    --------
    >>> points, labels = three_moons(50)
    >>> points.shape, sorted(set(labels.tolist()))
    ((150, 100), [0, 1, 2])
    """
    n = as_count(n_per_moon, "n_per_moon", maximum=INDEX_LIMIT // 3)
    sigma = moderate(as_real(noise, "noise", minimum=0), "noise")
    d = as_count(dimension, "dimension", minimum=2)
    rng = as_generator(rng)
    labels = np.repeat(np.arange(3), n)
    radius = np.array([1.0, 1.0, 1.5])[labels]
    centre = np.array([[0.0, 0.0], [3.0, 0.0], [1.5, 0.4]])[labels]
    angle = rng.uniform(0, np.pi, 3 * n)
    angle[2 * n :] *= -1
    points = sigma * rng.standard_normal((3 * n, d))
    points[:, :2] += centre + radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return points, labels


@renamed_keywords(seed="rng")
def piecewise_constant_image(
    shape: int | Sequence[int], rng: Rng = 0, noise: float = 0.1, n_regions: int = 8
) -> tuple[Floats, Floats]:
    """Return a noisy image and the piecewise constant image without noise.

    Parameters
    ----------
    shape : int or sequence of int
        Lengths of the axes. An integer gives a signal, three integers give a volume.
    rng : int, Generator or None
        Seed of the random numbers.
    noise : float
        Standard deviation of the Gaussian noise.
    n_regions : int
        Number of ellipsoids with values uniform in [0, 1]. They may overlap, and the background
        is 0.

    Returns
    -------
    noisy, truth : ndarray
        The images, with the given shape.

    Examples
    --------
    >>> noisy, truth = piecewise_constant_image((32, 48), rng=1, noise=0.1)
    >>> noisy.shape, bool(abs((noisy - truth).std() - 0.1) < 0.01)
    ((32, 48), True)
    """
    lengths = as_shape(shape)
    sigma = moderate(as_real(noise, "noise", minimum=0), "noise")
    regions = as_count(n_regions, "n_regions")
    rng = as_generator(rng)
    truth = np.zeros(lengths)
    axes = np.ogrid[tuple(slice(0.5, length) for length in lengths)]
    for _ in range(regions):
        centre = rng.uniform(0, 1, len(lengths)) * lengths
        radius = rng.uniform(0.1, 0.4, len(lengths)) * lengths
        distance = sum(((x - c) / r) ** 2 for x, c, r in zip(axes, centre, radius, strict=True))
        truth[distance <= 1] = rng.uniform(0, 1)
    return truth + sigma * rng.standard_normal(lengths), truth


def _affordable(n_edges: int) -> int:
    """Return the number of edges if there is enough memory for them."""
    check_memory(2 * EDGE_BYTES * n_edges, f"a graph of {n_edges} edges")
    return n_edges
