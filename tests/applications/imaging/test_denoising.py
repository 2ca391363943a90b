import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphtv import (
    HuberLoss,
    HuberTV,
    PoissonLoss,
    Problem,
    SquaredLoss,
    denoise_tv,
    estimate_noise,
    grid_graph,
    solve,
    suggest_weight,
    tv_chain,
)
from images import close, exact, few, noisy_image, psnr, small_images, small_weights
from scripts import load
from verify import verify

# The model


@pytest.mark.parametrize("shape", [(50,), (12, 17), (5, 6, 7), (3, 4, 2, 3), (1, 9), (1,)])
def test_is_the_solution_of_the_problem_on_the_grid(shape):
    noisy = noisy_image(shape)
    denoised, result = denoise_tv(noisy, 0.2, return_result=True, tol=1e-8)
    problem = Problem(grid_graph(shape, 0.2), SquaredLoss(noisy.ravel()))
    np.testing.assert_array_equal(denoised.ravel(), solve(problem, tol=1e-8).u)
    verify(result, problem)


def test_chain_agrees_with_the_exact_chain_solver():
    noisy = noisy_image(200)
    close(exact(noisy, 0.3), tv_chain(noisy, 0.3))


@given(small_images, small_weights, st.integers(-5, 5))
@few
def test_shift_equivariance(image, weight, shift):
    close(exact(image + shift, weight), exact(image, weight) + shift)


@given(small_images, small_weights, st.sampled_from([-2.0, 0.5, 4.0]))
@few
def test_scale_equivariance(image, weight, scale):
    close(exact(scale * image, abs(scale) * weight), scale * exact(image, weight))


@given(small_images, small_weights, st.data())
@few
def test_transposition_and_reflection(image, weight, data):
    axes = data.draw(st.permutations(range(image.ndim)))
    flipped = np.flip(image.transpose(axes), axis=0)
    close(exact(flipped, weight), np.flip(exact(image, weight).transpose(axes), axis=0))


@given(small_images, small_weights)
@few
def test_keeps_range_and_mean(image, weight):
    denoised = exact(image, weight)
    assert image.min() - 1e-9 <= denoised.min()
    assert denoised.max() <= image.max() + 1e-9
    assert abs(denoised.mean() - image.mean()) <= 1e-9


@given(small_images)
@few
def test_no_weight_and_much_weight(image):
    close(denoise_tv(image, 0), image)
    close(exact(image, 1e4), np.full(image.shape, image.mean()))


def test_piece_moves_by_weight_times_boundary_over_area():
    image = np.zeros((40, 40))
    image[10:20, 15:20] = 1.0
    denoised = exact(image, 0.1)
    assert denoised[12, 17] == pytest.approx(1 - 0.1 * 30 / 50)


# Types


@pytest.mark.parametrize(
    ("given_type", "returned"),
    [
        ("float16", "float32"),
        ("float32", "float32"),
        (">f4", "float32"),
        ("float64", "float64"),
        ("longdouble", "float64"),
        ("uint8", "float64"),
        ("int16", "float64"),
        ("uint64", "float64"),
        ("bool", "float64"),
    ],
)
def test_types(given_type, returned):
    image = (np.arange(12).reshape(3, 4) % 3).astype(given_type)
    before = image.copy()
    denoised = denoise_tv(image, 0.01)
    assert denoised.dtype == np.dtype(returned)
    assert denoised.dtype.isnative
    assert denoised.shape == image.shape
    assert denoised.flags.c_contiguous
    np.testing.assert_array_equal(image, before)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", ">u2", "bool"])
