"""Neighbourhoods of grids, and the weights with which they measure lengths and areas.

The Cauchy-Crofton formula: the area of a surface is proportional to the mean number of its
intersections with straight lines, over all lines. A grid has lines along the steps to its
neighbours only. The line along step k with the physical length |e_k| stands for the directions that
are nearest to it, a share s_k of all directions [1]. With the weight 1/h along the axes as a unit,
this gives

    ω_k = d s_k / |e_k|

in d dimensions. With neighbours along the axes only, all shares are 1/d for every spacing h. So on
average over all directions, a surface costs the same for every neighbourhood: 4/π times its length
in 2-D, and 3/2 times its area in 3-D. The shares are the Voronoi cells of the directions on
the circle or the sphere [2]. For cubic voxels they are tabulated in [3].

[1] Y. Boykov, V. Kolmogorov, "Computing geodesics and minimal surfaces via graph cuts", ICCV 2003.
[2] O. Daněk, P. Matula, "An improved Riemannian metric approximation for graph cuts", DGCI 2011.
[3] G. Lehmann, D. Legland, "Efficient N-dimensional surface estimation using Crofton formula and
    run-length encoding", Insight Journal, 2012.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache
from typing import Any

from graphtv._validate import as_count

Step = tuple[int, ...]
Point = tuple[float, float, float]

COUNTS: dict[int, dict[int, int]] = {2: {4: 1, 8: 2, 16: 3}, 3: {6: 1, 18: 2, 26: 3}}
"""Level of each number of neighbours in 2-D and 3-D. Level 3 in 2-D adds the knight's moves."""


def neighbour_steps(connectivity: Any, n_axes: int) -> list[Step]:
    """Return the steps to the neighbours, one of each opposite pair, those along axes first.

    Parameters
    ----------
    connectivity : int
        How many coordinates of a neighbour may differ, 1, …, n_axes as in scikit-image, or the
        number of neighbours: 4, 8 or 16 in 2-D, and 6, 18 or 26 in 3-D.
    n_axes : int
        Number of axes of the grid.
    """
    given = as_count(connectivity, "connectivity", minimum=1)
    counts = COUNTS.get(n_axes, {})
    levels = range(1, n_axes + 1) if n_axes in COUNTS else range(1, 2)
    if given not in levels and given not in counts:
        raise ValueError(
            f"connectivity must be one of {', '.join(map(str, (*levels, *counts)))} for"
            f" {n_axes} ax{'is' if n_axes == 1 else 'es'} of pixels, got {given}"
        )
    level = counts.get(given, given)
    if level == 1:
        return [tuple(int(a == axis) for a in range(n_axes)) for axis in range(n_axes)]
    farthest = 2 if n_axes == 2 and level == 3 else 1
    steps = [
        step
        for step in itertools.product(range(-farthest, farthest + 1), repeat=n_axes)
        if math.gcd(*step) == 1 and _is_first(step) and sum(map(abs, step)) <= level
    ]
    return sorted(steps, key=lambda step: (sum(map(abs, step)), [-abs(x) for x in step]))


def is_axial(connectivity: Any, n_axes: int) -> bool:
    """Return whether all neighbours lie along the axes."""
    return len(neighbour_steps(connectivity, n_axes)) == n_axes


