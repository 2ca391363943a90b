"""The tiled solver reaches the same optimum as in memory, for any shape, chunks and data."""

import math
from typing import Any

import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import (
    HuberTV,
    Problem,
    SquaredLoss,
    TotalVariation,
    denoise_tv,
    fused_lasso,
    grid_graph,
)

TOLERANCE = 1e-8


def steps(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Return noise on pieces that cross every border."""
    rng = np.random.default_rng(seed)
    waves = sum(np.sin(0.11 * (axis + 1) * x) for axis, x in enumerate(np.indices(shape)))
    return np.where(waves > 0, 1.0, 0.0) + rng.normal(0, 0.4, shape)


def assert_same(
    image: np.ndarray, chunks: Any, weight: Any = 0.3, tolerance: float = TOLERANCE, **options: Any
) -> Any:
    """Compare the tiled solution with that in memory, by both certificates."""
    whole, expected = denoise_tv(image, weight, tol=0.01 * tolerance, return_result=True, **options)
    lazy = da.from_array(image, chunks=chunks)
    found, result = denoise_tv(lazy, weight, tol=tolerance, return_result=True, **options)
    assert result.status == "optimal"
    assert result.relative_gap <= tolerance
    # Both intervals contain the minimum.
    slack = 1e-12 * expected.primal
    assert result.dual <= expected.primal + slack
    assert expected.dual <= result.primal + slack
    assert found.chunks == lazy.chunks
    assert found.dtype == whole.dtype
    if result.error_bound is not None:
        distance = np.linalg.norm((found.compute().astype(float) - whole).ravel())
        rounding = np.finfo(whole.dtype).eps * np.linalg.norm(whole)
        assert distance <= result.error_bound + expected.error_bound + rounding
    return result


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "chunks"),
    [
        ((97, 131), 40),
        ((97, 131), ((1, 1, 95), (130, 1))),
        ((70, 90), (1, 90)),
        ((70, 70), (33, 70)),
        ((1, 300), (1, 64)),
        ((500,), 70),
        ((34, 20, 70), (34, 20, 35)),
        ((33, 16, 66), ((33,), (16,), (1, 32, 33))),
        ((5, 4, 6, 40), (5, 2, 3, 20)),
    ],
)
def test_shapes_and_chunks(shape: tuple[int, ...], chunks: Any) -> None:
    assert_same(steps(shape), chunks)


@pytest.mark.parametrize("weight", [0.0, 0.05, 2.0])
def test_weights(weight: float) -> None:
    assert_same(steps((80, 100)), 40, weight)


def test_weights_by_pixel_and_by_axis() -> None:
    rng = np.random.default_rng(0)
    image = steps((80, 100))
    by_pixel = rng.random(image.shape)
    by_pixel[20:30] = 0.0
    assert_same(image, 40, by_pixel)
    assert_same(image, 40, [0.3, rng.random((80, 99))])
    assert_same(image, 40, [0.0, 0.5])


def test_weights_may_be_dask_arrays() -> None:
    rng = np.random.default_rng(0)
    image, weight = steps((80, 100)), rng.random((80, 100))
    lazy = da.from_array(image, chunks=40)
    one = denoise_tv(lazy, da.from_array(weight, chunks=(33, 50)), tol=1e-10)
    np.testing.assert_allclose(one.compute(), denoise_tv(image, weight, tol=1e-10), atol=1e-4)


def test_spacing_and_huber() -> None:
    image = steps((80, 100))
    assert_same(image, 40, spacing=(1.0, 2.5))
    assert_same(image, 40, penalty=HuberTV(0.2))


@pytest.mark.parametrize("channel_axis", [0, 2])
def test_channels(channel_axis: int) -> None:
    image = np.stack([steps((70, 80), seed) for seed in range(3)], axis=channel_axis)
    chunks = [40, 40, 40]
    chunks[channel_axis] = 1
    assert_same(image, tuple(chunks), channel_axis=channel_axis)


@pytest.mark.parametrize("weight", [0.2, 1.5])
@pytest.mark.parametrize("penalty", [TotalVariation(), HuberTV(0.1)])
def test_coupled_channels(weight: float, penalty: Any) -> None:
    image = np.stack([steps((66, 70), seed) for seed in range(3)], axis=-1)
    options: dict[str, Any] = {"channel_axis": -1, "coupled": True, "penalty": penalty}
    assert_same(image, (33, 40, 1), weight, 1e-5, **options)


def test_coupled_weights_by_pixel_and_one_channel() -> None:
    rng = np.random.default_rng(0)
    image = np.stack([steps((66, 40), seed) for seed in range(2)], axis=-1)
    weight = rng.random((66, 40))
    weight[30:36] = 0.0
    assert_same(image, (33, 40, 2), weight, 1e-5, channel_axis=-1, coupled=True)
    assert_same(image[..., 0], 33, coupled=True)  # total variation, exactly


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int16, np.bool_])
def test_types(dtype: Any) -> None:
    image = steps((70, 80))
    if dtype != np.float32:
        image = np.clip(image, 0, 1) * (1 if dtype == np.bool_ else np.iinfo(dtype).max)
    assert_same(image.astype(dtype), 40, 3000.0 if dtype == np.int16 else 0.1)


@pytest.mark.slow
def test_unknown_pixels() -> None:
    image = steps((80, 100))
    mask = np.random.default_rng(0).random(image.shape) > 0.2
    assert_same(image, 40, mask=mask)
    image[25:60, 30:45] = np.nan
    assert_same(image, 40)
    assert_same(image, 40, mask=mask)


@pytest.mark.slow
def test_unknown_tiles() -> None:
    image = steps((100, 110))
    image[30:75, 30:] = np.nan  # all of a tile, and more
    result = assert_same(image, 40, 0.2)
    assert np.isfinite(result.u.compute()).all()


def test_unknown_by_channel() -> None:
    image = np.stack([steps((70, 80), seed) for seed in range(2)], axis=2)
    image[20:50, 20:60, 1] = np.nan
    assert_same(image, (40, 40, 2), channel_axis=2)


def test_exact() -> None:
    image = steps((80, 100))
    found, result = denoise_tv(da.from_array(image, chunks=40), 0.3, tol=0, return_result=True)
    assert result.relative_gap <= 1e-12
    np.testing.assert_allclose(found.compute(), denoise_tv(image, 0.3, tol=0), atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(
    shape=st.lists(st.integers(1, 45), min_size=1, max_size=3),
    cut=st.integers(1, 45),
    weight=st.sampled_from([0.01, 0.3, 3.0]),
    seed=st.integers(0, 99),
)
def test_any_grid(shape: list[int], cut: int, weight: float, seed: int) -> None:
    shape = shape if math.prod(shape) <= 20_000 else shape[:2]
    assert_same(steps(tuple(shape), seed), cut, weight)


def test_the_certificate_is_that_of_the_whole_problem() -> None:
    """Recompute both objectives from the arrays, by definition."""
    image = steps((80, 100))
    _, result = denoise_tv(da.from_array(image, chunks=40), 0.3, tol=1e-5, return_result=True)
    u, p = result.u.compute(), [array.compute() for array in result.p]
    assert [q.shape for q in p] == [(79, 100), (80, 99)]
    assert all((np.abs(q) <= 1.0).all() for q in p)
    problem = Problem(grid_graph(image.shape, 0.3), SquaredLoss(image.ravel()))
    flat = np.concatenate([q.ravel() for q in p])
    assert problem.primal(u.ravel()) == pytest.approx(result.primal, rel=1e-12)
    assert problem.dual(flat) == pytest.approx(result.dual, rel=1e-12)
    assert result.history[-1].relative_gap == result.relative_gap


def test_seams_do_not_show() -> None:
    """There are no seams at the borders of tiles, unlike with overlap and trim."""
    image = steps((96, 96))
    exact = denoise_tv(image, 0.8, tol=0)
    lazy = da.from_array(image, chunks=32)
    error = np.abs(denoise_tv(lazy, 0.8, tol=1e-8).compute() - exact)
    trimmed = da.map_overlap(
        lambda block: denoise_tv(block, 0.8), lazy, depth=4, boundary="none", dtype=float
    )
    assert error.max() < 1e-3
    assert np.abs(trimmed.compute() - exact).max() > 100 * error.max()


@pytest.mark.parametrize("channel_axis", [None, 0])
def test_suggested_weight(channel_axis: int | None) -> None:
    """The weight is that of the image in memory if the image is small enough."""
    image = steps((70, 80))
    if channel_axis is not None:
        image = np.stack([image, steps((70, 80), 1)])
    lazy = da.from_array(image, chunks=40)
    found = denoise_tv(lazy, "auto", tol=1e-9, channel_axis=channel_axis)
    expected = denoise_tv(image, "auto", tol=1e-9, channel_axis=channel_axis)
    np.testing.assert_allclose(found.compute(), expected, atol=2e-3)


def test_suggested_weight_of_a_part() -> None:
    large = da.from_array(steps((600, 600)), chunks=300)
    _, result = denoise_tv(large, "auto", tol=1e-3, return_result=True)
    assert result.status == "optimal"


def test_fused_lasso_on_a_grid() -> None:
    rng = np.random.default_rng(0)
    signal, c = steps((60, 70)), rng.random((60, 70))
    c[20:30, 20:40] = 0.0
    expected = fused_lasso(
        grid_graph(signal.shape), signal.ravel(), lam=0.3, vertex_weights=c.ravel(), tol=1e-10
    )
    found = fused_lasso(
        "grid", da.from_array(signal, chunks=35), lam=0.3, vertex_weights=c, tol=TOLERANCE
    )
    assert found.status == "optimal"
    assert found.primal == pytest.approx(expected.primal, rel=2 * TOLERANCE)
    weights = [0.5, rng.random((60, 69))]
    expected = fused_lasso(grid_graph(signal.shape, weights), signal.ravel(), lam=0.3, tol=1e-10)
    found = fused_lasso(weights, da.from_array(signal, chunks=35), lam=0.3, tol=TOLERANCE)
    assert found.primal == pytest.approx(expected.primal, rel=2 * TOLERANCE)
