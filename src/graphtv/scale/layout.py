"""What the rounds need to know of a problem in parts, and of a part.

A grid in tiles (`GridProblem`, `Tile`) and a graph in parts (`GraphProblem`, `Part`) provide the
same. They differ in how they store edges, and in how strips across borders are chosen.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from graphtv.scale.loss import Loss

Index = tuple[int, ...]


class Pair(NamedTuple):
    """A strip across the border of two parts, and where it is in both."""

    low: Index
    high: Index
    at_low: Any
    at_high: Any


class Layout(Protocol):
    """A problem in parts."""

    @property
    def name(self) -> str:
        """The name of the data in error messages."""

    @property
    def delta(self) -> float:
        """Width of the Huber penalty, 0 for total variation."""

    @property
    def couples(self) -> bool:
        """Whether the norm of an edge is over its channels."""

    @property
    def c(self) -> Any:
        """Vertex weights; None means 1 everywhere."""

    @property
    def loss(self) -> Loss:
        """The loss, without its interval."""

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
