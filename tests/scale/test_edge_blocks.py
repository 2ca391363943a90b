"""Graphs in parts from dask collections: the same graph as in memory, and the same optimum."""

from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import Graph, PartitionedGraph, Problem, SquaredLoss, fused_lasso, solve

ONE_THREAD = {"scheduler": "sync"}


@settings(max_examples=20)
@given(
    sizes=st.lists(st.integers(0, 8), min_size=1, max_size=5).filter(any),
    m=st.integers(1, 60),
    chunk=st.integers(1, 25),
    seed=st.integers(0, 99),
)
def test_the_graph_is_that_in_memory(sizes: list[int], m: int, chunk: int, seed: int) -> None:
    """With loops, parallel edges in both directions, edges of weight 0, and empty parts."""
    rng, n = np.random.default_rng(seed), sum(sizes)
    edges, weights = rng.integers(0, n, (m, 2)), rng.integers(0, 3, m) * 0.25
    with dask.config.set(ONE_THREAD):
        lazy = da.from_array(edges, chunks=(chunk, 1)), da.from_array(weights, chunks=7)
        parts = PartitionedGraph.from_dask(sizes, *lazy)
        found = [array.compute() for array in parts.edge_arrays()]
    assert parts.sizes == tuple(sizes)
    assert Graph(n, *found).to_sparse().toarray().tolist() == (
        Graph(n, edges, weights).to_sparse().toarray().tolist()
    )
    assert len(found[0]) == parts.n_edges == Graph(n, edges, weights).n_edges


def example(n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a ring with chords, weights, and a signal with pieces that cross all borders."""
    rng = np.random.default_rng(0)
    ring = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
    chords = np.stack([np.arange(n), (np.arange(n) + 7) % n], axis=1)
    edges = np.concatenate([ring, chords])
    signal = (np.arange(n) // 90 % 2) + rng.normal(0, 0.3, n)
    return edges, rng.random(len(edges)), signal


def test_the_solution_is_that_in_memory() -> None:
    edges, weights, signal = example()
    signal[::17] = np.nan
    lazy = da.from_array(edges, chunks=(150, 2)), da.from_array(weights, chunks=150)
    parts = PartitionedGraph.from_dask((100, 150, 0, 150), *lazy)
    result = fused_lasso(parts, da.from_array(signal, chunks=130), lam=0.7, tol=1e-8)
    assert result.status == "optimal"
    assert result.u.chunks == ((100, 150, 150),)
    expected = fused_lasso(Graph(400, edges, weights), signal, lam=0.7, tol=1e-10)
    assert result.primal == pytest.approx(expected.primal, rel=2e-8)
    ends, sums = (array.compute() for array in parts.edge_arrays())
    whole = Problem(Graph(400, ends, 0.7 * sums), SquaredLoss(signal))
    assert whole.primal(result.u.compute()) == pytest.approx(result.primal, rel=1e-12)
    assert whole.dual(result.p.compute()) == pytest.approx(result.dual, rel=1e-12)
    in_memory = fused_lasso(parts, signal, lam=0.7, tol=1e-8)
    np.testing.assert_array_equal(in_memory.u.compute(), result.u.compute())


def test_channels_and_vertex_weights() -> None:
    edges, weights, signal = example()
    c = np.random.default_rng(1).random(400)
    values = np.stack([signal, -signal], axis=1)
    lazy = da.from_array(edges, chunks=(150, 2)), da.from_array(weights, chunks=150)
    parts = PartitionedGraph.from_dask((200, 200), *lazy)
    given_c = da.from_array(np.stack([c, c], axis=1), chunks=100)
    result = fused_lasso(parts, da.from_array(values, chunks=100), 0.7, vertex_weights=given_c)
    expected = fused_lasso(Graph(400, edges, weights), values, 0.7, vertex_weights=c)
    assert result.u.shape == (400, 2)
    assert result.primal == pytest.approx(expected.primal, rel=4e-6)
    loss = SquaredLoss(values)
    assert solve(Problem(parts, loss), tol=1e-3).status == "optimal"


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask writes with it
def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    edges, weights, signal = example()
    table = pandas.DataFrame({"i": edges[:, 0], "j": edges[:, 1], "w": weights})
    frames.from_pandas(table, npartitions=5).to_parquet(tmp_path / "edges")
    lazy = frames.read_parquet(tmp_path / "edges")
    parts = PartitionedGraph.from_dask((200, 200), lazy[["i", "j"]], lazy["w"])
    found = fused_lasso(parts, da.from_array(signal, chunks=200), lam=0.7)
    expected = fused_lasso(Graph(400, edges, weights), signal, lam=0.7)
    assert found.primal == pytest.approx(expected.primal, rel=4e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": 4}, "sizes"),
        ({"sizes": []}, "sizes"),
        ({"sizes": [2, -1]}, "sizes"),
        ({"edges": np.zeros((3, 2))}, "edges must be a dask array"),
        ({"edges": da.zeros((3, 3))}, "edges must have shape"),
        ({"edges": da.full((3, 2), 9, dtype=int)}, "edges"),
        ({"edges": da.zeros((3, 2), dtype=float)}, "edges"),
        ({"weights": da.ones(5)}, "weights"),
        ({"weights": -1.0}, "weights"),
    ],
)
def test_errors_name_the_argument(arguments: dict[str, Any], message: str) -> None:
    given_: dict[str, Any] = {
        "sizes": (2, 2),
        "edges": da.from_array([[0, 1], [1, 2]], chunks=(1, 2)),
        **arguments,
    }
    with pytest.raises(ValueError, match=message):
        PartitionedGraph.from_dask(**given_)


def test_errors_about_the_signal() -> None:
    parts = PartitionedGraph.from_dask((2, 2), da.from_array([[0, 1], [1, 2]], chunks=(1, 2)))
    with pytest.raises(ValueError, match="signal must have shape"):
        fused_lasso(parts, da.zeros(5))
    with pytest.raises(ValueError, match=r"loss must be one of .* for a dask array"):
        fused_lasso(parts, da.zeros(4), loss="absolute")
    with pytest.raises(ValueError, match=r"signal must not be negative .* got -1"):
        fused_lasso(parts, da.full(4, -1.0), loss="poisson")
