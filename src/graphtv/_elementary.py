"""Exponentials, logarithms and powers that are bitwise reproducible on every processor.

NumPy and the C library select an implementation for the processor, and these implementations differ
in the last bit. All numbers that enter a problem, such as edge weights, are computed with the
functions of this module instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphtv import _core
from graphtv._validate import Floats

ROUNDOFF = 2.0**-53
"""The unit roundoff of double precision: the relative error of one operation."""


def exp(values: Any) -> Floats:
    """Return exp(x) of an array, accurate to two units in the last place."""
    return _apply(_core.exp, values)


def log(values: Any) -> Floats:
    """Return log(x) of an array: -∞ at 0, NaN below."""
    return _apply(_core.log, values)


def log1p(values: Any) -> Floats:
    """Return log(1 + x) of an array."""
    return _apply(_core.log1p, values)


def expm1(values: Any) -> Floats:
    """Return exp(x) - 1 of an array."""
    return _apply(_core.expm1, values)


def geometric(first: float, last: float, count: int) -> Floats:
    """Return `count` positive numbers from `first` to `last` with a constant ratio."""
    shares = np.arange(count) / max(count - 1, 1)
    numbers = first * exp(shares * log(last / first))
    if count > 1:
        numbers[-1] = last
    return numbers


def _apply(function: Callable[[Floats, Floats], None], values: Any) -> Floats:
    array = np.ascontiguousarray(values, dtype=np.float64)
    out = np.empty(array.shape)
    function(array.reshape(-1), out.reshape(-1))
    return out.reshape(np.shape(values))
