"""What a tile of a grid and a part of a graph have in common.

A block has data and points, and knows the flows across its border. A subclass stores the edges, and
knows their divergence and their share of the certificate.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats
from graphtv.scale import certificate
from graphtv.scale.certificate import Share
from graphtv.scale.coordinates import Coordinates
from graphtv.scale.loss import Loss
from graphtv.scale.window import Border, Unknown, Window


@dataclass(frozen=True, eq=False, kw_only=True)
class Block(ABC):
    """A block of the vertices.

    Attributes
    ----------
    f : ndarray
        The data.
    c : ndarray of the same shape or None
        Vertex weights; None means 1 everywhere.
    u : ndarray, shape of f
        The primal point.
    p : ndarray or tuple of ndarray
        The dual point inside, and for a grid also across the border.
    delta : float
        Width of the Huber penalty, 0 for total variation.
    anchor : ndarray or None
        u at the beginning of the round, if the block has a proximal term.
    couples : bool
        Whether the norm of an edge is over its channels.
    """

    f: NDArray[Any]
    c: NDArray[Any] | None
    u: Floats
    p: Any
    delta: float = 0.0
    anchor: Floats | None = None
    couples: bool = False

    def digest(self) -> str:
        """Return a hash of the data."""
        hash = hashlib.blake2b(digest_size=16)
        for value in self._data():
            if isinstance(value, np.ndarray):
                hash.update(f"{value.dtype} {value.shape}".encode())
                hash.update(np.ascontiguousarray(value).data)
            else:
                hash.update(repr(value).encode())
        return hash.hexdigest()

    def anchored(self, loss: Loss) -> Self:
        """Return this block at the beginning of a round."""
        if loss.is_squared and self.c is None:
            return self
        return replace(self, anchor=self.u) if loss.is_flat(self.f, self.c).any() else self

    def certify(
        self, beyond: Sequence[Floats | None], unknown: Unknown, coordinates: Coordinates
    ) -> Share:
        """Return the share of this block, including the edges out of it that belong to it.

        `beyond` has the values of u that these edges need, by neighbour, or None. The point is the
        one that is returned in these coordinates.
        """
        u = coordinates.rounded(self.u)
        values = [None if layer is None else coordinates.rounded(layer) for layer in beyond]
        whole, errors = self._divergence(), self._divergence_errors()
        if not unknown.loss.is_squared:
            shares = [certificate.loss_vertices(unknown.loss, u, self.f, self.c, whole, errors)]
        else:
            shares = [certificate.vertices(u, self.f, self.c, whole, errors)]
        if unknown.loss.is_squared and self.c is not None:
            ends = unknown.least, unknown.most
            shares.append(certificate.unknown_vertices(u, self.c, whole, errors, *ends))
        return certificate.joined([*shares, *self._edge_shares(u, values)])

    def _with_primal(self) -> Self:
        """Return this block with the u that belongs to its dual point where there is data."""
        whole = self._divergence()
        if self.c is None:
            return replace(self, u=self.f - whole)
        is_known = self.c > 0.0
        u = self.f - whole / np.where(is_known, self.c, 1.0)
        return replace(self, u=np.where(is_known, u, self.u))

    @abstractmethod
    def in_coordinates(self, coordinates: Coordinates, filling: Floats) -> Self:
        """Return the block in other coordinates, at rest, with a value where there is no data."""

    @abstractmethod
    def extrapolate(self, momentum: float) -> Self:
        """Return this block with extrapolated flows across its border.

        They change by `momentum` times their change in the last round. Neighbours do the same for
        the edges that they share.
        """

    @abstractmethod
    def start_across(self, p: Mapping[int, Floats]) -> Self:
        """Return this block with p across its border by neighbour, 0 inside, and its u."""

    # Windows and strips --------------------------------------------------------------------------

    @abstractmethod
    def window(self) -> Window:
        """Return the interior, given the flows across the border."""

    @abstractmethod
    def with_points(self, window: Window) -> Self:
        """Return this block with the points of its window."""

    @abstractmethod
    def with_u(self, u: Floats) -> Self:
        """Return this block with another primal point, one row per vertex."""

    @abstractmethod
    def border(self) -> Border:
        """Return the edges across the border."""

    @abstractmethod
    def border_values(self, where: Any) -> Floats:
        """Return values of u that the certificate of a neighbour needs."""

    @abstractmethod
    def piece(self, where: Any) -> Any:
        """Return one side of a strip across the border."""

    @abstractmethod
    def paste(self, pieces: Iterable[tuple[Any, Any]]) -> Self:
        """Return this block with new points of its sides of strips."""

    # Storage -------------------------------------------------------------------------------------

    @abstractmethod
    def data_arrays(self) -> dict[str, Any]:
        """Return the arrays that no round changes."""

    @abstractmethod
    def point_arrays(self) -> dict[str, Any]:
        """Return the arrays that rounds change."""

    @abstractmethod
    def numbers(self) -> dict[str, Any]:
        """Return all other attributes."""

    # Edges ---------------------------------------------------------------------------------------

    @abstractmethod
    def _data(self) -> Iterable[Any]:
        """Return the data: what the points do not change."""

    @abstractmethod
    def _divergence(self) -> Floats:
        """Return Kᵀx for the flows of all edges."""

    @abstractmethod
    def _divergence_errors(self) -> Floats:
        """Return bounds on the rounding errors of `_divergence`."""

    @abstractmethod
    def _edge_shares(self, u: Floats, beyond: Sequence[Floats | None]) -> Iterator[Share]:
        """Yield the shares of the edges of this block."""
