"""Segmentation into several classes: the multiclass total variation of the paper's Section 5.2.

    min_u Σ_i ⟨ρ_i, u_i⟩ + ε Σ_ic u_ic log u_ic + Σ_(i,j) ω_ij |u_i - u_j|₁

over points u_i of the unit simplex, on any graph (`segment`), and on the pixels of an image
(`segment_image`), where ρ comes from scribbles (see `scribbles.py`) and ω = exp(-ξ‖I_i - I_j‖²)
follows the image's edges. With `coupled`, the norm of u_i - u_j is the Euclidean one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal, cast, overload

import numpy as np
from numpy.typing import NDArray

from graphtv._elementary import exp
from graphtv._ties import largest_classes
from graphtv._validate import (
    Floats,
    as_array,
    as_flag,
    as_floats,
    as_observations,
    as_real,
    moderate,
)
from graphtv.applications.imaging.array_kinds import keeps_dimensions
from graphtv.applications.imaging.scribbles import scribble_cost
from graphtv.applications.keywords import check_keywords
from graphtv.graph.graph import Graph, as_graph
from graphtv.graph.grid import grid_graph, stepped_graph
from graphtv.graph.labelled import array_of, in_order, labelling_of, with_labels
from graphtv.graph.neighbourhood import crofton_weights, neighbour_steps, step_slices
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.terms import CoupledTV, EntropicSimplex, TotalVariation

__all__ = ["Segmentation", "segment", "segment_image"]

Labels = NDArray[np.intp]

HUE = 2.0
"""Weight of opponent colours relative to lightness."""

SURELY = 20.0
"""A scribbled pixel has its class with probability at least 1 - e^-20 for any neighbours."""


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation(Result):
    """The result of `segment`: a `Result` whose `u` has a probability per vertex and class.

    Examples
    --------
    >>> from graphtv import grid_graph
    >>> result = segment(grid_graph((4,), 0.1), [[0, 1], [0, 1], [1, 0], [1, 0]], epsilon=0.5)
    >>> result.u.argmax(axis=1).tolist()
    [0, 0, 1, 1]
    """

    @property
    def labels(self) -> Labels:
        """The most probable class of each vertex; the first one if several are equal.

        It has the labels of the costs. The classes of a DataFrame are its columns, otherwise
        numbers.
        """
        labelling = labelling_of(self.u)
        if labelling is None:
            return largest_classes(self.u)
        return cast(Labels, labelling.chosen(largest_classes(array_of(self.u, "u"))))


def segment(
    graph: Graph,
    cost: Any,
    *,
    epsilon: float = 1.0,
    coupled: bool = False,
    **solve_options: Any,
) -> Segmentation:
    """Assign the vertices of a graph to classes, given the cost of each class at each vertex.

    Minimises Σ_i ⟨cost_i, u_i⟩ + ε Σ_ic u_ic log u_ic + Σ_(i,j) ω_ij |u_i - u_j|₁ over points u_i
    of the unit simplex. The solution prefers classes of low cost and short borders.

    Parameters
    ----------
    graph : Graph
        The graph with n vertices. Larger weights give fewer and smoother regions.
    cost : array_like of shape (n, C), pandas, xarray or dict
        The cost of each class at each vertex, usually a negative log-likelihood. Labels are matched
        with the names of the graph, as in `fused_lasso`, and the result has them. Adding a number
        to all costs of a vertex does not change the solution. NaN in all classes of a vertex means
        that nothing is known there.
    epsilon : float, optional
        The weight ε > 0 of the entropy. With ε = 1, negative log-likelihoods as costs and no edges,
        u is the posterior probability. Smaller values give harder assignments.
    coupled : bool, optional
        Penalise the Euclidean norm ω_ij ‖u_i - u_j‖ instead of the sum over classes (`CoupledTV`).
        A border between two classes then costs √2 ω_ij instead of 2 ω_ij.
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
    term = EntropicSimplex(_known_costs(in_order(cost, "cost", as_graph(graph))), epsilon)
    if term.shape[0] != graph.n_vertices:
        raise ValueError(
            f"cost must have a row for each of the {graph.n_vertices} vertices of graph,"
            f" got shape {term.shape}"
        )
    penalty = CoupledTV() if as_flag(coupled, "coupled") else TotalVariation()
    result = solve(Problem(graph, term, penalty), **solve_options)
    parts = {field.name: getattr(result, field.name) for field in fields(result)}
    return Segmentation(**{**parts, "u": with_labels(result.u, cost, "cost", graph)})


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
    coupled: bool = ...,
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
    coupled: bool = ...,
    hold_scribbles: bool = ...,
    return_result: Literal[True],
    tol: float = ...,
    warm_start: Any = ...,
    **solve_options: Any,
) -> tuple[Labels, Segmentation]: ...
@keeps_dimensions
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
    coupled: bool = False,
    hold_scribbles: bool = True,
    return_result: bool = False,
    tol: float = 5e-4,
    warm_start: Any = None,
    **solve_options: Any,
) -> Labels | tuple[Labels, Segmentation]:
    """Segment an image or a volume from scribbles.

    Every class has a density of colour and position that is estimated from its scribbles. The
    regions agree with the densities and have short borders that follow the edges of the image. This
    is `segment` with the cost -log P / λ, where P is the posterior probability of the class, on the
    pixel grid with weights exp(-ξ‖I_i - I_j‖²).

    Parameters
    ----------
    image : array_like or xarray.DataArray
        An image of any dimension and type. It has the shape of `scribbles`, with an additional
        last axis if there are several channels. The result does not depend on its scale.
    scribbles : array_like of int or xarray.DataArray
        k for the scribbles of class k, and 0 for all other pixels. There must be at least two
        classes, numbered without gaps.
    xi : float, optional
        Contrast ξ ≥ 0 of the weights ω = exp(-ξ‖I_i - I_j‖²). Colours are scaled such that the
        root-mean-square difference of neighbours is 2. 0 ignores the edges of the image.
    weight : float, optional
        Weight of the border length relative to -log P. λ is `weight` times the mean side of the
        image in pixels, so that the resolution does not matter. Larger values give fewer and
        smoother regions.
    sigma_color : float, optional
        Width of the colour kernel, in standard deviations of the image.
    spread : float, optional
        Width of the spatial kernel at a pixel, relative to its distance to the nearest scribble of
        the class. Small values give more influence to nearby scribbles, large values treat all
        scribbles alike.
    epsilon : float, optional
        Weight ε > 0 of the entropy relative to the borders. Smaller values give harder assignments
        and need more iterations.
    connectivity : int, optional
        By how many coordinates neighbours may differ, or the number of neighbours, as in
        `denoise_tv`: with diagonals, borders cost nearly the same in all directions.
    coupled : bool, optional
        Penalise the Euclidean norm over the classes, as in `segment`. Borders then cost 1/√2 times
        as much, so use a `weight` that is √2 times as large.
    hold_scribbles : bool, optional
        Whether scribbled pixels keep their class. Otherwise their class may change.
    return_result : bool, optional
        Also return the `Segmentation`. Its ``u.reshape(*scribbles.shape, -1)`` are probabilities,
        and it can be used as `warm_start`.
    tol : float, optional
        Relative gap to certify. The labels usually converge much earlier than the objective.
    warm_start : Segmentation, optional
        An earlier result for this image with other scribbles. It may have fewer classes.
    **solve_options
        Passed on to `graphtv.solve`: ``time_limit``, ``callback``, ``n_threads``, …

    Returns
    -------
    labels : ndarray of int
        The class 1, …, C of each pixel. A DataArray if the image or the scribbles are one.
    result : Segmentation
        Only if `return_result` is true. Its `labels` start at 0, with pixels in row-major order.

    Notes
    -----
    The densities are those of Nieuwenhuis and Cremers [1]_. The weights are those of Möllenhoff et
    al. [2]_, who use ξ = 0.1 but specify neither the scale of the intensities nor λ.

    ε log C is added to all costs. This does not change the minimiser, but makes all three terms of
    the objective nonnegative. They cannot cancel, so the relative gap is meaningful.

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
    neighbour_steps(connectivity, marks.ndim)  # raises if it is not valid
    is_coupled = as_flag(coupled, "coupled")
    hold_scribbles = as_flag(hold_scribbles, "hold_scribbles")
    return_result = as_flag(return_result, "return_result")

    colours = opponent(pixels)
    deviation = math.sqrt(float(colours.var(axis=tuple(range(marks.ndim))).sum()))
    cost = scribble_cost(
        colours.reshape(marks.size, -1), marks, sigma_color * (deviation or 1.0), spread
    )
    cost /= weight * float(marks.size) ** (1.0 / marks.ndim)
    cost += epsilon * math.log(cost.shape[1])  # makes the entropy nonnegative, see Notes
    graph = contrast_graph(colours, xi, connectivity)
    if hold_scribbles:
        fix_scribbles(cost, marks.ravel(), graph, epsilon)
    if isinstance(warm_start, Result):
        warm_start = _with_classes(warm_start, cost.shape[1])
    result = segment(
        graph,
        cost,
        epsilon=epsilon,
        coupled=is_coupled,
        tol=tol,
        warm_start=warm_start,
        **solve_options,
    )
    labels = result.labels.reshape(marks.shape) + 1
    if hold_scribbles:  # a run may end before convergence
        labels = np.where(marks > 0, marks, labels)
    return (labels, result) if return_result else labels


def _as_scribbles(scribbles: Any) -> NDArray[np.intp]:
    """Return the validated scribbles."""
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
    """Return the image with the channels as its last axis."""
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
    """Return RGB as lightness and two opponent colours; other channels are unchanged.

    Hue distinguishes classes better than lightness does. The transformation is orthogonal up to
    scaling: lightness is a mean, and opponent colours are multiplied by HUE. It is linear, so the
    scale of the image does not matter. CIELAB is similar, but would need to know the scale.
    """
    if pixels.shape[-1] != 3:
        return pixels
    red, green, blue = np.moveaxis(pixels, -1, 0)
    lightness = (red + green + blue) / 3.0
    return np.stack(
        [lightness, HUE * (red - green) / 2**0.5, HUE * (red + green - 2.0 * blue) / 6**0.5],
        axis=-1,
    )


def contrast_graph(pixels: Floats, xi: float, connectivity: Any) -> Graph:
    """Return the pixel graph with ω = exp(-ξ‖I_i - I_j‖²), where the mean of ‖I_i - I_j‖² is 4.

    With diagonals, the weights are multiplied by those of the Cauchy-Crofton formula.
    """
    shape = pixels.shape[:-1]
    steps = neighbour_steps(connectivity, len(shape))
    pairs = [step_slices(shape, step) for step in steps]
    squares = [((pixels[a] - pixels[b]) ** 2).sum(axis=-1) for a, b in pairs]
    n_edges = sum(square.size for square in squares)
    mean = sum(float(square.sum()) for square in squares) / max(n_edges, 1)
    factor = 4.0 * xi / mean if mean > 0.0 else 0.0
    weights = [exp(-factor * square) for square in squares]
    if len(steps) == len(shape):
        return grid_graph(shape, weights)
    lengths = crofton_weights(tuple(steps), (1.0,) * len(shape))
    scaled = [length * omega for length, omega in zip(lengths, weights, strict=True)]
    return stepped_graph(shape, steps, scaled)


def _known_costs(cost: Any) -> Floats:
    """Return costs with 0 in all classes of vertices where nothing is known."""
    costs, known = as_observations(cost, "cost")
    if known is None:
        return costs
    rows = known.reshape(len(known), -1)
    partly = rows.any(axis=1) & ~rows.all(axis=1)
    if partly.any():
        raise ValueError(
            "cost must be a number in all classes of a vertex or in none, got NaN in some of row"
            f" {int(np.argmax(partly))}"
        )
    return costs


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


def _with_classes(start: Result, n_classes: int) -> Any:
    """Return a warm start with additional classes that no pixel has yet."""
    if start.u.ndim != 2 or start.u.shape[1] >= n_classes:
        return start
    further = ((0, 0), (0, n_classes - start.u.shape[1]))
    return np.pad(start.u, further), np.pad(start.p, further)
