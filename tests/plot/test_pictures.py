"""Pictures of runs, images, paths and signals: content, and rejected arguments."""

import numpy as np
import pytest

from graphtv import (
    Graph,
    Problem,
    SquaredLoss,
    denoise_tv,
    fused_lasso_path,
    gallery,
    grid_graph,
    solve,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import colors, pyplot  # noqa: E402

from graphtv.plot import (  # noqa: E402
    COLOURS,
    draw_before_after,
    draw_convergence,
    draw_criterion,
    draw_labels,
    draw_path,
    draw_signal,
)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def noisy():
    return gallery.piecewise_constant_image((24, 32), rng=1, noise=0.2)[0]


@pytest.fixture(scope="module")
def runs(noisy):
    problem = Problem(grid_graph(noisy.shape, 0.2), SquaredLoss(noisy.ravel()))
    return {
        name: solve(problem, method="pdhg", preconditioner=name, tol=1e-5)
        for name in ("none", "chains")
    }


@pytest.fixture(scope="module")
def path():
    signal = np.repeat([0.0, 4.0, 1.0], 20) + 0.5 * np.random.default_rng(0).normal(size=60)
    return fused_lasso_path(grid_graph((60,)), signal, n_lambdas=12, cv=3)


# Convergence ------------------------------------------------------------------------------------


@pytest.mark.parametrize("against", ["iteration", "time", "sweeps"])
def test_convergence_draws_the_history_of_every_run(runs, against):
    ax = draw_convergence(runs, against=against)
    assert ax.get_yscale() == "log"
    curves = [line for line in ax.lines if line.get_label() in runs]
    assert [line.get_label() for line in curves] == ["none", "chains"]
    for line, run in zip(curves, runs.values(), strict=True):
        known = np.isfinite(run.history["relative_gap"])
        np.testing.assert_array_equal(line.get_xdata(), run.history[against][known])
        np.testing.assert_array_equal(line.get_ydata(), run.history["relative_gap"][known])
    (tolerance,) = (line for line in ax.lines if set(line.get_ydata()) == {1e-5})
    assert tolerance.get_linestyle() == "--"
    ax.figure.canvas.draw()


def test_convergence_of_one_run_and_of_a_list(runs, noisy):
    _, axes = pyplot.subplots(1, 2)
    exact = solve(Problem(grid_graph(noisy.shape, 0.2), SquaredLoss(noisy.ravel())), tol=0)
    ax = draw_convergence(exact, axes[1])
    assert ax is axes[1]
    assert min(line.get_ydata().min() for line in ax.lines) >= 1e-16
    assert ax.get_legend() is None
    ax = draw_convergence([*runs.values()], axes[0], labels=["a", "b"])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"results": 3}, "results must be one or several of type Result, got 3"),
        ({"results": []}, "results must be one or several of type Result"),
        ({"results": "runs", "against": "weeks"}, "against must be one of 'iteration', 'time'"),
        ({"results": "runs", "labels": ["a"]}, "labels must have an entry per result, 2"),
        ({"results": "runs", "ax": 5}, "ax must be matplotlib axes, got 5"),
    ],
)
def test_convergence_refuses(runs, arguments, message):
    given = {
        **arguments,
        "results": runs if arguments["results"] == "runs" else arguments["results"],
    }
    with pytest.raises(ValueError, match=message):
        draw_convergence(**given)


# Images -----------------------------------------------------------------------------------------


def test_before_and_after_share_their_scale(noisy):
    axes = draw_before_after(noisy, denoise_tv(noisy, 0.2), truth=noisy, difference=True)
    assert [ax.get_title() for ax in axes] == ["Before", "After", "Truth", "Difference"]
    scales = [ax.images[0].get_clim() for ax in axes]
    assert scales[0] == scales[1] == scales[2]
    assert scales[3][0] == -scales[3][1]
    np.testing.assert_array_equal(axes[0].images[0].get_array(), noisy)


@pytest.mark.parametrize(
    ("shape", "channel_axis", "seen"),
    [((6, 8, 3), -1, (6, 8, 3)), ((3, 6, 8), 0, (6, 8, 3)), ((5, 6, 8), None, (6, 8))],
)
def test_colours_and_slices(shape, channel_axis, seen):
    image = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    axes = draw_before_after(image, image, channel_axis=channel_axis)
    assert axes[0].images[0].get_array().shape == seen


def test_signals_are_lines():
    axes = draw_before_after(np.arange(9.0), np.ones(9))
    assert len(axes[0].lines) == 1


