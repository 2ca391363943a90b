"""Denoising and inpainting of images and volumes: the model of Rudin, Osher and Fatemi [1].

    min_u ½ Σ_x (u(x) - f(x))² + weight Σ_a Σ_x |u(x + e_a) - u(x)| / spacing_a

with a sum over the axes a. This is the anisotropic total variation; its solutions have sharp
corners and can be computed exactly. Diagonal neighbours approximate the isotropic total variation
in 2-D and 3-D, and are still exact (`pixel_graph`). `IsotropicTV` and `CoupledTV` take norms over
axes and over channels.

[1] L. I. Rudin, S. Osher, E. Fatemi, "Nonlinear total variation based noise removal algorithms",
    Physica D 60, 1992.
"""

from __future__ import annotations

import math
from typing import Any, Literal, overload

from numpy.typing import NDArray

from graphtv._validate import as_flag, as_real, is_dask
from graphtv.applications.early_end import warn_if_early
from graphtv.applications.imaging.array_kinds import keeps_kind
from graphtv.applications.imaging.image import Image, as_image
from graphtv.applications.imaging.losses import LOSSES, Loss, as_loss
from graphtv.applications.imaging.noise import noise_levels
from graphtv.applications.imaging.pixel_graph import pixel_graph
from graphtv.applications.imaging.risk import weight_of_image
from graphtv.applications.keywords import check_keywords
from graphtv.graph.neighbourhood import is_axial, neighbour_steps
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.terms import (
    CoupledTV,
    DataTerm,
    HuberTV,
    IsotropicTV,
    PoissonLoss,
    SquaredLoss,
    TotalVariation,
)

__all__ = ["denoise_tv"]

_TOTAL_VARIATION = TotalVariation()


