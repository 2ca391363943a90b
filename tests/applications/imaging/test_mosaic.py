import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtv import denoise_tv, suggest_weight
from graphtv.applications.imaging.image import as_image
from graphtv.applications.imaging.mosaic import mosaic, samples
from images import noisy_image


@pytest.fixture
def few_pixels(monkeypatch):
    monkeypatch.setattr("graphtv.applications.imaging.mosaic.PART_PIXELS", 900)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.integers(1, 5000), st.floats(0, 1))
def test_mosaics_fit_and_lie_inside(shape, most, offset):
    chosen = mosaic(tuple(shape), most, offset)
    if chosen is None:
        assert np.prod(shape) <= most
        return
    assert np.prod([len(indices) for indices in chosen]) <= most
    for n, indices in zip(shape, chosen, strict=True):
        assert len(indices) >= 1
        assert indices[0] >= 0
        assert indices[-1] < n
        assert (np.diff(indices) > 0).all()


def test_a_sample_is_made_of_pixels_with_what_is_known(few_pixels):
    values = np.arange(80 * 60 * 3.0).reshape(80, 60, 3)
    known = values[..., 0] % 2 == 0
    image = as_image(values, "image", known, -1)
    (part,) = samples(image)
    assert part.signal.shape == (*part.known.shape[:1], 3) == (np.prod(part.shape), 3)
    assert 800 < len(part.signal) <= 900
    assert 0.3 < part.known.mean() < 0.7
    taken = part.signal[part.known[:, 0]]
    assert np.isin(taken, image.signal[image.known]).all()
    assert len(np.unique(taken)) == taken.size
    small = as_image(values[:10, :10], "image")
    (same,) = samples(small)
    assert same is small


def test_large_images_have_the_weight_of_a_sample(few_pixels):
    image = noisy_image((80, 60))
    weight = suggest_weight(image)
    denoised, result = denoise_tv(image, "auto", return_result=True)
    assert result.status == "optimal"
    np.testing.assert_array_equal(denoised, denoise_tv(image, weight))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphtv.applications.imaging.mosaic.PART_PIXELS", 80 * 60)
        whole = suggest_weight(image)
    assert weight != whole
    assert weight == pytest.approx(whole, rel=0.4)


def test_where_nothing_of_the_sample_is_known_the_whole_image_is_taken(few_pixels):
    image = noisy_image((80, 60))
    known = np.arange(80 * 60).reshape(80, 60) < 300
    (whole,) = samples(as_image(image, "image", known))
    assert whole.shape == (80, 60)
    assert suggest_weight(image, mask=known) > 0.0


def test_the_cheap_rule_needs_no_sample(few_pixels):
    image = noisy_image((80, 60))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphtv.applications.imaging.mosaic.PART_PIXELS", 80 * 60)
        whole = suggest_weight(image, rule="noise")
    assert suggest_weight(image, rule="noise") == whole


def test_parts_of_a_large_image_differ():
    values = np.arange(512 * 512.0).reshape(512, 512)
    parts = samples(as_image(values, "image"))
    assert [part.shape for part in parts] == [(90, 91)] * 2
    assert len(np.unique(np.concatenate([part.signal for part in parts]))) > 14_000
    assert len(samples(as_image(values[:300, :400], "image"))) == 1
    assert len(samples(as_image(np.tile(values, (2, 3)), "image"))) == 8