def test_into_given_axes():
    _, axes = pyplot.subplots(2, 1)
    assert draw_before_after(np.eye(4), np.eye(4), axes)[1] is axes[1]
    with pytest.raises(ValueError, match="axes must be 3, one per image, got 2"):
        draw_before_after(np.eye(4), np.eye(4), axes, difference=True)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (np.eye(4), np.eye(5), "after must have the shape of before, got \\(5, 5\\)"),
        (np.eye(4, dtype=complex), np.eye(4), "before must be an image of real numbers"),
        (np.zeros((0, 3)), np.zeros((0, 3)), "before must be an image"),
    ],
)
def test_before_and_after_refuse(before, after, message):
    with pytest.raises(ValueError, match=message):
        draw_before_after(before, after)


def test_labels_tint_the_image_and_have_borders():
    labels = np.ones((4, 6), dtype=int)
    labels[:, 3:] = 7
    scribbles = np.zeros_like(labels)
    scribbles[0, 0], scribbles[3, 5] = 1, 7
    ax = draw_labels(
        np.zeros((4, 6)), labels, scribbles=scribbles, names=["left", "right"], opacity=0.5
    )
    pixels = ax.images[0].get_array()
    left, right = (np.array(colors.to_rgb(c)) for c in COLOURS[:2])
    np.testing.assert_allclose(pixels[1, 1], 0.5 * left)
    np.testing.assert_allclose(pixels[1, 4], 0.5 * right)
    np.testing.assert_allclose(pixels[0, 0], left)
    np.testing.assert_allclose(pixels[3, 5], right)
    segments = np.array(ax.collections[0].get_segments())
    assert len(segments) == 4
    assert (segments[..., 0] == 2.5).all()
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["left", "right"]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, float])
def test_labels_over_images_of_any_type(dtype):
    image = (np.random.default_rng(0).random((5, 6, 3)) * 200).astype(dtype)
    ax = draw_labels(image, np.ones((5, 6), dtype=int), opacity=0.0)
    pixels = ax.images[0].get_array()
    assert pixels.min() >= 0.0
    assert pixels.max() <= 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": np.ones((3, 4))}, "labels must be integers of shape"),
        ({"labels": np.ones(3, int)}, "labels must be integers of shape"),
        ({"labels": np.ones((4, 4), int)}, "image must have shape \\(4, 4\\), got \\(3, 4\\)"),
        ({"scribbles": np.ones((4, 4), int)}, "scribbles must have shape"),
        ({"colours": []}, "colours must be at least 1, got 0"),
        ({"opacity": -1}, "opacity must be at least 0"),
    ],
)
def test_labels_refuse(arguments, message):
    given = {"image": np.zeros((3, 4)), "labels": np.ones((3, 4), int), **arguments}
    with pytest.raises(ValueError, match=message):
        draw_labels(**given)


# Paths ------------------------------------------------------------------------------------------


def test_path_draws_every_vertex_and_marks_the_choice(path):
    ax = draw_path(path)
    segments = np.array(ax.collections[0].get_segments())
    assert segments.shape == (60, 12, 2)
    np.testing.assert_array_equal(segments[7, :, 1], path.u[:, 7])
    np.testing.assert_array_equal(segments[7, :, 0], path.lambdas)
    assert ax.lines[0].get_xdata()[0] == path.best_lambda("bic")
    assert ax.get_title(loc="right").startswith("BIC: λ = ")
    ax.figure.canvas.draw()


def test_path_of_some_vertices_without_a_mark(path):
    ax = draw_path(path, vertices=[3, 5], criterion=None)
    assert len(ax.collections[0].get_segments()) == 2
    assert not ax.lines


def test_path_of_a_channel():
    signal = np.column_stack([np.arange(6.0), -np.arange(6.0)])
    several = fused_lasso_path(grid_graph((6,)), signal, [0.1, 1.0])
    ax = draw_path(several, channel=1)
    segments = np.array(ax.collections[0].get_segments())
    np.testing.assert_array_equal(segments[..., 1].T, several.u[:, :, 1])


@pytest.mark.parametrize("criterion", ["bic", "aic", "gcv", "cv", "cv_1se"])
def test_criterion_marks_its_choice(path, criterion):
    ax = draw_criterion(path, criterion=criterion)
    assert ax.lines[1].get_xdata()[0] == path.best_lambda(criterion)
    assert len(ax.collections) == criterion.startswith("cv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": 3}, "path must be a FusedLassoPath, got 3"),
        ({"criterion": "best"}, "criterion must be one of"),
        ({"vertices": [60]}, "vertices must be integers in"),
        ({"ax": "here"}, "ax must be matplotlib axes"),
    ],
)
def test_paths_refuse(path, arguments, message):
    with pytest.raises(ValueError, match=message):
        draw_path(**{"path": path, **arguments})


