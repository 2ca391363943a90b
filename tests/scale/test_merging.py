"""Small parts are merged for the solve, and nobody sees it in the answer."""

from dataclasses import replace
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import Graph, PartitionedGraph, Problem, SquaredLoss, fused_lasso, knn_graph
from graphtv.scale import merging
from graphtv.scale.merging import groups_of
from graphtv.scale.tuning import TUNING
from reliability import exact


def merge_below(patch: pytest.MonkeyPatch, least: int) -> None:
    """Let parts with fewer vertices and edges be merged."""
    patch.setattr(merging, "TUNING", replace(TUNING, least_part=least))


@given(
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=12),
    least=st.integers(1, 60),
    data=st.data(),
)
def test_groups_contain_every_part_once_and_are_bounded(
    sizes: list[int], least: int, data: Any
) -> None:
    ends = st.integers(0, len(sizes) - 1)
    pairs = data.draw(st.lists(st.tuples(ends, ends), max_size=20))
    across = {(min(p), max(p)): 1 + k for k, p in enumerate(pairs) if p[0] != p[1]}
    groups = groups_of(sizes, across, least)
    assert sorted(part for group in groups for part in group) == list(range(len(sizes)))
    for group in groups:
        size = sum(sizes[part] for part in group)
        assert len(group) == 1 or size <= 2 * least
        mine = set(group)
        around = [
            other
            for other in groups
            if other is not group and any(len({*p} & mine) == 1 and {*p} & {*other} for p in across)
        ]
        if size < least:
            assert all(size + sum(sizes[p] for p in other) > 2 * least for other in around)


def test_neighbours_with_the_most_edges_are_merged() -> None:
    across = {(0, 1): 5, (1, 2): 1, (2, 3): 5, (0, 3): 1}
    assert groups_of([10, 10, 10, 10], across, 20) == [[0, 1], [2, 3]]
    assert groups_of([10, 10, 10, 10], across, 10) == [[0], [1], [2], [3]]
    assert groups_of([1, 1, 1, 1], {}, 4) == [[0, 1, 2, 3]]


@pytest.mark.slow
@settings(max_examples=25)
@given(
    n=st.integers(1, 40),
    m=st.integers(0, 120),
    n_parts=st.integers(1, 9),
    least=st.sampled_from([8, 20, 40, 1000]),
    channels=st.sampled_from([(), (2,)]),
    seed=st.integers(0, 999),
)
def test_answers_have_the_order_of_the_whole_graph(
    n: int, m: int, n_parts: int, least: int, channels: tuple[int, ...], seed: int
) -> None:
    """The certificate of the points, checked in fractions, finds any edge that is out of place."""
    rng = np.random.default_rng(seed)
    graph = Graph(n, rng.integers(0, n, (m, 2)), rng.random(m) + 0.1)
    parts = PartitionedGraph(graph, rng.integers(0, n_parts, n))
    signal = rng.normal(size=(n, *channels))
    with dask.config.set(scheduler="sync"), pytest.MonkeyPatch.context() as patch:
        merge_below(patch, least)
        result = fused_lasso(parts, signal, lam=0.5, tol=1e-7)
    assert result.status == "optimal"
    assert result.n_parts <= parts.n_parts
    true = exact.objectives(
        Problem(Graph(n, graph.edges, 0.5 * graph.weights), SquaredLoss(signal)),
        result.u,
        result.p,
    )
    assert abs(exact.Fraction(result.dual) - true.dual) <= result.rounding
    assert true.gap <= exact.Fraction(1e-7) * true.scale


@pytest.mark.parametrize("least", [0, 400, 10_000])
def test_collections_keep_their_chunks(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    merge_below(monkeypatch, least)
    rng = np.random.default_rng(1)
    points = rng.random((240, 2))
    signal = (points[:, 0] > 0.5) + rng.normal(0, 0.2, 240)
    cloud = knn_graph(da.from_array(points, chunks=(40, 2)), 5)
    result = fused_lasso(cloud, da.from_array(signal, chunks=40), lam=0.3, tol=1e-6)
    assert result.n_parts == {0: 6, 400: 2, 10_000: 1}[least]
    assert result.u.chunks == ((40,) * 6,)
    whole = fused_lasso(knn_graph(points, 5), signal, lam=0.3, tol=1e-9)
    np.testing.assert_allclose(result.u.compute(), whole.u, atol=1e-2)
    edges, weights = (values.compute() for values in cloud.edge_arrays())
    flows = 0.3 * weights * result.p.compute()
    rows = cloud.vertex_rows().compute()
    balance = np.zeros(240)
    np.add.at(balance, rows[edges[:, 0]], flows)
    np.add.at(balance, rows[edges[:, 1]], -flows)
    np.testing.assert_allclose(result.u.compute(), signal - balance, atol=1e-2)
