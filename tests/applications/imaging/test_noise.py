import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import (
    Graph,
    Problem,
    SquaredLoss,
    denoise_tv,
    estimate_noise,
    gallery,
    grid_graph,
    knn_graph,
    solve,
    suggest_weight,
)
from graphtv.applications.imaging import risk
from graphtv.applications.imaging.image import as_image


def white(shape, sigma=1.0, seed=0):
    return sigma * np.random.default_rng(seed).standard_normal(shape)


def scaled(graph, factor):
    return Graph(graph.n_vertices, graph.edges, factor * graph.weights)


# The noise level


@pytest.mark.parametrize(
    ("shape", "rel"),
    [((20_000,), 0.05), ((200, 200), 0.03), ((30, 30, 30), 0.05), ((300, 1, 100), 0.03)],
)
def test_white_noise(shape, rel):
    assert estimate_noise(white(shape, 0.3)) == pytest.approx(0.3, rel=rel)


@pytest.mark.parametrize("shape", [(8, 8), (2, 400), (2,), (40, 2, 2), (3, 3)])
def test_small_images(shape):
    levels = [estimate_noise(white(shape, seed=seed)) for seed in range(60)]
    assert 0.5 < np.mean(levels) < 1.6


@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_edges_and_slopes_are_no_noise(noise):
    noisy, _ = gallery.piecewise_constant_image((200, 200), noise=noise, n_regions=30)
    slope = np.add.outer(np.arange(200), np.arange(200)) / 50
    assert estimate_noise(noisy + slope) == pytest.approx(noise, rel=0.05)


@given(
    st.integers(0, 1000),
    st.sampled_from([-3.0, 0.25, 2.0]),
    st.sampled_from([-8.0, 0.0, 2.0]),
)
@settings(max_examples=30)
def test_scale_and_shift(seed, scale, shift):
    image = white((12, 13), seed=seed)
    level = estimate_noise(image)
    assert estimate_noise(scale * image + shift) == pytest.approx(abs(scale) * level, rel=1e-9)
    assert estimate_noise(image.T) == pytest.approx(level, rel=1e-9)


def test_channels_have_levels_of_their_own():
    image = white((60, 3, 60)) * np.array([0.1, 0.2, 0.4])[:, None]
    levels = estimate_noise(image, channel_axis=1)
    assert levels == pytest.approx([0.1, 0.2, 0.4], rel=0.1)
    assert levels[1] == estimate_noise(image[:, 1])


def test_integers_are_scaled():
    image = np.random.default_rng(0).normal(128, 12, (100, 100)).astype(np.uint8)
    assert estimate_noise(image) == pytest.approx(12 / 255, rel=0.05)


@pytest.mark.parametrize("part", [0.01, 0.1, 0.6])
def test_unknown_pixels(part):
    image = white((100, 100), 0.2)
    known = np.random.default_rng(1).random(image.shape) >= part
    level = estimate_noise(image, mask=known)
    assert level == pytest.approx(0.2, rel=0.06)
    spoilt = np.where(known, image, np.nan)
    assert estimate_noise(spoilt) == level


def test_constant_images_have_no_noise():
    assert estimate_noise(np.full((9, 9), 0.7)) == 0.0
    assert suggest_weight(np.full((9, 9), 0.7)) == 0.0


@pytest.mark.parametrize(
    ("name", "most"), [("camera", 1.06), ("astronaut", 1.09), ("coins", 1.11), ("moon", 1.04)]
)
def test_photographs(name, most):
    data = pytest.importorskip("skimage.data")
    image = getattr(data, name)() / 255
    noisy = image + white(image.shape, 0.02)
    axis = -1 if image.ndim == 3 else None
    levels = np.atleast_1d(estimate_noise(noisy, channel_axis=axis)) / 0.02
    assert (levels > 0.97).all()
    assert (levels < most).all()


