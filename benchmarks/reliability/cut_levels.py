"""Every level of `cut_path` is a minimum cut in integers, for all capacities.

Capacities are a small number times 1 or times a magnitude D between 1e6 and 1e18, so that the small
ones are lost in the rounding errors of the large ones. The test evaluates shifts in every piece of
the path, at its breakpoints, and at integers around them. It compares the value with a maximum flow
in Python integers that shares no code with the library. `min_cut` is compared at the shift 0.
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphtv import FlowNetwork
from graphtv.applications.cuts.cut_path import CutPath
from reliability.harness import Figures, Property

MAGNITUDES = tuple(10**k for k in range(6, 19))
PER_MAGNITUDE = 750


def make_network(rng: np.random.Generator, magnitude: int) -> FlowNetwork:
    """Return a small network whose capacities are near 1 or near the magnitude."""
    n = int(rng.integers(3, 15))
    m = int(rng.integers(n, 4 * n))
    arcs = rng.integers(0, n, (m, 2))
    large = rng.random(m) < rng.choice([0.2, 0.5, 0.8])
    capacities = rng.integers(0, 5, m) * np.where(large, magnitude, 1)
    source, sink = rng.choice(n, 2, replace=False)
    return FlowNetwork(n, arcs, capacities, int(source), int(sink))


def least_cut(network: FlowNetwork, theta: Fraction) -> Fraction:
    """Return the value of the minimum cut at a shift, by shortest augmenting paths in integers."""
    s, t, unit = network.source, network.sink, theta.denominator
    room: list[dict[int, int]] = [{} for _ in range(network.n_vertices)]

    def add(i: int, j: int, capacity: int) -> None:
        if i != j and j != s and i != t:
            room[i][j] = room[i].get(j, 0) + capacity
            room[j].setdefault(i, 0)

    for (i, j), c in zip(network.arcs.tolist(), network.capacities.tolist(), strict=True):
        add(i, j, c * unit)
    for v in set(range(network.n_vertices)) - {s, t}:
        if theta > 0:
            add(v, t, theta.numerator)
        elif theta < 0:
            add(s, v, -theta.numerator)
    total = 0
    while path := shortest_path(room, s, t):
        amount = min(room[i][j] for i, j in path)
        for i, j in path:
            room[i][j] -= amount
            room[j][i] += amount
        total += amount
    return Fraction(total, unit)


def shifted_cost(network: FlowNetwork, side: NDArray[np.bool_], theta: Fraction) -> Fraction:
    """Return the cost of a cut at a shift."""
    arcs = zip(network.arcs.tolist(), network.capacities.tolist(), strict=True)
    cost = sum(c for (i, j), c in arcs if side[i] and not side[j])
    n_inside = int(side.sum()) - 1
    n_outside = network.n_vertices - 2 - n_inside
    return cost + max(theta, 0) * n_inside + max(-theta, 0) * n_outside


def shortest_path(room: list[dict[int, int]], s: int, t: int) -> list[tuple[int, int]]:
    """Return the arcs of a shortest path with residual capacity, or nothing."""
    parent = {s: s}
    queue = deque([s])
    while queue and t not in parent:
        i = queue.popleft()
        for j, rest in room[i].items():
            if rest > 0 and j not in parent:
                parent[j] = i
                queue.append(j)
    path = []
    while t in parent and t != s:
        path.append((parent[t], t))
        t = parent[t]
    return path


def shifts(path: CutPath) -> list[int | float]:
    """Return shifts in the pieces of the path, and floats and integers at its breakpoints."""
    levels = path.breakpoints.tolist()
    if not levels:
        return [0]
    found = [0, round(levels[0]) + 1, round(levels[-1]) - 1, *levels, *map(round, levels)]
    return found + [(a + b) / 2 for a, b in pairwise(levels)]


def check(seed: int, number: int) -> Figures:
    """Compare the path of a random network with exact minimum cuts."""
    magnitude = MAGNITUDES[number % len(MAGNITUDES)]
    network = make_network(np.random.default_rng([seed, number]), magnitude)
    cut, path = network.min_cut(n_threads=1), network.cut_path(n_threads=1)
    assert cut.certified
    assert cut.value == least_cut(network, Fraction(0))
    assert path.certified
    for shift in shifts(path):
        theta = Fraction(shift)
        least = least_cut(network, theta)
        told = f"D = {magnitude:.0e}, θ = {shift}: the minimum is {least}"
        cost = shifted_cost(network, path.source_side(shift), theta)
        assert cost == least, f"{told}, the source side costs {cost}"
        value = path.value(shift)
        if float(shift).is_integer():
            assert value == least, f"{told}, the value is {value}"
        assert abs(value - float(least)) <= 1e-15 * float(least), f"{told}, the value is {value}"
    return {"networks": 1, "cuts": len(path)}


PROPERTY = Property(
    "cut-levels",
    "Levels of cut_path",
    check,
    cases=PER_MAGNITUDE * len(MAGNITUDES),
    quick=40,
)
