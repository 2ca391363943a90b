"""The cost of each class at each pixel, computed from scribbles.

The densities of colour and position of C. Nieuwenhuis and D. Cremers, "Spatially varying color
distributions for interactive multilabel segmentation" (IEEE TPAMI 35, 2013). With the pixels x_j of
class c that have been scribbled, and their colours I_j, the likelihood of colour I at x is

    P_c(I, x) = 1/m Σ_j k_ρ(x - x_j) k_σ(I - I_j),    ρ = α · distance from x to the nearest x_j,

with Gaussian kernels k. Near a scribble its own colours determine the density, far away the colours
of all scribbles of the class. Since k_ρ is normalised, the density of a class decreases with the
distance from its scribbles.

Differences from the paper: ρ is at least one pixel. If a class has many scribbled pixels, an evenly
spaced subset is used. The cost is not -log P_c but the negative logarithm of P_c / Σ_c' P_c', the
posterior probability of the class. At each pixel this adds one number to the costs of all classes:
it does not change the minimiser, and a certain class has cost 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from graphtv import _core
from graphtv._elementary import exp, log
from graphtv._validate import Floats
from graphtv.graph.graph import Graph

MOST_SAMPLES = 512
"""Largest number of scribbled pixels per class; more cost time and change little."""

SURELY = 20.0
"""A scribbled pixel has its class with probability at least 1 - e^-20 for any neighbours."""

Singles = NDArray[np.float32]


def scribble_cost(
    colours: Floats, scribbles: NDArray[np.int64], sigma_color: float, spread: float
) -> Floats:
    """Return the cost of each class at each pixel.

    Parameters
    ----------
    colours : ndarray, shape (n, channels)
        The pixels in row-major order, in the unit of `sigma_color`.
    scribbles : ndarray of int
        The classes 1, …, C of scribbled pixels; 0 for all others.
    sigma_color : float
        Width σ of the colour kernel.
    spread : float
        Width α of the spatial kernel, relative to the distance to the nearest scribble.

    Returns
    -------
    ndarray, shape (n, C)
        -log of the posterior probabilities.
    """
    return posterior_cost(log_densities(colours, scribbles, sigma_color, spread))


def posterior_cost(logs: Floats) -> Floats:
    """Return -log of the posterior probabilities, given the logarithms of the densities."""
    highest = logs.max(axis=1, keepdims=True)
    total = highest + log(exp(logs - highest).sum(axis=1, keepdims=True))
    return np.asarray(total - logs)


def log_densities(
    colours: Floats,
    scribbles: NDArray[np.int64],
    sigma_color: float,
    spread: float,
    most_samples: int = MOST_SAMPLES,
) -> Floats:
    """Return log P_c of each class at each pixel, up to a common constant.

    The constant is that of the kernels, -(d + D)/2 log 2π - d log σ for d channels and D axes. The
    parameters are those of `scribble_cost`. At most `most_samples` scribbled pixels per class are
    used.
    """
    n_classes = int(scribbles.max())
    places = np.indices(scribbles.shape, dtype=np.float32).reshape(scribbles.ndim, -1).T
    places -= places[-1] / 2  # centred, to reduce cancellation
    shades = (colours / sigma_color).astype(np.float32)
    logs = np.empty((len(shades), n_classes))
    for c in range(n_classes):
        logs[:, c] = _log_density(shades, places, scribbles == c + 1, spread, most_samples)
    return logs


def _log_density(
    shades: Singles, places: Singles, mask: NDArray[np.bool_], spread: float, most_samples: int
) -> Floats:
    """Return log P_c up to a constant that all classes share."""
    samples = _evenly(np.flatnonzero(mask), most_samples)
    distance = ndimage.distance_transform_edt(~mask).ravel()
    width = np.maximum(spread * distance, 1.0)
    total = np.empty(len(shades))
    _core.kernel_sums(
        np.ascontiguousarray(shades).reshape(-1),
        np.ascontiguousarray(places).reshape(-1),
        (1.0 / width**2).astype(np.float32),
        np.ascontiguousarray(shades[samples].T).reshape(-1),
        np.ascontiguousarray(places[samples].T).reshape(-1),
        len(samples),
        total,
        0,
    )
    # The smallest positive float bounds the cost where all kernels underflow.
    total += np.finfo(np.float32).tiny
    return log(total / len(samples)) - mask.ndim * log(width)


def _evenly(indices: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return an evenly spaced subset of the indices of limited size."""
    if len(indices) <= most:
        return indices
    return indices[np.arange(most) * len(indices) // most]


def fix_scribbles(cost: Floats, marks: NDArray[np.intp], graph: Graph, epsilon: float) -> None:
    """Increase the cost of the other classes so that neighbours cannot change a scribbled pixel.

    At the optimum u_c ∝ exp(-(cost_c + (Kᵀp)_c)/ε), and |(Kᵀp)_c| ≤ Σ_e∋i ω_e since |p| ≤ 1.
    """
    reach = np.bincount(graph.edges[:, 0], graph.weights, graph.n_vertices) + np.bincount(
        graph.edges[:, 1], graph.weights, graph.n_vertices
    )
    held = np.flatnonzero(marks)
    own = marks[held] - 1
    least = epsilon * math.log(cost.shape[1])
    cost[held] = least + (2.0 * reach[held] + SURELY * epsilon)[:, None]
    cost[held, own] = least
