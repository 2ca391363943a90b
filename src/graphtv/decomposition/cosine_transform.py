"""Laplacians of grids with one weight per axis, solved by cosine transforms.

The eigenvectors of the Laplacian of a path of k vertices are the cosines of the transform DCT-II,
with the eigenvalues 2 - 2 cos(πj/k) (Strang, "The discrete cosine transform", SIAM Review 41,
1999). Those of a grid are their products, and their eigenvalues add up.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.fft

from graphtv._validate import Floats
from graphtv.graph.graph import Graph
from graphtv.graph.grid import n_grid_edges, row_major_shape


def cosine_solver(graph: Graph) -> Callable[[Floats], Floats] | None:
    """Return the map b ↦ x with KᵀK x = b for b with sum zero, or None if it does not apply."""
    shape = row_major_shape(graph)
    if not shape or graph.n_edges != n_grid_edges(shape) or 2 in shape:
        return None  # strides of axes of length 2 are not unique
    weights = _weights_of_axes(graph, shape)
    if weights is None:
        return None
    eigenvalues = np.zeros(())
    for length, weight in zip(shape, weights, strict=True):
        of_path = 2.0 - 2.0 * np.cos(np.pi * np.arange(length) / length)
        eigenvalues = eigenvalues[..., None] + weight**2 * of_path
    eigenvalues[(0,) * len(shape)] = np.inf  # the constants

    def solve(b: Floats) -> Floats:
        spectrum = scipy.fft.dctn(b.reshape(shape), norm="ortho") / eigenvalues
        return np.asarray(scipy.fft.idctn(spectrum, norm="ortho")).reshape(-1)

    return solve


def _weights_of_axes(graph: Graph, shape: tuple[int, ...]) -> list[float] | None:
    """Return the weight of the edges along each axis, or None if one axis has several."""
    strides = np.abs(graph.edges[:, 1].astype(np.int64) - graph.edges[:, 0])
    found, stride = [], graph.n_vertices
    for length in shape:
        stride //= length
        weights = graph.weights[strides == stride]
        if not weights.size or weights.min() != weights.max():
            return None
        found.append(float(weights[0]))
    return found
