"""Weights, spacing and neighbours of pixels in `denoise_tv`."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphtv import (
    Problem,
    SquaredLoss,
    denoise_tv,
    grid_graph,
    solve,
    suggest_weight,
)
from graphtv.applications.imaging.pixel_graph import pixel_graph
from images import close, exact, few, noisy_image, small_weights
from verify import verify


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
    """A disc has edges in all directions: it costs 4/π times its circumference."""
    radius = 150.0
    axes = [h * (np.arange(math.ceil(2 * radius / h) + 5) + 0.5) for h in spacing]
    centres = [axis.mean() for axis in axes]
    squares = [(axis - centre) ** 2 for axis, centre in zip(axes, centres, strict=True)]
    disc = (squares[0][:, None] + squares[1] < radius**2).astype(float)
    graph = pixel_graph(disc.shape, 1.0, spacing, connectivity)
    cost = np.abs(graph.gradient() @ disc.ravel()).sum() * math.prod(spacing)
    assert cost == pytest.approx(4 / math.pi * 2 * math.pi * radius, rel=0.01)


def test_eight_neighbours_favour_no_direction():
    """The costliest direction of a straight edge costs 8 % more than the cheapest, not 41 %."""
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


@pytest.mark.parametrize(
    ("shape", "connectivity"), [((9, 10), 16), ((5, 6, 7), 18), ((5, 6, 7), 26)]
)
def test_the_problem_with_diagonals(shape, connectivity):
    noisy = noisy_image(shape)
    spacing = (1.0, 2.0, 0.5)[: len(shape)]
    options = {"connectivity": connectivity, "spacing": spacing}
    denoised, result = denoise_tv(noisy, 0.2, tol=0, return_result=True, **options)
    problem = Problem(grid_graph(shape, 0.2, **options), SquaredLoss(noisy.ravel()))
    verify(result, problem)
    close(denoised.ravel(), solve(problem, tol=0).u)
    close(exact(noisy, np.full(shape, 0.2), **options), denoised)
    mask = np.random.default_rng(0).random(shape) < 0.7
    _, masked = denoise_tv(noisy, 0.2, mask=mask, return_result=True, **options)
    assert masked.status == "optimal"


def test_names_of_neighbourhoods():
    image, volume = noisy_image((6, 7)), noisy_image((4, 5, 6))
    for a, b in ((1, 4), (2, 8)):
        np.testing.assert_array_equal(
            exact(image, 0.2, connectivity=a), exact(image, 0.2, connectivity=b)
        )
    for a, b in ((1, 6), (2, 18), (3, 26)):
        np.testing.assert_array_equal(
            exact(volume, 0.2, connectivity=a), exact(volume, 0.2, connectivity=b)
        )
    assert suggest_weight(volume, connectivity=26) > 0
