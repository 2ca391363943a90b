"""Maximum flows in integers of any size, from excess to deficits, by the core's maximum flow.

Floats calculate exactly with whole numbers of up to 53 bits. Larger amounts are moved in portions:
first in units so large that all sums have 51 bits, then in smaller units what is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from graphtv import _core
from graphtv._validate import Indices
from graphtv.applications.cuts.cut_problem import Capacities, Mask, outflow
from graphtv.applications.cuts.flow_network import exact_sum

PORTION = 51
"""Bits of the largest sum that may occur in a run of the core: two less than floats have."""


class WholeFlow(NamedTuple):
    """What a maximum flow has changed.

    Attributes
    ----------
    moved : ndarray, shape (m,)
        What has been sent along each edge.
    excess : ndarray, shape (n,)
        What is left.
    reached : ndarray of bool, shape (n,)
        What the excess that is left can still reach: the source side of a minimum cut.
    is_finished : bool
        Whether it is a maximum flow; False if the watch expired.
    """

    moved: Capacities
    excess: Capacities
    reached: Mask
    is_finished: bool


def whole_flow(
    edges: Indices, there: Capacities, back: Capacities, excess: Capacities, watch: _core.Watch
) -> WholeFlow:
    """Move as much excess as possible to deficits, the negative entries.

    `there` and `back` are what each edge can carry from its tail to its head, and back.
    """
    moved = np.zeros_like(there)
    gap = min(int(exact_sum(np.maximum(sign * excess, 0))) for sign in (1, -1))
    while True:
        # More than the gap cannot be gained: nothing larger need be told apart.
        part = np.minimum(np.maximum(excess, -gap), gap)
        rooms = np.minimum(there, gap), np.minimum(back, gap)
        portion, unit, is_finished = _portion(edges, rooms, part, watch)
        moved, there, back = moved + portion, there - portion, back + portion
        excess = excess - outflow(edges, portion, len(excess))
        reached = reachable(edges, there >= unit, back >= unit, excess >= unit)
        if unit == 1 or not is_finished:
            return WholeFlow(moved, excess, reached, is_finished)
        gap = _gap(edges, there, back, excess, reached)


def reachable(edges: Indices, there: Mask, back: Mask, roots: Mask) -> Mask:
    """Return the vertices to which a path leads from the roots, along open edges."""
    n = len(roots)
    tails, heads = edges.T
    first = np.flatnonzero(roots)
    rows = np.concatenate([tails[there], heads[back], np.full(len(first), n)])
    columns = np.concatenate([heads[there], tails[back], first])
    arcs = sparse.csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), (n + 1, n + 1))
    reached = np.zeros(n + 1, dtype=bool)
    reached[breadth_first_order(arcs, n, return_predecessors=False)] = True
    return reached[:n]


def _portion(
    edges: Indices, rooms: tuple[Capacities, Capacities], excess: Capacities, watch: _core.Watch
) -> tuple[Capacities, int, bool]:
    """Return a maximum flow in units that keep sums below 2^PORTION, the unit, and if it ended."""
    shift = max(int(exact_sum(np.abs(excess))).bit_length() - PORTION, 0)
    there, back = ((room >> shift).astype(np.float64) for room in rooms)
    units = (np.sign(excess) * (np.abs(excess) >> shift)).astype(np.float64)
    x = 0.5 * (back - there)
    before = x.copy()
    weights = 0.5 * (there + back)
    is_finished = _core.max_flow(len(excess), edges, weights, x, units, 0.0, False, watch)
    moved: NDArray[np.int64] = (x - before).astype(np.int64)
    return moved.astype(excess.dtype) << shift, 1 << shift, is_finished


def _gap(
    edges: Indices, there: Capacities, back: Capacities, excess: Capacities, reached: Mask
) -> int:
    """Return the value of a cut: how much could still be moved."""
    tails, heads = reached[edges.T]
    parts = (
        np.maximum(excess[~reached], 0),
        np.maximum(-excess[reached], 0),
        there[tails & ~heads],
        back[heads & ~tails],
    )
    return sum(int(exact_sum(part)) for part in parts)
