"""Dask arrays with diagonal neighbours: the same optimum as in memory."""

from typing import Any

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtv import HuberTV, denoise_tv, grid_graph
from graphtv.graph.neighbourhood import crofton_weights, neighbour_steps
from graphtv.scale.stepped_grid import SteppedGrid
from graphtv.scale.tiling import Tiling

lengths = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)


def _slice(begin: int, length: int) -> slice:
    return slice(begin, begin + length)


@given(chunks=st.one_of(st.tuples(lengths, lengths), st.tuples(lengths, lengths, lengths)))
@pytest.mark.parametrize("level", [2, 3])
def test_tiles_have_all_edges_once(level: int, chunks: Any) -> None:
    """For any chunks, even those that are shorter than a step."""
    tiling, n_axes = Tiling(chunks), len(chunks)
    connectivity = {2: {2: 8, 3: 16}, 3: {2: 18, 3: 26}}[n_axes][level]
    steps = tuple(neighbour_steps(connectivity, n_axes))
    grid = SteppedGrid(tiling, steps, crofton_weights(steps, (1.0,) * n_axes))
    numbers = np.arange(np.prod(tiling.shape)).reshape(tiling.shape)
    rows = [numbers[tuple(map(_slice, tiling.begin(i), tiling.lengths(i)))].ravel() for i in tiling]
    graph, found = grid.graph(), []
    for k, index in enumerate(tiling):
        part = grid.part(index)
        assert len(part.edges) == graph.inner_counts[k]
        found += [(*rows[k][e], w) for e, w in zip(part.edges, part.weights, strict=True)]
        for at, other in enumerate(graph.neighbours(k)):
            across = slice(part.starts[at], part.starts[at + 1])
            assert part.signs[at] == (1 if k < other else -1)
            assert len(part.near[across]) == graph.crossing_counts[min(k, other), max(k, other)]
            there = grid.part(list(tiling)[other])
            back = graph.neighbours(other).index(k)
            np.testing.assert_array_equal(
                part.near[across], there.far[there.starts[back] : there.starts[back + 1]]
            )
            if k < other:
                ends = zip(rows[k][part.near[across]], rows[other][part.far[across]], strict=True)
                found += [(*e, w) for e, w in zip(ends, part.crossing[across], strict=True)]
    whole = grid_graph(tiling.shape, connectivity=connectivity)
    expected = [(*e, w) for e, w in zip(whole.edges, whole.weights, strict=True)]
    canonical = [sorted((min(a, b), max(a, b), w) for a, b, w in x) for x in (found, expected)]
    np.testing.assert_allclose(np.array(canonical[0]), np.array(canonical[1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "chunks", "options"),
    [
        ((48, 66), 33, {"connectivity": 8}),
        ((48, 70), 35, {"connectivity": 16, "spacing": (1.0, 2.0)}),
        ((70, 40, 2), (35, 40, 1), {"connectivity": 2, "channel_axis": -1}),
        ((33, 20, 66), (33, 20, 33), {"connectivity": 26, "penalty": HuberTV(0.1)}),
        ((48, 70), 35, {"connectivity": 8, "loss": "poisson"}),
        ((48, 70), 35, {"connectivity": 8, "holes": True}),
    ],
)
def test_the_optimum_is_that_in_memory(shape: Any, chunks: Any, options: Any) -> None:
    rng = np.random.default_rng(0)
    image = rng.poisson(3.0 + 2.0 * (np.indices(shape)[0] > 30)).astype(float)
    tolerance = 1e-5
    if options.pop("holes", False):
        image[20:26, 32:40] = np.nan
        tolerance = 1e-3
    lazy = da.from_array(image, chunks=chunks)
    smooth, result = denoise_tv(lazy, 0.7, tol=tolerance, return_result=True, **options)
    whole, expected = denoise_tv(image, 0.7, tol=0.01 * tolerance, return_result=True, **options)
    assert result.status == "optimal"
    assert result.n_parts > 1
    assert result.relative_gap <= tolerance
    slack = 1e-12 * abs(expected.primal)
    assert result.dual <= expected.primal + slack
    assert expected.dual <= result.primal + slack
    assert smooth.chunks == lazy.chunks
    assert result.p.shape[0] == expected.p.shape[0]
    if "loss" not in options:  # the squared loss is strongly convex where there is data
        distance = np.linalg.norm((smooth.compute() - whole)[~np.isnan(image)])
        assert distance <= np.sqrt(2.0 * result.gap) + np.sqrt(2.0 * expected.gap) + 1e-9


def test_errors_name_what_is_missing() -> None:
    image = da.ones((8, 8, 3), chunks=4)
    with pytest.raises(ValueError, match="weight must be a number unless connectivity is 1"):
        denoise_tv(image[..., 0], np.ones((8, 8)), connectivity=8)
    with pytest.raises(ValueError, match="coupled must be False unless connectivity is 1"):
        denoise_tv(image, 0.1, connectivity=8, channel_axis=-1, coupled=True)
    with pytest.raises(ValueError, match="connectivity must be one of"):
        denoise_tv(image[..., 0], 0.1, connectivity=5)


def test_weight_0_returns_the_image() -> None:
    image = np.arange(12.0).reshape(3, 4)
    found = denoise_tv(da.from_array(image, chunks=2), 0.0, connectivity=8)
    np.testing.assert_array_equal(found.compute(), image)