@pytest.mark.parametrize(
    "graph",
    [
        gallery.path_graph(3000),
        knn_graph(np.random.default_rng(0).random((3000, 3)), 8),
        gallery.delaunay_graph(3000, 6000)[0],
        gallery.random_tree(3000),
    ],
)
def test_graphs(graph):
    assert estimate_noise(white(3000, 0.3), graph) == pytest.approx(0.3, rel=0.08)
    both = white((3000, 2)) * [0.1, 0.5]
    both[::7, 1] = np.nan
    assert estimate_noise(both, graph) == pytest.approx([0.1, 0.5], rel=0.08)
    whole = np.round(white(3000, 20.0)).astype(int)  # measurements, not grey values
    assert estimate_noise(whole, graph) == pytest.approx(20.0, rel=0.08)


# The weight


@pytest.mark.parametrize("weight", [0.03, 0.1, 0.3])
def test_degrees_of_freedom_are_the_trace_of_the_derivative(weight):
    shape = (5, 6)
    noisy, _ = gallery.piecewise_constant_image(shape, noise=0.15, rng=3)
    step = 1e-6
    trace = 0.0
    for k in range(noisy.size):
        moved = noisy.copy()
        moved.flat[k] += step
        change = denoise_tv(moved, weight, tol=0) - denoise_tv(noisy, weight, tol=0)
        trace += change.flat[k] / step
    u = denoise_tv(noisy, weight, tol=0).ravel()
    assert risk.n_pieces(grid_graph(shape), u, None) == pytest.approx(trace, abs=1e-3)


def test_pieces_without_data_are_not_counted():
    graph = gallery.path_graph(5)
    u = np.array([1.0, 1.0, 2.0, 3.0, 3.0])
    assert risk.n_pieces(graph, u, None) == 3
    assert risk.n_pieces(graph, u, np.array([True, False, False, True, True])) == 2


@pytest.mark.parametrize("weight", [0.02, 0.08, 0.3])
def test_estimate_of_the_risk_is_unbiased(weight):
    """Over several samples the estimated error is the true one, within four standard errors."""
    differences = []
    for seed in range(30):
        truth = gallery.piecewise_constant_image((24, 24), noise=0.0, rng=3)[1]
        noisy = truth + white(truth.shape, 0.15, seed)
        image = as_image(noisy, "data")
        part = risk.Part(image, grid_graph((24, 24)))
        estimate = risk.Risk([part], np.array([0.15]), np.inf, False, 1)
        error = np.mean((denoise_tv(noisy, weight) - truth) ** 2)
        differences.append(estimate(weight) - error)
    assert abs(np.mean(differences)) < 4 * np.std(differences) / np.sqrt(30)


@pytest.mark.parametrize(
    ("name", "crop"),
    [
        ("camera", np.s_[60:188, 160:288]),
        ("coins", np.s_[:128, :128]),
        ("shepp_logan_phantom", np.s_[::3, ::3]),
    ],
)
@pytest.mark.parametrize("sigma", [0.04, 0.15])
def test_photographs_lose_little_against_the_best_weight(name, crop, sigma):
    data = pytest.importorskip("skimage.data")
    truth = np.asarray(getattr(data, name)()[crop], float)
    truth /= truth.max()
    noisy = truth + white(truth.shape, sigma)

    def psnr(weight):
        return -10 * np.log10(np.mean((denoise_tv(noisy, weight) - truth) ** 2))

    best = max(psnr(weight) for weight in sigma * np.geomspace(0.3, 1.2, 9))
    assert psnr(suggest_weight(noisy, sigma=sigma)) > best - 0.25
    assert psnr(suggest_weight(noisy)) > best - 0.4
    assert psnr(suggest_weight(noisy, rule="noise")) > best - 2.0


@pytest.mark.parametrize("name", ["camera", "moon"])
def test_a_clean_photograph_needs_no_weight_and_no_long_search(name, capsys):
    data = pytest.importorskip("skimage.data")
    for image in (getattr(data, name)(), getattr(data, name)() / 255.0):
        assert suggest_weight(image, verbose=True) == 0
        assert len(capsys.readouterr().out.splitlines()) < 8
        assert (denoise_tv(image / 1.0, "auto") == image).all()


