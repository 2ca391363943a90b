"""Segmentation into several classes: the multiclass total variation of the paper's Section 5.2.

    min_u Σ_i ⟨ρ_i, u_i⟩ + ε Σ_ic u_ic log u_ic + Σ_(i,j) ω_ij |u_i - u_j|₁

over points u_i of the unit simplex, on any graph (`segment`), and on the pixels of an image
(`segment_image`), where ρ comes from scribbles (see `scribbles.py`) and ω = exp(-ξ‖I_i - I_j‖²)
follows the image's edges.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, fields
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from graphtv._elementary import exp
from graphtv._ties import largest_classes
from graphtv._validate import (
    Floats,
    as_array,
    as_count,
    as_flag,
    as_floats,
    as_real,
    moderate,
)
from graphtv.applications.imaging.scribbles import scribble_cost
from graphtv.applications.keywords import check_keywords
from graphtv.graph.graph import Graph, as_graph
from graphtv.graph.grid import grid_graph
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.terms import EntropicSimplex

__all__ = ["Segmentation", "segment", "segment_image"]

Labels = NDArray[np.intp]

HUE = 2.0
"""How much opponent colours count, in relation to lightness."""

SURELY = 20.0
"""A scribbled pixel is its class's with probability 1 - e^-20 or more, whatever its neighbours."""


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation(Result):
    """The outcome of `segment`: a `Result` whose `u` holds a probability per vertex and class."""

    @property
    def labels(self) -> Labels:
        """The most probable class of each vertex, a column of `u`; the first of equals."""
        return largest_classes(self.u)


def segment(graph: Graph, cost: Any, *, epsilon: float = 1.0, **solve_options: Any) -> Segmentation:
    """Assign the vertices of a graph to classes, given the cost of each class at each vertex.

    Minimises Σ_i ⟨cost_i, u_i⟩ + ε Σ_ic u_ic log u_ic + Σ_(i,j) ω_ij |u_i - u_j|₁ over points u_i
    of the unit simplex: classes that are cheap, and borders that are short where weights are large.

    Parameters
    ----------
    graph : Graph
        The graph, with n vertices. The larger its weights, the fewer and smoother the regions.
    cost : array_like, shape (n, C)
        The cost of each class at each vertex, as a rule a negative log-likelihood. Adding a number
        to all costs of a vertex does not change the answer.
    epsilon : float, optional
        The factor ε > 0 of the entropy. With ε = 1, costs that are negative log-likelihoods and no
        edges, u is the posterior probability; smaller values make decisions harder.
    **solve_options
        Passed on to `graphtv.solve`: ``tol``, ``warm_start``, ``time_limit``, …

    Returns
    -------
    Segmentation
        A `Result` with `u` of shape (n, C) and `labels` of shape (n,), in 0…C-1.

    See Also
    --------
    segment_image : Images with scribbles.

    Examples
    --------
    >>> from graphtv import grid_graph, segment
    >>> cost = [[0.0, 4.0], [0.0, 4.0], [3.0, 0.0], [0.0, 4.0], [4.0, 0.0], [4.0, 0.0]]
    >>> segment(grid_graph((6,), 0.1), cost).labels
    array([0, 0, 1, 0, 1, 1])
    >>> segment(grid_graph((6,), 2.0), cost).labels
    array([0, 0, 0, 0, 1, 1])
    """
    check_keywords(segment, solve_options)
    term = EntropicSimplex(cost, epsilon)
    if term.shape[0] != as_graph(graph).n_vertices:
        raise ValueError(
            f"cost must have a row for each of the {graph.n_vertices} vertices of graph,"
            f" got shape {term.shape}"
        )
    result = solve(Problem(graph, term), **solve_options)
    return Segmentation(**{field.name: getattr(result, field.name) for field in fields(result)})


