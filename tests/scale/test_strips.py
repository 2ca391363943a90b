"""Strips: what they contain, and which are solved at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphtv import grid_graph
from graphtv.scale.strips import matchings, sides_of
from graphtv.scale.tuning import TUNING


@given(
    pairs=st.sets(
        st.tuples(st.integers(0, 12), st.integers(0, 12)).filter(lambda pair: pair[0] < pair[1])
    )
)
def test_matchings(pairs: set[tuple[int, int]]) -> None:
    found = matchings({pair: sum(pair) for pair in pairs})
    assert sorted(pair for matching in found for pair in matching) == sorted(pairs)
    for matching in found:
        ends = [end for pair in matching for end in pair]
        assert len(ends) == len(set(ends))
    degrees = np.bincount([end for pair in pairs for end in pair], minlength=1)
    assert len(found) <= max(2 * degrees.max() - 1, 0)


def test_sides_grow_from_the_border() -> None:
    graph = grid_graph((10, 10))
    first, last = np.arange(10, dtype=np.int32), np.arange(90, 100, dtype=np.int32)
    near, starts = np.concatenate([first, last]), np.array([0, 10, 20])
    side, sides, inner, inners, rim, rims = sides_of(100, graph.edges, near, starts)
    for k in range(2):
        is_in = np.isin(graph.edges, side[sides[k] : sides[k + 1]]).sum(axis=1)
        assert (np.flatnonzero(is_in == 2) == inner[inners[k] : inners[k + 1]]).all()
        assert (np.flatnonzero(is_in == 1) == rim[rims[k] : rims[k + 1]]).all()
    assert len(side) <= TUNING.strip_share * 100
    np.testing.assert_array_equal(side[: sides[1]], np.arange(50))
    np.testing.assert_array_equal(side[sides[1] :], np.arange(50, 100))


def test_sides_contain_all_ends() -> None:
    """Even if they have more vertices than the part."""
    near = np.tile(np.arange(4, dtype=np.int32), 5)
    edges = np.array([[0, 1], [1, 2], [2, 3]], dtype=np.int32)
    side, sides = sides_of(4, edges, near, np.arange(0, 24, 4))[:2]
    np.testing.assert_array_equal(side, near)
    np.testing.assert_array_equal(sides, np.arange(0, 24, 4))
    empty, starts = sides_of(3, edges[:2], near[:0], np.zeros(1, dtype=np.int64))[:2]
    assert len(empty) == 0
    np.testing.assert_array_equal(starts, [0])
