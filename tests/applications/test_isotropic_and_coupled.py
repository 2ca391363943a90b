"""Isotropic and coupled total variation in denoise_tv and fused_lasso."""

import numpy as np
import pytest

from graphtv import (
    CoupledTV,
    EntropicSimplex,
    Graph,
    HuberTV,
    IsotropicTV,
    Problem,
    SquaredLoss,
    denoise_tv,
    fused_lasso,
    grid_graph,
    knn_graph,
    segment,
    segment_image,
    solve,
)
from scripts import load
from verify import verify


@pytest.fixture
def image():
    return np.random.default_rng(0).random((12, 17))


@pytest.fixture
def colours():
    return np.random.default_rng(1).random((9, 12, 3))


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(16, 21), (6, 7, 8), (11, 10, 3)])
def test_the_weight_is_that_of_scikit_image(shape):
    restoration = pytest.importorskip("skimage.restoration")
    image = np.random.default_rng(2).random(shape)
    axis = -1 if shape[-1] == 3 else None
    theirs = restoration.denoise_tv_chambolle(
        image, 0.15, eps=0.0, max_num_iter=20_000, channel_axis=axis
    )
    ours = denoise_tv(image, 0.15, isotropic=True, channel_axis=axis, tol=1e-9)
    np.testing.assert_allclose(ours, theirs, atol=2e-4)


def test_the_problem_that_is_solved(colours):
    graph = grid_graph((9, 12), 0.2)
    for options, penalty in (
        ({"isotropic": True}, IsotropicTV()),
        ({"coupled": True}, CoupledTV()),
        ({"isotropic": True, "coupled": True}, IsotropicTV(coupled=True)),
        ({"coupled": True, "penalty": HuberTV(0.1)}, CoupledTV(delta=0.1)),
        ({"isotropic": True, "penalty": HuberTV(0.1)}, IsotropicTV(delta=0.1)),
    ):
        denoised, result = denoise_tv(
            colours, 0.2, channel_axis=-1, return_result=True, tol=1e-9, **options
        )
        expected = solve(Problem(graph, SquaredLoss(colours), penalty), tol=1e-9)
        slack = result.error_bound + expected.error_bound
        assert np.linalg.norm(denoised - expected.u) <= slack
        assert result.status == "optimal"


def test_a_weight_per_pixel_is_that_of_its_norm(image):
    weight = np.random.default_rng(3).uniform(0.05, 0.4, image.shape)
    weight[4, 5] = 0.0
    _, result = denoise_tv(image, weight, isotropic=True, return_result=True, tol=1e-9)
    assert result.status == "optimal"
    u = result.u.reshape(image.shape)
    down, right = np.zeros_like(u), np.zeros_like(u)
    down[:-1], right[:, :-1] = np.diff(u, axis=0), np.diff(u, axis=1)
    value = 0.5 * np.sum((u - image) ** 2) + np.sum(weight * np.hypot(down, right))
    assert result.primal == pytest.approx(value, rel=1e-12)


def test_spacing_and_masks(image):
    u, result = denoise_tv(
        image, 0.1, isotropic=True, spacing=(2.0, 0.5), return_result=True, tol=1e-8
    )
    assert result.status == "optimal"
    down, right = np.zeros_like(u), np.zeros_like(u)
    down[:-1], right[:, :-1] = np.diff(u, axis=0) / 2.0, np.diff(u, axis=1) / 0.5
    value = 0.5 * np.sum((u - image) ** 2) + 0.1 * np.sum(np.hypot(down, right))
    assert result.primal == pytest.approx(value, rel=1e-9)
    known = np.random.default_rng(4).random(image.shape) > 0.3
    _, result = denoise_tv(image, 0.1, isotropic=True, mask=known, return_result=True)
    assert result.status == "optimal"
    holes = np.where(known, image, np.nan)
    _, again = denoise_tv(holes, 0.1, isotropic=True, return_result=True)
    assert again.primal == pytest.approx(result.primal, rel=1e-5)


def test_a_line_is_anisotropic():
    signal = np.random.default_rng(5).random(50)
    np.testing.assert_array_equal(denoise_tv(signal, 0.2, isotropic=True), denoise_tv(signal, 0.2))


def test_other_losses(image, colours):
    for loss in ("absolute", "poisson"):
        data = np.round(10 * colours) if loss == "poisson" else colours
        _, result = denoise_tv(
            data, 0.3, isotropic=True, coupled=True, channel_axis=-1, loss=loss, return_result=True
        )
        assert result.status == "optimal"


