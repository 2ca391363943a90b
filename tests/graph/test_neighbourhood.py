"""Neighbourhoods of grids and their Cauchy-Crofton weights."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import SphericalVoronoi

from graphtv import Problem, SquaredLoss, grid_graph, solve
from graphtv.graph.neighbourhood import crofton_weights, neighbour_steps, step_slices
from verify import verify

spacings = st.lists(st.floats(0.2, 5.0), min_size=3, max_size=3).map(tuple)


def costs(connectivity, spacing, normals):
    """Return the cost of a unit of surface with these normals."""
    steps = neighbour_steps(connectivity, len(spacing))
    vectors = np.array(steps) * spacing
    return np.abs(normals @ vectors.T) @ crofton_weights(tuple(steps), spacing)


def directions(n_axes):
    """Return many directions, evenly spread."""
    if n_axes == 2:
        angles = np.linspace(0, math.pi, 2001)[:-1]
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    z = np.linspace(-1, 1, 20_001)
    angles = np.arange(len(z)) * math.pi * (3 - math.sqrt(5))  # a Fibonacci lattice
    radius = np.sqrt(1 - z**2)
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), z], axis=1)


def extremes(connectivity, spacing):
    """Return the lowest and the highest cost of all directions.

    The cost is the support function of a zonotope. It is lowest where it has a kink in all but one
    direction, and highest at a corner of the zonotope, which is the gradient of the cost.
    """
    steps = neighbour_steps(connectivity, len(spacing))
    vectors = np.array(steps) * spacing
    if len(spacing) == 2:
        kinks = vectors[:, ::-1] * [1, -1]
    else:
        a, b = np.triu_indices(len(vectors), 1)
        kinks = np.cross(vectors[a], vectors[b])
    kinks = kinks / np.linalg.norm(kinks, axis=1)[:, None]
    signs = np.sign(directions(len(spacing)) @ vectors.T)
    corners = (signs * crofton_weights(tuple(steps), spacing)) @ vectors
    return costs(connectivity, spacing, kinks).min(), np.linalg.norm(corners, axis=1).max()


def ball(shape, spacing, radius):
    axes = [h * (np.arange(n) - (n - 1) / 2) for n, h in zip(shape, spacing, strict=True)]
    squares = sum(x**2 for x in np.meshgrid(*axes, indexing="ij", sparse=True))
    return (squares < radius**2).astype(float)


@pytest.mark.parametrize(
    ("n_axes", "connectivity", "n_neighbours"),
    [
        (1, 1, 2), (2, 1, 4), (2, 2, 8), (2, 4, 4), (2, 8, 8), (2, 16, 16),
        (3, 1, 6), (3, 2, 18), (3, 3, 26), (3, 6, 6), (3, 18, 18), (3, 26, 26), (4, 1, 8),
    ],
)  # fmt: skip
def test_number_of_neighbours(n_axes, connectivity, n_neighbours):
    steps = neighbour_steps(connectivity, n_axes)
    both = {*steps, *(tuple(-x for x in step) for step in steps)}
    assert len(both) == 2 * len(steps) == n_neighbours
    assert [sum(map(abs, step)) for step in steps[:n_axes]] == [1] * n_axes


@pytest.mark.parametrize(
    ("n_axes", "connectivity"), [(1, 2), (2, 3), (2, 6), (2, 26), (3, 4), (3, 8), (4, 2), (2, 0)]
)
def test_unknown_neighbourhoods(n_axes, connectivity):
    with pytest.raises(ValueError, match=r"^connectivity must be .*, got"):
        neighbour_steps(connectivity, n_axes)


def test_slices_join_all_pairs():
    vertices = np.arange(5 * 4).reshape(5, 4)
    for step in neighbour_steps(16, 2):
        here, there = step_slices((5, 4), step)
        differences = np.stack(np.unravel_index(vertices[there], (5, 4)), -1) - np.stack(
            np.unravel_index(vertices[here], (5, 4)), -1
        )
        assert (differences == step).all()
        assert vertices[here].size == (5 - abs(step[0])) * (4 - abs(step[1]))
    here, _ = step_slices((1, 4), (2, 1))
    assert vertices[:1][here].size == 0


def test_published_weights_of_cubic_voxels():
    """Lehmann and Legland (2012), Table 1: shares of the 26 directions."""
    weights = crofton_weights(tuple(neighbour_steps(26, 3)), (1.0, 1.0, 1.0))
    shares = [0.04577789120476] * 3 + [0.03698062787608] * 6 + [0.03519563978232] * 4
    lengths = [1.0] * 3 + [math.sqrt(2)] * 6 + [math.sqrt(3)] * 4
    expected = [3 * 2 * share / length for share, length in zip(shares, lengths, strict=True)]
    np.testing.assert_allclose(weights, expected, rtol=1e-12)


@given(spacings, st.sampled_from([18, 26]))
def test_shares_are_voronoi_cells(spacing, connectivity):
    steps = neighbour_steps(connectivity, 3)
    vectors = np.array(steps) * spacing
    lengths = np.linalg.norm(vectors, axis=1)
    units = vectors / lengths[:, None]
    areas = SphericalVoronoi(np.vstack([units, -units])).calculate_areas()[: len(steps)]
    np.testing.assert_allclose(
        crofton_weights(tuple(steps), spacing), 3 * areas / (2 * math.pi) / lengths, rtol=1e-9
    )


@given(spacings, st.sampled_from([(2, 4), (2, 8), (2, 16), (3, 6), (3, 18), (3, 26)]))
def test_mean_cost_does_not_depend_on_neighbours_and_spacing(spacing, kind):
    n_axes, connectivity = kind
    mean = costs(connectivity, spacing[:n_axes], directions(n_axes)).mean()
    assert mean == pytest.approx({2: 4 / math.pi, 3: 1.5}[n_axes], rel=1e-3)


@pytest.mark.parametrize(
    ("spacing", "ratios"),
    [
        ((1.0, 1.0), {4: 1.414, 8: 1.082, 16: 1.028}),
        ((1.0, 2.0), {4: 1.414, 8: 1.200, 16: 1.099}),
        ((1.0, 1.0, 1.0), {6: 1.732, 18: 1.190, 26: 1.104}),
        ((1.0, 1.0, 2.0), {6: 1.732, 18: 1.307, 26: 1.251}),
        ((1.0, 1.0, 4.0), {6: 1.732, 18: 1.466, 26: 1.378}),
    ],
)
def test_costliest_over_cheapest_direction(spacing, ratios):
    """The figures of docs/applications/which-total-variation.md."""
    for connectivity, expected in ratios.items():
        least, most = extremes(connectivity, spacing)
        assert most / least == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("shape", "spacing", "connectivity"),
    [
        ((140, 140), (1.0, 1.0), 8),
        ((140, 70), (1.0, 2.0), 16),
        ((70, 70, 70), (1.0, 1.0, 1.0), 6),
        ((70, 70, 70), (1.0, 1.0, 1.0), 18),
        ((70, 70, 70), (1.0, 1.0, 1.0), 26),
        ((70, 70, 35), (1.0, 1.0, 2.0), 26),
    ],
)
def test_perimeter_of_discs_and_area_of_balls(shape, spacing, connectivity):
    """A ball has all normals: its surface costs 4/π times its length, or 3/2 times its area."""
    radius = 0.45 * shape[0]
    graph = grid_graph(shape, connectivity=connectivity, spacing=spacing)
    u = ball(shape, spacing, radius).ravel()
    cost = np.abs(graph.gradient() @ u).sum() * math.prod(spacing)
    true = 8 * radius if len(shape) == 2 else 6 * math.pi * radius**2
    assert cost == pytest.approx(true, rel=0.012)


@pytest.mark.parametrize("connectivity", [6, 18, 26])
def test_half_spaces_in_all_directions(connectivity):
    """A half space within a ball, by counting edges: the same costs as by the formula."""
    n, radius = 65, 30.0
    graph = grid_graph((n, n, n), connectivity=connectivity)
    x = np.arange(n) - (n - 1) / 2
    inside = ball((n, n, n), (1.0,) * 3, radius).ravel().astype(bool)
    rng = np.random.default_rng(0)
    for normal in [(1, 0, 0), (1, 1, 0), (1, 1, 1), *rng.normal(size=(4, 3))]:
        unit = np.asarray(normal) / np.linalg.norm(normal)
        side = unit[0] * x[:, None, None] + unit[1] * x[:, None] + unit[2] * x + 0.01 > 0
        edge = side.ravel()
        a, b = graph.edges.T
        cost = graph.weights[(edge[a] != edge[b]) & inside[a]].sum()
        expected = costs(connectivity, (1.0,) * 3, unit[None])[0] * math.pi * radius**2
        assert cost == pytest.approx(expected, rel=0.03)


@given(st.permutations(range(3)), st.integers(0, 2**32 - 1))
def test_solutions_turn_with_the_volume(order, seed):
    volume = np.random.default_rng(seed).integers(-4, 5, (3, 3, 3)).astype(float)
    graph = grid_graph((3, 3, 3), 0.3, connectivity=26)
    problem = Problem(graph, SquaredLoss(volume.ravel()))
    plain = solve(problem, tol=0)
    other = volume.transpose(order)[::-1]
    turned = solve(Problem(graph, SquaredLoss(other.ravel())), tol=0)
    verify(plain, problem)
    expected = plain.u.reshape(3, 3, 3).transpose(order)[::-1]
    np.testing.assert_allclose(turned.u, expected.ravel(), atol=1e-9)


def test_spacing_of_a_plain_grid():
    spaced = grid_graph((4, 5), 3.0, spacing=(2.0, 0.5))
    given_weights = grid_graph((4, 5), [1.5, 6.0])
    np.testing.assert_array_equal(spaced.weights, given_weights.weights)
    np.testing.assert_array_equal(spaced.edges, given_weights.edges)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1.0, 2.0], "connectivity": 2}, "weights must be a number unless"),
        ({"weights": np.ones(2), "connectivity": 2}, "weights must be a number unless"),
        ({"weights": -1.0, "connectivity": 2}, "weights must be at least 0.0, got -1"),
        ({"connectivity": 3}, "connectivity must be one of 1, 2, 4, 8, 16 for 2 axes"),
        ({"connectivity": "all"}, "connectivity must be"),
        ({"spacing": 0.0}, "spacing must be above 0"),
        ({"spacing": (1.0, 2.0, 3.0)}, "spacing must be a number or have one entry for each"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        grid_graph((4, 5), **options)
