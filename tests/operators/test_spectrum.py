"""Spectra of operators on grids."""

import numpy as np
import pytest
import scipy.fft

from graphtv.applications.imaging.convolution import Convolution
from graphtv.operators.spectrum import spectrum_of

SHAPE = (12, 9)
KERNEL = np.outer([1.0, 2.0, 1.0], [1.0, 3.0, 1.0]) / 20


def fourier_mask(x):
    """Return AᵀAx of some Fourier coefficients."""
    kept = np.abs(np.fft.fftfreq(SHAPE[0]))[:, None] + np.fft.rfftfreq(SHAPE[1]) < 0.4
    modes = scipy.fft.rfftn(x.reshape(SHAPE)) * kept
    return scipy.fft.irfftn(modes, SHAPE).ravel()


@pytest.mark.parametrize("boundary", ["reflect", "periodic"])
def test_equation_of_an_even_blur_is_solved_exactly(boundary):
    A = Convolution(KERNEL, SHAPE, boundary)
    found = spectrum_of(lambda x: A.rmatvec(A.matvec(x)), SHAPE)
    assert found is not None
    b = np.random.default_rng(1).standard_normal(2 * 108)  # two channels
    for row, x in zip(b.reshape(2, -1), found.solve(b, 0.1).reshape(2, -1), strict=True):
        np.testing.assert_allclose(A.rmatvec(A.matvec(x)) + 0.1 * x, row, atol=1e-9)


def test_fourier_mask_is_solved_exactly():
    found = spectrum_of(fourier_mask, SHAPE)
    assert found is not None
    b = np.random.default_rng(1).standard_normal(108)
    x = found.solve(b, 0.1)
    np.testing.assert_allclose(fourier_mask(x) + 0.1 * x, b, atol=1e-9)


def test_operator_without_structure_has_no_spectrum():
    scales = np.exp(3.0 * np.random.default_rng(2).standard_normal(108))
    assert spectrum_of(lambda x: scales * x, SHAPE) is None
    assert spectrum_of(lambda x: 0.0 * x, SHAPE) is None
