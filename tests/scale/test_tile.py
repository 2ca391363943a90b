"""Tiles: boxes, values and block solves, against the whole problem in memory."""

from dataclasses import replace

import numpy as np
import pytest

from graphtv import HuberTV, Problem, SquaredLoss, TotalVariation, grid_graph
from graphtv.scale.coordinates import Coordinates
from graphtv.scale.tile import Tile
from graphtv.scale.window import Unknown

NOBODY = Unknown(1.0, np.zeros(()), np.zeros(()))


def random_tile(
    lengths: tuple[int, ...], *, has_border: bool = True, delta: float = 0.0, channels: int = 0
) -> Tile:
    rng = np.random.default_rng(1)
    shape = (*lengths, channels) if channels else lengths
    weights, p = [], []
    for axis in range(len(lengths)):
        longer = list(lengths)
        longer[axis] += 1
        weights.append(rng.random(longer))
        p.append(rng.uniform(-1, 1, (*longer, channels) if channels else longer))
        if not has_border:
            for values in (weights[axis], p[axis]):
                np.moveaxis(values, axis, 0)[[0, -1]] = 0.0
    f, u = rng.normal(size=shape), rng.normal(size=shape)
    return Tile(
        f=f, c=rng.random(shape) + 0.1, weights=tuple(weights), p=tuple(p), u=u, delta=delta
    )


def problem_of(tile: Tile) -> tuple[Problem, np.ndarray, np.ndarray]:
    """Return the problem on a tile without a border, and its points."""
    inner = slice(1, -1)
    weights = [w[(slice(None),) * axis + (inner,)] for axis, w in enumerate(tile.weights)]
    graph = grid_graph(tile.lengths, weights)
    shape = (graph.n_vertices, *tile.f.shape[len(tile.weights) :])
    loss = SquaredLoss(tile.f.reshape(shape), weights=tile.c.reshape(shape))
    problem = Problem(graph, loss, HuberTV(tile.delta) if tile.delta else TotalVariation())
    p = [q[(slice(None),) * axis + (inner,)] for axis, q in enumerate(tile.p)]
    flat = np.concatenate([q.reshape(-1, *shape[1:]) for q in p])
    return problem, tile.u.reshape(shape), flat


@pytest.mark.parametrize("delta", [0.0, 0.3])
@pytest.mark.parametrize(("lengths", "channels"), [((7,), 0), ((4, 5), 0), ((3, 4, 5), 2)])
def test_values_are_those_of_the_problem(
    lengths: tuple[int, ...], channels: int, delta: float
) -> None:
    tile = random_tile(lengths, has_border=False, delta=delta, channels=channels)
    problem, u, p = problem_of(tile)
    found = tile.certify((None,) * len(lengths), NOBODY, Coordinates())
    assert found.primal == pytest.approx(problem.primal(u), rel=1e-12)
    assert found.gap == pytest.approx(problem.primal(u) - problem.dual(p), rel=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_values_are_sums_over_parts(axis: int) -> None:
    tile = random_tile((4, 5, 6), has_border=False)
    lower, upper = tile.part(axis, 0, 2), tile.part(axis, 2, tile.lengths[axis])
    above = [None, None, None]
    above[axis] = np.take(upper.u, 0, axis=axis)
    shares = [
        lower.certify(tuple(above), NOBODY, Coordinates()),
        upper.certify((None,) * 3, NOBODY, Coordinates()),
    ]
    whole = tile.certify((None,) * 3, NOBODY, Coordinates())
    assert sum(share.primal for share in shares) == pytest.approx(whole.primal, rel=1e-12)
    assert sum(share.gap for share in shares) == pytest.approx(whole.gap, rel=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_parts_join_and_paste(axis: int) -> None:
    tile = random_tile((4, 5, 6))
    end = tile.lengths[axis]
    joined = tile.part(axis, 0, 3).join(tile.part(axis, 3, end), axis)
    for name in ("f", "c", "u"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(tile, name))
    for mine, theirs in zip((*joined.p, *joined.weights), (*tile.p, *tile.weights), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    other = random_tile((4, 5, 6)).start(tuple(0.5 * p for p in tile.p))
    pasted = tile.paste([((axis, 1, 3), other.points(axis, 1, 3))])
    np.testing.assert_array_equal(
        np.take(pasted.u, [1, 2], axis=axis), np.take(other.u, [1, 2], axis=axis)
    )
    np.testing.assert_array_equal(np.take(pasted.u, 0, axis=axis), np.take(tile.u, 0, axis=axis))
    np.testing.assert_array_equal(tile.u, random_tile((4, 5, 6)).u)


@pytest.mark.parametrize("delta", [0.0, 0.3])
def test_relaxing_closes_the_inner_gap_and_leaves_the_border(delta: float) -> None:
    tile = random_tile((6, 7), delta=delta)
    relaxed = tile.with_points(tile.window().relax(1e-9, unknown=NOBODY))
    assert relaxed.window().gap(NOBODY) <= 1e-8
    for axis, (mine, theirs) in enumerate(zip(relaxed.p, tile.p, strict=True)):
        for end in (0, -1):
            np.testing.assert_array_equal(
                np.take(mine, end, axis=axis), np.take(theirs, end, axis=axis)
            )
    window = relaxed.window()
    assert window.relax(1e-7, unknown=NOBODY) is window


def test_weightless_edges_keep_no_flow() -> None:
    tile = random_tile((6, 7))
    tile.weights[0][2:4] = 0.0
    relaxed = tile.with_points(tile.window().relax(1e-9, unknown=NOBODY))
    assert relaxed.window().gap(NOBODY) <= 1e-8


def test_flows_across_borders_move_on_as_before() -> None:
    first = random_tile((5, 6))
    moved = first.extrapolate(0.5)  # the previous round is unknown
    assert moved.p is first.p
    assert moved.extrapolate(0.5) is moved
    rng = np.random.default_rng(2)
    p = tuple(rng.uniform(-1.0, 1.0, q.shape) for q in first.p)
    found = replace(moved, p=p).extrapolate(0.5)
    for axis, (old, now, new) in enumerate(zip(first.p, p, found.p, strict=True)):
        expected = now.copy()
        for end in (0, -1):
            at = (slice(None),) * axis + (end,)
            expected[at] = np.clip(1.5 * now[at] - 0.5 * old[at], -1.0, 1.0)
        np.testing.assert_allclose(new, expected, rtol=0, atol=1e-15)
