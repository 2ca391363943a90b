"""Strips across the borders of parts: the subgraph of the vertices near a border."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from graphtv._validate import Floats, Indices
from graphtv.graph.graph import Graph
from graphtv.scale.window import Window, interleaved, joined_anchor


class SidePoints(NamedTuple):
    """The points on one side of a strip: its vertices, its inner edges and those across."""

    u: Floats
    p: Floats
    q: Floats


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a strip, which is sent to the other part.

    Attributes
    ----------
    window : Window
        The subgraph; its outflow includes all edges out of the strip, but not those across.
    near, crossing, q : ndarray
        The ends of the edges across in this window, their weights and p.
    """

    window: Window
    near: Indices
    crossing: Floats
    q: Floats

    def join(self, other: Side) -> Strip:
        """Return the strip made of this side, which comes first, and the other one."""
        low, high, count = self.window, other.window, self.window.graph.n_vertices
        across = np.stack([self.near, other.near + np.int32(count)], axis=1)
        order = interleaved([len(low.p), len(high.p), len(self.q)])
        edges = np.concatenate([low.graph.edges, high.graph.edges + np.int32(count), across])
        weights = np.concatenate([low.graph.weights, high.graph.weights, self.crossing])
        size = count + high.graph.n_vertices
        graph = Graph._from_simple(size, edges[order], weights[order])
        c = None
        if low.c is not None or high.c is not None:
            c = np.concatenate([np.ones(w.f.shape) if w.c is None else w.c for w in (low, high)])
        window = Window(
            np.concatenate([low.f, high.f]),
            c,
            graph,
            np.concatenate([low.outflow, high.outflow]),
            np.concatenate([low.u, high.u]),
            np.concatenate([low.p, high.p, self.q])[order],
            low.delta,
            joined_anchor(low, high),
        )
        return Strip(window, count, len(low.p), len(high.p))


@dataclass(frozen=True, eq=False)
class Strip:
    """Both sides of a border. The vertices of the first side come first."""

    inside: Window
    n_low: int
    m_low: int
    m_high: int

    def window(self) -> Window:
        """Return the subgraph."""
        return self.inside

    def with_points(self, window: Window) -> Strip:
        """Return the strip with the points of its window."""
        return replace(self, inside=window)

    def halves(self) -> tuple[SidePoints, SidePoints]:
        """Return the points of both sides."""
        u, n, m = self.inside.u, self.n_low, self.m_low + self.m_high
        p = np.empty(self.inside.p.shape)
        p[interleaved([self.m_low, self.m_high, len(p) - m])] = self.inside.p
        low, high, q = np.split(p, [self.m_low, m])
        return (
            SidePoints(u[:n].copy(), low.copy(), q.copy()),
            SidePoints(u[n:].copy(), high.copy(), q.copy()),
        )