def test_coupled_fused_lasso():
    rng = np.random.default_rng(6)
    points, signal = rng.normal(size=(40, 2)), rng.normal(size=(40, 3))
    graph = knn_graph(points, 5)
    result = fused_lasso(graph, signal, lam=0.3, coupled=True, tol=1e-9)
    x = graph.weights[:, None] * (result.u[graph.edges[:, 0]] - result.u[graph.edges[:, 1]])
    value = 0.5 * np.sum((result.u - signal) ** 2) + 0.3 * np.linalg.norm(x, axis=1).sum()
    assert result.status == "optimal"
    assert result.primal == pytest.approx(value, rel=1e-12)
    sparse = fused_lasso(graph, signal, lam=0.3, coupled=True, sparsity=0.2, tol=1e-7)
    assert sparse.status == "optimal"
    assert sparse.primal >= result.primal
    value += 0.2 * np.abs(sparse.u).sum()
    plain = fused_lasso(graph, signal, lam=0.3, coupled=False, tol=1e-9)
    assert plain.primal > result.primal  # norms are less than sums


def test_combinations_that_do_not_exist(image):
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"^isotropic must be False unless connectivity is 1"):
        denoise_tv(image, 0.1, isotropic=True, connectivity=2)
    with pytest.raises(ValueError, match=r"^isotropic must be False for a dask"):
        denoise_tv(da.from_array(image), 0.1, isotropic=True)
    with pytest.raises(ValueError, match=r"^coupled must be False for a dask"):
        fused_lasso("grid", da.from_array(image), coupled=True)
    with pytest.raises(ValueError, match=r"^weight must not be 'auto'"):
        denoise_tv(image, "auto", isotropic=True)
    with pytest.raises(ValueError, match=r"^penalty must be TotalVariation"):
        denoise_tv(image, 0.1, isotropic=True, penalty=CoupledTV())
    with pytest.raises(ValueError, match=r"^isotropic must be"):
        denoise_tv(image, 0.1, isotropic="yes")
    with pytest.raises(TypeError, match=r"^denoise_tv\(\) got an unexpected keyword argument"):
        denoise_tv(image, 0.1, isotrop=True)


@pytest.mark.slow
def test_the_gallery_example_runs(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("skimage")
    load("docs/gallery/which_tv.py").main(tmp_path / "picture.png", step=4)
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_coupled_segmentation(colours):
    """Against the objective, and with two classes as independent ones with √2 times the weight."""
    rng = np.random.default_rng(7)
    graph = knn_graph(rng.normal(size=(30, 2)), 4)
    cost = rng.normal(size=(30, 3))
    result = segment(graph, cost, epsilon=0.5, coupled=True, tol=1e-7)
    problem = Problem(graph, EntropicSimplex(cost, 0.5), CoupledTV())
    verify(result, problem)
    assert result.status == "optimal"
    x = graph.weights[:, None] * (result.u[graph.edges[:, 0]] - result.u[graph.edges[:, 1]])
    entropy = np.sum(result.u * np.log(np.maximum(result.u, 1e-300)))
    value = np.sum(cost * result.u) + 0.5 * entropy + np.linalg.norm(x, axis=1).sum()
    assert result.primal == pytest.approx(value, rel=1e-10)
    assert segment(graph, cost, epsilon=0.5, tol=1e-7).primal > result.primal
    two = segment(graph, cost[:, :2], epsilon=0.5, coupled=True, tol=1e-9)
    half = Graph(30, graph.edges, graph.weights / 2**0.5)
    plain = segment(half, cost[:, :2], epsilon=0.5, tol=1e-9)
    np.testing.assert_allclose(two.u, plain.u, atol=1e-4)

    marks = np.zeros((9, 12), int)
    marks[0, 0], marks[8, 11], marks[0, 11] = 1, 2, 3
    labels, found = segment_image(colours, marks, coupled=True, return_result=True)
    assert found.status == "optimal"
    assert (labels[marks > 0] == marks[marks > 0]).all()
    for function, arguments in ((segment, (graph, cost)), (segment_image, (colours, marks))):
        with pytest.raises(
            TypeError, match=rf"^{function.__name__}\(\) got an unexpected .*'coupl'"
        ):
            function(*arguments, coupl=True)
        with pytest.raises(ValueError, match=r"^coupled must be"):
            function(*arguments, coupled="yes")
