"""Proximal steps of the misfit h(Au) = ½‖Au - f‖²_C: argmin_w h(Aw) + ρ/2 ‖w - v‖².

C holds the weights of the rows. If A is a matrix with few rows, the equation
(AᵀCA + ρ)(w - v) = -Aᵀh'(Av) is solved by factorisation (Woodbury's formula). If the spectrum of
AᵀCA on a grid is roughly known, preconditioned conjugate gradients continue from the last w until
the residual is a fraction of what it was. They take one product with A and one with Aᵀ per
iteration.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from graphtv._validate import Floats
from graphtv.operators.inner import inner
from graphtv.operators.misfit import Misfit
from graphtv.operators.spectrum import Spectrum

MOST_ROWS = 1000
"""Rows of a matrix up to which their products with each other are factorised, …"""

LEAST_SHAPE = 2
"""… if there are at least this many times as many columns."""

REFRESH = 100
"""Iterations of conjugate gradients after which the gradient is computed anew."""


class ConjugateStep:
    """Steps by conjugate gradients, with the spectrum of AᵀCA on a grid as preconditioner.

    Attributes
    ----------
    w, x : ndarray
        The last point and its image Aw.
    slope : ndarray
        Aᵀh'(Aw).
    """

    def __init__(self, misfit: Misfit, spectrum: Spectrum, start: Floats, image: Floats) -> None:
        self._misfit, self._spectrum = misfit, spectrum
        self._rows = misfit.row_curvatures
        self.w, self.x = start, image
        self._refresh()

    def _refresh(self) -> None:
        self.slope = self._misfit.map.adjoint(self._misfit.gradient(self.x))
        self._age = 0

    def __call__(self, v: Floats, rho: float, accuracy: float, at_most: int) -> None:
        """Move w towards the proximal step from v until the residual is a fraction of the first."""
        if self._age >= REFRESH:
            self.x = self._misfit.map.apply(self.w)
            self._refresh()
        r = rho * (v - self.w) - self.slope
        y = self._spectrum.solve(r, rho)
        direction, energy = y, inner(r, y)
        goal = accuracy**2 * energy
        for _ in range(at_most):
            if not energy > goal:
                break
            image = self._misfit.map.apply(direction)
            back = self._misfit.map.adjoint(self._rows * image)
            product = back + rho * direction
            step = energy / inner(direction, product)
            self.w = self.w + step * direction
            self.x = self.x + step * image
            self.slope = self.slope + step * back
            self._age += 1
            r = r - step * product
            y = self._spectrum.solve(r, rho)
            before, energy = energy, inner(r, y)
            direction = y + (energy / before) * direction


class FactoredStep:
    """Steps by factorising the products of the rows of a matrix with each other."""

    def __init__(self, misfit: Misfit, start: Floats, image: Floats) -> None:
        self._misfit, self._roots = misfit, np.sqrt(misfit.row_curvatures)
        self._products = misfit.map.gram()
        self._factors: tuple[float, tuple[Floats, bool]] | None = None
        self.w, self.x = start, image
        self.slope = misfit.map.adjoint(misfit.gradient(self.x))

    def __call__(self, v: Floats, rho: float, accuracy: float, at_most: int) -> None:
        """Set w to the proximal step from v. It is exact up to rounding."""
        image = self._misfit.map.apply(v)
        force, there = self._misfit.gradient(image), self._roots > 0.0
        scaled = np.divide(force, self._roots, out=np.zeros_like(force), where=there)
        t = self._roots * self._solve(rho, scaled)
        self.w = v - self._misfit.map.adjoint(t)
        self.x = image - self._products @ t
        self.slope = rho * (v - self.w)

    def _solve(self, rho: float, b: Floats) -> Floats:
        if self._factors is None or self._factors[0] != rho:
            matrix = self._products * np.outer(self._roots, self._roots)
            matrix[np.diag_indices_from(matrix)] += rho
            self._factors = rho, scipy.linalg.cho_factor(matrix, overwrite_a=True)
        return np.asarray(scipy.linalg.cho_solve(self._factors[1], b))


def has_few_rows(misfit: Misfit) -> bool:
    """Whether the rows of a matrix are factorised."""
    rows, columns = misfit.map.shape
    is_wide = rows <= MOST_ROWS and rows * LEAST_SHAPE <= columns
    return misfit.map.is_matrix and misfit.n_channels == 1 and is_wide


def data_step(misfit: Misfit, start: Floats, image: Floats) -> ConjugateStep | FactoredStep:
    """Return the proximal steps of a sum of squares, by a factorisation or with a spectrum.

    The first point has an image that is known.
    """
    if has_few_rows(misfit):
        return FactoredStep(misfit, start, image)
    assert misfit.spectrum is not None
    return ConjugateStep(misfit, misfit.spectrum, start, image)
