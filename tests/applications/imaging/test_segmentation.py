"""Segmentation: against a convex solver, by its symmetries, and on images with known labels."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from graphtv import EntropicSimplex, Graph, Problem, Result, grid_graph, segment, segment_image
from graphtv.applications.imaging.contrast import contrast_graph
from graphtv.applications.imaging.scribbles import MOST_SAMPLES, scribble_cost
from graphtv.applications.imaging.segmentation import Segmentation
from scripts import load

benchmark = load("benchmarks/segmentation.py")
ICG = benchmark.data_folder()
needs_icg = pytest.mark.skipif(ICG is None, reason="GRAPHTV_DATA has no icgbench")


def stripes(side=24, noise=0.1, seed=0, channels=3):
    """Three vertical stripes of different colours with a scribble each, and the truth."""
    rng = np.random.default_rng(seed)
    truth = np.broadcast_to(1 + np.arange(side) * 3 // side, (side, side)).copy()
    colours = np.array([[0.9, 0.3, 0.2], [0.3, 0.7, 0.3], [0.2, 0.3, 0.8]])[:, :channels]
    image = colours[truth - 1] + rng.normal(0.0, noise, (side, side, channels))
    scribbles = np.zeros_like(truth)
    scribbles[side // 3 : side // 2, side // 6 :: side // 3] = truth[0, side // 6 :: side // 3]
    return image, scribbles, truth


# --- segment: any graph ---


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_agrees_with_a_conic_solver(seed, epsilon):
    cvxpy = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(seed)
    n, n_classes = 7, 3
    edges = np.array([[i, j] for i in range(n) for j in range(i) if rng.random() < 0.5])
    graph = Graph(n, edges, rng.uniform(0.1, 1.0, len(edges)))
    cost = rng.normal(0.0, 1.0, (n, n_classes))
    result = segment(graph, cost, epsilon=epsilon, tol=1e-9)
    u = cvxpy.Variable((n, n_classes))
    objective = (
        cvxpy.sum(cvxpy.multiply(cost, u))
        - epsilon * cvxpy.sum(cvxpy.entr(u))
        + cvxpy.sum(cvxpy.abs(graph.gradient().toarray() @ u))
    )
    problem = cvxpy.Problem(cvxpy.Minimize(objective), [cvxpy.sum(u, axis=1) == 1])
    problem.solve(solver=cvxpy.CLARABEL)
    assert result.primal == pytest.approx(problem.value, abs=1e-6)
    np.testing.assert_allclose(result.u, u.value, atol=1e-3)


def test_without_edges_the_classes_have_their_posterior_probabilities():
    cost = np.random.default_rng(0).normal(0.0, 2.0, (20, 4))
    result = segment(Graph(20, np.empty((0, 2), int)), cost, epsilon=0.5)
    np.testing.assert_allclose(result.u, softmax(-cost / 0.5, axis=1), atol=1e-6)
    np.testing.assert_array_equal(result.labels, cost.argmin(axis=1))


def test_result_is_a_certified_result_with_labels():
    graph, cost = grid_graph((5, 6), 0.4), np.random.default_rng(1).normal(size=(30, 3))
    result = segment(graph, cost, epsilon=0.7)
    problem = Problem(graph, EntropicSimplex(cost, 0.7))
    assert isinstance(result, Result)
    assert result.status == "optimal"
    assert problem.primal(result.u) == result.primal
    assert problem.dual(result.p) == result.dual
    assert result.labels.shape == (30,)
    assert repr(result).startswith("Segmentation: optimal")
    np.testing.assert_array_equal(result.labels, result.u.argmax(axis=1))


def test_options_reach_the_solver():
    graph, cost = grid_graph((8, 8), 1.0), np.random.default_rng(1).normal(size=(64, 3))
    assert segment(graph, cost, max_iterations=1, tol=0).status == "iteration_limit"
    first = segment(graph, cost, tol=1e-4)
    assert segment(graph, cost, tol=1e-4, warm_start=first).iterations == 0


@given(st.permutations(range(4)), st.integers(0, 5))
@settings(max_examples=15)
def test_renaming_classes_renames_labels(order, seed):
    cost = np.random.default_rng(seed).normal(size=(30, 4))
    graph = grid_graph((5, 6), 0.5)
    plain = segment(graph, cost)
    renamed = segment(graph, cost[:, order])
    np.testing.assert_allclose(renamed.u, plain.u[:, order], atol=plain.error_bound * 2)


def test_a_number_added_to_all_costs_of_a_vertex_changes_nothing():
    rng = np.random.default_rng(2)
    cost, graph = rng.normal(size=(30, 3)), grid_graph((5, 6), 0.5)
    plain = segment(graph, cost, tol=1e-8)
    shifted = segment(graph, cost + rng.normal(size=(30, 1)), tol=1e-8)
    np.testing.assert_allclose(shifted.u, plain.u, atol=plain.error_bound + shifted.error_bound)


# --- segment_image: scribbles ---


def test_stripes_are_found():
    image, scribbles, truth = stripes()
    labels, result = segment_image(image, scribbles, return_result=True)
    assert benchmark.dice(labels, truth).min() > 0.95
    assert isinstance(result, Segmentation)
    assert result.relative_gap <= 5e-4
    assert result.u.shape == (truth.size, 3)
    np.testing.assert_allclose(result.u.sum(axis=1), 1.0, atol=1e-9)


def test_renaming_scribbles_renames_labels():
    image, scribbles, _ = stripes()
    renamed = np.array([0, 3, 1, 2])
    np.testing.assert_array_equal(
        segment_image(image, renamed[scribbles]), renamed[segment_image(image, scribbles)]
    )


@given(st.integers(0, 100))
@settings(max_examples=15)
def test_scribbles_are_respected(seed):
    rng = np.random.default_rng(seed)
    image = rng.random((9, 8, 3))
    scribbles = rng.integers(0, 3, (9, 8)) * (rng.random((9, 8)) < 0.2)
    scribbles[0, 0], scribbles[-1, -1] = 1, 2
    labels, result = segment_image(image, scribbles, weight=100.0, return_result=True)
    marked = scribbles > 0
    np.testing.assert_array_equal(labels[marked], scribbles[marked])
    assert result.labels.reshape(labels.shape)[marked].tolist() == (scribbles[marked] - 1).tolist()


def test_scribbles_are_respected_even_before_the_end():
    image, scribbles, _ = stripes()
    labels = segment_image(image, scribbles, max_iterations=0)
    np.testing.assert_array_equal(labels[scribbles > 0], scribbles[scribbles > 0])


def test_scribbles_may_be_overruled_if_allowed():
    image, scribbles, truth = stripes(noise=0.02)
    scribbles[2, 4] = 3  # an accidental stroke
    free = segment_image(image, scribbles, hold_scribbles=False)
    assert free[2, 4] == truth[2, 4]
    assert segment_image(image, scribbles)[2, 4] == 3


def test_type_and_scale_of_the_image_do_not_matter():
    image, scribbles, _ = stripes()
    bytes_ = np.clip(np.round(image * 255), 0, 255).astype(np.uint8)
    expected = segment_image(bytes_, scribbles)
    for other in (
        bytes_ / 255.0,
        bytes_.astype(np.float32),
        bytes_.astype(np.uint16) * 257,
        bytes_.astype(int) * 10 - 1000,
        np.asfortranarray(bytes_),
    ):
        np.testing.assert_array_equal(segment_image(other, scribbles), expected)


def test_a_channel_axis_of_length_one_is_no_channel_axis():
    image, scribbles, _ = stripes(channels=1)
    np.testing.assert_array_equal(
        segment_image(image, scribbles), segment_image(image[..., 0], scribbles)
    )


def test_a_constant_image_is_divided_by_distance():
    scribbles = np.zeros((9, 12), int)
    scribbles[:, 1], scribbles[:, 10] = 1, 2
    labels = segment_image(np.ones((9, 12)), scribbles)
    np.testing.assert_array_equal(labels, np.repeat([[1] * 6 + [2] * 6], 9, axis=0))


def test_volumes_and_signals():
    rng = np.random.default_rng(0)
    truth = np.ones((6, 7, 8), int)
    truth[:, :, 4:] = 2
    scribbles = np.zeros_like(truth)
    scribbles[3, 3, 1], scribbles[3, 3, 6] = 1, 2
    volume = truth + rng.normal(0.0, 0.1, truth.shape)
    for connectivity in (1, 2, 3):
        labels = segment_image(volume, scribbles, connectivity=connectivity)
        np.testing.assert_array_equal(labels, truth)
    line = segment_image(volume[3, 3], scribbles[3, 3])
    np.testing.assert_array_equal(line, truth[3, 3])


def test_diagonals_do_not_change_what_a_round_border_costs():
    side = 120
    x = np.linspace(-1, 1, side)
    disc = (x[:, None] ** 2 + x**2 < 0.8).astype(float)
    pixels = np.ones((side, side, 1))
    lengths = [
        np.abs(contrast_graph(pixels, 0.1, connectivity).gradient() @ disc.ravel()).sum()
        for connectivity in (1, 2, 16)
    ]
    np.testing.assert_allclose(lengths, lengths[0], rtol=0.01)


def test_borders_follow_edges_where_densities_do_not_tell():
    # The scribbles suggest a border in the middle, the image a border nearby.
    image = np.zeros((12, 30))
    image[:, 18:] = 1.0
    scribbles = np.zeros((12, 30), int)
    scribbles[5:7, 2], scribbles[5:7, 27] = 1, 2
    options = {"sigma_color": 100.0, "weight": 1.0, "epsilon": 0.05}
    np.testing.assert_array_equal(segment_image(image, scribbles, **options)[6] == 2, image[6] == 1)
    assert (segment_image(image, scribbles, xi=0.0, **options)[6] == 2).sum() == 15


def test_warm_start_as_scribbles_are_added():
    image, scribbles, _ = stripes(side=36, noise=0.3)
    fewer = np.where(scribbles == 3, 0, scribbles)
    _, first = segment_image(image, fewer, return_result=True)
    _, cold = segment_image(image, scribbles, return_result=True)
    _, warm = segment_image(image, scribbles, warm_start=first, return_result=True)
    assert warm.status == "optimal"
    assert np.abs(warm.u - cold.u).max() <= warm.error_bound + cold.error_bound
    scribbles[30, 5] = 1
    _, again = segment_image(image, scribbles, warm_start=warm, return_result=True)
    _, anew = segment_image(image, scribbles, return_result=True)
    assert again.iterations < anew.iterations


def test_same_bits_for_any_number_of_threads():
    image, scribbles, _ = stripes(side=48)
    one, two = (segment_image(image, scribbles, n_threads=n, return_result=True)[1] for n in (1, 2))
    np.testing.assert_array_equal(one.u, two.u)


# --- densities ---


def slow_cost(colours, scribbles, sigma, spread):
    """The formula of the densities, evaluated directly."""
    shape, n_classes = scribbles.shape, scribbles.max()
    places = np.argwhere(np.ones(shape, bool)).astype(float)
    density = np.empty((len(places), n_classes))
    for c in range(n_classes):
        mine = scribbles.ravel() == c + 1
        distances = np.linalg.norm(places[:, None] - places[mine], axis=-1)
        rho = np.maximum(spread * distances.min(axis=1), 1.0)[:, None]
        shades = np.linalg.norm(colours[:, None] - colours[mine], axis=-1)
        kernels = np.exp(-0.5 * (distances / rho) ** 2 - 0.5 * (shades / sigma) ** 2)
        density[:, c] = (kernels / rho ** len(shape)).mean(axis=1)
    return -np.log(density / density.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("shape", [(13,), (11, 14), (5, 6, 7)])
def test_densities_against_their_formula(shape):
    rng = np.random.default_rng(3)
    colours = rng.normal(size=(np.prod(shape), 2))
    scribbles = rng.integers(1, 4, shape) * (rng.random(shape) < 0.4)
    scribbles.flat[:3] = 1, 2, 3
    np.testing.assert_allclose(
        scribble_cost(colours, scribbles, 0.8, 1.5),
        slow_cost(colours, scribbles, 0.8, 1.5),
        atol=1e-3,
    )


def test_many_scribbles_are_thinned_out_without_much_harm():
    image, _, truth = stripes(side=90, noise=0.3)
    scribbles = np.where(np.arange(90) % 3 == 1, truth, 0)  # 900 pixels of each class
    assert (scribbles == 1).sum() > MOST_SAMPLES
    colours = image.reshape(-1, 3)
    thin = scribble_cost(colours, scribbles, 0.3, 2.0).argmin(axis=1)
    full = slow_cost(colours[:2700], scribbles[:30], 0.3, 2.0).argmin(axis=1)
    assert (thin[:2700] == full).mean() > 0.95


def test_colours_nobody_scribbled_have_a_finite_cost():
    colours = np.zeros((30, 1))
    colours[7] = 1e6
    scribbles = np.zeros(30, int)
    scribbles[0], scribbles[-1] = 1, 2
    assert np.isfinite(scribble_cost(colours, scribbles, 0.1, 2.0)).all()


# --- wrong arguments ---

IMAGE = np.random.default_rng(0).random((6, 7))
SCRIBBLES = np.zeros((6, 7), int)
SCRIBBLES[1, 1], SCRIBBLES[4, 5] = 1, 2


@pytest.mark.parametrize(
    ("image", "scribbles", "message"),
    [
        (IMAGE, np.zeros((6, 7), int), r"scribbles must mark at least 2 classes, got none"),
        (IMAGE, SCRIBBLES.clip(0, 1), r"scribbles must mark at least 2 classes, got 1"),
        (IMAGE, 3 * SCRIBBLES, r"scribbles must number the classes.*class 6 but none of class 1"),
        (IMAGE, SCRIBBLES**2, r"scribbles must number the classes.*class 4 but none of class 2"),
        (IMAGE, -SCRIBBLES, r"scribbles must not be negative, got -2"),
        (IMAGE, SCRIBBLES[:5], r"scribbles must have the shape of image.*\(5, 7\).*\(6, 7\)"),
        (IMAGE, SCRIBBLES.astype(float), r"scribbles must hold integers, got dtype float64"),
        (IMAGE, 2, r"scribbles must be an array"),
        (IMAGE[:, :, None, None], SCRIBBLES, r"scribbles must have the shape of image"),
        (np.where(IMAGE > 0.5, np.nan, IMAGE), SCRIBBLES, r"image must be finite, got nan at"),
        (IMAGE.astype(complex), SCRIBBLES, r"image must hold real numbers"),
        (np.empty((6, 7, 0)), SCRIBBLES, r"scribbles must have the shape of image"),
    ],
)
def test_wrong_images_and_scribbles(image, scribbles, message):
    with pytest.raises(ValueError, match=message):
        segment_image(image, scribbles)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("xi", -0.1),
        ("xi", np.nan),
        ("weight", 0.0),
        ("sigma_color", 0.0),
        ("spread", -1.0),
        ("epsilon", 0.0),
        ("connectivity", 3),
        ("connectivity", 0),
        ("hold_scribbles", 1),
        ("return_result", "yes"),
        ("tol", -1.0),
        ("warm_start", 5),
    ],
)
def test_wrong_options(name, value):
    with pytest.raises(ValueError, match=name):
        segment_image(IMAGE, SCRIBBLES, **{name: value})


def test_wrong_costs():
    with pytest.raises(ValueError, match=r"cost must have shape \(n, C\), got \(6,\)"):
        segment(grid_graph((6,)), np.zeros(6))
    with pytest.raises(ValueError, match="graph"):
        segment("grid", np.zeros((6, 2)))
    with pytest.raises(ValueError, match="epsilon"):
        segment(grid_graph((6,)), np.zeros((6, 2)), epsilon=-1.0)


# --- real images, and the scripts ---


@needs_icg
@pytest.mark.parametrize(
    ("name", "expected"), [("image_0001", 0.93), ("image_0030", 0.95), ("image_0045", 0.94)]
)
def test_overlap_with_the_truth_of_the_icg_benchmark(name, expected):
    instance = benchmark.read_icg(ICG, name)
    half = (slice(None, None, 2), slice(None, None, 2))  # saves time; scribbles are thin but long
    labels, result = segment_image(
        instance.image[half], instance.scribbles[half], return_result=True
    )
    assert result.status == "optimal"
    assert benchmark.dice(labels, instance.truth[half]).mean() > expected


def test_the_benchmark_runs(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["segmentation.py", "--quick", "--max-iterations", "50"])
    benchmark.main()
    shown = capsys.readouterr().out
    assert "mean  0.99" in shown or "mean  1.000" in shown
    assert "chains" in shown
    assert "warm / cold" in shown


@pytest.mark.slow
def test_the_gallery_example_runs(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("skimage")
    load("docs/gallery/segmentation.py").main(tmp_path / "picture.png", step=10)
    assert (tmp_path / "picture.png").stat().st_size > 0
