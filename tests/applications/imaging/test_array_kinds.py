"""Images of xarray, PyTorch, JAX and other libraries come back as what they were."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphtv import Problem, SquaredLoss, denoise_tv, grid_graph, solve

IMAGE = np.random.default_rng(0).normal(size=(6, 5))
PLAIN = denoise_tv(IMAGE, 0.3, tol=0)


# xarray ------------------------------------------------------------------------------------------


def labelled(image=IMAGE, dims=("y", "x"), **coords):
    xarray = pytest.importorskip("xarray")
    coords = coords or {"y": np.arange(6) * 0.5, "x": np.arange(5) * 2.0}
    attributes = {"units": "K", "long_name": "temperature"}
    return xarray.DataArray(image, dims=dims, coords=coords, attrs=attributes, name="t")


def test_labels_are_kept():
    image = labelled()
    smooth = denoise_tv(image, 0.3, tol=0)
    assert smooth.dims == ("y", "x")
    assert smooth.attrs == image.attrs
    assert smooth.name == "t"
    assert smooth.coords.equals(image.coords)
    assert_array_equal(smooth, PLAIN)
    assert_array_equal(image, IMAGE)
    both, result = denoise_tv(image, weight=0.3, tol=0, return_result=True)
    assert both.identical(smooth)
    assert result.status == "optimal"


def test_spacing_from_coordinates():
    expected = denoise_tv(IMAGE, 0.3, spacing=(0.5, 2.0), tol=0)
    assert_array_equal(denoise_tv(labelled(), 0.3, spacing="coords", tol=0), expected)
    falling = labelled(y=-np.arange(6) * 0.5, x=np.arange(5) * 2.0)
    assert_array_equal(denoise_tv(falling, 0.3, spacing="coords", tol=0), expected)


@pytest.mark.parametrize(
    ("coords", "message"),
    [
        ({"x": np.arange(5)}, "since 'y' has no coordinates"),
        ({"y": list("abcdef"), "x": np.arange(5)}, "since those of 'y' have dtype"),
        ({"y": np.arange(6) ** 2, "x": np.arange(5)}, "'y' are not evenly spaced"),
    ],
)
def test_coordinates_without_a_spacing(coords, message):
    with pytest.raises(ValueError, match=message):
        denoise_tv(labelled(**coords), 0.3, spacing="coords")


def test_channels_by_name():
    colours = np.stack([IMAGE, 2.0 * IMAGE, -IMAGE])
    image = labelled(colours, ("band", "y", "x"), band=list("rgb"))
    smooth = denoise_tv(image, 0.3, channel_axis="band", tol=0)
    assert_array_equal(smooth, denoise_tv(colours, 0.3, channel_axis=0, tol=0))
    assert smooth.coords["band"].values.tolist() == list("rgb")
    with pytest.raises(ValueError, match="channel_axis must be one of"):
        denoise_tv(image, 0.3, channel_axis="time")
    with pytest.raises(ValueError, match="spacing must be numbers or 'coords', got 'auto'"):
        denoise_tv(image, 0.3, spacing="auto")


def test_masks_and_weights_are_matched_by_dimension():
    image = labelled()
    known = labelled(IMAGE < 1.0)
    weight = labelled(np.linspace(0.1, 0.5, 30).reshape(6, 5))
    expected = denoise_tv(IMAGE, weight.values, mask=known.values, tol=0)
    assert_array_equal(denoise_tv(image, weight.T, mask=known.T, tol=0), expected)
    assert_array_equal(denoise_tv(image, mask=known.T, weight=weight.T, tol=0), expected)
    with pytest.raises(ValueError, match=r"mask must have the dimensions \('y', 'x'\)"):
        denoise_tv(image, 0.3, mask=known.rename(x="z"))
    with pytest.raises(ValueError, match="weight must have the coordinates of the image along 'y'"):
        denoise_tv(image, weight.assign_coords(y=np.arange(6)))


def test_a_chunked_image_stays_chunked():
    dask_array = pytest.importorskip("dask.array")
    image = labelled(dask_array.from_array(IMAGE, chunks=(3, 5)))
    smooth = denoise_tv(image, 0.3, tol=1e-9)
    assert smooth.chunks == ((3, 3), (5,))
    assert_allclose(smooth.compute(), PLAIN, atol=1e-3)


# Other arrays ------------------------------------------------------------------------------------


def test_the_array_api():
    xp = pytest.importorskip("array_api_strict")
    smooth = denoise_tv(xp.asarray(IMAGE), 0.3, tol=0)
    assert type(smooth) is type(xp.asarray(IMAGE))
    assert_array_equal(np.from_dlpack(smooth), PLAIN)
    result = solve(Problem(grid_graph((6, 5), 0.3), SquaredLoss(xp.asarray(IMAGE))), tol=0)
    assert_allclose(result.u, PLAIN, rtol=1e-12)


class OnlyDLPack:
    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_dlpack():
    assert_array_equal(denoise_tv(OnlyDLPack(IMAGE), 0.3, tol=0), PLAIN)


def test_torch():
    torch = pytest.importorskip("torch")
    image = torch.tensor(IMAGE)
    smooth, result = denoise_tv(image, 0.3, tol=0, return_result=True)
    assert isinstance(smooth, torch.Tensor)
    assert_array_equal(smooth, PLAIN)
    assert result.status == "optimal"
    assert denoise_tv(image.float(), 0.3).dtype == torch.float32
    with pytest.raises(ValueError, match=r"image must be an array: .* requires grad"):
        denoise_tv(image.requires_grad_(), 0.3)


def test_jax():
    jax = pytest.importorskip("jax")
    smooth = denoise_tv(jax.numpy.asarray(IMAGE), 0.3, tol=0)
    assert isinstance(smooth, jax.Array)
    assert_allclose(smooth, PLAIN, atol=1e-6)
    result = solve(Problem(grid_graph((6, 5), 0.3), SquaredLoss(jax.numpy.asarray(IMAGE))), tol=0)
    assert_allclose(result.u, PLAIN, atol=1e-6)


def test_lists_give_arrays():
    assert isinstance(denoise_tv(IMAGE.tolist(), 0.3), np.ndarray)
