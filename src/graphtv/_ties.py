"""Choices that do not depend on rounding: values that differ by rounding count as equal.

Two candidates that are equally good in theory differ by rounding errors in practice, and these may
depend on the machine. Among the candidates that are as good as the best up to the relative
tolerance TIES, the first is chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats

TIES = 1e-9
"""Relative tolerance within which two values count as equal."""


def first_least(values: Floats) -> int:
    """Return the index of the first value that equals the minimum up to TIES."""
    least = float(np.min(values))
    return first_up_to(values, least)


def first_up_to(values: Floats, bound: float) -> int:
    """Return the index of the first value that is at most `bound` up to TIES."""
    slack = TIES * abs(bound) if np.isfinite(bound) else 0.0
    return int(np.argmax(values <= bound + slack))


def largest_classes(distributions: Any) -> NDArray[np.int_]:
    """Return for each row the first class whose share equals the maximum up to TIES."""
    shares = np.asarray(distributions)
    highest = shares.max(axis=-1, keepdims=True)
    return np.asarray(np.argmax(shares >= highest * (1.0 - TIES), axis=-1))
