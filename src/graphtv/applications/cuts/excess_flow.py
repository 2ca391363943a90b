"""Maximum flows from vertices with excess to vertices with a deficit, for numbers of any size.

The core computes with 64-bit integers and with floats. Larger integers are moved in portions. The
first portion uses units so large that 62 bits are sufficient. Later portions move the rest in
smaller units.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphtv import _core
from graphtv._validate import Indices
from graphtv.applications.cuts.cut_problem import Capacities, Mask, outflow
from graphtv.applications.cuts.sums import exact_sum

LARGEST = 62
"""Largest number of bits of the core's integers."""


class ExcessFlow(NamedTuple):
    """A maximum flow and a minimum cut.

    Attributes
    ----------
    edges : ndarray, shape (m,)
        The flow along each edge.
    excess : ndarray, shape (n,)
        The remaining excess.
    side : ndarray of bool, shape (n,)
        The source side of a minimum cut. It contains all remaining excess and no deficit.
    is_finished : bool
        Whether the flow is maximum. It is not if the watch ended the search early.
    """

    edges: Capacities
    excess: Capacities
    side: Mask
    is_finished: bool


def excess_flow(
    edges: Indices,
    there: Capacities,
    back: Capacities,
    excess: Capacities,
    watch: _core.Watch,
    flow: Capacities | None = None,
    gathers: bool = False,
) -> ExcessFlow:
    """Move as much excess as possible to the vertices with a deficit (negative excess).

    `there` and `back` are the capacities of each edge from its tail to its head and back. `flow` is
    the flow at the start, and `excess` is the excess that it leaves. `gathers` makes the search
    faster if paths are long, but excess may then remain at other vertices than before.
    """
    if excess.dtype == object:
        return _in_portions(edges, there, back, excess, watch, flow, gathers)
    flow = np.zeros_like(there) if flow is None else flow.copy()
    excess = excess.copy()
    side = np.empty(len(excess), dtype=bool)
    is_finished = _core.minimum_cut(
        len(excess), edges, there, back, flow, excess, side, gathers, watch
    )
    return ExcessFlow(flow, excess, side, is_finished)


def _in_portions(
    edges: Indices,
    there: Capacities,
    back: Capacities,
    excess: Capacities,
    watch: _core.Watch,
    flow: Capacities | None,
    gathers: bool,
) -> ExcessFlow:
    """Compute `excess_flow` in integers of any size."""
    flow = np.zeros_like(there) if flow is None else flow
    gap = min(_positive(excess), _positive(-excess))
    is_finished = True
    while gap > 0 and is_finished:
        # At most the gap can still be moved, so larger numbers are reduced to it.
        rooms = np.minimum(there - flow, gap), np.minimum(back + flow, gap)
        part = np.minimum(np.maximum(excess, -gap), gap)
        largest = max(int((rooms[0] + rooms[1]).max(initial=0)), int(np.abs(part).max()))
        shift = max(largest.bit_length() - LARGEST, 0)
        open_there, open_back = ((room >> shift).astype(np.int64) for room in rooms)
        units = (np.sign(part) * (np.abs(part) >> shift)).astype(np.int64)
        moved, _, side, is_finished = excess_flow(
            edges, open_there, open_back, units, watch, gathers=gathers
        )
        portion = moved.astype(object) << shift
        flow = flow + portion
        before, excess = _positive(excess), excess - outflow(edges, portion, len(excess))
        gap -= before - _positive(excess)
        gap = 0 if shift == 0 else min(gap, _gap(edges, there - flow, back + flow, excess, side))
    # The flow is maximum. The source side is what the remaining excess can reach.
    rooms = (np.sign(there - flow).astype(np.int64), np.sign(back + flow).astype(np.int64))
    side = excess_flow(edges, *rooms, np.sign(excess).astype(np.int64), watch).side
    return ExcessFlow(flow, excess, side, is_finished)


def _positive(values: Capacities) -> int:
    return int(exact_sum(np.maximum(values, 0)))


def _gap(
    edges: Indices, there: Capacities, back: Capacities, excess: Capacities, side: Mask
) -> int:
    """Return the value of a cut, an upper bound of what can still be moved."""
    tails, heads = side[edges.T]
    parts = (
        np.maximum(excess[~side], 0),
        np.maximum(-excess[side], 0),
        there[tails & ~heads],
        back[heads & ~tails],
    )
    return sum(int(exact_sum(part)) for part in parts)