@pytest.mark.parametrize("name", ["camera", "moon"])
def test_large_photographs_lose_little_against_the_best_weight(name, capsys):
    data = pytest.importorskip("skimage.data")
    truth = getattr(data, name)() / 255.0
    noisy = truth + white(truth.shape, 0.1)

    def psnr(weight):
        return -10 * np.log10(np.mean((denoise_tv(noisy, weight, tol=1e-3) - truth) ** 2))

    best = max(psnr(weight) for weight in np.geomspace(0.04, 0.12, 7))
    assert psnr(suggest_weight(noisy, verbose=True)) > best - 0.15
    assert len(capsys.readouterr().out.splitlines()) < 6


def test_image_and_its_graph_agree():
    noisy, _ = gallery.piecewise_constant_image((40, 40), noise=0.1)
    weight = suggest_weight(noisy, sigma=0.1)
    assert suggest_weight(noisy.ravel(), grid_graph(noisy.shape), sigma=0.1) == weight
    assert suggest_weight(noisy, sigma=0.1, spacing=2.0) == pytest.approx(2 * weight, rel=1e-6)
    doubled = grid_graph(noisy.shape, 2.0)
    half = suggest_weight(noisy.ravel(), doubled, sigma=0.1)
    assert half == pytest.approx(weight / 2, rel=1e-6)
    assert suggest_weight(4 * noisy, sigma=0.4) == pytest.approx(4 * weight, rel=1e-6)


def test_signal_on_a_graph_comes_close_to_the_best_factor():
    points = np.random.default_rng(0).random((1500, 2))
    graph = knn_graph(points, 8)
    truth = (points[:, 0] > 0.4).astype(float) + (points[:, 1] > 0.7)
    signal = truth + white(1500, 0.4)

    def error(factor):
        u = solve(Problem(scaled(graph, factor), SquaredLoss(signal))).u
        return np.mean((u - truth) ** 2)

    suggested = suggest_weight(signal, graph)
    best = min(error(factor) for factor in suggested * np.geomspace(0.1, 10, 21))
    assert error(suggested) < 1.25 * best
    assert error(suggested) < 0.1 * 0.4**2


def test_long_pieces_need_much_weight():
    """On a chain the best weight grows with the length of the pieces: the search must follow it."""
    truth = np.repeat([0.0, 1.0, -1.0, 2.0], 2000)
    noisy = truth + white(truth.size, 0.5)
    weight = suggest_weight(noisy)
    assert weight > 5.0
    assert np.mean((denoise_tv(noisy, weight) - truth) ** 2) < 0.01 * 0.5**2


def test_channels_and_unknown_pixels():
    noisy, _ = gallery.piecewise_constant_image((40, 40), noise=0.1)
    colours = np.stack([noisy, noisy[::-1], noisy[:, ::-1]], axis=-1)
    weight = suggest_weight(colours, channel_axis=-1, sigma=0.1)
    assert weight == pytest.approx(suggest_weight(noisy, sigma=0.1), rel=1e-6)
    assert suggest_weight(colours, channel_axis=-1, sigma=[0.1] * 3) == weight
    holes = np.where(white(noisy.shape) > 1.0, np.nan, noisy)
    assert 0.03 < suggest_weight(holes, sigma=0.1) < 0.12


def test_single_pixels_need_no_weight():
    assert suggest_weight(np.ones((1, 1)), sigma=0.1) == 0.0