@overload
def segment_image(
    image: Any,
    scribbles: Any,
    *,
    xi: float = ...,
    weight: float = ...,
    sigma_color: float = ...,
    spread: float = ...,
    epsilon: float = ...,
    connectivity: int = ...,
    hold_scribbles: bool = ...,
    return_result: Literal[False] = ...,
    tol: float = ...,
    warm_start: Any = ...,
    **solve_options: Any,
) -> Labels: ...
@overload
def segment_image(
    image: Any,
    scribbles: Any,
    *,
    xi: float = ...,
    weight: float = ...,
    sigma_color: float = ...,
    spread: float = ...,
    epsilon: float = ...,
    connectivity: int = ...,
    hold_scribbles: bool = ...,
    return_result: Literal[True],
    tol: float = ...,
    warm_start: Any = ...,
    **solve_options: Any,
) -> tuple[Labels, Segmentation]: ...
def segment_image(
    image: Any,
    scribbles: Any,
    *,
    xi: float = 0.1,
    weight: float = 0.15,
    sigma_color: float = 0.25,
    spread: float = 3.0,
    epsilon: float = 0.25,
    connectivity: int = 1,
    hold_scribbles: bool = True,
    return_result: bool = False,
    tol: float = 5e-4,
    warm_start: Any = None,
    **solve_options: Any,
) -> Labels | tuple[Labels, Segmentation]:
    """Segment an image or a volume from scribbles.

    Every class has a density of colour and position, estimated from its scribbles; the regions
    are those that agree with the densities and have short borders, along the edges of the image:
    `segment` with cost = -log P / λ, P the probability of the class by its density, on the grid of
    the pixels with weights exp(-ξ‖I_i - I_j‖²).

    Parameters
    ----------
    image : array_like
        Of the shape of `scribbles` for one channel, with one axis more, the last, for several. Any
        number of dimensions, any type: only ratios of differences matter.
    scribbles : array_like of int
        0 where nothing is known, k on the scribbles of class k. Two classes at least; every number
        up to the largest must occur.
    xi : float, optional
        Contrast ξ ≥ 0 of the weights ω = exp(-ξ‖I_i - I_j‖²), where colours are measured such that
        neighbours differ by 2 in root mean square. 0 ignores the edges of the image.
    weight : float, optional
        Factor of the length of borders in relation to -log P: λ is `weight` times the mean side of
        the image in pixels, so that resolution does not matter. The larger, the fewer and smoother
        the regions.
    sigma_color : float, optional
        Width of the colour kernel, in standard deviations of the image.
    spread : float, optional
        Width of the spatial kernel at a pixel, in distances from the pixel to the nearest scribble
        of the class. Small values trust the scribbles nearby, large ones all alike.
    epsilon : float, optional
        Factor ε > 0 of the entropy, in relation to borders. Smaller values make decisions harder,
        and the problem too: it takes more iterations.
    connectivity : int, optional
        Pixels are neighbours if they differ by 1 in at most so many coordinates: 1 for 4
        neighbours in two dimensions, 2 for 8.
    hold_scribbles : bool, optional
        Keep the scribbled pixels in their class. Otherwise scribbles may be overruled.
    return_result : bool, optional
        Return the `Segmentation` too: its ``u.reshape(*scribbles.shape, -1)`` are probabilities,
        and it is a `warm_start`.
    tol : float, optional
        Relative gap to prove. Labels settle long before the last digit.
    warm_start : Segmentation, optional
        An earlier result of this image, with other scribbles; it may have fewer classes.
    **solve_options
        Passed on to `graphtv.solve`: ``time_limit``, ``callback``, ``n_threads``, …

    Returns
    -------
    labels : ndarray of int
        The class of every pixel, in 1…C.
    result : Segmentation
        Only with `return_result`; its `labels` count from 0, in row-major order of the pixels.

    Notes
    -----
    The densities are those of Nieuwenhuis and Cremers [1]_, the weights those of Möllenhoff et al.
    [2]_, who take ξ = 0.1 but do not say on which scale intensities are measured, nor give λ.

    ε log C is added to all costs. That changes no minimiser, but makes all three terms of the
    objective nonnegative: they cannot cancel, and a relative gap means something.

    References
    ----------
    .. [1] C. Nieuwenhuis, D. Cremers, "Spatially varying color distributions for interactive
       multilabel segmentation", IEEE TPAMI 35, 2013.
    .. [2] T. Möllenhoff, Z. Ye, T. Wu, D. Cremers, "Combinatorial Preconditioners for Proximal
       Algorithms on Graphs", AISTATS 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from graphtv import segment_image
    >>> image = np.array([[1, 0, 2, 9, 8], [0, 1, 9, 8, 9], [2, 0, 9, 9, 9]])
    >>> scribbles = np.array([[1, 0, 0, 0, 0], [0, 0, 0, 0, 2], [0, 0, 0, 0, 0]])
    >>> segment_image(image, scribbles)
    array([[1, 1, 1, 2, 2],
           [1, 1, 2, 2, 2],
           [1, 1, 2, 2, 2]])
    """
    check_keywords(segment_image, solve_options)
    marks = _as_scribbles(scribbles)
    pixels = _as_pixels(image, marks.shape)
    xi = moderate(as_real(xi, "xi", minimum=0.0), "xi")
    weight = moderate(as_real(weight, "weight", minimum=0.0, strict=True), "weight")
    sigma_color = moderate(
        as_real(sigma_color, "sigma_color", minimum=0.0, strict=True), "sigma_color"
    )
    spread = moderate(as_real(spread, "spread", minimum=0.0, strict=True), "spread")
    epsilon = moderate(as_real(epsilon, "epsilon", minimum=0.0, strict=True), "epsilon")
    connectivity = as_count(connectivity, "connectivity", minimum=1, maximum=marks.ndim)
    hold_scribbles = as_flag(hold_scribbles, "hold_scribbles")
    return_result = as_flag(return_result, "return_result")

    colours = opponent(pixels)
    deviation = math.sqrt(float(colours.var(axis=tuple(range(marks.ndim))).sum()))
    cost = scribble_cost(
        colours.reshape(marks.size, -1), marks, sigma_color * (deviation or 1.0), spread
    )
    cost /= weight * float(marks.size) ** (1.0 / marks.ndim)
    cost += epsilon * math.log(cost.shape[1])  # entropy counts from its least value, see Notes
    graph = contrast_graph(colours, xi, connectivity)
    if hold_scribbles:
        fix_scribbles(cost, marks.ravel(), graph, epsilon)
    if isinstance(warm_start, Result):
        warm_start = _with_classes(warm_start, cost.shape[1])
    result = segment(graph, cost, epsilon=epsilon, tol=tol, warm_start=warm_start, **solve_options)
    labels = result.labels.reshape(marks.shape) + 1
    if hold_scribbles:  # a run may end before the points have arrived
        labels = np.where(marks > 0, marks, labels)
    return (labels, result) if return_result else labels