def step_slices(shape: tuple[int, ...], step: Step) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return slices of the pixels with a neighbour in this direction, and of the neighbours."""
    here = tuple(slice(max(-x, 0), max(n - max(x, 0), 0)) for n, x in zip(shape, step, strict=True))
    there = tuple(
        slice(max(x, 0), max(n - max(-x, 0), 0)) for n, x in zip(shape, step, strict=True)
    )
    return here, there


@lru_cache(maxsize=64)
def crofton_weights(steps: tuple[Step, ...], spacing: tuple[float, ...]) -> tuple[float, ...]:
    """Return the weight ω_k = d s_k / |e_k| of each step."""
    if len(steps) == len(spacing):
        return tuple(1.0 / math.hypot(*_scaled(step, spacing)) for step in steps)
    vectors = [_scaled(step, spacing) for step in steps]
    lengths = [math.hypot(*vector) for vector in vectors]
    units = [
        tuple(x / length for x in vector) for vector, length in zip(vectors, lengths, strict=True)
    ]
    shares = _arcs(units) if len(spacing) == 2 else _cells(units)
    return tuple(
        len(spacing) * share / length for share, length in zip(shares, lengths, strict=True)
    )


def _is_first(step: Step) -> bool:
    """Return whether a step is the one of an opposite pair that we use."""
    return next((x for x in step if x), 0) > 0


def _scaled(step: Step, spacing: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(x * h for x, h in zip(step, spacing, strict=True))


def _arcs(units: list[Any]) -> list[float]:
    """Return the share of the half circle that is nearest to each direction."""
    angles = [math.atan2(y, x) % math.pi for x, y in units]
    ranks = sorted(range(len(angles)), key=angles.__getitem__)
    shares = [0.0] * len(angles)
    for before, this in itertools.pairwise([ranks[-1], *ranks]):
        gap = (angles[this] - angles[before]) % math.pi
        shares[before] += gap / (2 * math.pi)
        shares[this] += gap / (2 * math.pi)
    return shares


def _cells(units: list[Any]) -> list[float]:
    """Return the share of the half sphere that is nearest to each direction."""
    every = [*units, *(_times(-1.0, unit) for unit in units)]
    areas = [_cell_area(unit, [other for other in every if other != unit]) for unit in units]
    # The sum of the cells is known. Dividing by it removes rounding errors.
    return [area / math.fsum(areas) for area in areas]


def _cell_area(centre: Point, others: list[Point]) -> float:
    """Return the area of the points of the unit sphere that are nearest to `centre`.

    The axes are among the directions, so no point of the cell is farther than arccos 1/√3 from its
    centre. Seen from the origin, the cell lies within a square with half side √2 in the tangent
    plane. We clip this square by the planes between the centre and the other directions.
    """
    along = min(range(3), key=lambda axis: abs(centre[axis]))
    right = _unit(_cross(centre, (float(along == 0), float(along == 1), float(along == 2))))
    up = _cross(centre, right)
    corners = [
        _plus(_plus(centre, _times(1.5 * x, right)), _times(1.5 * y, up))
        for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]
    for other in others:
        corners = _clipped(corners, _plus(centre, _times(-1.0, other)))
    return sum(
        _triangle(centre, _unit(a), _unit(b))
        for a, b in itertools.pairwise([corners[-1], *corners])
    )


def _clipped(corners: list[Point], normal: Point) -> list[Point]:
    """Return the part of a convex polygon on the positive side of a plane through the origin."""
    kept: list[Point] = []
    for a, b in itertools.pairwise([corners[-1], *corners]):
        of_a, of_b = _dot(a, normal), _dot(b, normal)
        if (of_a > 0) != (of_b > 0):
            t = of_a / (of_a - of_b)
            kept.append(_plus(_times(1 - t, a), _times(t, b)))
        if of_b > 0:
            kept.append(b)
    return kept


def _triangle(a: Point, b: Point, c: Point) -> float:
    """Return the area of a spherical triangle (van Oosterom, Strackee 1983)."""
    return 2 * math.atan2(_dot(a, _cross(b, c)), 1 + _dot(a, b) + _dot(b, c) + _dot(c, a))


def _dot(a: Point, b: Point) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Point, b: Point) -> Point:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _plus(a: Point, b: Point) -> Point:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _times(factor: float, a: Point) -> Point:
    return factor * a[0], factor * a[1], factor * a[2]


def _unit(a: Point) -> Point:
    return _times(1 / math.sqrt(_dot(a, a)), a)
