"""Choices that rounding cannot change: what is equal but for the last digits is equal.

Two candidates that are equally good in theory differ by rounding in practice, and rounding may
depend on the machine. So the first of those that are as good as the best, up to TIES, is chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats

TIES = 1e-9
"""How far apart, relative to the best, equals may be."""


def first_least(values: Floats) -> int:
    """Return the place of the first number that is as small as the least."""
    least = float(np.min(values))
    return first_up_to(values, least)


def first_up_to(values: Floats, bound: float) -> int:
    """Return the place of the first number that is at most the bound."""
    slack = TIES * abs(bound) if np.isfinite(bound) else 0.0
    return int(np.argmax(values <= bound + slack))


def largest_classes(distributions: Any) -> NDArray[np.int_]:
    """Return the first class of each row whose share is as large as the largest."""
    shares = np.asarray(distributions)
    highest = shares.max(axis=-1, keepdims=True)
    return np.asarray(np.argmax(shares >= highest * (1.0 - TIES), axis=-1))