def test_grey_values_are_scaled_as_scikit_image_does(dtype):
    util = pytest.importorskip("skimage.util")
    largest = 1 if dtype == "bool" else np.iinfo(dtype).max
    image = np.array([[0, largest], [0, largest // 3]]).astype(dtype)
    close(denoise_tv(image, 0.0), util.img_as_float(image.astype(image.dtype.newbyteorder("="))))
    close(exact(image, 0.05), exact(image / largest, 0.05))


@pytest.mark.parametrize("kind", "bhiIlLqQ")
def test_other_integers_keep_their_values(kind):
    image = np.array([[1, 2], [3, 4]], dtype=kind)
    close(denoise_tv(image, 0.0), image)
    close(exact(image, 0.1), exact(image.astype(float), 0.1))
    assert denoise_tv([[1, 2], [3, 4]], 0.1).min() > 1.0


def test_the_estimates_keep_the_values_that_denoising_keeps():
    floats = np.round(1000 * noisy_image((24, 24)))
    image = floats.astype(np.int16)  # a CT scan has such values, of both signs
    assert estimate_noise(image - 500) == estimate_noise(floats - 500)
    assert suggest_weight(image) == suggest_weight(floats)
    np.testing.assert_array_equal(denoise_tv(image, "auto"), denoise_tv(floats, "auto"))


def test_single_precision_is_the_rounded_answer_of_the_double_problem():
    noisy = noisy_image((20, 30)).astype(np.float32)
    denoised, result = denoise_tv(noisy, return_result=True)
    double = denoise_tv(noisy.astype(np.float64))
    np.testing.assert_array_equal(denoised, double.astype(np.float32))
    verify(result, Problem(grid_graph(noisy.shape, 0.1), SquaredLoss(noisy.ravel())))
    assert noisy.min() <= denoised.min()
    assert denoised.max() <= noisy.max()


def test_layout_does_not_matter():
    noisy = noisy_image((20, 30))
    expected = denoise_tv(noisy)
    for same in (np.asfortranarray(noisy), noisy[::-1][::-1], noisy.tolist(), np.ma.array(noisy)):
        np.testing.assert_array_equal(denoise_tv(same), expected)


def test_image_does_not_share_memory_with_the_result():
    denoised, result = denoise_tv(noisy_image((8, 8)), return_result=True)
    assert not np.may_share_memory(denoised, result.u)


# Channels


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_channels_are_denoised_one_by_one(axis):
    grey = [noisy_image((9, 11), seed=seed) for seed in range(3)]
    denoised = exact(np.stack(grey, axis=axis), 0.2, channel_axis=axis)
    close(denoised, np.stack([exact(channel, 0.2) for channel in grey], axis=axis))


@given(hnp.arrays(np.float64, (4, 5, 3), elements=st.integers(-8, 8)), st.permutations(range(3)))
@few
def test_channel_permutation(image, order):
    close(
        exact(image[..., order], 0.5, channel_axis=-1),
        exact(image, 0.5, channel_axis=-1)[..., order],
    )


def test_mask_with_and_without_channels():
    image = np.stack([noisy_image((8, 9), seed=seed) for seed in range(2)], axis=0)
    known = np.random.default_rng(0).random((8, 9)) < 0.6
    whole = exact(image, mask=known, channel_axis=0)
    each = exact(image, mask=np.stack([known, known]), channel_axis=0)
    np.testing.assert_array_equal(whole, each)
    image[1, 3, 3] = np.nan
    assert np.isfinite(exact(image, channel_axis=0)).all()


def test_channel_axis_is_not_smoothed():
    image = np.stack([np.zeros((6, 6)), np.ones((6, 6))], axis=-1)
    np.testing.assert_array_equal(denoise_tv(image, 5.0, channel_axis=-1), image)
    close(exact(image, 5.0), np.full((6, 6, 2), 0.5))


# Losses, penalties, options


def test_absolute_loss_removes_outliers():
    truth = noisy_image((48, 48), noise=0.0)
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(truth.shape) < 0.2, np.round(rng.random(truth.shape)), truth)
    best = {
        loss: max(psnr(denoise_tv(noisy, w, loss=loss), truth) for w in np.geomspace(0.1, 2, 9))
        for loss in ("squared", "absolute")
    }
    assert best["absolute"] > best["squared"] + 2


@pytest.mark.parametrize("loss", ["poisson", PoissonLoss])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32", "int64"])
def test_counts_are_counts_in_every_type(loss, dtype):
    counts = np.random.default_rng(0).poisson(9.0, (6, 7))
    expected = denoise_tv(counts.astype(float), 0.3, loss="poisson")
    np.testing.assert_array_equal(denoise_tv(counts.astype(dtype), 0.3, loss=loss), expected)


def test_poisson_loss_has_the_counts_as_its_data():
    counts = np.random.default_rng(0).poisson(20 * noisy_image((12, 12), noise=0.0) + 1)
    denoised = denoise_tv(counts.astype(float), 0.3, loss="poisson", tol=1e-9)
    problem = Problem(grid_graph((12, 12), 0.3), PoissonLoss(counts.ravel()))
    close(denoised.ravel(), solve(problem, tol=1e-9).u)


def test_loss_and_penalty_of_ones_own():
    noisy = noisy_image((12, 12))
    make = partial(HuberLoss, delta=0.1)
    denoised, result = denoise_tv(
        noisy, loss=make, penalty=HuberTV(0.02), return_result=True, tol=1e-4
    )
    problem = Problem(grid_graph((12, 12), 0.1), HuberLoss(noisy.ravel(), 0.1), HuberTV(0.02))
    verify(result, problem)
    assert denoised.shape == (12, 12)


def test_options_reach_the_solver():
    noisy = noisy_image((20, 20))
    _, rough = denoise_tv(noisy, tol=1e-2, return_result=True, n_threads=1)
    assert rough.tolerance == 1e-2
    _, again = denoise_tv(noisy, tol=1e-2, warm_start=rough, return_result=True)
    assert again.iterations == 0
    with pytest.raises(TypeError, match="max_num_iter"):
        denoise_tv(noisy, max_num_iter=10)


def test_early_end_is_said():
    noisy = noisy_image((40, 40))
    with pytest.warns(RuntimeWarning, match="denoise_tv ended with status 'iteration_limit'"):
        denoise_tv(noisy, 1.0, max_iterations=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, result = denoise_tv(noisy, 1.0, max_iterations=0, return_result=True)
    assert result.status == "iteration_limit"


def test_auto_is_the_suggested_weight():
    noisy = noisy_image((48, 48))
    weight = suggest_weight(noisy)
    denoised, result = denoise_tv(noisy, "auto", tol=0, return_result=True)
    np.testing.assert_allclose(denoised, denoise_tv(noisy, weight, tol=0), atol=1e-6)
    assert result.status == "optimal"
    both = denoise_tv(np.stack([noisy, noisy]), "auto", channel_axis=0, spacing=2.0, tol=0)
    np.testing.assert_allclose(both[1], denoised, atol=1e-6)
    flat = np.zeros((8, 8))
    np.testing.assert_array_equal(denoise_tv(flat, "auto"), flat)


# Errors


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"image": np.ones((2, 2), complex)}, "image must hold real numbers, got dtype complex128"),
        ({"image": "camera.png"}, "image must hold real numbers, got dtype <U10"),
        ({"image": None}, "image must hold real numbers, got dtype object"),
        ({"image": [[1.0], [1.0, 2.0]]}, "image must be an array"),
        ({"image": np.ones((0, 3))}, r"image must not be empty, got shape \(0, 3\)"),
        ({"image": 3.0}, "image must have at least one axis, got the number 3.0"),
        ({"image": [0.0, np.inf]}, "image must not be infinite, got inf at index 1; NaN marks"),
        ({"image": [np.nan, np.nan]}, "image must have at least one known pixel, got none"),
        ({"weight": -0.1}, r"weight must be at least 0.0, got -0.1"),
        ({"weight": np.nan}, "weight must be finite, got nan"),
        ({"weight": "automatic"}, "weight must be a number, an array or 'auto', got 'automatic'"),
        ({"weight": np.ones((4, 3))}, r"weight must be a number or have shape \(3, 4\)"),
        ({"weight": -np.ones((3, 4))}, r"weight must not be negative, got -1.0 at index \(0, 0\)"),
        ({"weight": [1.0]}, "weight must have one entry for each of the 2 axes .* list, got 1"),
        (
            {"weight": [1.0, np.ones((3, 4))]},
            r"weight\[1\] must be a number or have shape \(3, 3\)",
        ),
        (
            {"weight": [1.0, 1.0], "connectivity": 2},
            "weight must be .* unless connectivity is 1, got a list",
        ),
        (
            {"mask": np.ones((4, 3), bool)},
            r"mask must have the shape of image, \(3, 4\), got \(4, 3\)",
        ),
        ({"mask": np.ones((3, 4))}, "mask must hold booleans, got dtype float64"),
        ({"mask": np.zeros((3, 4), bool)}, "mask must be True for at least one pixel, got no True"),
        ({"spacing": (1, 2, 3)}, r"spacing must .* each of the 2 axes of pixels, got shape \(3,\)"),
        ({"spacing": (1, 0)}, "spacing must be above 0, got 0.0 at index 1"),
        (
            {"channel_axis": 2},
            r"channel_axis must be at most 1, got 2 for an image of shape \(3, 4\)",
        ),
        ({"channel_axis": 1.5}, "channel_axis must be an integer, got 1.5"),
        (
            {"image": np.ones(3), "channel_axis": 0},
            "channel_axis must leave an axis of pixels, got 0",
        ),
        ({"connectivity": 3}, "connectivity must be one of 1, 2, 4, 8, 16 for 2 axes .*, got 3"),
        ({"image": np.ones((2, 2, 2)), "connectivity": 8}, "connectivity must be one of 1, 2, 3,"),
        ({"image": np.ones((2,) * 4), "connectivity": 2}, "connectivity must be one of 1 for 4"),
        (
            {"loss": "l1"},
            "loss must be one of 'squared', 'absolute', 'poisson' or a callable, got 'l1'",
        ),
        ({"loss": "poisson", "image": [-1.0, 1.0]}, "counts must not be negative, got -1.0"),
        ({"loss": "absolute", "weight": "auto"}, "weight must not be 'auto' unless"),
        ({"penalty": HuberTV(0.1), "weight": "auto"}, "weight must not be 'auto' unless"),
        ({"penalty": "huber"}, "penalty must be"),
        ({"return_result": "yes"}, "return_result must be True or False, got 'yes'"),
        ({"tol": -1.0}, "tol must be at least 0.0, got -1.0"),
    ],
)
def test_errors_name_the_argument_and_the_value(change, message):
    with pytest.raises(ValueError, match=message):
        denoise_tv(**{"image": np.arange(12.0).reshape(3, 4), **change})


def test_channel_without_data():
    image = np.ones((3, 4, 2))
    image[..., 1] = np.nan
    with pytest.raises(ValueError, match="a known pixel in every channel, got none in channel 1"):
        denoise_tv(image, channel_axis=-1)


@pytest.mark.slow
def test_gallery_example_runs(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("skimage")
    load("docs/gallery/denoising.py").main(tmp_path / "denoising.png", step=8)
    assert (tmp_path / "denoising.png").stat().st_size > 1000
