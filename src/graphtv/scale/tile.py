"""A box of a grid: its part of the problem, of the primal and of the dual point.

A tile also stores the flows across its border, which are fixed for it. Parts of a tile, and unions
of neighbouring parts, are tiles again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphtv._elementary import ROUNDOFF
from graphtv._validate import Floats
from graphtv.graph.graph import Graph
from graphtv.graph.grid import grid_graph
from graphtv.scale import certificate
from graphtv.scale.block import Block
from graphtv.scale.certificate import Share
from graphtv.scale.coordinates import Coordinates
from graphtv.scale.tile_strip import Points, Slab, TileSide
from graphtv.scale.tiling import layers
from graphtv.scale.window import Border, Window
from graphtv.terms._units import exactly_scaled

Weight = float | Floats

ALL = slice(None)


@dataclass(frozen=True, eq=False, kw_only=True)
class Tile(Block):
    """A box of the grid, with d spatial axes.

    Attributes
    ----------
    f : ndarray, shape (*lengths) or (*lengths, C)
        The data. `Block` has the other attributes.
    weights : tuple of float or ndarray, one per axis
        Weights ω of the edges along each axis. An array has the shape `lengths` with one additional
        entry along its axis: the first and the last entries are edges across the border.
    p : tuple of ndarray, one per axis
        The dual point, with the shape of such an array and channels; 0 if there is no edge.
    before : tuple of ndarray, one per axis, or None
        The first and the last layer of p (across the border) before the last round.
    """

    weights: tuple[Weight, ...]
    p: tuple[Floats, ...]
    before: tuple[Floats, ...] | None = None

    @classmethod
    def made_of(
        cls,
        f: NDArray[Any],
        c: NDArray[Any] | None,
        weights: Sequence[Any],
        couples: bool,
        delta: float,
    ) -> Self:
        """Return a tile at rest, made from blocks of dask arrays."""
        if c is not None and (c == 1.0).all():
            c = None
        made = tuple(
            w if isinstance(w, float) else np.asarray(w, dtype=np.float64) for w in weights
        )
        return cls.at_rest(f, c, made, delta, couples)

    @classmethod
    def at_rest(
        cls,
        f: NDArray[Any],
        c: NDArray[Any] | None,
        weights: tuple[Weight, ...],
        delta: float,
        couples: bool = False,
    ) -> Self:
        """Return a tile with p = 0 and u = f."""
        d = len(weights)
        p = tuple(np.zeros(_longer(f.shape, axis)) for axis in range(d))
        u = np.array(f, dtype=np.float64)
        return cls(f=f, c=c, weights=weights, p=p, u=u, delta=delta, couples=couples)

    def in_coordinates(self, coordinates: Coordinates, filling: Floats) -> Self:
        """Return the tile for v, at rest, with a value where there is no data.

        Raises
        ------
        InexactError
            If the units do not suit some number.
        """
        f, c = coordinates.data(self.f, self.c, filling)
        a, b = coordinates.units
        weights = tuple(_scaled_weight(weight, a - b) for weight in self.weights)
        delta = float(exactly_scaled(self.delta, -b))
        return self.at_rest(f, c, weights, delta, self.couples)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of the spatial axes."""
        return self.f.shape[: len(self.weights)]

    def data_arrays(self) -> dict[str, Any]:
        """Return the arrays that no round changes."""
        arrays = [w if isinstance(w, np.ndarray) else None for w in self.weights]
        return {"f": self.f, "c": self.c} | _by_axis("w", arrays)

    def point_arrays(self) -> dict[str, Any]:
        """Return the arrays that rounds change."""
        arrays = {"u": self.u, "anchor": self.anchor}
        return arrays | _by_axis("p", self.p) | _by_axis("b", self.before or ())

    def numbers(self) -> dict[str, Any]:
        """Return all other attributes; None stands for an array of weights."""
        weights = [None if isinstance(w, np.ndarray) else w for w in self.weights]
        return {"weights": weights, "delta": self.delta, "couples": self.couples}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any], numbers: dict[str, Any]) -> Self:
        """Return the tile of these arrays and numbers."""
        axes = range(len(numbers["weights"]))
        weights = tuple(
            arrays[f"w{axis}"] if number is None else number
            for axis, number in enumerate(numbers["weights"])
        )
        p = tuple(arrays[f"p{axis}"] for axis in axes)
        before = tuple(arrays[f"b{axis}"] for axis in axes) if "b0" in arrays else None
        return cls(
            f=arrays["f"],
            c=arrays.get("c"),
            weights=weights,
            p=p,
            u=arrays["u"],
            delta=numbers["delta"],
            before=before,
            anchor=arrays.get("anchor"),
            couples=numbers.get("couples", False),
        )

    def _data(self) -> Iterable[Any]:
        return self.f, self.c, *self.weights

    # Boxes ---------------------------------------------------------------------------------------

    def part(self, axis: int, first: int, last: int) -> Tile:
        """Return a copy of the layers [first, last) along an axis."""

        def cut(values: Any, along: int | None = None) -> Any:
            if not isinstance(values, np.ndarray):
                return values
            end = last + 1 if along == axis else last
            return values[layers(axis, slice(first, end))].copy()

        return Tile(
            f=cut(self.f),
            c=cut(self.c),
            weights=tuple(cut(w, a) for a, w in enumerate(self.weights)),
            p=tuple(cut(p, a) for a, p in enumerate(self.p)),
            u=cut(self.u),
            delta=self.delta,
            anchor=cut(self.anchor),
            couples=self.couples,
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
        anchor = None
        if self.anchor is not None or upper.anchor is not None:
            low, high = (t.u if t.anchor is None else t.anchor for t in (self, upper))
            anchor = both(low, high)
        weights = enumerate(zip(self.weights, upper.weights, strict=True))
        return Tile(
            f=both(self.f, upper.f),
            c=c,
            weights=tuple(both(*w, a) for a, w in weights),
            p=tuple(both(*p, a) for a, p in enumerate(zip(self.p, upper.p, strict=True))),
            u=both(self.u, upper.u),
            delta=self.delta,
            anchor=anchor,
            couples=self.couples,
        )

    def piece(self, where: Slab) -> TileSide:
        """Return layers of this tile, one side of a strip across its border."""
        return TileSide(self.part(*where), where[0])

    def points(self, axis: int, first: int, last: int) -> Points:
        """Return copies of the points of the layers [first, last) along an axis."""
        return Points(
            self.u[layers(axis, slice(first, last))].copy(),
            tuple(
                p[layers(axis, slice(first, last + (along == axis)))].copy()
                for along, p in enumerate(self.p)
            ),
        )

    def paste(self, pieces: Iterable[tuple[Slab, Points]]) -> Self:
        """Return this tile with new points of some of its layers."""
        u, p = self.u.copy(), tuple(q.copy() for q in self.p)
        for (axis, first, last), new in pieces:
            u[layers(axis, slice(first, last))] = new.u
            for along, (mine, theirs) in enumerate(zip(p, new.p, strict=True)):
                mine[layers(axis, slice(first, last + (along == axis)))] = theirs
        return replace(self, u=u, p=p)

    def start(self, p: tuple[Floats, ...]) -> Self:
        """Return this tile with another dual point and the corresponding u."""
        return replace(self, p=p)._with_primal()

    def start_across(self, p: Mapping[int, Floats]) -> Self:
        """Return this tile with p across its borders, 0 inside, and the resulting u.

        The borders are numbered as in `border`.
        """
        new = tuple(np.zeros(q.shape) for q in self.p)
        for number, values in p.items():
            axis, end = divmod(number, 2)
            face = new[axis][layers(axis, slice(-1, None) if end else slice(0, 1))]
            face[...] = values.reshape(face.shape)
        return self.start(new)

    def extrapolate(self, momentum: float) -> Self:
        """Return this tile with extrapolated flows across its border."""
        now = tuple(_ends(p, axis) for axis, p in enumerate(self.p))
        old = self.before
        if old is not None and all(map(np.array_equal, now, old)):
            return self
        p = self.p
        if old is not None and momentum > 0.0:
            p = tuple(q.copy() for q in p)
            for axis, (q, here, there) in enumerate(zip(p, now, old, strict=True)):
                moved = here + momentum * (here - there)
                if self.couples:
                    moved = certificate.inside_balls(moved)
                else:
                    moved = np.clip(moved, -1.0, 1.0)
                q[layers(axis, slice(0, 1))] = moved[layers(axis, slice(0, 1))]
                q[layers(axis, slice(-1, None))] = moved[layers(axis, slice(1, 2))]
        return replace(self, p=p, before=now)

    # Values --------------------------------------------------------------------------------------

    def border_values(self, axis: int) -> Floats:
        """Return the first layer of u, which the certificate of the neighbour below needs."""
        layer: Floats = np.array(np.take(self.u, 0, axis=axis))
        return layer

    def _edge_shares(self, u: Floats, beyond: Sequence[Floats | None]) -> Iterator[Share]:
        """Yield the shares of the edges along each axis, including those across the upper border.

        `beyond` has the first layer of u of the neighbour above along each axis, or None.
        """
        share = certificate.coupled_edges if self.couples else certificate.edges
        for axis, layer in enumerate(beyond):
            which, longer = slice(1, -1), u
            if layer is not None:
                which = slice(1, None)
                longer = np.concatenate([u, np.expand_dims(layer, axis)], axis=axis)
            p, weight = self.p[axis][layers(axis, which)], self._weight(axis, which)
            yield share(weight, p, -np.diff(longer, axis=axis), self.delta)

    def _weight(self, axis: int, which: slice) -> Any:
        weight = self.weights[axis]
        if not isinstance(weight, np.ndarray):
            return weight
        cut = weight[layers(axis, which)]
        return cut if self.f.ndim == len(self.weights) else cut[..., None]

    def _divergence(self) -> Floats:
        divergence = np.zeros(self.f.shape)
        for axis, p in enumerate(self.p):
            divergence += np.diff(self._weight(axis, ALL) * p, axis=axis)
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
        errors: Floats = 1.01 * (len(self.p) + 3) * ROUNDOFF * sizes + floor
        return errors

    # Windows -------------------------------------------------------------------------------------

    def window(self) -> Window:
        """Return the interior, given the flows across the border."""
        graph = self._graph()
        shape = (graph.n_vertices, *self.f.shape[len(self.weights) :])
        c = None if self.c is None else self.c.reshape(shape)
        p = self._inner_p((graph.n_edges, *shape[1:]))
        outflow = self._outflow().reshape(shape)
        u, anchor = self.u.reshape(shape), self.anchor
        anchor = None if anchor is None else anchor.reshape(shape)
        f = self.f.reshape(shape)
        return Window(f, c, graph, outflow, u, p, self.delta, anchor, self.couples)

    def with_points(self, window: Window) -> Self:
        """Return this tile with the points of its window."""
        return replace(self, u=window.u.reshape(self.f.shape), p=self._with_inner(window.p))

    def with_u(self, u: Floats) -> Self:
        """Return this tile with another primal point, one row per vertex."""
        return replace(self, u=u.reshape(self.f.shape))

    def border(self) -> Border:
        """Return the edges across the border: along each axis, those below and those above."""
        numbers = np.arange(np.prod(self.lengths), dtype=np.int32).reshape(self.lengths)
        near, crossing = [], []
        for axis in range(len(self.weights)):
            for end in (0, -1):
                face = np.take(numbers, end, axis=axis).ravel()
                near.append(face)
                weight = self.weights[axis]
                if isinstance(weight, np.ndarray):
                    crossing.append(np.take(weight, end, axis=axis).ravel())
                else:
                    crossing.append(np.full(len(face), weight))
        starts = np.cumsum([0, *map(len, near)], dtype=np.int64)
        return Border(np.concatenate(near), np.concatenate(crossing), starts)

    def _outflow(self) -> Floats:
        """Return the divergence of the flows across the border."""
        outflow = np.zeros(self.f.shape)
        for axis, p in enumerate(self.p):
            first, last = layers(axis, slice(0, 1)), layers(axis, slice(-1, None))
            outflow[first] -= self._weight(axis, slice(0, 1)) * p[first]
            outflow[last] += self._weight(axis, slice(-1, None)) * p[last]
        return outflow

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


def _by_axis(name: str, values: Iterable[Any]) -> dict[str, Any]:
    return {f"{name}{axis}": value for axis, value in enumerate(values)}


def _scaled_weight(weight: Weight, exponent: int) -> Weight:
    found = exactly_scaled(weight, exponent)
    return found if isinstance(weight, np.ndarray) else float(found)
