"""Sums of capacities without overflow, and without rounding errors where possible."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv import _core


def has_finite_sum(values: NDArray[Any]) -> bool:
    """Whether the sum is finite. Sums of integers always are."""
    with np.errstate(over="ignore"):
        return values.dtype.kind != "f" or math.isfinite(float(values.sum()))


def exact_sum(values: NDArray[Any]) -> int | float:
    """Return the sum: a Python integer for int64 or objects, correctly rounded for floats."""
    if values.dtype.kind == "f":
        return math.fsum(values)
    if values.dtype == object:
        return int(values.sum())
    high, low = _core.wide_sum(np.ascontiguousarray(values, dtype=np.int64))
    return (high << 32) + low
