"""Coordinates in which tiles are solved: centred data of moderate size (see `normal_form`).

As there, u = centre + 2ᵃ v, and the objective is 2ᵇ times that of v.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats
from graphtv.normal_form import nearest_data, scaled_number
from graphtv.result import Record
from graphtv.terms._units import NO_UNITS, Units, exactly_scaled, exponent_of, scaled


class Coordinates(NamedTuple):
    """The centre of every channel, and the units of u and of the objective."""

    centre: Floats = np.zeros(())
    units: Units = NO_UNITS

    @classmethod
    def of(cls, least: Floats, most: Floats, weight: float) -> Coordinates:
        """Return the coordinates, given the range of each channel and the largest vertex weight."""
        centre = nearest_data(np.asarray(least), np.asarray(most))
        size = np.maximum(np.abs(least - centre), np.abs(most - centre))
        point = exponent_of(float(np.max(size)))
        return cls(centre, Units(point, 2 * point + exponent_of(weight)))

    @property
    def are_plain(self) -> bool:
        """Whether v = u."""
        return self.units == NO_UNITS and not self.has_centre

    @property
    def has_centre(self) -> bool:
        """Whether u is rounded around an offset."""
        return bool(self.centre.any())

    def data(
        self, f: NDArray[Any], c: NDArray[Any] | None, filling: Floats
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return data and vertex weights for v, with a value where there is no data.

        Raises
        ------
        InexactError
            If the units do not suit some number.
        """
        a, b = self.units
        if not self.are_plain:
            f = f.astype(np.float64) - self.centre
            f = f if c is None else np.where(c > 0.0, f, 0.0)
            f = exactly_scaled(f, -a)
        if 2 * a != b:
            c = exactly_scaled(np.ones(f.shape) if c is None else c.astype(np.float64), 2 * a - b)
        if c is not None:
            f = np.where(c > 0.0, f, filling.astype(f.dtype))
        return f, c

    def restore(self, v: Floats) -> Floats:
        """Return u for v, rounded."""
        u: Floats = scaled(v, self.units.point)
        return u + self.centre if self.has_centre else u

    def point(self, u: Floats) -> Floats:
        """Return v for u."""
        v: Floats = scaled(u - self.centre, -self.units.point)
        return v

    def rounded(self, v: Floats) -> Floats:
        """Return v for the rounded u. The difference from the centre is exact."""
        return self.point(self.restore(v)) if self.has_centre else v

    def objective(self, value: float) -> float:
        """Return the objective at u, given that at v. It may overflow or underflow."""
        return scaled_number(value, self.units.objective)

    def length(self, value: float) -> float:
        """Return the distance between two points u, given that between the points v."""
        return scaled_number(value, self.units.point)

    def record(self, record: Record) -> Record:
        """Return a record of the history in the units of u."""
        return record._replace(
            primal=self.objective(record.primal), dual=self.objective(record.dual)
        )
