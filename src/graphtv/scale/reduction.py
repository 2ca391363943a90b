"""The problem for functions that are constant on pieces of the parts, solved as a whole.

A piece is a connected set of vertices of one part. For functions that are constant on every piece,
the problem is of the same kind, with one vertex per piece. The data of a piece are the mean of its
data, and its weight is the sum of their weights. The weights of all edges between two pieces are
added. This problem is small enough for one worker. It has two uses:

- After a round, the pieces are the sets where u is constant. Then the solution is at least as good
  as u. The dual point of a round is usually much closer to the optimum than the primal one, because
  the values of pieces that extend over several parts adapt slowly. Here they adapt at once. If
  channels are coupled, u is constant only up to the accuracy of the windows. Then pieces are found
  from p instead.
- Before the first round, the pieces are clusters of a few vertices along heavy edges. Then the
  first round starts from the flows across borders in the solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtv import _core
from graphtv._validate import Floats, Indices
from graphtv.graph.graph import Graph
from graphtv.problem import Problem
from graphtv.scale.tuning import TUNING
from graphtv.scale.window import Window, differences, rows
from graphtv.solver import solve
from graphtv.solver.termination import EXACT_GAP
from graphtv.terms import CoupledTV, HuberTV, SquaredLoss, TotalVariation


class Reduction(NamedTuple):
    """The pieces of a part, for one channel, or for all if channels are coupled.

    Attributes
    ----------
    mass, mean : ndarray, one entry per piece, or one row if channels are coupled
        The sum of the vertex weights, and the weighted mean of the data.
    edges, weights : ndarray
        The edges between pieces of the part, parallel ones summed.
    near, crossing : ndarray, one entry per edge across the border
        The piece of its end in this part, and its weight.
    starts : ndarray
        Where the edges to each neighbour begin.
    """

    mass: Floats
    mean: Floats
    edges: Indices
    weights: Floats
    near: Indices
    crossing: Floats
    starts: NDArray[np.int64]


def pieces_of(window: Window, flat: float) -> list[Indices]:
    """Return the piece of each vertex, for each channel: u differs by at most `flat` on its edges.

    If channels are coupled, there is one list for all of them, and p is inside its ball on the
    edges of a piece. The window is a whole part.
    """
    found, graph = [], window.graph
    if window.couples:
        kept = np.sum(window.p**2, axis=1) <= (1.0 - TUNING.coupled_slack) ** 2
        return [_core.connected_components(graph.n_vertices, graph.edges, kept)[1]]
    for u in _columns(window.u):
        kept = np.abs(differences(graph.edges, u)) <= flat
        found.append(_core.connected_components(len(u), graph.edges, kept)[1])
    return found


def clusters_of(window: Window, levels: int) -> list[Indices]:
    """Return the cluster of each vertex, for each channel.

    Clusters are about four times larger at each level. A cluster joins the neighbour with which it
    shares the largest weight. Among equal weights, the choice is arbitrary but fixed.
    """
    graph = window.graph
    count = graph.n_vertices
    labels: Indices = np.arange(count, dtype=np.int32)
    edges, weights = graph.edges, graph.weights
    for _ in range(levels):
        chosen = _heaviest(count, edges, weights)
        count, joined = _core.connected_components(count, edges, chosen)
        labels = joined[labels]
        edges, weights = _core.simplify(count, np.ascontiguousarray(joined[edges]), weights)
    return [labels] * len(_columns(window.f))


def _heaviest(count: int, edges: Indices, weights: Floats) -> NDArray[np.bool_]:
    """Return which edges are the heaviest of one of their ends, one edge per vertex."""
    most, least = np.full(count, -np.inf), np.full(count, np.iinfo(np.uint64).max)
    for ends in edges.T:
        np.maximum.at(most, ends, weights)
    scattered, chosen = _scattered(len(weights)), np.zeros(len(weights), dtype=bool)
    heavy = [np.flatnonzero(weights == most[ends]) for ends in edges.T]
    for ends, kept in zip(edges.T, heavy, strict=True):
        np.minimum.at(least, ends[kept], scattered[kept])
    for ends, kept in zip(edges.T, heavy, strict=True):
        chosen[kept] |= scattered[kept] == least[ends[kept]]
    return chosen


def reduced(
    window: Window,
    border: Any,
    labels: Sequence[Indices],
    data: tuple[Floats, Floats | None] | None = None,
) -> list[Reduction]:
    """Return the pieces of a part with their data and edges, as `pieces_of` does.

    `data` are those of a squared loss; by default, those of the window.
    """
    found, graph = [], window.graph
    if window.couples:
        parts = reduced(replace(window, couples=False), border, [*labels] * window.f.shape[1])
        return [
            parts[0]._replace(
                mass=np.stack([part.mass for part in parts], axis=1),
                mean=np.stack([part.mean for part in parts], axis=1),
            )
        ]
    signal, weights_of_data = (window.f, window.c) if data is None else data
    c = None if weights_of_data is None else _columns(weights_of_data)
    for channel, (f, piece) in enumerate(zip(_columns(signal), labels, strict=True)):
        count = int(piece.max(initial=-1)) + 1
        weight = np.ones(len(f)) if c is None else c[channel].astype(np.float64)
        mass: Floats = np.bincount(piece, weight, minlength=count).astype(np.float64)
        # Sums of differences: if all data of a piece are equal, their mean is exact.
        pivot, is_known = np.zeros(count), weight > 0.0
        pivot[piece[is_known]] = f[is_known]
        moment = np.bincount(piece, weight * (f - pivot[piece]), minlength=count)
        mean = pivot + moment / np.where(mass > 0.0, mass, 1.0)
        ends = np.ascontiguousarray(piece[graph.edges])
        edges, weights = _core.simplify(count, ends, graph.weights)
        near = piece[border.near]
        found.append(Reduction(mass, mean, edges, weights, near, border.crossing, border.starts))
    return found


class Coarse(NamedTuple):
    """A solution of the reduced problem: u by piece of each part, p by edge across each pair."""

    u: list[Floats]
    p: list[Floats]


def solve_reduced(
    parts: Sequence[Reduction],
    pairs: Sequence[tuple[int, int, int, int]],
    delta: float,
    tolerance: float,
    time_limit: float | None,
) -> Coarse | None:
    """Solve the problem of all pieces; None if it could not be solved in time.

    `pairs` has the two parts of each border, the first one before the second, the number of the
    second among the neighbours of the first, and vice versa.
    """
    begin = np.cumsum([0, *(len(part.mass) for part in parts)])
    edges = [part.edges.astype(np.int64) + begin[k] for k, part in enumerate(parts)]
    weights, across = [part.weights for part in parts], []
    for low, high, at_low, at_high in pairs:
        here = slice(*parts[low].starts[at_low : at_low + 2])
        there = slice(*parts[high].starts[at_high : at_high + 2])
        ends = parts[low].near[here] + begin[low], parts[high].near[there] + begin[high]
        across.append(np.stack(ends, axis=1))
        weights.append(parts[low].crossing[here])
    graph = Graph(int(begin[-1]), np.concatenate([*edges, *across]), np.concatenate(weights))
    mass = np.concatenate([part.mass for part in parts])
    loss = SquaredLoss(np.concatenate([part.mean for part in parts]), weights=mass)
    is_coupled = mass.ndim == 2
    penalty = CoupledTV(delta) if is_coupled else HuberTV(delta) if delta else TotalVariation()
    wanted = TUNING.reduced_share * tolerance
    if is_coupled:
        wanted = max(wanted, TUNING.least_coupled)
    result = solve(
        Problem(graph, loss, penalty),
        tol=wanted if wanted > EXACT_GAP else 0.0,
        time_limit=time_limit,
        n_threads=1,
    )
    if result.status not in ("optimal", "stalled"):
        return None
    return Coarse(np.split(result.u, begin[1:-1]), _values_of(graph, result.p, across))


def _values_of(graph: Graph, p: Floats, across: list[NDArray[np.int64]]) -> list[Floats]:
    """Return p for edges across borders, which may be parallel or reversed in the graph."""
    if not across:
        return []
    n = graph.n_vertices
    ends = graph.edges.astype(np.int64)
    keys = ends.min(axis=1) * n + ends.max(axis=1)
    order = np.argsort(keys, kind="stable")
    flipped = _flipped(ends, p)
    found = []
    for pair in across:
        wanted = pair.min(axis=1) * n + pair.max(axis=1)
        values = flipped[order[np.searchsorted(keys[order], wanted)]] if len(wanted) else p[:0]
        found.append(_flipped(pair, values))
    return found


def _flipped(ends: NDArray[np.int64], p: Floats) -> Floats:
    """Return p with the opposite sign where the first end is the larger one."""
    signs = np.where(ends[:, 0] > ends[:, 1], -1.0, 1.0)
    return p * rows(signs, p)


def _scattered(count: int) -> NDArray[np.uint64]:
    """Return distinct numbers in an arbitrary but fixed order (Knuth's multiplicative hash)."""
    return np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def _columns(values: NDArray[Any]) -> list[NDArray[Any]]:
    return [values] if values.ndim == 1 else list(np.ascontiguousarray(values.T))
