"""Offsets and scales of the data change neither the proofs nor the solutions of tiled runs."""

from typing import Any

import dask.array as da
import numpy as np
import pytest

from graphtv import HuberTV, Problem, SquaredLoss, denoise_tv, grid_graph
from graphtv._validate import MODERATE
from reliability import exact

SHAPE = (40, 70)


def pieces(seed: int = 0) -> np.ndarray:
    """Return noise on pieces, on the grid of the numbers around 1e12."""
    rng = np.random.default_rng(seed)
    image = np.add.outer(*(np.arange(n) // 15 for n in SHAPE)) + 0.3 * rng.normal(size=SHAPE)
    return np.round(image * 1024) / 1024


def tiled(image: np.ndarray, weight: Any, **options: Any) -> Any:
    lazy = da.from_array(image, chunks=35)
    return denoise_tv(lazy, weight, return_result=True, **options)[1]


def confirm(result: Any, image: np.ndarray, weight: float, delta: float = 0.0) -> exact.Objectives:
    """Check the returned arrays in fractions."""
    penalty = {} if delta == 0.0 else {"penalty": HuberTV(delta)}
    problem = Problem(grid_graph(image.shape, weight), SquaredLoss(image.ravel()), **penalty)
    u, p = result.u.compute().ravel(), [q.compute().ravel() for q in result.p]
    true = exact.objectives(problem, u, np.concatenate(p))
    assert abs(exact.Fraction(result.primal) - true.primal) <= result.rounding + 1e-290
    assert abs(exact.Fraction(result.dual) - true.dual) <= result.rounding + 1e-290
    if result.status == "optimal":
        tolerance = exact.Fraction(result.tolerance) or exact.EXACT_GAP
        assert true.gap <= tolerance * true.scale
    if result.error_bound is not None:
        assert exact.Fraction(result.error_bound) ** 2 >= 2 * true.gap
    return true


@pytest.mark.parametrize("tol", [0.0, 1e-6])
@pytest.mark.parametrize("offset", [0.0, 1e6, -1e9, 1e12])
def test_an_offset_is_no_reason_to_stall(offset: float, tol: float) -> None:
    image = pieces() + offset
    result = tiled(image, 0.25, tol=tol)
    true = confirm(result, image, 0.25)
    if abs(offset) * np.sqrt(tol or 1e-12) < 1e3 * 2.0**-10:  # else no float is close enough
        assert result.status == "optimal"
    assert result.gap == pytest.approx(float(true.gap), rel=1e-3, abs=result.rounding)


def test_the_solution_moves_with_the_data() -> None:
    image = pieces()
    here, there = tiled(image, 0.25).u.compute(), tiled(image + 2.0**33, 0.25).u.compute()
    np.testing.assert_allclose(there - 2.0**33, here, atol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize("exponent", [-320, -300, 320])
def test_powers_of_two_change_no_bit(exponent: int, delta: float) -> None:
    def at(exponent: int) -> Any:
        width = float(np.ldexp(delta, 2 * exponent))
        image, weight = np.ldexp(pieces(), exponent), float(np.ldexp(0.25, exponent))
        result = tiled(image, weight, **({} if delta == 0.0 else {"penalty": HuberTV(width)}))
        confirm(result, image, weight, width)
        return result

    one, other = at(0), at(exponent)
    assert other.status == one.status == "optimal"
    if exponent % 64 == 0:
        np.testing.assert_array_equal(other.u.compute(), np.ldexp(one.u.compute(), exponent))


def test_underflow_is_no_proof() -> None:
    """Both objectives and the gap were 0, although the error was as large as the signal."""
    image, weight = 1e-165 * pieces(), np.full(SHAPE, 1e-165)
    result = tiled(image, weight)
    expected = denoise_tv(image, weight)
    assert result.status == "optimal"
    np.testing.assert_allclose(result.u.compute(), expected, rtol=0, atol=1e-2 * np.ptp(image))


@pytest.mark.slow
def test_numbers_that_suit_no_unit_prove_nothing_wrong() -> None:
    image = pieces()
    image[:, :20] *= 1e-250
    image[:, 60:] *= 0.5 * MODERATE / np.abs(image).max()
    result = tiled(image, 1e-90, max_iterations=3)
    confirm(result, image, 1e-90)


def test_offsets_by_channel_and_without_data() -> None:
    image = np.stack([pieces(0) + 1e9, pieces(1) - 3.0], axis=2)
    image[10:30, 20:50, 0] = np.nan
    lazy = da.from_array(image, chunks=(35, 35, 2))
    found, result = denoise_tv(lazy, 0.25, channel_axis=2, return_result=True)
    whole, expected = denoise_tv(image, 0.25, channel_axis=2, return_result=True)
    assert result.status == expected.status == "optimal"
    assert result.primal == pytest.approx(expected.primal, rel=2e-6)
    known = ~np.isnan(image)  # elsewhere the solution need not be unique
    np.testing.assert_allclose(found.compute()[known], whole[known], rtol=0, atol=0.05)


def test_a_run_at_an_offset_goes_on(tmp_path: Any) -> None:
    image = pieces() + 1e9
    whole = tiled(image, 2.0, tol=1e-7)
    tiled(image, 2.0, tol=1e-7, checkpoint=tmp_path, max_iterations=2)
    found = tiled(image, 2.0, tol=1e-7, checkpoint=tmp_path)
    assert found.iterations == whole.iterations
    assert (found.primal, found.dual, found.gap) == (whole.primal, whole.dual, whole.gap)
    np.testing.assert_array_equal(found.u.compute(), whole.u.compute())


@pytest.mark.parametrize("value", [0.0, 3.0, 1e12])
def test_constant_images_are_exact(value: float) -> None:
    result = tiled(np.full(SHAPE, value), 0.25, tol=0.0)
    assert (result.status, result.gap, result.primal) == ("optimal", 0.0, 0.0)
