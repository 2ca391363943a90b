"""Powers of two as units of data, weights and objectives."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from graphtv import _core
from graphtv._validate import Floats

RADIX = 64
"""Exponents of the units of a normal form are multiples of this."""

LARGEST_EXPONENT = 960
"""Largest exponent of a unit, so that units are finite numbers."""


class Units(NamedTuple):
    """The binary exponents of the unit of u and of the unit of the objective."""

    point: int
    objective: int


NO_UNITS = Units(0, 0)


class InexactError(Exception):
    """A number cannot be represented exactly in these units."""


def largest(values: Floats) -> float:
    """Return the largest absolute value."""
    return _core.largest_size(np.ascontiguousarray(values))


def exponent_of(number: float, radix: int = RADIX) -> int:
    """Return the multiple of the radix next to the exponent of a number; that of 1 to 2 is 0."""
    if not 0.0 < number < math.inf:
        return 0
    nearest = radix * round((math.frexp(number)[1] - 1) / radix)
    return max(-LARGEST_EXPONENT, min(nearest, LARGEST_EXPONENT))


def scaled(values: Any, exponent: int) -> Any:
    """Return values × 2^exponent, in two steps, since the power itself may overflow."""
    if exponent == 0:
        return values
    with np.errstate(over="ignore", under="ignore"):
        half = exponent // 2
        return np.ldexp(np.ldexp(values, half), exponent - half)


def exactly_scaled(values: Any, exponent: int) -> Any:
    """Return values × 2^exponent; raise `InexactError` if a value is rounded."""
    if exponent == 0:
        return values
    with np.errstate(over="ignore", under="ignore"):
        found = np.ldexp(values, exponent)
        if not (np.isfinite(found).all() and (np.ldexp(found, -exponent) == values).all()):
            raise InexactError
    return found


def centred(values: Floats, centre: Floats | None) -> Floats:
    """Return the data minus their centres."""
    if centre is None:
        return values
    return (values.reshape(len(values), -1) - centre.T).reshape(values.shape)