@overload
def denoise_tv(
    image: Any,
    weight: Any = ...,
    *,
    mask: Any = ...,
    spacing: Any = ...,
    channel_axis: int | str | None = ...,
    isotropic: bool = ...,
    coupled: bool = ...,
    connectivity: int = ...,
    loss: str | Loss = ...,
    penalty: TotalVariation | HuberTV = ...,
    return_result: Literal[False] = ...,
    **solve_options: Any,
) -> NDArray[Any]: ...
@overload
def denoise_tv(
    image: Any,
    weight: Any = ...,
    *,
    mask: Any = ...,
    spacing: Any = ...,
    channel_axis: int | str | None = ...,
    isotropic: bool = ...,
    coupled: bool = ...,
    connectivity: int = ...,
    loss: str | Loss = ...,
    penalty: TotalVariation | HuberTV = ...,
    return_result: Literal[True],
    **solve_options: Any,
) -> tuple[NDArray[Any], Result]: ...
@keeps_kind
def denoise_tv(
    image: Any,
    weight: Any = 0.1,
    *,
    mask: Any = None,
    spacing: Any = None,
    channel_axis: int | str | None = None,
    isotropic: bool = False,
    coupled: bool = False,
    connectivity: int = 1,
    loss: str | Loss = "squared",
    penalty: TotalVariation | HuberTV = _TOTAL_VARIATION,
    return_result: bool = False,
    **solve_options: Any,
) -> NDArray[Any] | tuple[NDArray[Any], Result]:
    """Denoise an image or a volume by total variation, and fill in unknown pixels.

    As in scikit-image, uint8 and uint16 images are divided by 255 and 65535, and the result lies in
    [0, 1]. All other types keep their values, and so do counts (``loss='poisson'``).

    Parameters
    ----------
    image : array_like, dask array, xarray.DataArray, or array of PyTorch, JAX, …
        An image of any dimension. NaN and the masked entries of a masked array are unknown
        pixels. Infinite values are errors.
    weight : float, ndarray, list or 'auto'
        Larger values give a smoother image. The weight has the unit of the image (after the
        division for uint8 and uint16): a region of P pixels with a boundary of B pixel sides
        moves by weight · B/P towards its surroundings. It is one number, an array with one number
        per pixel, or a list with one number or array per axis as in `grid_graph`. With an array, an
        edge uses the mean of its two pixels, or with `isotropic` the first of them. ``'auto'`` uses
        `suggest_weight` with the same `tol`, for anisotropic total variation without coupled
        channels.
    mask : array_like of bool, optional
        True for known pixels. Where it is False the value of the image is ignored, and the pixel
        is filled in from its surroundings. It has the shape of the image, with or without
        channels.
    spacing : float or sequence of float, optional
        Distance between pixels along each spatial axis, 1 by default. Differences are divided
        by it. ``'coords'`` takes it from the evenly spaced coordinates of a DataArray.
    channel_axis : int, optional
        The axis of colours or other channels. Each channel is denoised separately, with the same
        weight, unless they are coupled. By default all axes are spatial. For a DataArray
        also the name of a dimension.
    isotropic : bool
        Penalise the norm of the forward differences of each pixel (`IsotropicTV`), so that edges
        cost nearly the same in all directions. Then `weight` means the same as in scikit-image's
        `denoise_tv_chambolle`.
    coupled : bool
        Take norms over the channels (`CoupledTV`, or `IsotropicTV` with ``coupled=True``), so that
        all channels have their edges at the same places.
    connectivity : int
        How many coordinates of a neighbour may differ, as in scikit-image: 1 for neighbours along
        the axes, 2 and 3 for diagonals too, in 2-D and 3-D. Or the number of neighbours: 4, 8 or
        16 in 2-D, and 6, 18 or 26 in 3-D. Diagonals reduce the preference for the axes. Their
        weights are those of the Cauchy-Crofton formula for the given `spacing`, scaled such that
        `weight` keeps its meaning.
    loss : {'squared', 'absolute', 'poisson'} or callable
        For Gaussian noise, for outliers such as salt-and-pepper noise, and for counts. A callable
        is called as ``loss(signal, weights=...)`` and returns a data term. With ``'absolute'`` and
        ``'poisson'``, `weight` has no unit.
    penalty : TotalVariation or HuberTV
        ``HuberTV(delta)`` avoids the staircasing of total variation.
    return_result : bool
        Also return the `Result` with the certificate.
    **solve_options
        Passed on to `solve`: `tol`, `max_iterations`, `time_limit`, `warm_start`, `callback`,
        `stop`, `verbose`, `n_threads`, `method`, `preconditioner`. For dask arrays see the notes.

    Returns
    -------
    denoised : ndarray, or what `image` is
        The denoised image, float32 for float16 and float32 images, otherwise float64. A DataArray
        keeps its dimensions, coordinates and attributes.
    result : Result or TiledResult
        Only if `return_result` is true. `result.u` and `result.p` are float64, with pixels in
        row-major order. `result.relative_gap` is certified for them, before `denoised` is rounded
        to its type. It can be used as `warm_start` of the next call.

    Warns
    -----
    RuntimeWarning
        If the run ended early and `return_result` is false.

    See Also
    --------
    suggest_weight, estimate_noise

    Notes
    -----
    Values stay within the range of the known pixels, and the mean does not change if all pixels are
    known. A region without known pixels that is separated by weights of 0 gets the value of this
    range that is nearest to 0.

    A dask array is solved chunk by chunk on the Dask scheduler, to the same optimum. The
    computation runs during this call. It returns a dask array with the chunks of the image and a
    `TiledResult`, or a `PartitionedResult` unless `connectivity` is 1. `weight` and `mask` may also
    be dask arrays. The supported options are `tol`, `max_iterations` (rounds over all chunks),
    `time_limit`, `stop`, `callback`, `verbose`, `n_threads` (per chunk) and ``checkpoint=folder``.
    A checkpoint stores the state in files: this allows grids larger than memory, and the same call
    continues an interrupted run. The loss is ``'squared'``, ``'poisson'``, `HuberLoss` or
    ``functools.partial(HuberLoss, delta=…)``. `isotropic` must be False. If `connectivity` is not
    1, `weight` must be a number and `coupled` False. Coupled channels need the squared loss, and
    with missing pixels they need many rounds.

    Examples
    --------
    >>> import numpy as np
    >>> denoise_tv(np.array([0.0, 0.0, 3.0, np.nan, 3.0]), weight=1.0)
    array([0.5, 0.5, 2.5, 2.5, 2.5])
    >>> noisy = np.random.default_rng(0).normal(0.5, 0.1, (32, 32)).astype(np.float32)
    >>> smooth, result = denoise_tv(noisy, "auto", return_result=True)
    >>> smooth.dtype.name, result.status, bool(smooth.std() < 0.02)
    ('float32', 'optimal', True)
    """
    check_keywords(denoise_tv, solve_options, *(("checkpoint",) if is_dask(image) else ()))
    is_result_wanted = as_flag(return_result, "return_result")
    make_loss = as_loss(loss, LOSSES)
    is_isotropic, is_coupled = as_flag(isotropic, "isotropic"), as_flag(coupled, "coupled")
    of_edges, penalty = penalty, _combined(penalty, is_isotropic, is_coupled)
    is_suggested = isinstance(weight, str) and weight == "auto"
    if is_suggested:
        _check_auto(make_loss, loss, penalty)
    if is_dask(image):
        if is_isotropic:
            raise ValueError(
                "isotropic must be False for a dask array, got True; the alternatives are coupled,"
                " or to load the array into memory"
            )
        neighbour_steps(connectivity, image.ndim - (channel_axis is not None))  # raises if invalid
        options = {"mask": mask, "spacing": spacing, "channel_axis": channel_axis}
        options |= {"penalty": of_edges, "coupled": is_coupled, "loss": loss}
        options["connectivity"] = connectivity
        denoised, tiled = _denoise_tiled(image, weight, **options, **solve_options)
        if not is_result_wanted:
            warn_if_early(tiled, "denoise_tv", stacklevel=4)
        return (denoised, tiled) if is_result_wanted else denoised
    given = as_image(image, "image", mask, channel_axis, holds_counts=make_loss is PoissonLoss)
    layout = given.layout
    if not is_axial(connectivity, len(layout.shape)) and is_isotropic:
        raise ValueError(f"isotropic must be False unless connectivity is 1, got {connectivity!r}")
    if is_suggested:
        weight = _suggested(given, spacing, connectivity, solve_options)
    graph = pixel_graph(layout.shape, weight, spacing, connectivity, isotropic=is_isotropic)
    problem = Problem(graph, _make(make_loss, given), penalty)
    del given  # the problem has copies, and volumes are large
    result = solve(problem, **solve_options)
    if not is_result_wanted:
        warn_if_early(result, "denoise_tv", stacklevel=4)
        return layout.restore(result.u)
    return layout.restore(result.u, copy=True), result


