"""A part of a graph: its vertices, the edges inside, and those across its border.

Edges across the border of two parts belong to both, in the same order. They lead from the part that
comes first to the other one. A part also knows, for each of its neighbours, the vertices within a
few steps of their common border: its side of the strip across this border.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphtv._elementary import ROUNDOFF
from graphtv._validate import Floats, Indices
from graphtv.graph.graph import Graph
from graphtv.scale import certificate
from graphtv.scale.block import Block
from graphtv.scale.certificate import Share
from graphtv.scale.coordinates import Coordinates
from graphtv.scale.part_graph import PartGraph
from graphtv.scale.part_strip import Side, SidePoints
from graphtv.scale.strips import Sides, sides_of
from graphtv.scale.window import (
    Border,
    Window,
    differences,
    divergence,
    rows,
)
from graphtv.terms._units import exactly_scaled

EDGES = ("edges", "weights", "near", "crossing", "starts", "signs")
DATA = ("f", "c", *EDGES, *Sides._fields)
"""Names of the arrays that no round changes."""

POINTS = ("u", "p", "q", "before", "anchor")
"""Names of the arrays that rounds change."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Part(Block):
    """A part of a graph with n vertices, m inner edges, and b edges to its k neighbours.

    Attributes
    ----------
    f : ndarray, shape (n,) or (n, C)
        The data. `Block` has the other attributes.
    edges, weights : ndarray, shapes (m, 2) and (m,)
        The inner edges and their weights.
    near, crossing : ndarray, shape (b,)
        The ends in this part of the edges across the border, and their weights.
    starts, signs : ndarray, shapes (k + 1,) and (k,)
        Where the edges to each neighbour begin, and 1 if they lead out of this part, -1 if into it.
    side, sides, inner, inners, rim, rims : ndarray
        This part's sides of all strips, see `strips.Sides`.
    p, q : ndarray
        The dual point inside and across the border.
    before : ndarray or None
        q before the last round.
    """

    edges: Indices
    weights: Floats
    near: Indices
    crossing: Floats
    starts: NDArray[np.int64]
    signs: NDArray[np.int64]
    side: Indices
    sides: NDArray[np.int64]
    inner: Indices
    inners: NDArray[np.int64]
    rim: Indices
    rims: NDArray[np.int64]
    p: Floats
    q: Floats
    before: Floats | None = None

    @classmethod
    def made_of(
        cls,
        f: NDArray[Any],
        c: NDArray[Any] | None,
        graph: PartGraph,
        factor: float,
        delta: float,
    ) -> Self:
        """Return a part with p = 0 and u = f; `factor` multiplies the weights of the graph."""
        f = np.asarray(f, dtype=np.float64)
        if c is not None:
            c = np.broadcast_to(np.asarray(c, dtype=np.float64), f.shape)
            c = None if (c == 1.0).all() else np.array(c)
        sides = sides_of(len(f), graph.edges, graph.near, graph.starts)
        channels = f.shape[1:]
        return cls(
            f=f,
            c=c,
            edges=graph.edges,
            weights=factor * graph.weights,
            near=graph.near,
            crossing=factor * graph.crossing,
            starts=graph.starts,
            signs=graph.signs,
            **sides._asdict(),
            u=f.copy(),
            p=np.zeros((len(graph.edges), *channels)),
            q=np.zeros((len(graph.near), *channels)),
            delta=delta,
        )

    def in_coordinates(self, coordinates: Coordinates, filling: Floats) -> Self:
        """Return the part for v, at rest, with a value where there is no data.

        Raises
        ------
        InexactError
            If the units do not suit some number.
        """
        f, c = coordinates.data(self.f, self.c, filling)
        a, b = coordinates.units
        return replace(
            self,
            f=f,
            c=c,
            weights=exactly_scaled(self.weights, a - b),
            crossing=exactly_scaled(self.crossing, a - b),
            u=f.copy(),
            delta=float(exactly_scaled(self.delta, -b)),
        )

    def data_arrays(self) -> dict[str, Any]:
        """Return the arrays that no round changes."""
        return {name: getattr(self, name) for name in DATA}

    def point_arrays(self) -> dict[str, Any]:
        """Return the arrays that rounds change."""
        return {name: getattr(self, name) for name in POINTS}

    def numbers(self) -> dict[str, Any]:
        """Return all other attributes."""
        return {"delta": self.delta}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any], numbers: dict[str, Any]) -> Self:
        """Return the part of these arrays and numbers."""
        attributes: dict[str, Any] = {name: arrays.get(name) for name in DATA + POINTS}
        return cls(**attributes, **numbers)

    @property
    def graph(self) -> Graph:
        """The inner edges."""
        return Graph._from_simple(len(self.f), self.edges, self.weights)

    def _data(self) -> Iterable[Any]:
        return self.f, self.c, self.edges, self.weights, self.near, self.crossing

    # Windows -------------------------------------------------------------------------------------

    def window(self) -> Window:
        """Return the interior, given the flows across the border."""
        return Window(
            self.f,
            self.c,
            self.graph,
            self._outflow(),
            self.u,
            self.p,
            self.delta,
            self.anchor,
        )

    def with_points(self, window: Window) -> Self:
        """Return this part with the points of its window."""
        return replace(self, u=window.u, p=window.p)

    def piece(self, neighbour: int) -> Side:
        """Return this part's side of the strip across the border to a neighbour."""
        vertices, inside = self._side(neighbour)
        place = np.full(len(self.f), -1, dtype=np.int32)
        place[vertices] = np.arange(len(vertices), dtype=np.int32)
        edges = np.ascontiguousarray(place[self.edges[inside]])
        graph = Graph._from_simple(len(vertices), edges, self.weights[inside])
        across = self._across(neighbour)
        near, q, crossing = place[self.near[across]], self.q[across], self.crossing[across]
        c = None if self.c is None else self.c[vertices]
        anchor = None if self.anchor is None else self.anchor[vertices]
        outflow = self._outflow_of_side(neighbour, len(vertices), place)
        u, p = self.u[vertices], self.p[inside]
        window = Window(self.f[vertices], c, graph, outflow, u, p, self.delta, anchor)
        return Side(window, near, crossing, q)

    def _outflow_of_side(self, neighbour: int, size: int, place: Indices) -> Floats:
        """Return the divergence of the flows out of a side, except to its own neighbour."""
        rim = self.rim[_slice(self.rims, neighbour)]
        p = self.p[rim]
        flow, ends = rows(self.weights[rim], p) * p, place[self.edges[rim]]
        outflow = np.zeros((size, *self.f.shape[1:]))
        for at, sign in (ends[:, 0], 1.0), (ends[:, 1], -1.0):
            _add_at(outflow, at[at >= 0], sign * flow[at >= 0])
        flow, at = self._flows_out(), place[self.near]
        at[self._across(neighbour)] = -1
        _add_at(outflow, at[at >= 0], flow[at >= 0])
        return outflow

    def paste(self, pieces: Iterable[tuple[int, SidePoints]]) -> Self:
        """Return this part with new points of its sides of strips."""
        u, p, q = self.u.copy(), self.p.copy(), self.q.copy()
        for neighbour, new in pieces:
            vertices, inside = self._side(neighbour)
            u[vertices], p[inside], q[self._across(neighbour)] = new
        return replace(self, u=u, p=p, q=q)

    def extrapolate(self, momentum: float) -> Self:
        """Return this part with extrapolated flows across its border."""
        now, old = self.q, self.before
        if old is not None and np.array_equal(now, old):
            return self
        q = now
        if old is not None and momentum > 0.0:
            q = np.clip(now + momentum * (now - old), -1.0, 1.0)
        return replace(self, q=q, before=now)

    def border(self) -> Border:
        """Return the edges across the border."""
        return Border(self.near, self.crossing, self.starts)

    def with_u(self, u: Floats) -> Self:
        """Return this part with another primal point, one row per vertex."""
        return replace(self, u=u)

    def start_across(self, p: Mapping[int, Floats]) -> Self:
        """Return this part with p across its border by neighbour, 0 inside, and the resulting u."""
        q = np.zeros(self.q.shape)
        for neighbour, values in p.items():
            q[self._across(neighbour)] = values
        return replace(self, q=q, p=np.zeros(self.p.shape))._with_primal()

    # Values --------------------------------------------------------------------------------------

    def across(self, neighbour: int) -> Floats:
        """Return p of the edges to a neighbour."""
        q: Floats = self.q[self._across(neighbour)]
        return q

    def border_values(self, neighbour: int) -> Floats:
        """Return u at the ends of the edges to a neighbour, which its certificate needs."""
        values: Floats = self.u[self.near[self._across(neighbour)]]
        return values

    def _edge_shares(self, u: Floats, beyond: Sequence[Floats | None]) -> Iterator[Share]:
        """Yield the shares of the inner edges, and of those that lead out of this part.

        `beyond` has u at the other ends of the edges to each neighbour, or None if the edges belong
        to the share of that neighbour.
        """
        inner = differences(self.edges, u)
        yield certificate.edges(rows(self.weights, self.p), self.p, inner, self.delta)
        for neighbour, values in enumerate(beyond):
            if values is not None:
                across = self._across(neighbour)
                q, weights = self.q[across], rows(self.crossing[across], self.q)
                yield certificate.edges(weights, q, u[self.near[across]] - values, self.delta)

    def _divergence(self) -> Floats:
        return divergence(self.graph, self.p) + self._outflow()

    def _divergence_errors(self) -> Floats:
        """Return bounds on the rounding of Kᵀx: products, and sums over the edges of a vertex."""
        n = len(self.f)
        ends, sizes = self.edges.ravel(), np.zeros(self.f.shape)
        count = np.bincount(ends, minlength=n) + np.bincount(self.near, minlength=n)
        flow = np.abs(rows(self.weights, self.p) * self.p)
        _add_at(sizes, self.edges[:, 0], flow)
        _add_at(sizes, self.edges[:, 1], flow)
        across = np.abs(rows(self.crossing, self.q) * self.q)
        _add_at(sizes, self.near, across)
        floor = certificate.FLOOR * count
        factor = 1.01 * ROUNDOFF * (count + 3.0)
        if self.f.ndim > 1:
            factor, floor = factor[:, None], floor[:, None]
        errors: Floats = np.where(sizes > 0.0, factor * sizes + floor, 0.0)
        return errors

    def _outflow(self) -> Floats:
        """Return the divergence of the flows across the border."""
        outflow = np.zeros(self.f.shape)
        _add_at(outflow, self.near, self._flows_out())
        return outflow

    def _flows_out(self) -> Floats:
        """Return the flows out of this part on the edges across its border."""
        signs = np.repeat(self.signs, np.diff(self.starts)).astype(np.float64)
        flows: Floats = rows(signs * self.crossing, self.q) * self.q
        return flows

    def _across(self, neighbour: int) -> slice:
        return _slice(self.starts, neighbour)

    def _side(self, neighbour: int) -> tuple[Indices, Indices]:
        """Return the vertices of a side and the edges between them."""
        return self.side[_slice(self.sides, neighbour)], self.inner[_slice(self.inners, neighbour)]


def _slice(starts: NDArray[np.int64], number: int) -> slice:
    return slice(int(starts[number]), int(starts[number + 1]))


def _add_at(out: Floats, places: Indices, values: Floats) -> None:
    """Add values to rows of `out`, several to the same row, in a fixed order."""
    if out.ndim == 1:
        out += np.bincount(places, values, minlength=len(out))
        return
    for channel in range(out.shape[1]):
        out[:, channel] += np.bincount(places, values[:, channel], minlength=len(out))
