"""An array in a file: a line of JSON that tells dtype and shape, then the numbers.

NumPy's own format would do, but for its reader, which parses a Python expression: CPython before
3.11.8 does not bear that in several threads at a time, and steps run in as many as there are.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

HEADER = 1024
"""Bytes before the numbers: as many axes as NumPy takes fit in."""


def write(file: BinaryIO, array: NDArray[Any]) -> None:
    """Write an array."""
    header = json.dumps({"dtype": array.dtype.str, "shape": array.shape}).encode()
    file.write(header.ljust(HEADER - 1) + b"\n")
    file.write(np.ascontiguousarray(array).data)


def mapped(path: Path) -> NDArray[Any]:
    """Return the array of a file, which is read where it is looked at."""
    with open(path, "rb") as file:
        header = file.read(HEADER)
    try:
        told = json.loads(header)
        dtype, shape = np.dtype(told["dtype"]), tuple(told["shape"])
        is_whole = path.stat().st_size == HEADER + dtype.itemsize * math.prod(shape)
    except (ValueError, KeyError, TypeError):
        is_whole = False
    if not is_whole:
        raise ValueError(f"{path} is damaged")
    return np.asarray(np.memmap(path, dtype, "r", HEADER, shape))
