"""Reconstruction of images and volumes from indirect measurements, by total variation.

    min_u h(Au) + weight TV(u),    lower ≤ u ≤ upper

A is a linear operator such as a blur, a projection (tomography) or a part of a Fourier transform.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats, as_array, as_flag, as_shape, unmasked
from graphtv.applications.early_end import warn_if_early
from graphtv.applications.imaging.losses import OPERATOR_LOSSES, Loss, as_loss
from graphtv.applications.imaging.pixel_graph import pixel_graph
from graphtv.applications.keywords import check_keywords
from graphtv.operators.linear_map import LinearMap
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.terms import IsotropicTV, TotalVariation

__all__ = ["reconstruct_tv"]

TOLERANCE = 1e-3
"""The relative gap that reconstructions prove by default."""


def reconstruct_tv(
    data: Any,
    operator: Any,
    shape: Any,
    weight: Any,
    *,
    loss: str | Loss = "squared",
    isotropic: bool = False,
    lower: Any = None,
    upper: Any = None,
    sparsity: float = 0.0,
    spacing: Any = None,
    connectivity: int = 1,
    return_result: bool = False,
    **solve_options: Any,
) -> NDArray[Any] | tuple[NDArray[Any], Result]:
    """Reconstruct an image or a volume from measurements of a linear operator.

    Parameters
    ----------
    data : array_like
        The measurements, with as many numbers as the operator has rows, in any shape. For C
        channels (colours, time) it has one more axis of length C at its end. NaN marks a
        missing measurement.
    operator : matrix or linear operator, shape (N, n)
        The operator A, with one column per pixel in row-major order: a dense or sparse matrix, or
        an object with `shape`, `matvec` and `rmatvec`, such as an operator of SciPy or PyLops.
    shape : tuple of int
        The shape of the image, of any dimension.
    weight : float, ndarray or list
        The weight of total variation: one number, one per pixel, or a list with one per axis.
    loss : {'squared', 'huber', 'absolute', 'poisson'} or callable
        Squared for Gaussian noise, Huber or absolute for outliers, Poisson for counts. A callable
        is called as ``loss(data)`` and returns a data term.
    isotropic : bool
        Use `IsotropicTV`, so that edges cost nearly the same in all directions.
    lower, upper : float or array_like, optional
        Bounds of the image: one number, or one per pixel. Bounds often make the certificate
        sharper too.
    sparsity : float
        The factor of an additional ℓ1 norm of the image.
    spacing : float or sequence of float, optional
        Distance between pixels along each axis, 1 by default.
    connectivity : int
        Neighbours of a pixel, as in `denoise_tv`.
    return_result : bool
        Also return the `Result` with the certificate.
    **solve_options
        Passed on to `solve`. The default of `tol` is 1e-3.

    Returns
    -------
    image : ndarray
        The image of the given shape, followed by the axis of channels if there are any.
    result : Result
        Only if `return_result` is true.

    Warns
    -----
    RuntimeWarning
        If the run ended early and `return_result` is false.

    See Also
    --------
    deblur_tv, denoise_tv, Problem

    Examples
    --------
    >>> import numpy as np
    >>> A = np.random.default_rng(0).standard_normal((30, 64)) / 8.0
    >>> truth = np.kron([[1.0, 0.0], [0.0, 0.5]], np.ones((4, 4)))
    >>> image = reconstruct_tv(A @ truth.ravel(), A, (8, 8), weight=1e-3, lower=0.0, upper=1.0)
    >>> bool(np.abs(image - truth).max() < 0.1)
    True
    """
    check_keywords(reconstruct_tv, solve_options)
    is_result_wanted = as_flag(return_result, "return_result")
    axes = as_shape(shape)
    is_isotropic = as_flag(isotropic, "isotropic")
    make_loss = as_loss(loss, OPERATOR_LOSSES)
    linear_map = operator if isinstance(operator, LinearMap) else LinearMap(operator)
    term = make_loss(_as_rows(data, linear_map.shape[0]))
    if np.prod(axes) != linear_map.shape[1]:
        raise ValueError(
            f"shape must have as many pixels as operator has columns, {linear_map.shape[1]},"
            f" got {axes}"
        )
    graph = pixel_graph(axes, weight, spacing, connectivity, isotropic=is_isotropic)
    penalty = IsotropicTV() if is_isotropic else TotalVariation()
    low, high = (_as_pixels(bound, axes) for bound in (lower, upper))
    problem = Problem(graph, term, penalty, linear_map, lower=low, upper=high, sparsity=sparsity)
    result = solve(problem, **{"tol": TOLERANCE, **solve_options})
    image = result.u.reshape(*axes, *result.u.shape[1:])
    if is_result_wanted:
        return image.copy(), result
    warn_if_early(result, "reconstruct_tv")
    return image


def _as_rows(data: Any, n_rows: int) -> Floats:
    """Return measurements with one row per row of the operator."""
    array = as_array(unmasked(data), "data")
    if array.dtype.kind not in "buif":
        raise ValueError(f"data must be real numbers, got dtype {array.dtype}")
    values = np.asarray(array, dtype=np.float64)
    if values.size == n_rows:
        return values.reshape(n_rows)
    if values.ndim > 1 and values.size == n_rows * values.shape[-1]:
        return values.reshape(n_rows, values.shape[-1])
    raise ValueError(
        f"data must have {n_rows} numbers, one per row of operator, got shape {values.shape}"
    )


def _as_pixels(bound: Any, axes: tuple[int, ...]) -> Any:
    """Return a bound with one number per pixel as a flat array."""
    if bound is None or np.shape(bound) != axes:
        return bound
    return np.asarray(bound).reshape(-1)
