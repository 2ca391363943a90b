"""Unknown pixels: `denoise_tv` fills them in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphtv import (
    Problem,
    SquaredLoss,
    denoise_tv,
    grid_graph,
    solve,
)
from images import close, exact, few, noisy_image, psnr, small_images, small_weights


@given(small_images, small_weights, st.data())
@few
def test_unknown_pixels_may_be_marked_in_any_way(image, weight, data):
    known = data.draw(hnp.arrays(bool, image.shape))
    known.flat[0] = True
    expected = exact(np.where(known, image, np.nan), weight)
    assert np.isfinite(expected).all()
    np.testing.assert_array_equal(exact(image, weight, mask=known), expected)
    np.testing.assert_array_equal(exact(image, weight, mask=known.astype(np.uint8) * 255), expected)
    np.testing.assert_array_equal(exact(np.ma.array(image, mask=~known), weight), expected)
    hidden = np.where(known, image, np.inf)
    np.testing.assert_array_equal(exact(hidden, weight, mask=known), expected)


@given(small_images, small_weights, st.data())
@few
def test_unknown_pixels_are_without_weight(image, weight, data):
    known = data.draw(hnp.arrays(bool, image.shape))
    known.flat[-1] = True
    denoised, result = exact(image, weight, mask=known, return_result=True)
    loss = SquaredLoss(image.ravel(), known.ravel())
    problem = Problem(grid_graph(image.shape, weight), loss)
    assert result.status == "optimal"
    assert problem.primal(denoised.ravel()) == pytest.approx(solve(problem, tol=0).primal, abs=1e-9)


def test_mask_that_hides_nothing_changes_nothing():
    noisy = noisy_image((20, 20))
    known = np.ones(noisy.shape, bool)
    np.testing.assert_array_equal(denoise_tv(noisy, mask=known), denoise_tv(noisy))


def test_nan_does_not_spread():
    noisy = noisy_image((30, 30))
    expected = denoise_tv(noisy)
    noisy[10, 10] = np.nan
    denoised = denoise_tv(noisy)
    assert np.isfinite(denoised).all()
    assert np.abs(denoised - expected).max() < 0.1


def test_fills_holes_of_a_constant_image():
    image = np.full((9, 9), 0.3)
    image[2:7, 3:6] = np.nan
    close(exact(image), np.full((9, 9), 0.3))


def test_inpaints_a_photograph():
    data = pytest.importorskip("skimage.data")
    truth = data.camera()[60:188, 160:288] / 255
    rng = np.random.default_rng(0)
    noisy = truth + 0.05 * rng.standard_normal(truth.shape)
    known = rng.random(truth.shape) < 0.7
    denoised = denoise_tv(np.where(known, noisy, np.nan), 0.03)
    assert psnr(denoised, truth) > 28.0
    assert psnr(denoised[~known], truth[~known]) > 25.5
