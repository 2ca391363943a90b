"""Denoising in full size: the result of `denoise_tv` in the type and layout of the image."""

import numpy as np
import pytest

from graphtv import denoise_tv
from graphtv.app.denoiser import Denoiser, Job
from graphtv.app.full_run import FullRun, TooLargeError
from graphtv.app.limits import Limits
from graphtv.app.photo import Photo
from graphtv.app.time_slice import TimeSlice
from graphtv.io.picture import Picture


def never():
    return False


def noisy_stack(shape, dtype=np.uint16, seed=0):
    rng = np.random.default_rng(seed)
    values = np.zeros(shape)
    values[..., : shape[-1] // 2] = 0.5
    return np.rint(3000 * np.clip(values + 0.2 + rng.normal(0, 0.1, shape), 0, 1)).astype(dtype)


def finished(photo, job, limits=None):
    told = []
    run = FullRun(photo, job, limits or Limits(), told.append)
    assert not run.work(never)
    return run, told


@pytest.mark.parametrize(
    ("shape", "axis", "job"),
    [
        ((20, 30), None, Job(0.01)),
        ((20, 30), None, Job(0.01, isotropic=True)),
        ((3, 20, 30), 0, Job(0.01, coupled=True)),
        ((3, 20, 30), 0, Job(0.01)),
        ((4, 12, 16), None, Job(0.01, is_volume=True)),
        ((2, 2, 12, 16), None, Job(0.01, is_volume=True, isotropic=True)),
    ],
)
def test_it_is_the_result_of_denoise_tv(shape, axis, job):
    pixels = noisy_stack(shape)
    run, told = finished(Photo(Picture(pixels, "tiff", axis)), job)
    expected = denoise_tv(
        pixels,
        job.weight,
        channel_axis=axis,
        isotropic=job.isotropic,
        coupled=job.coupled,
        tol=1e-9 if not job.isotropic else 1e-7,
    )
    assert run.picture.pixels.dtype == np.uint16
    assert run.picture.pixels.shape == shape
    difference = np.abs(run.picture.pixels - 65535.0 * expected)
    assert difference.max() < 0.02 * 3000
    assert difference.mean() < 0.001 * 3000
    assert told[-1]["state"] == "done"
    assert told[-1]["gap"] <= 1e-5
    shares = [each["share"] for each in told]
    assert shares == sorted(shares)


def test_slices_are_separate_unless_they_are_a_volume():
    pixels = noisy_stack((3, 12, 16))
    run, told = finished(Photo(Picture(pixels, "tiff")), Job(0.01))
    assert told[-2]["parts"] == 3
    for k in range(3):
        alone, _ = finished(Photo(Picture(pixels[k], "tiff")), Job(0.01))
        np.testing.assert_array_equal(run.picture.pixels[k], alone.picture.pixels)


@pytest.mark.parametrize("is_volume", [False, True])
@pytest.mark.parametrize("coupled", [False, True])
def test_noise_is_that_of_the_preview(is_volume, coupled):
    pixels = np.full((2, 2, 12, 16, 3), 100, dtype=np.uint8)
    photo = Photo(Picture(pixels, "tiff", 4))
    run, _ = finished(photo, Job(1e-9, 0.1, is_volume=is_volume, coupled=coupled))
    for k in range(4):
        expected = np.clip(255 * photo.intensities(k, 0.1), 0, 255)
        found = Photo(run.picture).slice(k)
        assert np.abs(found - expected).max() <= 0.51


def test_a_run_that_needs_too_much_memory_is_refused():
    photo = Photo(Picture(noisy_stack((100, 100)), "tiff"))
    limits = Limits(run_bytes=2_000_000)
    finished(photo, Job(0.01), limits)
    with pytest.raises(TooLargeError, match="--memory"):
        FullRun(photo, Job(0.01, isotropic=True), limits, print)


def test_cancelled_and_late_runs_have_no_result():
    photo = Photo(Picture(noisy_stack((3, 20, 20)), "tiff"))
    told = []
    run = FullRun(photo, Job(0.01), Limits(), told.append)
    run.cancel()
    assert not run.work(never)
    assert (run.picture, told) == (None, [])

    def cancel_in_the_middle(progress):
        told.append(progress)
        run.cancel()

    run = FullRun(photo, Job(0.01), Limits(), cancel_in_the_middle)
    run.work(never)
    assert run.picture is None
    assert len(told) == 1
    run, told = finished(photo, Job(0.01), Limits(run_seconds=0.0))
    assert run.picture is None
    assert told[-1]["state"] == "stopped"
    assert "0 of 3 parts" in told[-1]["message"]


def test_failures_are_reported():
    told = []
    run = FullRun(Photo(Picture(noisy_stack((20, 20)), "tiff")), Job(0.01), Limits(), told.append)
    run.fail(MemoryError())
    assert told == [{"state": "failed", "message": "The full-size run failed: out of memory."}]
    with pytest.raises(ValueError, match="needs a weight"):
        FullRun(run.photo, Job(None), Limits(), print)


@pytest.mark.parametrize("is_volume", [False, True])
def test_the_preview_shows_what_the_full_size_will_show(is_volume):
    """Flat regions move by the same amount in a reduced preview, because its weight is scaled."""
    clean = np.zeros((3, 96, 96))
    clean[:, 24:72, 24:72] = 1.0
    photo = Photo(Picture(clean, "tiff"))
    job = Job(2.0, is_volume=is_volume)
    shown = Denoiser(photo, 1, 48 * 48).run(job, lambda _: None, TimeSlice(never, never))
    run, _ = finished(photo, job)
    full = Photo(run.picture).slice(1)[..., 0]
    small = shown.clean[..., 0] / 255.0
    assert small.shape == (48, 48)
    assert full[48, 48] == pytest.approx(1 - 2.0 * 4 / 48, abs=1e-3)
    assert small[24, 24] == pytest.approx(full[48, 48], abs=0.005)
    assert small[2, 2] == pytest.approx(full[4, 4], abs=0.005)
