import importlib.util
import math
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphtv import (
    HuberLoss,
    HuberTV,
    PoissonLoss,
    Problem,
    SquaredLoss,
    denoise_tv,
    gallery,
    grid_graph,
    solve,
    suggest_weight,
    tv_chain,
)
from graphtv.applications._pixel_graph import pixel_graph
from verify import verify

# Whole numbers keep the properties below free of rounding in the data.
small_images = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5),
    elements=st.integers(-8, 8),
)
few = settings(max_examples=40)
small_weights = st.sampled_from([0.25, 0.5, 1.0, 3.0])


def close(actual, desired):
    np.testing.assert_allclose(actual, desired, rtol=0, atol=1e-9)


def exact(image, weight=0.1, **options):
    return denoise_tv(image, weight, tol=0, **options)


def noisy_image(shape, noise=0.1, seed=0):
    return gallery.piecewise_constant_image(shape, seed=seed, noise=noise)[0]


def psnr(image, truth):
    return -10 * np.log10(np.mean((image - truth) ** 2))


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


@pytest.mark.parametrize("kind", [*"bBhHiIlL", "?"])
def test_integers_are_scaled_as_scikit_image_does(kind):
    util = pytest.importorskip("skimage.util")
    if kind == "?":
        image = np.array([[True, False], [True, True]])
    else:
        limits = np.iinfo(kind)
        image = np.array([[limits.min, limits.max], [0, limits.max // 3]], dtype=kind)
    close(denoise_tv(image, 0.0), util.img_as_float(image))
    close(exact(image, 0.05), exact(util.img_as_float(image), 0.05))


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


# Unknown pixels


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


# Weights, spacing, neighbours


def test_weight_per_axis_edge_and_pixel():
    noisy = noisy_image((9, 11))
    expected = exact(noisy, 0.2)
    for weight in (np.full((9, 11), 0.2), [0.2, 0.2], (np.full((8, 11), 0.2), 0.2), np.array(0.2)):
        close(exact(noisy, weight), expected)
    rng = np.random.default_rng(0)
    per_edge = [rng.random((8, 11)), rng.random((9, 10))]
    problem = Problem(grid_graph((9, 11), per_edge), SquaredLoss(noisy.ravel()))
    close(exact(noisy, per_edge).ravel(), solve(problem, tol=0).u)
    per_pixel = rng.random((9, 11))
    means = [(per_pixel[1:] + per_pixel[:-1]) / 2, (per_pixel[:, 1:] + per_pixel[:, :-1]) / 2]
    close(exact(noisy, per_pixel), exact(noisy, means))


def test_edges_without_weight_separate():
    image = np.repeat([[0.0, 1.0]], 4, axis=0)
    np.testing.assert_array_equal(denoise_tv(image, [1.0, 0.0]), image)
    tall = [np.ones((3, 2)), np.zeros((4, 1))]
    np.testing.assert_array_equal(denoise_tv(image, tall), image)


def test_spacing_divides_differences():
    noisy = noisy_image((6, 7, 8))
    close(exact(noisy, 0.2, spacing=(4, 1, 2)), exact(noisy, [0.05, 0.2, 0.1]))
    close(exact(noisy, 0.2, spacing=2.0), exact(noisy, 0.1))
    colours = noisy_image((6, 7, 3))
    close(
        exact(colours, 0.2, spacing=(1, 2), channel_axis=2),
        exact(colours, [0.2, 0.1], channel_axis=2),
    )


@pytest.mark.parametrize("connectivity", [1, 2])
@pytest.mark.parametrize("spacing", [(1.0, 1.0), (1.0, 2.0), (3.0, 1.5)])
def test_mean_cost_of_an_edge_does_not_depend_on_the_neighbourhood(connectivity, spacing):
    """A disc has edges of all directions: it costs 4/π times its circumference."""
    radius = 150.0
    axes = [h * (np.arange(math.ceil(2 * radius / h) + 5) + 0.5) for h in spacing]
    centres = [axis.mean() for axis in axes]
    squares = [(axis - centre) ** 2 for axis, centre in zip(axes, centres, strict=True)]
    disc = (squares[0][:, None] + squares[1] < radius**2).astype(float)
    graph = pixel_graph(disc.shape, 1.0, spacing, connectivity)
    cost = np.abs(graph.gradient() @ disc.ravel()).sum() * math.prod(spacing)
    assert cost == pytest.approx(4 / math.pi * 2 * math.pi * radius, rel=0.01)


def test_eight_neighbours_favour_no_direction():
    """The dearest direction of a straight edge costs 8 % more than the cheapest, not 41 %."""
    ratios = {}
    for connectivity in (1, 2):
        graph = pixel_graph((240, 240), 1.0, None, connectivity)
        across = np.arange(240) - 119.5
        costs = []
        for angle in np.radians(np.arange(0.0, 90.0, 7.5)):
            side = np.cos(angle) * across[:, None] + np.sin(angle) * across
            inside = np.hypot(across[:, None], across) < 100
            edge = (side > 0.01).ravel()
            jumps = graph.weights * (edge[graph.edges[:, 0]] != edge[graph.edges[:, 1]])
            costs.append(jumps[inside.ravel()[graph.edges[:, 0]]].sum())
        ratios[connectivity] = max(costs) / min(costs)
    assert ratios[1] == pytest.approx(math.sqrt(2), rel=0.02)
    assert ratios[2] == pytest.approx(1.0824, rel=0.02)


@given(hnp.arrays(np.float64, (4, 5), elements=st.integers(-8, 8)), small_weights)
@example(np.zeros((4, 5)), 0.25)
@few
def test_eight_neighbours_turn_with_the_image(image, weight):
    turned = exact(np.rot90(image), weight, connectivity=2)
    close(turned, np.rot90(exact(image, weight, connectivity=2)))


def test_eight_neighbours_with_weights_per_pixel():
    noisy = noisy_image((9, 10))
    expected = exact(noisy, 0.2, connectivity=2)
    close(exact(noisy, np.full((9, 10), 0.2), connectivity=2), expected)
    weight = np.where(np.arange(10) < 5, 0.0, 0.2) * np.ones((9, 1))
    close(exact(noisy, weight, connectivity=2)[:, :4], noisy[:, :4])


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


def test_poisson_loss_is_free_of_scale():
    counts = np.random.default_rng(0).poisson(20 * noisy_image((12, 12), noise=0.0) + 1)
    denoised = denoise_tv(counts.astype(float), 0.3, loss="poisson", tol=1e-9)
    problem = Problem(grid_graph((12, 12), 0.3), PoissonLoss(counts.ravel()))
    close(denoised.ravel(), solve(problem, tol=1e-9).u)
    scaled = denoise_tv(counts.astype(np.uint8), 0.3, loss="poisson", tol=1e-9)
    np.testing.assert_allclose(255 * scaled, denoised, atol=1e-4)


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
    denoised, result = denoise_tv(noisy, "auto", return_result=True)
    np.testing.assert_allclose(denoised, denoise_tv(noisy, weight), atol=1e-6)
    assert result.status == "optimal"
    both = denoise_tv(np.stack([noisy, noisy]), "auto", channel_axis=0, spacing=2.0)
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
        ({"image": [np.nan, np.nan]}, "image must have a known pixel, got none"),
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
        ({"weight": [1.0, 1.0], "connectivity": 2}, "weight must be .* connectivity=2, got a list"),
        (
            {"mask": np.ones((4, 3), bool)},
            r"mask must have the shape of image, \(3, 4\), got \(4, 3\)",
        ),
        ({"mask": np.ones((3, 4))}, "mask must hold booleans, got dtype float64"),
        ({"mask": np.zeros((3, 4), bool)}, "mask must be True at a known pixel, got no True"),
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
        ({"connectivity": 8}, "connectivity must be at most 2, got 8"),
        ({"image": np.ones((2, 2, 2)), "connectivity": 2}, "connectivity must be 1 unless"),
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


# Beside scikit-image


def test_chambolle_has_the_same_weight():
    """Where the image varies along one axis only, isotropic and anisotropic TV are the same."""
    restoration = pytest.importorskip("skimage.restoration")
    stripes = np.tile(noisy_image(60), (5, 1))
    theirs = restoration.denoise_tv_chambolle(stripes, weight=0.3, eps=0, max_num_iter=20_000)
    np.testing.assert_allclose(exact(stripes, 0.3), theirs, atol=1e-6)
    for other in (0.15, 0.6):
        assert np.abs(exact(stripes, other) - theirs).max() > 0.01


def test_bregman_has_the_inverse_weight():
    """Not twice that, as its documentation has it; the border, which it treats apart, left out."""
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


def test_gallery_example_runs(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("skimage")
    script = Path(__file__).parents[2] / "docs" / "gallery" / "denoising.py"
    spec = importlib.util.spec_from_file_location("gallery_denoising", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path / "denoising.png", step=8)
    assert (tmp_path / "denoising.png").stat().st_size > 1000
