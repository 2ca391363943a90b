"""Pictures of partitions: content, layout, and rejected arguments."""

import builtins
import sys

import numpy as np
import pytest

from graphtv import Graph, condition_number, decompose, gallery, grid_graph

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import colors, pyplot  # noqa: E402

from graphtv.plot import COLOURS, draw_partition, draw_partitions  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def captions(figure):
    return [ax.texts[0].get_text() for ax in figure.axes]


@pytest.mark.slow
def test_figure_1():
    # As in the paper: 96 vertices, 150 edges, three greedy nested forests, two by the matroid.
    graph, positions = gallery.delaunay_graph(96, 150, rng=1)
    figure = draw_partitions(graph, positions=positions)
    assert captions(figure) == [
        f"No preconditioning\n$\\kappa(K) = {condition_number(graph, 'none'):.2f}$",
        f"Greedy linear forests\n$\\kappa(T^{{-1/2}}K) = {condition_number(graph, 'linear'):.2f}$",
        "Greedy nested forests\n$\\kappa(T^{-1/2}K) = \\sqrt{3}$",
        "Matroid partitioning\n$\\kappa(T^{-1/2}K) = \\sqrt{2}$",
    ]
    figure.canvas.draw()


def test_draws_into_a_part_of_a_figure():
    _, part = pyplot.figure(layout="constrained").subfigures(2, 1)
    assert draw_partitions(grid_graph((3, 4)), ("none", "chains"), figure=part) is part
    assert len(part.axes) == 2


def test_one_colour_per_forest_along_the_edges():
    graph = grid_graph((3, 4))
    partition = decompose(graph, "chains")
    ax = draw_partition(partition)
    (lines,) = ax.collections[:1]
    np.testing.assert_array_equal(
        lines.get_colors(), [colors.to_rgba(COLOURS[label]) for label in partition.labels]
    )
    segments = np.array(lines.get_segments())
    down, right = np.array([0.0, -1.0]), np.array([1.0, 0.0])
    for label, direction in ((0, down), (1, right)):
        steps = np.diff(segments[partition.labels == label], axis=1)[:, 0]
        np.testing.assert_array_equal(steps, np.broadcast_to(direction, steps.shape))


def test_draws_into_the_given_axes_at_the_given_positions():
    graph = gallery.path_graph(3)
    positions = [[0, 0], [1, 2], [3, 1]]
    _, axes = pyplot.subplots(1, 2)
    ax = draw_partition(decompose(graph), ax=axes[1], positions=positions)
    assert ax is axes[1]
    np.testing.assert_array_equal(ax.collections[1].get_offsets(), positions)
    assert ax.texts[0].get_text().endswith(r"= 1$")


def test_partition_draws_itself():
    partition = decompose(gallery.star_graph(5))
    assert partition.draw() is pyplot.gca()


@pytest.mark.slow
@pytest.mark.parametrize(
    "graph",
    [
        Graph(0, []),
        Graph(1, []),
        Graph(4, []),
        Graph(5, [(0, 1), (3, 4)]),
        gallery.star_graph(20),
        gallery.erdos_renyi_graph(60, 50, rng=1),
        gallery.erdos_renyi_graph(20, 180, rng=1),
        gallery.random_tree(1500),
        grid_graph(5),
        grid_graph((2, 3, 4)),
        grid_graph((2, 2, 2, 3)),
    ],
    ids=lambda graph: f"{graph.n_vertices}-{graph.n_edges}",
)
def test_any_graph_can_be_drawn_and_always_alike(graph):
    figures = [draw_partitions(graph, ("none", "linear", "nested")) for _ in range(2)]
    one, two = (np.asarray(figure.axes[1].collections[1].get_offsets()) for figure in figures)
    assert np.isfinite(one).all()
    np.testing.assert_array_equal(one, two)
    figures[0].canvas.draw()


def test_layout_separates_vertices_and_components():
    graph = gallery.erdos_renyi_graph(60, 50, rng=1)
    places = np.asarray(draw_partition(decompose(graph)).collections[1].get_offsets())
    distances = np.linalg.norm(places[:, np.newaxis] - places, axis=2)
    assert distances[np.triu_indices(60, 1)].min() > 0.05


def test_layout_of_a_cycle_is_round():
    n = 12
    cycle = Graph(n, [(i, (i + 1) % n) for i in range(n)])
    places = np.asarray(draw_partition(decompose(cycle)).collections[1].get_offsets())
    radii = np.linalg.norm(places - places.mean(axis=0), axis=1)
    assert radii.max() / radii.min() < 1.05


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: draw_partition("nested"), "partition must be a ForestPartition, got 'nested'"),
        (lambda: draw_partition(decompose(grid_graph(3)), ax=3), "ax must be matplotlib axes"),
        (
            lambda: draw_partition(decompose(grid_graph(3)), positions=np.zeros((3, 3))),
            r"positions must have shape \(3, 2\), got \(3, 3\)",
        ),
        (
            lambda: draw_partition(decompose(grid_graph(2)), positions=[[0, 0], [0, np.nan]]),
            "positions must be finite",
        ),
        (lambda: draw_partitions(3), "graph must be a graphtv.Graph, got 3"),
        (lambda: draw_partitions(grid_graph(3), "none"), "methods must be a sequence"),
        (lambda: draw_partitions(grid_graph(3), ()), "methods must be a sequence"),
        (lambda: draw_partitions(grid_graph(3), None), "methods must be a sequence.*, got None"),
        (lambda: draw_partitions(grid_graph(3), figure=3), "figure must be a matplotlib figure"),
        (lambda: draw_partitions(grid_graph(3), ("trees",)), "methods must be one of .*'trees'"),
    ],
)
def test_bad_arguments(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    imported = builtins.__import__

    def refuse(name, *arguments, **options):
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return imported(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot")
    with pytest.raises(ImportError, match=r"graphtv\[plot\]"):
        draw_partition(decompose(grid_graph(3)))
