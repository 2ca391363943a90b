"""The problems of Table 3 and Figure 2: multiclass segmentation with entropy.

    min_u Σ_i ε Σ_c u_ic log u_ic + ⟨ρ_i, u_i⟩ + Σ_(i,j) ω_ij |u_i - u_j|₁,    u_i ∈ Δ_C,  ε = 1,

is the problem of the paper. Where the paper gives no details, these choices match its iterations:

- Three moons. The paper follows Garcia-Cardona et al. (IEEE TPAMI 36, 2014): 500 points per moon in
  100 dimensions, 10 neighbours, and labels for 5 % of the points, which is 25 per class. The weight
  of an edge is 1 if each end is among the neighbours of the other, and 1/2 if only one is. ρ is 30
  (the fidelity weight of that article) for the wrong classes of labelled points, else 0.
- Images. ω = exp(-ξ‖I_i - I_j‖²) with the paper's ξ = 0.1 and intensities in 0…1, so that nearly
  all weights are 1. With intensities in 0…255 nearly all would be 0. ρ = -log P_c / λ with the
  densities of Nieuwenhuis and Cremers (IEEE TPAMI 35, 2013), whom the paper follows, for colours in
  0…255. The kernels are those of `segment_image`: they give better labels than kernels in RGB, with
  as many iterations. The paper does not state λ. Among 1, 3, 5, 7, 20 and 100, values near 6 give
  iterations like those of the paper.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

from graphtv._ties import largest_classes
from graphtv._validate import Floats
from graphtv.applications.imaging.contrast import opponent
from graphtv.applications.imaging.scribbles import log_densities
from graphtv.gallery import three_moons
from graphtv.graph.graph import Graph
from graphtv.graph.grid import grid_graph
from graphtv.paper.photographs import Labels, Photograph
from graphtv.problem import Problem
from graphtv.terms import EntropicSimplex

EPSILON = 1.0
"""The factor of the entropy."""

N_NEIGHBOURS = 10
LABELLED = 0.05
FIDELITY = 30.0
"""Cost of a wrong class at a labelled point."""

XI = 0.1
"""Contrast of the weights of an image, for intensities on 0…1."""

LAMBDA = 6.0
"""Length of borders in relation to -log P_c."""

SIGMA = 0.25
"""Width of the colour kernel, in standard deviations of the image."""

SPREAD = 3.0
"""Width of the spatial kernel, in distances to the nearest scribble of the class."""


def moons_problem(n_per_moon: int, seed: int) -> tuple[Problem, NDArray[np.int64]]:
    """Return the problem of three moons and the true classes; the seed draws points and labels."""
    points, truth = three_moons(n_per_moon, rng=seed)
    shown = np.random.default_rng(seed)
    n_shown = max(round(LABELLED * n_per_moon), 1)
    labelled = np.concatenate(
        [shown.choice(np.flatnonzero(truth == c), n_shown, replace=False) for c in range(3)]
    )
    cost = np.zeros((len(points), 3))
    cost[labelled] = FIDELITY
    cost[labelled, truth[labelled]] = 0.0
    return Problem(neighbour_graph(points, N_NEIGHBOURS), EntropicSimplex(cost, EPSILON)), truth


def neighbour_graph(points: Floats, n_neighbours: int) -> Graph:
    """Return the graph of (A + Aᵀ)/2, A_ij = 1 if j is among the nearest neighbours of i."""
    n = len(points)
    # In high dimensions no two points coincide, so each point is its own nearest neighbour.
    _, nearest = cKDTree(points).query(points, n_neighbours + 1)
    heads = nearest[:, 1:].ravel()
    tails = np.repeat(np.arange(n), n_neighbours)
    directed = sparse.csr_array((np.ones(heads.size), (tails, heads)), shape=(n, n))
    upper = sparse.triu(directed + directed.T, k=1, format="coo")
    order = np.lexsort((upper.col, upper.row))
    edges = np.stack([upper.row[order], upper.col[order]], axis=1)
    return Graph(n, edges, 0.5 * upper.data[order])


def image_problem(photograph: Photograph) -> Problem:
    """Return the problem of a photograph with scribbles."""
    image, scribbles = photograph.image.astype(np.float64), photograph.scribbles
    n_axes = scribbles.ndim
    colours = opponent(image).reshape(scribbles.size, -1)
    n_channels = colours.shape[1]
    sigma = SIGMA * math.sqrt(float(colours.var(axis=0).sum()))
    logs = log_densities(colours, scribbles, sigma, SPREAD)
    kernels = 0.5 * (n_channels + n_axes) * math.log(2.0 * math.pi) + n_channels * math.log(sigma)
    contrasts = [(np.diff(image / 255.0, axis=axis) ** 2).sum(axis=-1) for axis in range(n_axes)]
    graph = grid_graph(scribbles.shape, [np.exp(-XI * contrast) for contrast in contrasts])
    return Problem(graph, EntropicSimplex((kernels - logs) / LAMBDA, EPSILON))


def mean_dice(labels: Labels, truth: Labels) -> float:
    """Return the mean over the classes of 2|A ∩ B| / (|A| + |B|); classes count from 1."""
    classes = np.arange(1, int(max(truth.max(), labels.max())) + 1)
    overlaps = [
        2.0 * ((labels == c) & (truth == c)).sum() / ((labels == c).sum() + (truth == c).sum())
        for c in classes
        if (labels == c).any() or (truth == c).any()
    ]
    return float(np.mean(overlaps))


def labels_of(u: Floats, shape: tuple[int, ...]) -> Labels:
    """Return the most probable class of each pixel, from 1."""
    return largest_classes(u).reshape(shape) + 1
