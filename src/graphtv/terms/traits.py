"""The properties of a data term that methods ask about, so that none asks for its class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from graphtv._validate import Floats

if TYPE_CHECKING:
    from graphtv.terms.location import LocationLoss


@dataclass(frozen=True)
class Traits:
    """The properties of a data term that methods use. The defaults hold for every term.

    Attributes
    ----------
    is_separable : bool
        Whether G is a sum over the vertices.
    is_quadratic : bool
        Whether the term has a `signal` and `weights`, and is ½ Σ c (u - f)².
    is_linear : bool
        Whether the term has a `cost` and bounds `lower` and `upper`, and is ⟨cost, u⟩ between them.
    is_location : bool
        Whether the term has a `signal`, and G depends only on u - f.
    is_smooth : bool
        Whether G is differentiable inside its domain.
    is_simplex : bool
        Whether u is a point of the unit simplex at every vertex.
    is_curved_in_domain_only : bool
        Whether `strong_convexity` holds only inside the domain of G.
    has_closed_prox : bool
        Whether the proximal map is a closed formula in the core, which costs next to nothing.
    """

    is_separable: bool = True
    is_quadratic: bool = False
    is_linear: bool = False
    is_location: bool = False
    is_smooth: bool = False
    is_simplex: bool = False
    is_curved_in_domain_only: bool = False
    has_closed_prox: bool = False


class Box(Protocol):
    """A linear cost on a box."""

    @property
    def cost(self) -> Floats:
        """The cost of each entry."""
        ...

    @property
    def lower(self) -> Floats:
        """The lower bound of each entry."""
        ...

    @property
    def upper(self) -> Floats:
        """The upper bound of each entry."""
        ...


def traits_of(data: object) -> Traits:
    """Return the traits of a term. Custom terms have the most general ones."""
    known = getattr(data, "traits", None)
    if isinstance(known, Traits):
        return known
    return Traits(is_separable=bool(getattr(data, "is_separable", True)))


def as_quadratic(data: object) -> LocationLoss | None:
    """Return the term if it is quadratic, otherwise None."""
    return cast("LocationLoss", data) if traits_of(data).is_quadratic else None


def as_location(data: object) -> LocationLoss | None:
    """Return the term if it is a loss of u - f, otherwise None."""
    return cast("LocationLoss", data) if traits_of(data).is_location else None


def as_box(data: object) -> Box | None:
    """Return the term if it is linear on a box, otherwise None."""
    return cast(Box, data) if traits_of(data).is_linear else None
