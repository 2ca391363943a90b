"""A box of a grid: its part of the problem, of the primal and of the dual point.

In a window, a vertex without data (c = 0) has a term ρ/2 (u - u_old)². For these vertices this is a
proximal point method, with u_x = u_old - (Kᵀx)/ρ. The certificate does not contain this term (see
`certificate`).

A tile also stores the flows across its border, which are fixed for it. Given these, its interior is
a problem of the same kind, with the data f - C⁻¹(flows across the border); `relax` solves it with
`graphtv.solve`. Parts of a tile, and unions of neighbouring parts, are tiles again.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats
from graphtv.graph.graph import Graph
from graphtv.graph.grid import grid_graph
from graphtv.problem import Problem
from graphtv.scale import certificate
from graphtv.scale.certificate import UNIT, Share
from graphtv.scale.coordinates import Coordinates
from graphtv.scale.tiling import layers
from graphtv.solver import solve
from graphtv.solver.termination import EXACT_GAP
from graphtv.terms import HuberTV, SquaredLoss, TotalVariation
from graphtv.terms._units import exactly_scaled

Weight = float | Floats

ALL = slice(None)


class Unknown(NamedTuple):
    """The treatment of vertices without data.

    Attributes
    ----------
    rho : float
        Weight of the proximal term.
    least, most : ndarray, one entry per channel
        Bounds of the optimal values.
    """

    rho: float
    least: Floats
    most: Floats


class Points(NamedTuple):
    """The primal and the dual point of a box."""

    u: Floats
    p: tuple[Floats, ...]


@dataclass(frozen=True, eq=False)
class Tile:
    """A box of the grid, with d spatial axes.

    Attributes
    ----------
    f : ndarray, shape (*lengths) or (*lengths, C)
        The data.
    c : ndarray of the same shape or None
        Vertex weights; None means 1 everywhere.
    weights : tuple of float or ndarray, one per axis
        Weights ω of the edges along each axis. An array has the shape `lengths` with one additional
        entry along its axis: the first and the last entries are edges across the border.
    p : tuple of ndarray, one per axis
        The dual point, with the shape of such an array and channels; 0 if there is no edge.
    u : ndarray, shape of f
        The primal point.
    delta : float
        Width of the Huber penalty, 0 for total variation.
    before : tuple of ndarray, one per axis, or None
        The first and the last layer of p (across the border) before the last round.
    """

    f: NDArray[Any]
    c: NDArray[Any] | None
    weights: tuple[Weight, ...]
    p: tuple[Floats, ...]
    u: Floats
    delta: float = 0.0
    before: tuple[Floats, ...] | None = None

    @classmethod
    def at_rest(
        cls, f: NDArray[Any], c: NDArray[Any] | None, weights: tuple[Weight, ...], delta: float
    ) -> Tile:
        """Return a tile with p = 0 and u = f."""
        d = len(weights)
        p = tuple(np.zeros(_longer(f.shape, axis)) for axis in range(d))
        return cls(f, c, weights, p, np.array(f, dtype=np.float64), delta)

    def in_coordinates(self, coordinates: Coordinates, filling: Floats) -> Tile:
        """Return the tile for v, at rest, with a value where there is no data.

        Raises
        ------
        InexactError
            If the units do not suit some number.
        """
        f, c, (a, b) = self.f, self.c, coordinates.units
        if not coordinates.are_plain:
            f = f.astype(np.float64) - coordinates.centre
            f = f if c is None else np.where(c > 0.0, f, 0.0)
            f = exactly_scaled(f, -a)
        if 2 * a != b:
            c = exactly_scaled(np.ones(f.shape) if c is None else c.astype(np.float64), 2 * a - b)
        if c is not None:
            f = np.where(c > 0.0, f, filling.astype(f.dtype))
        weights = tuple(_scaled_weight(weight, a - b) for weight in self.weights)
        delta = float(exactly_scaled(self.delta, -b))
        return Tile.at_rest(f, c, weights, delta)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of the spatial axes."""
        return self.f.shape[: len(self.weights)]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = [self.f, self.u, *self.p, *self.weights, *(self.before or ())]
        if self.c is not None:
            arrays.append(self.c)
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))

    def digest(self) -> str:
        """Return a hash of the data."""
        hash = hashlib.blake2b(digest_size=16)
        for array in (self.f, self.c, *self.weights):
            if isinstance(array, np.ndarray):
                hash.update(f"{array.dtype} {array.shape}".encode())
                hash.update(np.ascontiguousarray(array).data)
            else:
                hash.update(repr(array).encode())
        return hash.hexdigest()

    # Boxes ---------------------------------------------------------------------------------------

    def part(self, axis: int, first: int, last: int) -> Tile:
        """Return a copy of the layers [first, last) along an axis."""

        def cut(values: Any, along: int | None = None) -> Any:
            if not isinstance(values, np.ndarray):
                return values
            end = last + 1 if along == axis else last
            return values[layers(axis, slice(first, end))].copy()

        return Tile(
            cut(self.f),
            cut(self.c),
            tuple(cut(w, a) for a, w in enumerate(self.weights)),
            tuple(cut(p, a) for a, p in enumerate(self.p)),
            cut(self.u),
            self.delta,
        )

    def join(self, upper: Tile, axis: int) -> Tile:
        """Return the union of this tile and its neighbour above."""

        def both(low: Any, high: Any, along: int | None = None) -> Any:
            if not isinstance(low, np.ndarray):
                return low
            if along == axis:
                high = high[layers(axis, slice(1, None))]  # the edges between them are in both
            return np.concatenate([low, high], axis=axis)

        c = None
        if self.c is not None or upper.c is not None:
            low, high = (np.ones(t.f.shape) if t.c is None else t.c for t in (self, upper))
            c = both(low, high)
        return Tile(
            both(self.f, upper.f),
            c,
            tuple(both(*w, a) for a, w in enumerate(zip(self.weights, upper.weights, strict=True))),
            tuple(both(*p, a) for a, p in enumerate(zip(self.p, upper.p, strict=True))),
            both(self.u, upper.u),
            self.delta,
        )

    def points(self, axis: int, first: int, last: int) -> Points:
        """Return copies of the points of the layers [first, last) along an axis."""
        return Points(
            self.u[layers(axis, slice(first, last))].copy(),
            tuple(
                p[layers(axis, slice(first, last + (along == axis)))].copy()
                for along, p in enumerate(self.p)
            ),
        )

    def paste(self, axis: int, pieces: Iterable[tuple[int, Points]]) -> Tile:
        """Return this tile with new points; each piece replaces the layers from its first index."""
        u, p = self.u.copy(), tuple(q.copy() for q in self.p)
        for first, new in pieces:
            last = first + new.u.shape[axis]
            u[layers(axis, slice(first, last))] = new.u
            for along, (mine, theirs) in enumerate(zip(p, new.p, strict=True)):
                mine[layers(axis, slice(first, last + (along == axis)))] = theirs
        return replace(self, u=u, p=p)

    def start(self, p: tuple[Floats, ...]) -> Tile:
        """Return this tile with another dual point and the corresponding u."""
        started = replace(self, p=p)
        u = self.f - _over(started._divergence(ALL), self._c(1.0))
        return replace(started, u=u if self.c is None else np.where(self.c > 0.0, u, self.u))

    def extrapolate(self, momentum: float) -> Tile:
        """Return this tile with extrapolated flows across its border.

        They change by `momentum` times their change in the last round. Neighbours do the same for
        the edges that they share.
        """
        now = tuple(_ends(p, axis) for axis, p in enumerate(self.p))
        old = self.before
        if old is not None and all(map(np.array_equal, now, old)):
            return self
        p = self.p
        if old is not None and momentum > 0.0:
            p = tuple(q.copy() for q in p)
            for axis, (q, here, there) in enumerate(zip(p, now, old, strict=True)):
                moved = np.clip(here + momentum * (here - there), -1.0, 1.0)
                q[layers(axis, slice(0, 1))] = moved[layers(axis, slice(0, 1))]
                q[layers(axis, slice(-1, None))] = moved[layers(axis, slice(1, 2))]
        return replace(self, p=p, before=now)

    # Values --------------------------------------------------------------------------------------

    def certify(
        self, above: tuple[Floats | None, ...], unknown: Unknown, coordinates: Coordinates
    ) -> Share:
        """Return the share of this tile, including the edges across its upper borders.

        `above` has the first layer of u of the neighbour above along each axis, or None. The point
        is the one that is returned in these coordinates.
        """
        u = coordinates.rounded(self.u)
        divergence, errors = self._divergence(ALL), self._divergence_errors()
        shares = [certificate.vertices(u, self.f, self.c, divergence, errors)]
        if self.c is not None:
            ends = unknown.least, unknown.most
            shares.append(certificate.unknown_vertices(u, self.c, divergence, errors, *ends))
        for axis, layer in enumerate(above):
            longer = u
            if layer is not None:
                last = np.expand_dims(coordinates.rounded(layer), axis)
                longer = np.concatenate([u, last], axis=axis)
            inner = slice(1, None if layer is not None else -1)
            shares.append(self._edges(axis, inner, longer))
        return certificate.joined(shares)

    def _imbalance(self, unknown: Unknown) -> float:
        """Return the part of the gap that is caused by flows into vertices without data."""
        if self.c is None:
            return 0.0
        divergence, ends = self._divergence(ALL), (unknown.least, unknown.most)
        errors = np.zeros(self.f.shape)
        return certificate.unknown_vertices(self.u, self.c, divergence, errors, *ends).gap

    def _inside(self, data: Floats, rho: float) -> Share:
        """Return the share of the interior problem."""
        inner, errors = slice(1, -1), np.zeros(self.f.shape)
        shares = [
            certificate.vertices(self.u, data, self._c(rho), self._divergence(inner), errors),
            *(self._edges(axis, inner, self.u) for axis in range(len(self.weights))),
        ]
        return certificate.joined(shares)

    def _edges(self, axis: int, which: slice, u: Floats) -> Share:
        """Return the share of the edges along an axis."""
        p, weight = self.p[axis][layers(axis, which)], self._weight(axis, which)
        return certificate.edges(weight, p, -np.diff(u, axis=axis), self.delta)

    def _weight(self, axis: int, which: slice) -> Any:
        weight = self.weights[axis]
        if not isinstance(weight, np.ndarray):
            return weight
        cut = weight[layers(axis, which)]
        return cut if self.f.ndim == len(self.weights) else cut[..., None]

    def _c(self, rho: float) -> Floats | None:
        """Return the vertex weights, rho for missing data; None means 1 everywhere."""
        return None if self.c is None else np.where(self.c > 0.0, self.c, rho)

    def _divergence(self, which: slice) -> Floats:
        """Return Kᵀx for the flows of all edges, or of the interior edges only."""
        divergence = np.zeros(self.f.shape)
        for axis, p in enumerate(self.p):
            flow = self._weight(axis, which) * p[layers(axis, which)]
            if which == ALL:
                divergence += np.diff(flow, axis=axis)
            else:
                divergence[layers(axis, slice(None, -1))] += flow
                divergence[layers(axis, slice(1, None))] -= flow
        return divergence

    def _divergence_errors(self) -> Floats:
        """Return bounds on the rounding of Kᵀx: a product per edge, and sums over all of them."""
        sizes = np.zeros(self.f.shape)
        floor = 0.0
        for axis, p in enumerate(self.p):
            weight = self._weight(axis, ALL)
            flow = np.abs(weight * p)
            sizes += flow[layers(axis, slice(None, -1))] + flow[layers(axis, slice(1, None))]
            floor = certificate.FLOOR if p.any() and np.any(weight > 0.0) else floor
        errors: Floats = 1.01 * (len(self.p) + 3) * UNIT * sizes + floor
        return errors

    def _given(self, rho: float) -> Floats:
        """Return the data of the interior problem: f - C⁻¹(flows across the border)."""
        divergence = np.zeros(self.f.shape)
        for axis, p in enumerate(self.p):
            first, last = slice(0, 1), slice(-1, None)
            divergence[layers(axis, first)] -= self._weight(axis, first) * p[layers(axis, first)]
            divergence[layers(axis, last)] += self._weight(axis, last) * p[layers(axis, last)]
        f = self.f if self.c is None else np.where(self.c > 0.0, self.f, self.u)
        data: Floats = f - _over(divergence, self._c(rho))
        return data

    # The block solve -----------------------------------------------------------------------------

    def relax(
        self,
        allowed: float,
        *,
        relative: float = 0.0,
        is_cold: bool = False,
        unknown: Unknown,
        n_threads: int | None = 1,
        time_limit: float | None = None,
    ) -> Tile:
        """Return the tile with its interior solved to a gap of `allowed`, given the border.

        A gap of `relative` times its own objective is always allowed. If `is_cold` is true, the
        present point is not used as a warm start. If the gap is already small enough, the tile
        itself is returned.
        """
        data = self._given(unknown.rho)
        primal, gap = self._inside(data, unknown.rho)[:2]
        allowed = max(allowed, relative * primal)
        if max(self.lengths) == 1 or (gap <= allowed and self._is_balanced(allowed, unknown)):
            return self
        if relative == 0.0 and self._has_unknown():
            allowed = 0.0  # flows into vertices without data contribute linearly to the gap
        graph = self._graph()
        shape = (graph.n_vertices, *self.f.shape[len(self.weights) :])
        c = self._c(unknown.rho)
        loss = SquaredLoss(data.reshape(shape), weights=None if c is None else c.reshape(shape))
        problem = Problem(graph, loss, HuberTV(self.delta) if self.delta else TotalVariation())
        start = None
        # A solution that is exact for the solver may still send too much flow into such vertices.
        if not is_cold and gap > EXACT_GAP * primal:
            start = self.u.reshape(shape), self._inner_p(problem.dual_shape)
        tolerance = allowed / max(primal, np.finfo(float).tiny)
        result = solve(
            problem,
            tol=tolerance if tolerance > EXACT_GAP else 0.0,
            warm_start=start,
            n_threads=n_threads,
            time_limit=time_limit,
        )
        return replace(self, u=result.u.reshape(self.f.shape), p=self._with_inner(result.p))

    def _has_unknown(self) -> bool:
        return self.c is not None and not (self.c > 0.0).all()

    def _is_balanced(self, allowed: float, unknown: Unknown) -> bool:
        return not self._has_unknown() or self._imbalance(unknown) <= allowed

    def _graph(self) -> Graph:
        if all(isinstance(weight, float) for weight in self.weights):
            return _uniform_grid(self.lengths, self.weights)
        inner = slice(1, -1)
        weights = [
            weight[layers(axis, inner)] if isinstance(weight, np.ndarray) else weight
            for axis, weight in enumerate(self.weights)
        ]
        return grid_graph(self.lengths, weights)

    def _is_edge(self, axis: int) -> NDArray[np.bool_] | None:
        """Return which interior places have an edge of positive weight; None means all."""
        weight = self.weights[axis]
        if isinstance(weight, np.ndarray):
            return weight[layers(axis, slice(1, -1))] > 0.0
        lengths = list(self.lengths)
        lengths[axis] -= 1
        return None if weight > 0.0 else np.zeros(lengths, dtype=bool)

    def _inner_p(self, shape: tuple[int, ...]) -> Floats:
        """Return p of the interior in the order of the graph."""
        inner, parts = slice(1, -1), []
        for axis, p in enumerate(self.p):
            values, is_edge = p[layers(axis, inner)], self._is_edge(axis)
            parts.append((values if is_edge is None else values[is_edge]).reshape(-1, *shape[1:]))
        return np.concatenate(parts)

    def _with_inner(self, found: Floats) -> tuple[Floats, ...]:
        inner, begin, new = slice(1, -1), 0, []
        for axis, p in enumerate(self.p):
            q, is_edge = p.copy(), self._is_edge(axis)
            values = q[layers(axis, inner)]
            if is_edge is None:
                count = values.size // max(found[:1].size, 1)
                values[...] = found[begin : begin + count].reshape(values.shape)
            else:
                count = int(is_edge.sum())
                values[is_edge] = found[begin : begin + count]
            begin += count
            new.append(q)
        return tuple(new)


@functools.lru_cache(maxsize=4)
def _uniform_grid(lengths: tuple[int, ...], weights: tuple[float, ...]) -> Graph:
    return grid_graph(lengths, weights)


def _longer(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], shape[axis] + 1, *shape[axis + 1 :])


def _ends(p: Floats, axis: int) -> Floats:
    """Return a copy of the first and the last layer."""
    return np.take(p, [0, -1], axis=axis)


def _over(values: Floats, c: Floats | None) -> Floats:
    return values if c is None else values / c


def _scaled_weight(weight: Weight, exponent: int) -> Weight:
    found = exactly_scaled(weight, exponent)
    return found if isinstance(weight, np.ndarray) else float(found)
