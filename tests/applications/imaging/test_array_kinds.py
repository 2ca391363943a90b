"""Images of xarray, PyTorch, JAX and other libraries come back as what they were."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphtv import (
    Graph,
    LinearBox,
    Problem,
    SquaredLoss,
    denoise_tv,
    fused_lasso,
    fused_lasso_path,
    gallery,
    grid_graph,
    knn_graph,
    min_cut,
    segment,
    segment_image,
    solution_vjp,
    solve,
    suggest_weight,
    tv_chain,
    tv_forest,
)

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
    with pytest.raises(ValueError, match="weight must have the coordinates of the data along 'y'"):
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


# Everything else takes such arrays too -----------------------------------------------------------

PATH = gallery.path_graph(30)
SIGNAL = IMAGE.ravel()
COSTS = np.stack([SIGNAL, -SIGNAL], axis=1)
MARKS = np.where(IMAGE > 0.7, 1, np.where(IMAGE < 0.0, 2, 0))
CAPACITIES = np.arange(30)

CALLS = {
    "solve": lambda a: solve(Problem(PATH, SquaredLoss(a(SIGNAL), a(SIGNAL**2)))).u,
    "box": lambda a: solve(Problem(PATH, LinearBox(a(SIGNAL), a(-(SIGNAL**2)), 1.0))).u,
    "gap": lambda a: Problem(PATH, SquaredLoss(SIGNAL)).gap(a(SIGNAL), a(np.zeros(29))),
    "warm": lambda a: (
        solve(Problem(PATH, SquaredLoss(SIGNAL)), warm_start=(a(SIGNAL), a(np.zeros(29)))).u
    ),
    "fused": lambda a: fused_lasso(PATH, a(SIGNAL), vertex_weights=a(SIGNAL**2)).u,
    "path": lambda a: fused_lasso_path(PATH, a(SIGNAL), a(np.array([1.0, 2.0]))).u,
    "segment": lambda a: segment(PATH, a(COSTS)).labels,
    "scribbles": lambda a: segment_image(a(IMAGE), a(MARKS)),
    "chain": lambda a: tv_chain(a(SIGNAL), a(np.ones(29))),
    "forest": lambda a: tv_forest(PATH, a(SIGNAL)),
    "weight": lambda a: suggest_weight(a(IMAGE)),
    "graph": lambda a: Graph(30, a(PATH.edges), a(PATH.weights)).to_sparse().todense(),
    "neighbours": lambda a: knn_graph(a(COSTS), 3).weights,
    "cut": lambda a: min_cut(PATH, a(CAPACITIES), a(CAPACITIES[::-1].copy())).value,
    "derivative": lambda a: (
        solution_vjp(
            Problem(PATH, SquaredLoss(SIGNAL)),
            solve(Problem(PATH, SquaredLoss(SIGNAL)), tol=0),
            a(SIGNAL),
        ).signal
    ),
}


@pytest.mark.parametrize("library", ["array_api_strict", "torch", "jax.numpy", "dlpack"])
@pytest.mark.parametrize("call", CALLS)
def test_arrays_of_other_libraries_are_accepted(library, call):
    convert = OnlyDLPack if library == "dlpack" else pytest.importorskip(library).asarray
    expected = CALLS[call](lambda array: array)
    assert_allclose(
        CALLS[call](lambda array: convert(array.copy())), expected, rtol=1e-5, atol=1e-5
    )  # JAX is in float32


def test_labels_of_a_segmentation():
    xarray = pytest.importorskip("xarray")
    colours = np.stack([IMAGE, -IMAGE], axis=-1)
    image = xarray.DataArray(colours, dims=("y", "x", "c"), coords={"y": range(6)})
    marks = xarray.DataArray(MARKS, dims=("y", "x"), coords={"y": range(6)})
    expected = segment_image(colours, MARKS)
    for pair in (
        (image, marks),
        (image, MARKS),
        (colours, marks),
        (image.transpose("c", "x", "y"), marks),
    ):
        labels, result = segment_image(*pair, return_result=True)
        assert labels.dims == ("y", "x")
        assert labels.coords.equals(marks.coords)
        assert_array_equal(labels, expected)
        assert result.u.shape == (30, 2)
    grey = segment_image(xarray.DataArray(IMAGE, dims=("y", "x")), MARKS)
    assert_array_equal(grey, segment_image(IMAGE, MARKS))
    with pytest.raises(ValueError, match="image must have the coordinates of the data along 'y'"):
        segment_image(image.assign_coords(y=range(1, 7)), marks)
