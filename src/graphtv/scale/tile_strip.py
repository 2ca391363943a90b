"""Strips across the borders of tiles: layers on both sides of a border, which are a tile again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from graphtv._validate import Floats
from graphtv.scale.window import Window

if TYPE_CHECKING:
    from graphtv.scale.tile import Tile


class Points(NamedTuple):
    """The primal and the dual point of a box."""

    u: Floats
    p: tuple[Floats, ...]


Slab = tuple[int, int, int]
"""Layers of a tile: the axis, the first layer and the one after the last."""


@dataclass(frozen=True, eq=False)
class TileSide:
    """One side of a strip across a border of tiles along an axis."""

    tile: Tile
    axis: int

    def join(self, other: TileSide) -> TileStrip:
        """Return the strip made of this side, which is the lower one, and the other one."""
        joined = self.tile.join(other.tile, self.axis)
        return TileStrip(joined, self.axis, self.tile.lengths[self.axis])


@dataclass(frozen=True, eq=False)
class TileStrip:
    """Both sides of a border along an axis; the upper one begins at layer `at`."""

    tile: Tile
    axis: int
    at: int

    def window(self) -> Window:
        """Return the interior of the strip."""
        return self.tile.window()

    def with_points(self, window: Window) -> TileStrip:
        """Return the strip with the points of its window."""
        return replace(self, tile=self.tile.with_points(window))

    def halves(self) -> tuple[Points, Points]:
        """Return the points of both sides."""
        end = self.tile.lengths[self.axis]
        return (
            self.tile.points(self.axis, 0, self.at),
            self.tile.points(self.axis, self.at, end),
        )
