"""What the rounds need to know of a problem in parts, and of a part.

A grid in tiles (`GridProblem`, `Tile`) and a graph in parts (`GraphProblem`, `Part`) provide the
same. They differ in how they store edges, and in how strips across borders are chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

from graphtv._validate import Floats
from graphtv.scale.certificate import Share
from graphtv.scale.coordinates import Coordinates
from graphtv.scale.window import Border, Unknown, Window

Index = tuple[int, ...]


class Pair(NamedTuple):
    """A strip across the border of two parts, and where it is in both."""

    low: Index
    high: Index
    at_low: Any
    at_high: Any


class Box(Protocol):
    """A part of a problem, with its points."""

    @property
    def f(self) -> Any:
        """The data."""

    @property
    def c(self) -> Any:
        """Vertex weights; None means 1 everywhere."""

    @property
    def u(self) -> Floats:
        """The primal point."""

    @property
    def p(self) -> Any:
        """The dual point inside, and for a grid also across the border."""

    def in_coordinates(self, coordinates: Coordinates, filling: Floats) -> Self:
        """Return the part in other coordinates, at rest."""

    def window(self) -> Window:
        """Return the interior, given the flows across the border."""

    def with_points(self, window: Window) -> Self:
        """Return the part with the points of its window."""

    def with_u(self, u: Floats) -> Self:
        """Return the part with another primal point, one row per vertex."""

    def border(self) -> Border:
        """Return the edges across the border."""

    def start_across(self, p: Mapping[int, Floats]) -> Self:
        """Return the part with p across its border by neighbour, and 0 inside."""

    def piece(self, where: Any) -> Any:
        """Return one side of a strip."""

    def paste(self, pieces: Iterable[tuple[Any, Any]]) -> Self:
        """Return the part with new points of some pieces."""

    def anchored(self) -> Self:
        """Return the part at the beginning of a round."""

    def extrapolate(self, momentum: float) -> Self:
        """Return the part with extrapolated flows across its border."""

    def border_values(self, where: Any) -> Floats:
        """Return values of u that the certificate of a neighbour needs."""

    def certify(
        self, beyond: Sequence[Floats | None], unknown: Unknown, coordinates: Coordinates
    ) -> Share:
        """Return the share of the part in the certificate."""

    def digest(self) -> str:
        """Return a hash of the data."""

    def data_arrays(self) -> dict[str, Any]:
        """Return the arrays that no round changes."""

    def point_arrays(self) -> dict[str, Any]:
        """Return the arrays that rounds change."""

    def numbers(self) -> dict[str, Any]:
        """Return all other attributes."""


class Layout(Protocol):
    """A problem in parts."""

    @property
    def name(self) -> str:
        """The name of the data in error messages."""

    @property
    def delta(self) -> float:
        """Width of the Huber penalty, 0 for total variation."""

    @property
    def c(self) -> Any:
        """Vertex weights; None means 1 everywhere."""

    @property
    def kind(self) -> type[Any]:
        """The class of the parts."""

    @property
    def input(self) -> str:
        """What the user gave, for error messages."""

    @property
    def n_entries(self) -> int:
        """Numbers in u."""

    @property
    def n_channel_axes(self) -> int:
        """0, or 1 if u has channels."""

    @property
    def keys(self) -> list[Index]:
        """The parts."""

    @property
    def signature(self) -> Any:
        """What a checkpoint must share, besides the data of the parts; as JSON."""

    @property
    def bytes_per_round(self) -> int:
        """Upper bound of the bytes that parts exchange in a round."""

    def description(self) -> dict[str, str]:
        """Return what the log says about the division into parts."""

    def ingredients(self) -> dict[Index, tuple[Any, ...]]:
        """Return the arguments from which each part is made, without delta."""

    def strips(self) -> list[list[Pair]]:
        """Return all strips, in groups that can be solved at once."""

    def beyond(self, key: Index) -> list[tuple[Index, Any] | None]:
        """Return, for each neighbour of a part, where its certificate finds values of u."""

    def borders(self) -> list[tuple[int, int, int, int]]:
        """Return the pairs of neighbouring parts as `solve_reduced` expects them."""

    def coarser(self) -> Layout | None:
        """Return a coarser problem of the same kind, if there is one."""

    def starts(self, coarse: Any) -> dict[Index, tuple[Any, ...]]:
        """Return the arguments of `prolong` for each part, given the coarser parts."""
