"""An array in a file: a line of JSON with dtype and shape, then the numbers.

NumPy's format is not used, because its reader parses a Python expression. Before CPython 3.11.8
this is not safe in several threads, and steps run in many threads.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

HEADER = 1024
"""Size of the header in bytes; enough for the largest number of axes that NumPy allows."""


def write(file: BinaryIO, array: NDArray[Any]) -> None:
    """Write an array."""
    header = json.dumps({"dtype": array.dtype.str, "shape": array.shape}).encode()
    file.write(header.ljust(HEADER - 1) + b"\n")
    file.write(np.ascontiguousarray(array).data)


def mapped(path: Path) -> NDArray[Any]:
    """Return the array of a file as a memory map."""
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