# Signals on graphs ------------------------------------------------------------------------------


def octahedron():
    points = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], float)
    faces = np.array([[a, b, c] for a in (0, 1) for b in (2, 3) for c in (4, 5)])
    edges = np.concatenate([faces[:, :2], faces[:, 1:], faces[:, ::2]])
    return Graph(6, np.unique(np.sort(edges, axis=1), axis=0)), points, faces


def test_signal_at_the_given_positions():
    graph, positions = gallery.delaunay_graph(40, 60, rng=1)
    signal = (positions[:, 0] > 0.5).astype(float)
    ax = draw_signal(graph, signal, positions, label="side")
    faint, dark, dots = ax.collections
    np.testing.assert_array_equal(dots.get_offsets(), positions)
    np.testing.assert_array_equal(dots.get_array(), signal)
    jumps = signal[graph.edges[:, 0]] != signal[graph.edges[:, 1]]
    assert len(dark.get_segments()) == jumps.sum()
    assert len(faint.get_segments()) == (~jumps).sum()
    assert ax.figure.axes[1].get_ylabel() == "side"
    ax.figure.canvas.draw()


@pytest.mark.parametrize(("edges", "count"), [("none", 0), ("all", 2), ("jumps", 1), ("auto", 2)])
def test_which_edges(edges, count):
    ax = draw_signal(grid_graph((3, 3)), [0.0] * 8 + [1.0], edges=edges, colorbar=False)
    assert len(ax.collections) == count + 1
    assert len(ax.figure.axes) == 1


def test_unknown_values_are_grey():
    ax = draw_signal(grid_graph((3,)), [1.0, np.nan, 2.0])
    grey, known = ax.collections[-2:]
    assert len(grey.get_offsets()) == 1
    assert known.get_clim() == (1.0, 2.0)


def test_a_map_is_stretched_by_its_latitude():
    ax = draw_signal(grid_graph((3,)), np.zeros(3), [[0, 59], [1, 60], [2, 61]], geographic=True)
    assert ax.get_aspect() == pytest.approx(2.0)


def test_meshes_and_points_in_space():
    graph, points, faces = octahedron()
    flat = draw_signal(graph, np.arange(6.0), points[:, :2] + 0.1 * points[:, 2:], triangles=faces)
    assert len(flat.collections[0].get_paths()) == 8
    pyplot.figure()
    ax = draw_signal(graph, np.arange(6.0), points, triangles=faces, view=(0.0, 0.0))
    colour, _shaded = ax.collections
    # Seen from the tip of the first axis, which belongs to the faces drawn last.
    assert (colour.get_array()[4:] < colour.get_array()[:4].max()).all()
    ax.figure.canvas.draw()
    pyplot.figure()
    ax = draw_signal(graph, np.arange(6.0), points, view=(0.0, 0.0))
    np.testing.assert_array_equal(ax.collections[-1].get_array()[-1], 0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"signal": [1.0]}, "signal must be real numbers of shape \\(6,\\), got float64"),
        ({"positions": np.zeros((5, 3))}, "positions must have shape \\(6, 3\\)"),
        ({"positions": np.zeros((5, 2))}, "positions must have shape \\(6, 2\\)"),
        ({"triangles": [[0, 1]]}, "triangles must have shape \\(t, 3\\), got \\(1, 2\\)"),
        ({"triangles": [[0, 1, 6]]}, "triangles must lie in"),
        ({"edges": "some"}, "edges must be one of"),
        ({"geographic": 1}, "geographic must be True or False"),
        ({"ax": 3}, "ax must be matplotlib axes"),
        ({"graph": 3}, "graph must be a graphtv.Graph, got 3"),
    ],
)
def test_signals_refuse(arguments, message):
    given = {"graph": octahedron()[0], "signal": np.arange(6.0), **arguments}
    with pytest.raises(ValueError, match=message):
        draw_signal(**given)


@pytest.mark.parametrize("graph", [Graph(0, []), Graph(3, []), grid_graph((2, 3, 4))])
def test_any_graph_can_be_drawn(graph):
    ax = draw_signal(graph, np.arange(graph.n_vertices))
    ax.figure.canvas.draw()
