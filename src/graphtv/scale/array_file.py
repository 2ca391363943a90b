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

HEADER = 128  # bytes, so that the numbers begin at a cache line


def write(file: BinaryIO, array: NDArray[Any]) -> None:
    """Write an array."""
    header = json.dumps({"dtype": array.dtype.str, "shape": array.shape}).encode()
    file.write(header.ljust(HEADER - 1) + b"\n")
    file.write(np.ascontiguousarray(array).data)


def mapped(path: Path) -> NDArray[Any]:
    """Return the array of a file, which is read where it is looked at."""
    with open(path, "rb") as file:
        header = json.loads(file.read(HEADER))
    dtype, shape = np.dtype(header["dtype"]), tuple(header["shape"])
    if path.stat().st_size != HEADER + dtype.itemsize * math.prod(shape):
        raise ValueError(f"{path} is not whole")
    return np.asarray(np.memmap(path, dtype, "r", HEADER, shape))
