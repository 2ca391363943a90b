"""Segmentation of images from scribbles.

This is `segment` on the pixel grid, where the costs come from scribbles (see `scribbles.py`) and
the weights ω = exp(-ξ‖I_i - I_j‖²) follow the image's edges (see `contrast.py`).
"""

from __future__ import annotations

import math
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats, as_array, as_flag, as_floats, as_real, moderate
from graphtv.applications.imaging.array_kinds import keeps_dimensions
from graphtv.applications.imaging.contrast import contrast_graph, opponent
from graphtv.applications.imaging.scribbles import fix_scribbles, scribble_cost
from graphtv.applications.imaging.segmentation import Labels, Segmentation, segment
from graphtv.applications.keywords import check_keywords
from graphtv.graph.neighbourhood import neighbour_steps
from graphtv.result import Result

__all__ = ["segment_image"]


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


def _with_classes(start: Result, n_classes: int) -> Any:
    """Return a warm start with additional classes that no pixel has yet."""
    if start.u.ndim != 2 or start.u.shape[1] >= n_classes:
        return start
    further = ((0, 0), (0, n_classes - start.u.shape[1]))
    return np.pad(start.u, further), np.pad(start.p, further)
