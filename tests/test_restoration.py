"""Users of scikit-image can change the import: the same signatures, and the same minimisers."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphtv import denoise_tv, gallery, restoration

theirs = pytest.importorskip("skimage.restoration")

NAMES = ["denoise_tv_chambolle", "denoise_tv_bregman"]
NOISY = np.clip(gallery.piecewise_constant_image((16, 14), rng=0, noise=0.1)[0], 0.0, 1.0)


def parameters(function):
    found = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default) for p in found]


@pytest.mark.parametrize("name", NAMES)
def test_signatures_are_those_of_scikit_image(name):
    assert parameters(getattr(restoration, name)) == parameters(getattr(theirs, name))


@pytest.mark.parametrize("name", NAMES)
def test_what_denoise_tv_calls_differently(name):
    """The keywords that a user has to change when calling `denoise_tv` instead."""
    ours = inspect.signature(denoise_tv).parameters
    missing = set(inspect.signature(getattr(theirs, name)).parameters) - set(ours)
    assert missing == {"eps", "max_num_iter"}  # tol, max_iterations
    assert (ours["image"].default, ours["channel_axis"].default) == (inspect.Parameter.empty, None)
    assert ours["weight"].default == parameters(theirs.denoise_tv_chambolle)[1][2]
    assert ours["isotropic"].default is False  # the only default with another meaning
    for keyword in missing:
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{keyword}'"):
            denoise_tv(NOISY, **{keyword: 1})


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("is_colour", [False, True])
def test_chambolle_has_the_same_minimiser(dtype, is_colour):
    image = np.stack([NOISY, 1.0 - NOISY], axis=-1) if is_colour else NOISY
    white = np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else 1.0
    image = (white * image).astype(dtype)
    axis = -1 if is_colour else None
    ours = restoration.denoise_tv_chambolle(image, 0.1, 1e-7, channel_axis=axis)
    assert ours.dtype == theirs.denoise_tv_chambolle(image, 0.1, channel_axis=axis).dtype
    if dtype == np.float32:
        image = image.astype(np.float64)  # in single precision scikit-image does not converge
    converged = theirs.denoise_tv_chambolle(image, 0.1, 1e-10, 4_000, channel_axis=axis)
    assert_allclose(ours, converged, atol=4e-3)


def test_volumes():
    volume = np.random.default_rng(0).random((6, 7, 8))
    ours = restoration.denoise_tv_chambolle(volume, weight=0.2, eps=1e-7)
    converged = theirs.denoise_tv_chambolle(volume, weight=0.2, eps=1e-10, max_num_iter=4_000)
    assert_allclose(ours, converged, atol=1e-3)


def test_bregman_agrees_inside_of_the_image():
    ours = restoration.denoise_tv_bregman(NOISY, 20.0, eps=1e-7, isotropic=False)
    converged = theirs.denoise_tv_bregman(NOISY, 20.0, 20_000, 1e-9, isotropic=False)
    assert np.abs(ours - converged)[5:-5, 5:-5].mean() < 2e-3
    assert_allclose(ours, denoise_tv(NOISY, 1 / 20.0), atol=1e-3)


def test_the_objective_is_not_larger():
    """With the default settings, our point is at least as good."""

    def objective(u):
        down, right = (np.diff(u, axis=k, append=u.take([-1], axis=k)) for k in (0, 1))
        return 0.5 * np.sum((u - NOISY) ** 2) + 0.1 * np.hypot(down, right).sum()

    ours, others = (f.denoise_tv_chambolle(NOISY) for f in (restoration, theirs))
    assert objective(ours) <= objective(others)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": 0.0}, "weight must be above 0"),
        ({"eps": -1.0}, "eps must be at least 0"),
        ({"max_num_iter": 0.5}, "max_num_iter must be an integer"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        restoration.denoise_tv_bregman(NOISY, **options)
