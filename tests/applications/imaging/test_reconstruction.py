"""`reconstruct_tv` and `deblur_tv`: boundaries, channels, losses, arguments."""

import numpy as np
import pytest
import scipy.ndimage
from scipy.sparse.linalg import LinearOperator

import graphtv
from graphtv import deblur_tv, denoise_tv, reconstruct_tv
from graphtv.applications.imaging.convolution import BOUNDARIES, Convolution

KERNEL = np.array([[0.0, 0.1, 0.0], [0.2, 0.4, 0.1], [0.0, 0.15, 0.05]])
NDIMAGE = {"reflect": "reflect", "periodic": "wrap", "nearest": "nearest", "zero": "constant"}


@pytest.mark.parametrize("boundary", NDIMAGE)
@pytest.mark.parametrize("shape", [(7, 9), (4, 5)])
@pytest.mark.parametrize("kernel", [KERNEL, KERNEL[:2], np.ones((5, 4)) / 20], ids=np.shape)
def test_convolution_is_that_of_scipy(boundary, shape, kernel):
    image = np.random.default_rng(0).random(shape)
    blur = Convolution(kernel, shape, boundary)
    expected = scipy.ndimage.convolve(image, kernel, mode=NDIMAGE[boundary])
    found = blur.matvec(image.ravel()).reshape(shape)
    np.testing.assert_allclose(found, expected, atol=1e-13)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("shape", [(6,), (5, 4), (3, 4, 5)])
def test_adjoint(boundary, shape):
    rng = np.random.default_rng(1)
    blur = Convolution(rng.random((3, 2, 4)[: len(shape)]), shape, boundary)
    x, y = rng.standard_normal(blur.shape[1]), rng.standard_normal(blur.shape[0])
    assert blur.matvec(x) @ y == pytest.approx(x @ blur.rmatvec(y), abs=1e-12)


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_deblurring_recovers_the_image(boundary):
    truth = np.kron([[1.0, 0.2], [0.0, 0.6]], np.ones((8, 8)))
    kernel = np.ones((3, 3)) / 9
    if boundary == "unknown":
        truth = np.pad(truth, 1, mode="edge")
        blurred = scipy.ndimage.convolve(truth, kernel)[1:-1, 1:-1]
        truth = truth[1:-1, 1:-1]
    else:
        blurred = scipy.ndimage.convolve(truth, kernel, mode=NDIMAGE[boundary])
    sharp, result = deblur_tv(blurred, kernel, 1e-4, boundary=boundary, return_result=True)
    assert result.status == "optimal"
    assert sharp.shape == truth.shape
    assert np.abs(sharp - truth).max() < 0.05 < np.abs(blurred - truth).max()


def test_channels_and_types():
    truth = np.kron(np.random.default_rng(2).random((3, 3, 3)), np.ones((1, 4, 4)))
    blurred = np.stack([scipy.ndimage.convolve(c, np.ones((3, 3)) / 9) for c in truth])
    sharp = deblur_tv(blurred.astype(np.float32), np.ones((3, 3)) / 9, 1e-3, channel_axis=0)
    assert sharp.dtype == np.float32
    assert sharp.shape == truth.shape
    assert np.abs(sharp - truth).mean() < 0.3 * np.abs(blurred - truth).mean()
    grey = deblur_tv((255 * blurred[0]).astype(np.uint8), np.ones((3, 3)) / 9, 1e-3)
    np.testing.assert_allclose(grey, sharp[0], atol=0.1)


def test_missing_measurements_and_losses():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((60, 64)) / 8
    truth = np.kron([[1.0, 0.0], [0.0, 0.5]], np.ones((4, 4)))
    data = (A @ truth.ravel()).reshape(6, 10)
    data[0, :5] = np.nan
    for loss in ("squared", "huber", "absolute", graphtv.SquaredLoss):
        image = reconstruct_tv(data, A, (8, 8), 1e-3, loss=loss, lower=0.0, upper=1.0)
        assert np.abs(image - truth).max() < 0.1


def test_isotropic_and_bounds_per_pixel():
    rng = np.random.default_rng(4)
    A = rng.standard_normal((40, 64)) / 8
    data = A @ rng.random(64)
    upper = np.full((8, 8), 0.7)
    upper[0] = 0.2
    image, result = reconstruct_tv(
        data, A, (8, 8), 0.01, isotropic=True, upper=upper, return_result=True
    )
    assert result.status == "optimal"
    assert (image <= upper).all()


def test_a_broken_operator_raises_its_own_error():
    calls = []

    def product(x):
        calls.append(1)
        if len(calls) > 6:
            raise RuntimeError("detector lost")
        return x

    operator = LinearOperator((16, 16), matvec=product, rmatvec=product)
    with pytest.raises(RuntimeError, match="detector lost"):
        reconstruct_tv(np.random.default_rng(5).random(16), operator, (4, 4), 0.1)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (reconstruct_tv, (np.ones(3), np.eye(4), (2, 2), 1.0), "data must have 4 numbers"),
        (reconstruct_tv, (np.ones(4), np.eye(4), (3, 2), 1.0), "shape must have as many pixels"),
        (deblur_tv, (np.ones((3, 3)), np.ones(3), 1.0), "kernel must have 2 axes"),
        (deblur_tv, (np.ones((3, 3)), np.zeros((2, 2)), 1.0), "kernel must not be zero"),
    ],
)
def test_wrong_arguments(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)


def test_wrong_options():
    image = np.ones((3, 3))
    with pytest.raises(ValueError, match="boundary must be one of"):
        deblur_tv(image, image, 1.0, boundary="mirror")
    with pytest.raises(ValueError, match="loss must be one of"):
        deblur_tv(image, image, 1.0, loss="cubic")
    with pytest.raises(ValueError, match="channel_axis must be an axis"):
        deblur_tv(image, image, 1.0, channel_axis=5)
    with pytest.raises(TypeError, match="Did you mean 'lower'"):
        deblur_tv(image, image, 1.0, lowr=0.0)


def test_the_warning_names_the_function_and_its_caller():
    image = np.random.default_rng(0).random((12, 12))
    for call, name in (
        (lambda: deblur_tv(image, np.ones((3, 3)) / 9, 0.01, max_iterations=1), "deblur_tv"),
        (
            lambda: reconstruct_tv(np.ones(9), np.eye(9, 144), (12, 12), 0.3, max_iterations=1),
            "reconstruct_tv",
        ),
        (lambda: denoise_tv(image, 0.3, max_iterations=1, method="descent"), "denoise_tv"),
    ):
        with pytest.warns(RuntimeWarning, match=f"^{name} ended with status") as found:
            call()
        assert found[0].filename == __file__
