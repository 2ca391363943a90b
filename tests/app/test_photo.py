"""Opened images: layouts, slices, display and noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtv.app.photo import Photo, averaged, reduced, reduced_shape
from graphtv.io.picture import Picture


@pytest.mark.parametrize(
    ("shape", "axis", "n_slices", "n_channels"),
    [
        ((20, 30), None, 1, 1),
        ((20, 30, 3), 2, 1, 3),
        ((3, 20, 30), 0, 1, 3),
        ((5, 20, 30), None, 5, 1),
        ((5, 20, 30, 3), 3, 5, 3),
        ((4, 5, 20, 30), None, 20, 1),
        ((5, 2, 20, 30), 1, 5, 2),
    ],
)
def test_every_layout_becomes_slices_and_back(shape, axis, n_slices, n_channels):
    pixels = np.random.default_rng(0).integers(0, 4096, shape).astype(np.uint16)
    photo = Photo(Picture(pixels, "tiff", axis))
    assert (photo.size, photo.n_slices, photo.n_channels) == ((20, 30), n_slices, n_channels)
    slices = np.stack([photo.slice(k) for k in range(n_slices)]).reshape(photo.stack.shape)
    np.testing.assert_array_equal(photo.in_layout(slices), pixels)
    assert photo.view(n_slices - 1, 10**6).shape == (20, 30, 3)


def test_eight_bits_are_shown_as_they_are_and_more_bits_with_contrast():
    grey = np.arange(200, dtype=np.uint8).reshape(10, 20)
    shown = Photo(Picture(grey, "png")).view(0, 10**6)
    np.testing.assert_array_equal(shown, np.repeat(grey[..., None], 3, axis=2))
    deep = Photo(Picture(1000 + 5 * grey.astype(np.uint16), "tiff"))
    assert deep.view(0, 10**6).min() == 0
    assert deep.view(0, 10**6).max() == 255
    assert deep.contrast == pytest.approx(5 * 199 / 65535, rel=0.01)
    intensities = deep.intensities(0)
    np.testing.assert_array_equal(deep.shown_intensities(intensities), deep.view(0, 10**6))


@pytest.mark.parametrize(
    "values", [np.full((9, 9), 7.0), np.full((9, 9), np.nan), np.zeros((9, 9))]
)
def test_images_without_contrast_are_shown(values):
    photo = Photo(Picture(values, "tiff"))
    assert photo.contrast == 1.0
    assert photo.view(0, 100).shape == (9, 9, 3)


def test_two_channels_are_magenta_and_green_and_transparency_is_white():
    both = np.zeros((10, 10, 2), dtype=np.uint8)
    both[..., 0] = 200
    assert Photo(Picture(both, "tiff", 2)).view(0, 1000)[0, 0].tolist() == [200, 0, 200]
    alpha = np.zeros((10, 10), dtype=np.uint8)
    shown = Photo(Picture(both[..., 0], "png", None, alpha)).view(0, 1000)
    assert (shown == 255).all()


def test_noise_is_the_same_in_every_call_and_differs_between_slices():
    photo = Photo(Picture(np.zeros((2, 30, 30), dtype=np.uint8), "tiff"))
    one, again, other = (
        photo.intensities(0, 0.1),
        photo.intensities(0, 0.1),
        photo.intensities(1, 0.1),
    )
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()
    assert one.std() == pytest.approx(0.1, rel=0.1)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 2000))
def test_reduced_sizes_keep_the_limit_and_the_mean(height, width, most):
    shape = reduced_shape((height, width), most)
    assert shape[0] * shape[1] <= max(most, height, width)
    values = np.random.default_rng(0).random((height, width, 2))
    small = averaged(values, shape)
    assert small.shape == (*shape, 2)
    assert small.mean() == pytest.approx(values.mean(), abs=1e-12)
    colours = np.zeros((height, width, 3), dtype=np.uint8)
    assert reduced(colours, most).shape == (*shape, 3)
