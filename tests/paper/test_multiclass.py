"""The problems of Table 3 and Figure 2, against the sums that define them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from graphtv.applications.imaging.contrast import opponent
from graphtv.gallery import three_moons
from graphtv.paper import multiclass
from graphtv.paper.experiment import UnavailableError
from graphtv.paper.figure2 import from_runs, to_runs
from graphtv.paper.photographs import Photograph, coffee, coffee_scribbles, icg_names, read_icg

HEADER = "ICGBENCH GROUNDTRUTH FILE\nUSER: 1\nIMAGE: image_0003.png\nWIDTH: 3\nHEIGHT: 2\n"


def test_weights_count_the_directions_in_which_points_are_neighbours():
    points = np.random.default_rng(0).normal(size=(30, 4))
    graph = multiclass.neighbour_graph(points, 3)
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(distances, np.inf)
    nearest = np.zeros((30, 30))
    np.put_along_axis(nearest, np.argsort(distances, axis=1)[:, :3], 1.0, axis=1)
    np.testing.assert_array_equal(graph.to_sparse().toarray(), (nearest + nearest.T) / 2)


def test_moons_have_five_per_cent_of_labels_all_of_them_true():
    problem, truth = multiclass.moons_problem(40, seed=3)
    np.testing.assert_array_equal(truth, three_moons(40, rng=3)[1])
    labelled = problem.data.cost.any(axis=1)
    np.testing.assert_array_equal(np.bincount(truth[labelled]), [2, 2, 2])
    np.testing.assert_array_equal(problem.data.cost[labelled].argmin(axis=1), truth[labelled])
    assert problem.data.epsilon == 1.0


def test_cost_of_an_image_is_the_negative_logarithm_of_the_density():
    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (5, 6, 3), dtype=np.uint8)
    scribbles = np.zeros((5, 6), dtype=np.intp)
    scribbles[1, 1:4], scribbles[4, 2] = 1, 2
    problem = multiclass.image_problem(Photograph("small", image, scribbles, None))
    colours = opponent(image.astype(float))
    sigma = 0.25 * math.sqrt(colours.reshape(-1, 3).var(axis=0).sum())
    for row, column, c in ((0, 0, 0), (3, 5, 0), (2, 2, 1), (4, 2, 1)):
        places = np.argwhere(scribbles == c + 1)
        squares = ((places - [row, column]) ** 2).sum(axis=1)
        width = max(3.0 * math.sqrt(squares.min()), 1.0)
        shades = ((colours[tuple(places.T)] - colours[row, column]) ** 2).sum(axis=1)
        kernels = np.exp(-squares / (2 * width**2)) / (2 * math.pi * width**2)
        kernels *= np.exp(-shades / (2 * sigma**2)) / (2 * math.pi * sigma**2) ** 1.5
        expected = -math.log(kernels.mean()) / multiclass.LAMBDA
        assert problem.data.cost[6 * row + column, c] == pytest.approx(expected, rel=1e-4)


def test_weights_of_an_image_are_the_papers():
    image = np.array([[[0, 0, 0], [255, 0, 0]], [[0, 51, 0], [255, 255, 255]]], dtype=np.uint8)
    scribbles = np.array([[1, 0], [0, 2]])
    graph = multiclass.image_problem(Photograph("four", image, scribbles, None)).graph
    found = {tuple(sorted(e)): w for e, w in zip(graph.edges.tolist(), graph.weights, strict=True)}
    squares = {(0, 1): 1.0, (2, 3): 1.0 + 0.64 + 1.0, (0, 2): 0.04, (1, 3): 2.0}
    assert found == pytest.approx({edge: math.exp(-0.1 * d) for edge, d in squares.items()})


def test_dice():
    truth = np.array([1, 1, 1, 2])
    assert multiclass.mean_dice(truth, truth) == 1.0
    assert multiclass.mean_dice(np.array([1, 1, 2, 2]), truth) == pytest.approx((0.8 + 2 / 3) / 2)
    assert multiclass.mean_dice(np.array([1, 1, 1, 3]), truth) == pytest.approx(1 / 3)


@given(arrays(np.intp, array_shapes(min_dims=2, max_dims=2), elements=st.integers(1, 3)))
def test_runs_give_the_labels_back(labels):
    found = {"labels": to_runs(labels), "shape": list(labels.shape)}
    np.testing.assert_array_equal(from_runs(found), labels)


# The benchmark's files


@pytest.fixture
def benchmark(tmp_path):
    io = pytest.importorskip("skimage.io")
    folder = tmp_path / "icgbench"
    (folder / "gt").mkdir(parents=True)
    (folder / "images").mkdir()
    image = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    io.imsave(folder / "images" / "image_0003.png", image, check_contrast=False)
    text = f"{HEADER}LABELS:\n0 4 1 2\nSEEDS:\n0 1 1 1 0 3 2 1\n"
    (folder / "gt" / "image_0003_7.gt").write_text(text)
    return tmp_path


def test_reads_the_benchmark(benchmark):
    assert icg_names(benchmark) == ["image_0003"]
    photograph = read_icg(benchmark, "image_0003")
    assert photograph.image.shape == (2, 3, 3)
    np.testing.assert_array_equal(photograph.scribbles, [[0, 1, 0], [0, 0, 2]])
    np.testing.assert_array_equal(photograph.truth, [[1, 1, 1], [1, 2, 2]])
    np.testing.assert_array_equal(photograph.every(2).truth, [[1, 1]])


def test_says_what_is_missing(benchmark, tmp_path):
    with pytest.raises(UnavailableError, match="--data"):
        read_icg(None, "image_0003")
    with pytest.raises(UnavailableError, match="no icgbench"):
        read_icg(tmp_path / "icgbench", "image_0003")
    with pytest.raises(UnavailableError, match="no image_0004"):
        read_icg(benchmark, "image_0004")
    (benchmark / "icgbench" / "gt" / "image_0003_7.gt").write_text(HEADER)
    with pytest.raises(UnavailableError, match=r"image_0003_7\.gt has no SEEDS"):
        read_icg(benchmark, "image_0003")


def test_scribbles_of_the_photograph_mark_all_classes_in_every_size():
    pytest.importorskip("skimage.data")
    for step in (1, 4):
        photograph = coffee(step)
        assert photograph.image.shape[:2] == photograph.scribbles.shape
        np.testing.assert_array_equal(np.unique(photograph.scribbles), np.arange(6))
    # A stroke is a connected line: its pixels are neighbours, corners included.
    marked = np.argwhere(coffee_scribbles((400, 600)) == 4)
    steps = np.abs(marked[:, None] - marked).max(axis=2)
    np.fill_diagonal(steps, 9)
    assert (steps.min(axis=1) == 1).all()
