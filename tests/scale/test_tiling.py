"""How grids are split into tiles."""

import math

from hypothesis import given
from hypothesis import strategies as st

from graphtv.scale.tiling import Tiling, fitting_chunks
from graphtv.scale.tuning import TUNING

Chunks = st.lists(
    st.lists(st.integers(1, 3000), min_size=1, max_size=8).map(tuple), min_size=1, max_size=3
).map(tuple)


@given(chunks=Chunks)
def test_chunks_fit(chunks: tuple[tuple[int, ...], ...]) -> None:
    fitting = fitting_chunks(chunks)
    for given_lengths, lengths in zip(chunks, fitting, strict=True):
        assert sum(lengths) == sum(given_lengths)
        assert len(lengths) == 1 or min(lengths) >= TUNING.shortest_tile
    largest = math.prod(max(lengths) for lengths in chunks)
    size = math.prod(max(lengths) for lengths in fitting)
    assert size <= max(4 * largest, 4 * TUNING.tile_size)


def test_good_chunks_stay() -> None:
    assert fitting_chunks(((512, 512, 100), (64, 64))) == ((512, 512, 100), (64, 64))


def test_slices_are_put_together() -> None:
    assert fitting_chunks(((1,) * 64, (50,))) == ((32, 32), (50,))
    planes = fitting_chunks(((1,) * 1000, (4000,), (4000,)))  # too large when merged
    assert max(map(len, planes)) > 1
    assert math.prod(max(lengths) for lengths in planes) < 4 * TUNING.tile_size


def test_neighbours() -> None:
    tiling = Tiling(((40, 50), (30, 30, 31)))
    assert tiling.shape == (90, 91)
    assert list(tiling) == [(i, j) for i in range(2) for j in range(3)]
    assert tiling.begin((1, 2)) == (40, 60)
    assert tiling.above((0, 2), 1) is None
    assert tiling.above((0, 1), 0) == (1, 1)
    assert list(tiling.pairs(0)) == [((0, j), (1, j)) for j in range(3)]
    for index in tiling:
        for axis in range(2):
            assert 1 <= tiling.depth(index, axis) <= tiling.lengths(index)[axis] // 2
