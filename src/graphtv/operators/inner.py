"""Inner products and lengths, with the same bits on every processor.

The products of BLAS depend on the processor and on the number of its threads. They are also slow if
these threads wait for each other on a busy machine.
"""

from __future__ import annotations

import math

import numpy as np

from graphtv._validate import Floats


def inner(a: Floats, b: Floats) -> float:
    """Return ⟨a, b⟩."""
    return float(np.sum(a * b))


def length(a: Floats) -> float:
    """Return ‖a‖, scaled so that squares neither overflow nor underflow."""
    largest = float(np.abs(a).max(initial=0.0))
    if not 0.0 < largest < math.inf:
        return largest
    unit = math.ldexp(1.0, math.frexp(largest)[1])
    scaled = a / unit
    return unit * math.sqrt(inner(scaled, scaled))
