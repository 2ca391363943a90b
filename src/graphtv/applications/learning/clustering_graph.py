"""The graph of convex clustering: nearest neighbours with Gaussian weights, and connected.

Convex clustering works well only if the weights decrease with the distance [1]. Here they are
exp(-d² / (h² σ_i σ_j)), where σ_i is the distance of point i to the farthest of its neighbours [2].
So dense and sparse clusters fuse at similar λ, and the unit of the points does not matter. Weights
are at least exp(-1/h²), which is the weight at the distance σ. Components are joined by the
shortest edges between them, with this least weight. So all points fuse for large λ.

[1] E. C. Chi, K. Lange, "Splitting methods for convex clustering", JCGS 24, 2015.
[2] L. Zelnik-Manor, P. Perona, "Self-tuning spectral clustering", NIPS 17, 2004.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from graphtv._elementary import exp
from graphtv._nearest import Places, nearest
from graphtv._validate import Floats
from graphtv.graph.components import connected_components
from graphtv.graph.graph import Graph
from graphtv.graph.neighbours import neighbour_pairs


def clustering_graph(points: Floats, n_neighbors: int, bandwidth: float) -> Graph:
    """Return the connected graph of points with at most `n_neighbors` neighbours each."""
    n = len(points)
    k = min(n_neighbors, n - 1)
    if k == 0:
        return Graph(n, np.empty((0, 2), dtype=np.int32))
    _, exponent = np.frexp(np.abs(points).max(initial=0))
    unit = np.ldexp(points, -exponent)
    edges, between, farthest = neighbour_pairs(unit, k)
    scales = farthest[edges[:, 0]] * farthest[edges[:, 1]]
    squares = np.divide(between**2, scales, out=np.zeros_like(between), where=scales > 0)
    bridges = _bridges(unit, Graph(n, edges))
    least = -1.0 / bandwidth**2
    exponents = np.maximum(-squares / bandwidth**2, least)
    return Graph(
        n,
        np.concatenate([edges, bridges]),
        exp(np.concatenate([exponents, np.full(len(bridges), least)])),
    )


def _bridges(points: Floats, graph: Graph) -> Places:
    """Return edges that join all components: Borůvka's algorithm, by shortest edges."""
    made: list[tuple[int, int]] = []
    count, component = connected_components(graph)
    if count > 1:
        from scipy.spatial import cKDTree

        tree = cKDTree(points)
    while count > 1:
        order = np.argsort(component, kind="stable")
        starts = np.searchsorted(component[order], np.arange(count + 1))
        for start, end in itertools.pairwise(starts.tolist()):
            made.append(_shortest(points, tree, order[start:end]))
        made = sorted(set(made))
        joined = Graph(len(points), np.concatenate([graph.edges, made]))
        count, component = connected_components(joined)
    return np.array(made, dtype=np.int64).reshape(-1, 2)


def _shortest(points: Floats, tree: Any, inside: Places) -> tuple[int, int]:
    """Return the shortest edge from some points to the others; the first one in case of ties."""
    n = len(points)
    is_inside = np.zeros(n, dtype=bool)
    is_inside[inside] = True
    if len(inside) ** 2 <= n:  # among so many neighbours, one is outside
        _, found = nearest(tree.query, points, points[inside], len(inside) + 1)
        here, rank = np.nonzero(~is_inside[found])
        a, b = inside[here], found[here, rank]
    else:
        outside = np.flatnonzero(~is_inside)
        few, many = sorted((inside, outside), key=len)
        _, found = nearest(type(tree)(points[many]).query, points[many], points[few], 1)
        a, b = few, many[found[:, 0]]
    at = int(np.argmin(np.square(points[a] - points[b]).sum(axis=1)))
    low, high = sorted((int(a[at]), int(b[at])))
    return low, high
