"""Losses on grids of dask arrays and on graphs in parts from dask arrays."""

from functools import partial
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest

from graphtv import (
    HuberLoss,
    LogisticLoss,
    PartitionedGraph,
    SquaredLoss,
    denoise_tv,
    fused_lasso,
    grid_graph,
)

SHAPE = (80, 66)
CHUNKS = (40, 33)  # shorter ones would be merged


@pytest.fixture
def image() -> Any:
    rng = np.random.default_rng(0)
    return np.kron(rng.integers(0, 4, (4, 2)), np.ones((20, 33))) + rng.normal(0, 0.3, SHAPE)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["huber", "logistic", "poisson"])
def test_signals_on_a_grid(loss: str, image: Any) -> None:
    rng, data = np.random.default_rng(1), image
    if loss != "huber":
        data = rng.poisson(np.maximum(image, 0.0)).astype(float)
        data = data if loss == "poisson" else (data > 1).astype(float)
    data[rng.random(SHAPE) < 0.1] = np.nan
    args: Any = {"lam": 0.3, "loss": loss, "delta": 0.5, "tol": 1e-4}
    expected = fused_lasso(grid_graph(SHAPE), data.ravel(), **args)
    found = fused_lasso("grid", da.from_array(data, chunks=CHUNKS), **args)
    assert found.status == "optimal"
    assert found.n_parts == 4
    assert found.primal == pytest.approx(expected.primal, rel=2e-4)
    parts = PartitionedGraph(grid_graph(SHAPE), 2)
    lazy = fused_lasso(parts, da.from_array(data.ravel(), chunks=2000), **args)
    assert lazy.status == "optimal"
    assert lazy.primal == pytest.approx(expected.primal, rel=2e-4)


@pytest.mark.parametrize("loss", ["poisson", HuberLoss, partial(HuberLoss, delta=0.2)])
def test_images(loss: Any, image: Any) -> None:
    data = np.maximum(np.round(image), 0.0) if loss == "poisson" else image
    expected, result = denoise_tv(data, 0.4, loss=loss, tol=1e-7, return_result=True)
    found, tiled = denoise_tv(
        da.from_array(data, chunks=CHUNKS), 0.4, loss=loss, tol=1e-4, return_result=True
    )
    assert tiled.status == "optimal"
    assert tiled.n_parts == 4
    assert tiled.primal == pytest.approx(result.primal, rel=2e-4)
    assert abs(found.compute() - expected).mean() < 0.05


def test_channels_and_masks(image: Any) -> None:
    """Counts of 8 bits are not divided by 255."""
    rng = np.random.default_rng(2)
    counts = rng.poisson(np.stack([image + 1.0, 5.0 - image])).astype(np.uint8)
    options: Any = {"loss": "poisson", "channel_axis": 0, "mask": rng.random(SHAPE) > 0.05}
    expected = denoise_tv(counts, 0.4, tol=1e-6, return_result=True, **options)[1]
    tiles = da.from_array(counts, chunks=(1, *CHUNKS))
    found, tiled = denoise_tv(tiles, 0.4, tol=1e-3, return_result=True, **options)
    assert tiled.status == "optimal"
    assert tiled.n_parts == 4
    assert tiled.primal == pytest.approx(expected.primal, rel=2e-3)
    assert found.chunks == tiles.chunks


def test_labels_of_separate_rows() -> None:
    """Weights of 0 divide the grid into components, and every one needs labels of both kinds."""
    labels = np.where(np.arange(70) % 7 < 3, 1.0, -1.0) * np.array([[1.0], [-1.0]])
    labels[0, ::5] = 0.0
    lam, weights = 0.5, [0.0, 1.0]
    graph = grid_graph(labels.shape, weights)
    expected = fused_lasso(graph, labels.ravel(), lam, loss="logistic", tol=1e-7)
    tiles = da.from_array(labels, chunks=(2, 35))
    found = fused_lasso(weights, tiles, lam, loss="logistic", tol=1e-3)
    assert found.status == "optimal"
    assert found.n_parts == 2
    assert found.primal == pytest.approx(expected.primal, rel=2e-3)
    with pytest.raises(ValueError, match="all labels of a connected component are 1"):
        fused_lasso(
            weights, da.where(tiles == -1.0, np.array([[-1.0], [1.0]]), 1.0), loss="logistic"
        )


def test_the_meaning_of_zero_is_that_in_memory() -> None:
    labels = np.tile([0, 0, 1, 1, 1], (40, 8))
    graph = grid_graph(labels.shape)
    for given in (labels, labels.astype(bool), labels - (labels[::-1, ::-1] == 0)):
        expected = fused_lasso(graph, given.ravel(), 0.1, loss="logistic", tol=1e-6)
        tiles = da.from_array(given, chunks=40)
        found = fused_lasso("grid", tiles, 0.1, loss="logistic", tol=1e-6)
        assert found.primal == pytest.approx(expected.primal, rel=3e-6)


def test_a_checkpoint_belongs_to_a_loss(image: Any, tmp_path: Path) -> None:
    tiles = da.from_array(abs(image), chunks=CHUNKS)
    denoise_tv(tiles, 0.1, tol=1e-2, checkpoint=tmp_path, loss="poisson")
    for loss in ("squared", partial(HuberLoss, delta=0.2)):
        with pytest.raises(ValueError, match="checkpoint"):
            denoise_tv(tiles, 0.1, tol=1e-2, checkpoint=tmp_path, loss=loss)


@pytest.mark.parametrize(
    "loss",
    [
        "absolute",
        LogisticLoss,
        partial(HuberLoss, delta=0.2, weights=2.0),
        lambda signal, weights: SquaredLoss(2.0 * signal, weights),
    ],
)
def test_other_losses_of_images(loss: Any, image: Any) -> None:
    with pytest.raises(
        ValueError, match=r"loss must be 'squared', 'poisson', HuberLoss or .* dask"
    ):
        denoise_tv(da.from_array(image, chunks=CHUNKS), 0.1, loss=loss)


def test_errors(image: Any) -> None:
    tiles = da.from_array(image, chunks=CHUNKS)
    with pytest.raises(ValueError, match="loss must be 'squared' for a dask array with coupled"):
        denoise_tv(tiles, loss=HuberLoss, coupled=True, channel_axis=1)
    with pytest.raises(ValueError, match="weight must not be 'auto'"):
        denoise_tv(tiles, "auto", loss="poisson")
    with pytest.raises(ValueError, match="image must not be negative"):
        denoise_tv(tiles, loss="poisson")
    with pytest.raises(ValueError, match="delta must be"):
        denoise_tv(tiles, loss=partial(HuberLoss, delta=-1.0))
    with pytest.raises(ValueError, match=r"loss must be one of .* for a dask array"):
        fused_lasso("grid", tiles, loss="absolute")
    negative = da.from_array(np.where(image > 2.0, np.nan, image), chunks=CHUNKS)
    with pytest.raises(ValueError, match=r"signal must not be negative .* got -"):
        fused_lasso("grid", negative, loss="poisson")
    with pytest.raises(ValueError, match="signal must hold labels"):
        fused_lasso("grid", tiles, loss="logistic")
