"""The spectrum of AᵀCA on a grid, from products with a few random vectors.

Many operators are almost invariant under shifts: blurs, projections, masks of Fourier coefficients.
AᵀCA is then almost diagonal in a basis of cosines or of Fourier modes. Its diagonal is estimated
from the image of one random vector (Bekas, Kokiopoulou, Saad, "An estimator for the diagonal of a
matrix", Applied Numerical Mathematics 57, 2007), for every mode alone or with the mean over
neighbouring modes. The image of a second vector tells which estimate is the best. It is a
preconditioner, so results do not depend on its errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy.fft
from scipy import ndimage

from graphtv._validate import Floats
from graphtv.operators.inner import length

WIDTHS = (1, 3, 9)
"""Over how many neighbouring modes along each axis estimates are averaged."""

USUAL = 0.03
"""The usual ρ of the equations, relative to the largest value of the spectrum."""

WORST = 0.7
"""Relative error of the solution of an equation, from which an estimate is of no use (operators:
0.5 for a blur along a diagonal, where conjugate gradients take half as many iterations)."""

Product = Callable[[Floats], Floats]


class Spectrum:
    """An estimate of AᵀCA that is diagonal in a basis of cosines or of Fourier modes.

    Attributes
    ----------
    error : float
        The relative error of the solution of an equation with a usual ρ.
    """

    def __init__(self, shape: tuple[int, ...], has_cosines: bool, values: Floats) -> None:
        self._shape, self._has_cosines, self._values = shape, has_cosines, values
        self._axes = tuple(range(-len(shape), 0))
        self.error = math.inf

    def solve(self, r: Floats, rho: float) -> Floats:
        """Return (AᵀCA + ρ)⁻¹ r for the core's flat array of all channels."""
        channels, factors = r.reshape(-1, *self._shape), 1.0 / (self._values + rho)
        if self._has_cosines:
            modes = scipy.fft.dctn(channels, axes=self._axes, norm="ortho") * factors
            found = scipy.fft.idctn(modes, axes=self._axes, norm="ortho")
        else:
            modes = scipy.fft.rfftn(channels, axes=self._axes) * factors
            found = scipy.fft.irfftn(modes, self._shape, axes=self._axes)
        return np.asarray(found).reshape(-1)


def spectrum_of(product: Product, shape: tuple[int, ...]) -> Spectrum | None:
    """Return the best estimate for a map x ↦ AᵀCA x on a grid, or None if none is good.

    It takes two products.
    """
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, math.prod(shape)))
    image, other = product(x), product(y)
    modes = {has_cosines: _modes(x, image, shape, has_cosines) for has_cosines in (True, False)}
    largest = float(_estimate(*modes[True], WIDTHS[-1]).max())
    if not 0.0 < largest < math.inf or not np.isfinite(other).all():
        return None
    rho, found = USUAL * largest, []
    for has_cosines, pair in modes.items():
        for width in WIDTHS:
            spectrum = Spectrum(shape, has_cosines, _estimate(*pair, width))
            spectrum.error = length(spectrum.solve(other + rho * y, rho) - y) / length(y)
            found.append(spectrum)
    best = min(found, key=lambda spectrum: spectrum.error)
    return best if best.error < WORST else None


def _modes(
    x: Floats, image: Floats, shape: tuple[int, ...], has_cosines: bool
) -> tuple[Floats, Floats]:
    """Return the products of the modes of x with those of its image, and with themselves."""
    if has_cosines:
        a, b = (scipy.fft.dctn(v.reshape(shape), norm="ortho") for v in (x, image))
    else:
        a, b = (scipy.fft.rfftn(v.reshape(shape)) for v in (x, image))
    return (np.conj(a) * b).real, (np.conj(a) * a).real


def _estimate(products: Floats, squares: Floats, width: int) -> Floats:
    """Return the diagonal, with the mean over neighbouring modes."""
    if width > 1:
        products, squares = (
            ndimage.uniform_filter(values, width, mode="nearest") for values in (products, squares)
        )
    tiny = 1e-12 * float(squares.mean())
    return np.asarray(np.maximum(products / np.maximum(squares, tiny), 0.0))
