"""The exact level sets of the denoised signal: the minimum cuts of all shifts θ.

With whole capacities, the signal u at a vertex is a rational number, the mean of its piece. The
solver finds the pieces in floating point. If capacities differ by many orders of magnitude,
rounding errors may merge or split pieces. So the answer of the solver is treated as a guess. It is
checked in integers and corrected where it is wrong.

A set V of vertices with data f is cut at θ = k/|V|. In units of 1/|V|, vertex i has the excess |V|
f_i - k. A maximum flow in integers moves this excess to the vertices with a deficit.

- If θ is the mean of f and nothing is left, V is a piece: u = θ on V.
- Otherwise some set A is the source side of a minimum cut at θ. Then u ≥ θ on A, u ≤ θ on the rest
  B, and all arcs from A to B are full. A and B are then solved separately, with the full arcs as
  part of f (D. S. Hochbaum, "An efficient algorithm for image segmentation, Markov random fields
  and related problems", Journal of the ACM 48, 2001).

One flow per round cuts all sets. If a set has several levels according to the guess, it is cut
between the middle two of them, so that few rounds are needed. If the guess was wrong about a set,
the set is cut at its mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from graphtv import _core
from graphtv._validate import Floats
from graphtv.applications.cuts.cut_problem import (
    WORD,
    Capacities,
    CutProblem,
    Mask,
    nearest,
    outflow,
)
from graphtv.applications.cuts.excess_flow import ExcessFlow, excess_flow

Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sets:
    """Disjoint sets of vertices, numbered from 0, with the sums of the data."""

    of_vertex: Labels
    sizes: Labels
    totals: Capacities

    @classmethod
    def of(cls, labels: Labels, f: Capacities) -> Sets:
        """Return the sets of vertices with equal labels."""
        found, of_vertex, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        totals = np.zeros(len(found), dtype=f.dtype)
        np.add.at(totals, of_vertex, f)
        return cls(of_vertex, sizes, totals)

    def any(self, vertices: Mask) -> Mask:
        """Return whether each set contains one of the vertices."""
        found = np.zeros(len(self.sizes), dtype=bool)
        found[self.of_vertex[vertices]] = True
        return found


@dataclass(frozen=True, eq=False)
class ExactLevels:
    """The levels of u, highest first. Pieces with the same value form one level.

    Attributes
    ----------
    ranks : ndarray of int
        The level of each vertex that is not tied to a terminal.
    numerators, denominators : ndarray, shape (k,)
        The levels, strictly decreasing fractions.
    """

    ranks: Labels
    numerators: Capacities
    denominators: Labels

    @classmethod
    def of(cls, labels: Labels, f: Capacities) -> ExactLevels:
        """Return the levels of the given pieces, whose values are the means of f."""
        pieces = Sets.of(labels, f)
        totals, sizes = pieces.totals, pieces.sizes
        whole = totals // sizes
        rest = (totals - whole * sizes).astype(np.int64)
        # Two different fractions with denominators below 2³¹ differ in their first 62 binary
        # digits.
        digits, rest = np.divmod(rest << 31, sizes)
        keys = (rest << 31) // sizes, digits, np.unique(whole, return_inverse=True)[1]
        order = np.lexsort(keys)[::-1]
        is_new = np.ones(len(order), dtype=bool)
        is_new[1:] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.cumsum(is_new) - 1
        first = order[is_new]
        return cls(ranks[pieces.of_vertex], totals[first], sizes[first])

    @property
    def values(self) -> Floats:
        """The levels as floats, correctly rounded."""
        if np.abs(self.numerators).max(initial=0) <= 2**53:
            return self.numerators.astype(np.float64) / self.denominators
        pairs = zip(self.numerators.tolist(), self.denominators.tolist(), strict=True)
        return np.array([a / b for a, b in pairs])

    def n_above(self, theta: int | float, levels: range) -> int:
        """Return how many of the given levels are above θ."""
        shift = Fraction(theta)
        return sum(int(self.numerators[j]) > shift * int(self.denominators[j]) for j in levels)


@dataclass(frozen=True, eq=False)
class Inner:
    """The problem of the vertices that are not tied. Arcs from and to tied vertices are in f."""

    edges: NDArray[np.int32]
    forward: Capacities
    backward: Capacities
    f: Capacities
    guess: Floats  # approximate u
    flow: Floats  # approximate flow along the edges

    @classmethod
    def of(cls, problem: CutProblem, u: Floats, p: Floats) -> Inner:
        """Return the inner problem, with the guess of the primal and the dual solution."""
        free = problem.free
        total = problem.total() * (1 + int(free.sum()))  # in units of 1/|V|
        kind = np.int64 if total.bit_length() < WORD else object
        forward, backward = problem.forward.astype(kind), problem.backward.astype(kind)
        f = (problem.source - problem.sink).astype(kind)
        tails, heads = problem.graph.edges.T
        for tied, other, away, towards in (
            (tails, heads, forward, backward),
            (heads, tails, backward, forward),
        ):
            from_source = problem.source_seeds[tied] & free[other]
            np.add.at(f, other[from_source], away[from_source])
            to_sink = problem.sink_seeds[tied] & free[other]
            np.subtract.at(f, other[to_sink], towards[to_sink])
        kept = free[tails] & free[heads]
        forward, backward = forward[kept], backward[kept]
        name = np.cumsum(free, dtype=np.int32) - 1
        flow = 0.5 * (forward - backward).astype(np.float64) + (problem.graph.weights * p)[kept]
        return cls(name[problem.graph.edges[kept]], forward, backward, f[free], u[free], flow)

    def components(self, kept: Mask) -> Labels:
        """Return the connected component of each vertex in the graph of the kept edges."""
        n, ends = len(self.f), self.edges[kept].T
        matrix = sparse.csr_array((np.ones(ends.shape[1], dtype=np.int8), tuple(ends)), (n, n))
        labels: Labels = connected_components(matrix, directed=False)[1].astype(np.int64)
        return labels

    def fill(self, f: Capacities, above: Mask, below: Mask) -> None:
        """Add the flow of full edges to f: those from a higher to a lower set."""
        for (i, j), full, capacity in (
            (self.edges.T, above, self.forward),
            (self.edges.T[::-1], below, self.backward),
        ):
            np.subtract.at(f, i[full], capacity[full])
            np.add.at(f, j[full], capacity[full])

    def cut(
        self,
        vertices: Labels,
        edges: Labels,
        f: Capacities,
        sets: Sets,
        k: Capacities,
        watch: _core.Watch,
    ) -> ExcessFlow:
        """Cut each set V at θ = k/|V|, given its vertices and the edges inside."""
        place = np.zeros(len(self.f), dtype=np.int32)
        place[vertices] = np.arange(len(vertices))
        ends = place[self.edges[edges]]
        scale = sets.sizes[sets.of_vertex]
        of_edge = scale[ends[:, 0]]
        most, least = self.forward[edges] * of_edge, -self.backward[edges] * of_edge
        x = np.minimum(np.maximum(nearest(self.flow[edges] * of_edge, f), least), most)
        excess = f[vertices] * scale - k[sets.of_vertex] - outflow(ends, x, len(vertices))
        result = excess_flow(ends, most, -least, excess, watch, x)
        self.flow[edges] = result.edges.astype(np.float64) / of_edge
        return result


def exact_levels(
    problem: CutProblem, u: Floats, p: Floats, watch: _core.Watch
) -> ExactLevels | None:
    """Return the exact levels of a problem with whole capacities, or None if the watch expired.

    `u` and `p` are guesses of the two solutions. They affect the time, but not the result.
    """
    inner = Inner.of(problem, u, p)
    return _checked(inner, watch) or _searched(inner, watch)


def _checked(inner: Inner, watch: _core.Watch) -> ExactLevels | None:
    """Return the levels of the guess if they are correct, otherwise None."""
    tails, heads = inner.guess[inner.edges.T]
    above, below, level = tails > heads, tails < heads, tails == heads
    f = inner.f.copy()
    inner.fill(f, above, below)
    labels = inner.components(level)
    levels = ExactLevels.of(labels, f)
    tails, heads = levels.ranks[inner.edges.T]
    if (above & (tails > heads)).any() or (below & (tails < heads)).any():
        return None
    sets = Sets.of(labels, f)
    cut = inner.cut(np.arange(len(f)), np.flatnonzero(level), f, sets, sets.totals, watch)
    return None if cut.excess.any() else levels


def _searched(inner: Inner, watch: _core.Watch) -> ExactLevels | None:
    """Cut until every set is a piece."""
    n, m = len(inner.f), len(inner.edges)
    f = inner.f.copy()
    pieces = np.zeros(n, dtype=np.int64)  # the piece of each vertex, once it is known
    n_pieces = 0
    vertices, edges = np.arange(n), np.arange(m)
    labels = inner.components(np.ones(m, dtype=bool))
    trusts = np.ones(n, dtype=bool)  # whether the guess was right about the set of the vertex
    side = np.zeros(n, dtype=bool)
    while len(vertices) > 0:
        sets = Sets.of(labels[vertices], f[vertices])
        middle, has_middle = _middles(inner.guess[vertices], sets)
        by_guess = has_middle & sets.any(trusts[vertices])
        k = np.where(by_guess, nearest(middle * sets.sizes, f), sets.totals)
        cut = inner.cut(vertices, edges, f, sets, k, watch)
        if not cut.is_finished:
            return None
        is_piece = ~(by_guess | sets.any(cut.excess != 0))
        trusts[vertices] = (sets.any(cut.side) & sets.any(~cut.side))[sets.of_vertex]
        side[vertices] = cut.side
        labels[vertices] = 2 * sets.of_vertex + cut.side
        found = is_piece[sets.of_vertex]
        pieces[vertices[found]] = n_pieces + sets.of_vertex[found]
        n_pieces += len(sets.sizes)
        # A cut never divides a set without remaining excess.
        tails, heads = side[inner.edges[edges].T]
        above, below = np.zeros((2, m), dtype=bool)
        above[edges], below[edges] = tails & ~heads, heads & ~tails
        inner.fill(f, above, below)
        side[vertices[found]] = False
        is_active = np.zeros(n, dtype=bool)
        vertices = vertices[~found]
        is_active[vertices] = True
        edges = edges[(tails == heads) & is_active[inner.edges[edges, 0]]]
    return ExactLevels.of(pieces, f)


def _middles(guess: Floats, sets: Sets) -> tuple[Floats, Mask]:
    """Return a number between the two middle levels of each set, and which sets have two."""
    order = np.lexsort([guess, sets.of_vertex])
    u, label = guess[order], sets.of_vertex[order]
    end = np.cumsum(sets.sizes)
    start = end - sets.sizes
    is_first = np.ones(len(u), dtype=bool)  # the first vertex of a level in its set
    is_first[1:] = (u[1:] != u[:-1]) | (label[1:] != label[:-1])
    firsts = np.append(np.flatnonzero(is_first), len(u))
    run = np.cumsum(is_first) - 1
    middle = (start + end) // 2
    at = firsts[run[middle]]
    at = np.where(at > start, at, firsts[run[middle] + 1])
    has_two = at < end
    at = np.minimum(at, end - 1)
    low, high = u[np.maximum(at - 1, 0)], u[at]
    return low + 0.5 * (high - low), has_two