def _as_scribbles(scribbles: Any) -> NDArray[np.intp]:
    """Return the image of classes, checked."""
    array = as_array(scribbles, "scribbles")
    if array.dtype.kind not in "ui":
        raise ValueError(f"scribbles must hold integers, got dtype {array.dtype}")
    if array.ndim == 0:
        raise ValueError("scribbles must be an array of the image's shape, got a number")
    lowest = int(array.min(initial=0))
    if lowest < 0:
        raise ValueError(f"scribbles must not be negative, got {lowest}")
    classes = np.unique(array[array > 0])
    if len(classes) < 2:
        raise ValueError(
            f"scribbles must mark at least 2 classes, got {', '.join(map(str, classes)) or 'none'}"
        )
    missing = np.flatnonzero(classes != np.arange(1, len(classes) + 1))
    if missing.size:
        raise ValueError(
            f"scribbles must number the classes 1, 2, … without gaps,"
            f" got class {classes[-1]} but none of class {missing[0] + 1}"
        )
    return array.astype(np.intp)


def _as_pixels(image: Any, shape: tuple[int, ...]) -> Floats:
    """Return the image with an axis of channels at its end."""
    pixels = as_floats(image, "image")
    moderate(pixels, "image")
    if pixels.shape == shape:
        return pixels[..., None]
    if pixels.shape[:-1] != shape or pixels.shape[-1] == 0:
        raise ValueError(
            f"scribbles must have the shape of image, channels apart,"
            f" got {shape} for image {pixels.shape}"
        )
    return pixels