def _combined(penalty: Any, isotropic: bool, coupled: bool) -> Any:
    """Return the penalty with norms over axes, channels or both."""
    if not isotropic and not coupled:
        return penalty
    if not isinstance(penalty, TotalVariation | HuberTV):
        raise ValueError(
            "penalty must be TotalVariation() or HuberTV(delta) if isotropic or coupled is True,"
            f" got {penalty!r}"
        )
    return IsotropicTV(coupled, penalty.delta) if isotropic else CoupledTV(penalty.delta)


def _check_auto(make_loss: Loss, loss: Any, penalty: Any) -> None:
    """Raise if no weight can be suggested for the loss or the penalty."""
    if make_loss is not SquaredLoss or penalty != TotalVariation():
        raise ValueError(
            "weight must not be 'auto' unless the loss is squared and the penalty total"
            f" variation, got loss={loss!r}, penalty={penalty!r}"
        )


def _denoise_tiled(*args: Any, **options: Any) -> tuple[Any, Any]:
    from graphtv.applications.imaging.tiled_denoising import denoise_tiled

    return denoise_tiled(*args, **options)


def _make(make_loss: Loss, image: Image) -> DataTerm:
    """Return the data term of an image; raise if a callable does not return a data term."""
    try:
        return make_loss(image.signal, weights=image.known)
    except TypeError as error:
        raise TypeError(f"loss must be callable as loss(signal, weights=...): {error}") from error


def _suggested(image: Image, spacing: Any, connectivity: Any, options: dict[str, Any]) -> float:
    """Return the suggested weight; the search may take half of the time limit."""
    limit = options.get("time_limit")
    return weight_of_image(
        image,
        noise_levels(image),
        spacing,
        connectivity,
        tolerance=as_real(options.get("tol", 1e-6), "tol", minimum=0.0),
        time_limit=math.inf if limit is None else 0.5 * as_real(limit, "time_limit", minimum=0.0),
        verbose=as_flag(options.get("verbose", False), "verbose"),
        n_threads=options.get("n_threads"),
        stop=options.get("stop"),
    )