def test_reports_and_ends_in_time(capsys):
    noisy, _ = gallery.piecewise_constant_image((30, 30), noise=0.1)
    suggest_weight(noisy, verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["weight", "risk", "degrees", "of", "freedom"]
    assert 4 <= len(lines) <= 12
    guess = suggest_weight(noisy, sigma=0.1, rule="noise")
    assert suggest_weight(noisy, sigma=0.1, time_limit=0.0) == guess
    denoise_tv(noisy, "auto", verbose=True)
    assert "degrees of freedom" in capsys.readouterr().out


def test_ctrl_c_ends_the_search(monkeypatch):
    class Interrupted:
        status = "interrupted"

    monkeypatch.setattr(risk, "solve", lambda *_, **__: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        suggest_weight(white((5, 5)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": np.ones((2, 2), complex)}, "data must hold real numbers, got dtype complex128"),
        ({"data": np.ones((0, 2))}, r"data must not be empty, got shape \(0, 2\)"),
        ({"data": [0.0, np.inf]}, "data must not be infinite, got inf at index 1"),
        ({"mask": np.ones(3, bool)}, r"mask must have the shape of data, \(4, 4\), got \(3,\)"),
        ({"channel_axis": 5}, "channel_axis must be at most 1, got 5"),
        ({"graph": "grid"}, "graph must be a graphtv.Graph, got 'grid'"),
        (
            {"graph": gallery.path_graph(3)},
            r"data must have shape \(3,\) or \(3, C\), got \(4, 4\)",
        ),
        ({"graph": gallery.path_graph(4), "channel_axis": 1}, "channel_axis must be None"),
    ],
)
def test_errors(change, message):
    arguments = {"data": white((4, 4)), **change}
    for function in (estimate_noise, suggest_weight):
        with pytest.raises(ValueError, match=message):
            function(**arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sigma": -1.0}, "sigma must not be negative, got -1.0"),
        ({"sigma": [0.1, 0.2]}, r"sigma must be a number or have shape \(1,\), got shape \(2,\)"),
        ({"sigma": np.nan}, "sigma must be finite, got nan"),
        ({"rule": "best"}, "rule must be one of 'risk', 'noise', got 'best'"),
        ({"spacing": -1.0}, "spacing must be above 0, got -1.0"),
        (
            {"connectivity": 3},
            "connectivity must be one of 1, 2, 4, 8, 16 for 2 axes of pixels, got 3",
        ),
        ({"time_limit": -1.0}, "time_limit must be at least 0.0, got -1.0"),
        ({"verbose": 1}, "verbose must be True or False, got 1"),
        ({"graph": gallery.path_graph(4), "spacing": 1.0}, "spacing must be None"),
        (
            {"graph": gallery.path_graph(4), "connectivity": 2},
            "connectivity must be 1 for a signal",
        ),
    ],
)
def test_errors_of_suggest_weight(change, message):
    with pytest.raises(ValueError, match=message):
        suggest_weight(**{"data": white((4, 4)), **change})


def test_noise_needs_neighbours():
    with pytest.raises(ValueError, match="data must have known neighbours"):
        estimate_noise([1.0, 2.0], Graph(2, []))
    with pytest.raises(ValueError, match="data must have known neighbours"):
        estimate_noise([[1.0]])


@pytest.mark.parametrize("sigma", [0.05, 0.1, 0.2])
def test_clipped_pixels_do_not_hide_the_noise(sigma):
    _, truth = gallery.piecewise_constant_image((128, 128), rng=7, noise=0.0)
    assert np.mean(truth == 0.0) > 0.2  # black, where half of the noise is clipped
    noisy = truth + np.random.default_rng(1).normal(0.0, sigma, truth.shape)
    clipped = np.rint(255 * np.clip(noisy, 0.0, 1.0)).astype(np.uint8)
    assert estimate_noise(clipped) == pytest.approx(sigma, rel=0.12)
    assert estimate_noise(truth) == 0.0


def test_a_search_that_is_stopped_returns_the_best_weight_so_far():
    noisy, _ = gallery.piecewise_constant_image((48, 48), noise=0.1)
    asked = []

    def later():
        asked.append(1)
        return len(asked) > 12

    first = suggest_weight(noisy, stop=lambda: True)
    assert first == pytest.approx(suggest_weight(noisy, rule="noise"))
    assert suggest_weight(noisy, stop=later) > 0.0
    assert suggest_weight(noisy, stop=lambda: False) == suggest_weight(noisy)
    _, result = denoise_tv(noisy, "auto", stop=lambda: True, return_result=True)
    assert result.status == "interrupted"