def opponent(pixels: Floats) -> Floats:
    """Return red, green and blue as lightness and two opponent colours; other channels as they are.

    Hue tells classes apart better than light and shade do. The change of coordinates is orthogonal,
    but lightness is an average, and opponent colours are stretched. It is linear, so that the scale
    of the image does not matter; CIELAB, which does much the same, would have to know it.
    """
    if pixels.shape[-1] != 3:
        return pixels
    red, green, blue = np.moveaxis(pixels, -1, 0)
    lightness = (red + green + blue) / 3.0
    return np.stack(
        [lightness, HUE * (red - green) / 2**0.5, HUE * (red + green - 2.0 * blue) / 6**0.5],
        axis=-1,
    )


def contrast_graph(pixels: Floats, xi: float, connectivity: int) -> Graph:
    """Return the graph of the pixels, ω = exp(-ξ‖I_i - I_j‖²) where the mean of ‖·‖² is 4.

    With diagonals, the weights are divided by the distance of the pixels, and by as much as makes
    a straight border along the axes as long as without.
    """
    shape = pixels.shape[:-1]
    pairs = [_neighbours(shape, step) for step in _steps(len(shape), connectivity)]
    squares = [((pixels[a] - pixels[b]) ** 2).sum(axis=-1) for a, b in pairs]
    n_edges = sum(square.size for square in squares)
    mean = sum(float(square.sum()) for square in squares) / max(n_edges, 1)
    factor = 4.0 * xi / mean if mean > 0.0 else 0.0
    weights = [exp(-factor * square) for square in squares]
    if connectivity == 1:
        return grid_graph(shape, weights)
    steps = _steps(len(shape), connectivity)
    lengths = [math.sqrt(sum(map(abs, step))) for step in steps]
    crossing = sum(
        1.0 / length for step, length in zip(steps, lengths, strict=True) if step[0] != 0
    )
    vertices = np.arange(math.prod(shape)).reshape(shape)
    edges = [np.stack([vertices[a].ravel(), vertices[b].ravel()], axis=1) for a, b in pairs]
    flat = [
        omega.ravel() / (length * crossing) for omega, length in zip(weights, lengths, strict=True)
    ]
    return Graph(vertices.size, np.concatenate(edges), np.concatenate(flat))


def _steps(n_axes: int, connectivity: int) -> list[tuple[int, ...]]:
    """Return the steps to the neighbours, one of each opposite two; those along axes first."""
    steps = [
        step
        for step in itertools.product((-1, 0, 1), repeat=n_axes)
        if 0 < sum(map(abs, step)) <= connectivity and next(x for x in step if x) > 0
    ]
    return sorted(steps, key=lambda step: (sum(map(abs, step)), [-abs(x) for x in step]))


def _neighbours(
    shape: tuple[int, ...], step: tuple[int, ...]
) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return where the pixels are that have a neighbour in this direction, and where those are."""
    here = tuple(slice(max(-x, 0), n - max(x, 0)) for n, x in zip(shape, step, strict=True))
    there = tuple(slice(max(x, 0), n - max(-x, 0)) for n, x in zip(shape, step, strict=True))
    return here, there


def fix_scribbles(cost: Floats, marks: NDArray[np.intp], graph: Graph, epsilon: float) -> None:
    """Make the cost of the other classes so large that no neighbours can overrule a scribble.

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


def _with_classes(start: Result, n_classes: int) -> Any:
    """Return a start with further classes, which no pixel has yet."""
    if start.u.ndim != 2 or start.u.shape[1] >= n_classes:
        return start
    further = ((0, 0), (0, n_classes - start.u.shape[1]))
    return np.pad(start.u, further), np.pad(start.p, further)
