"""Nearest-neighbour graphs of points in chunks: the same graph as in memory."""

import math
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import Graph, fused_lasso, knn_graph


def whole(parts: Any) -> Graph:
    """Return a graph in parts as one graph of the rows."""
    edges, weights = dask.compute(*parts.edge_arrays())
    rows = parts.vertex_rows().compute()
    ends = np.sort(rows[edges], axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    return Graph(parts.n_vertices, ends[order], weights[order])


@settings(max_examples=10, deadline=None)
@given(
    n=st.integers(2, 60),
    dimension=st.integers(1, 3),
    k=st.integers(1, 8),
    n_chunks=st.integers(1, 6),
    levels=st.sampled_from([2, 5, 1000]),
    bandwidth=st.sampled_from([None, 0.5, math.inf]),
    seed=st.integers(0, 99),
)
def test_the_graph_is_that_in_memory(
    n: int, dimension: int, k: int, n_chunks: int, levels: int, bandwidth: Any, seed: int
) -> None:
    """With few levels many points coincide, and many distances are equal."""
    rng, k = np.random.default_rng(seed), min(k, n - 1)
    points = rng.integers(0, levels, (n, dimension)) * 3.0
    expected = knn_graph(points, k, bandwidth)
    with dask.config.set(scheduler="sync"):
        chunks = -(-n // min(n_chunks, n))
        parts = knn_graph(da.from_array(points, chunks=(chunks, -1)), k, bandwidth)
        found = whole(parts)
    np.testing.assert_array_equal(found.edges, expected.edges)
    np.testing.assert_array_equal(found.weights, expected.weights)


def test_signals_have_the_order_of_the_points() -> None:
    rng = np.random.default_rng(0)
    points = rng.random((500, 2))
    signal = (points[:, 0] > 0.5) + rng.normal(0, 0.2, 500)
    parts = knn_graph(da.from_array(points, chunks=(120, 2)), 6)
    assert (parts.n_parts, parts.n_vertices) == (5, 500)
    assert parts.n_across < 0.3 * parts.n_edges  # parts are compact, chunks are not
    result = fused_lasso(parts, da.from_array(signal, chunks=90), lam=0.4, tol=1e-7)
    expected = fused_lasso(knn_graph(points, 6), signal, lam=0.4, tol=1e-10)
    assert result.status == "optimal"
    assert result.u.chunks == ((120, 120, 120, 120, 20),)
    np.testing.assert_allclose(result.u.compute(), expected.u, atol=1e-3)


def test_bad_points() -> None:
    points = da.ones((4, 2), chunks=2)
    with pytest.raises(ValueError, match="n_neighbors must be below the number of points 4, got 4"):
        knn_graph(points, 4)
    with pytest.raises(ValueError, match="shape"):
        knn_graph(points[:, 0], 1)
    with pytest.raises(ValueError, match="finite"):
        knn_graph(points * np.nan, 1)
