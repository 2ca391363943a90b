"""`denoise_tv` compared with scikit-image."""

import inspect

import numpy as np
import pytest

from graphtv import (
    denoise_tv,
)
from images import exact, noisy_image, psnr


def test_chambolle_can_be_replaced():
    """Calls that leave accuracy to the defaults mean the same: `tol` replaces two arguments."""
    restoration = pytest.importorskip("skimage.restoration")
    theirs = inspect.signature(restoration.denoise_tv_chambolle).parameters
    ours = inspect.signature(denoise_tv).parameters
    assert theirs.keys() - ours.keys() == {"eps", "max_num_iter"}
    assert list(ours)[:2] == list(theirs)[:2] == ["image", "weight"]
    for name in theirs.keys() & ours.keys():
        assert ours[name].kind == theirs[name].kind
        assert ours[name].default == theirs[name].default
    colours = np.random.default_rng(0).integers(0, 256, (9, 8, 3), dtype=np.uint8)
    for image in (colours, colours / 255.0, colours.astype(np.float32)):
        found, wanted = (
            denoise(image, 0.2, channel_axis=-1)
            for denoise in (denoise_tv, restoration.denoise_tv_chambolle)
        )
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape
        assert abs(found.mean() - wanted.mean()) < 1e-3 * abs(wanted.mean())


def test_chambolle_has_the_same_weight():
    """If the image varies along one axis only, isotropic and anisotropic TV are equal."""
    restoration = pytest.importorskip("skimage.restoration")
    stripes = np.tile(noisy_image(60), (5, 1))
    theirs = restoration.denoise_tv_chambolle(stripes, weight=0.3, eps=0, max_num_iter=20_000)
    np.testing.assert_allclose(exact(stripes, 0.3), theirs, atol=1e-6)
    for other in (0.15, 0.6):
        assert np.abs(exact(stripes, other) - theirs).max() > 0.01


def test_bregman_has_the_inverse_weight():
    """Not twice that, as its documentation says. It treats the border differently."""
    data = pytest.importorskip("skimage.data")
    restoration = pytest.importorskip("skimage.restoration")
    crop = data.camera()[100:180, 200:280] / 255
    noisy = crop + 0.05 * np.random.default_rng(0).standard_normal(crop.shape)
    theirs = restoration.denoise_tv_bregman(
        noisy, weight=20.0, isotropic=False, eps=1e-9, max_num_iter=1000
    )
    inner = (slice(10, -10),) * 2
    error = {
        factor: np.abs(exact(noisy, factor / 20.0) - theirs)[inner].mean()
        for factor in (0.5, 0.9, 1.0, 1.1, 2.0)
    }
    assert error[1.0] < 2e-4
    assert min(error[factor] for factor in error if factor != 1.0) > 10 * error[1.0]


@pytest.mark.parametrize(
    ("name", "crop", "least"),
    [
        ("camera", np.s_[60:188, 160:288], 27.5),
        ("astronaut", np.s_[:128, 160:288], 27.0),
        ("coins", np.s_[:128, :128], 27.9),
        ("shepp_logan_phantom", np.s_[::3, ::3], 31.0),
    ],
)
def test_photographs_against_chambolle_at_its_best_weight(name, crop, least):
    data = pytest.importorskip("skimage.data")
    restoration = pytest.importorskip("skimage.restoration")
    truth = np.asarray(getattr(data, name)()[crop], float)
    truth /= truth.max()
    axis = -1 if truth.ndim == 3 else None
    noisy = truth + 0.1 * np.random.default_rng(0).standard_normal(truth.shape)
    theirs = max(
        psnr(restoration.denoise_tv_chambolle(noisy, weight, channel_axis=axis), truth)
        for weight in np.geomspace(0.04, 0.16, 9)
    )
    ours = max(
        psnr(denoise_tv(noisy, weight, channel_axis=axis, tol=1e-4), truth)
        for weight in np.geomspace(0.04, 0.16, 9)
    )
    auto = psnr(denoise_tv(noisy, "auto", channel_axis=axis), truth)
    assert ours > least
    assert ours > theirs - 0.25
    assert auto > ours - 0.25
