"""What the server shows: a header that says what it proves, and pixels."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Frame:
    """An image on its way to the page.

    Attributes
    ----------
    header : dict
        What it is (``type``), its size, and how far the solver has come.
    payload : bytes
        The pixels in row-major order: a byte for a class, three for a colour.
    """

    header: dict[str, Any]
    payload: bytes

    def encode(self) -> bytes:
        """Return the length of the header in four bytes, the header in JSON, and the pixels."""
        header = json.dumps(self.header, allow_nan=False).encode()
        return struct.pack("<I", len(header)) + header + self.payload


def finite(value: float) -> float | None:
    """Return a number as JSON can hold it."""
    return float(value) if math.isfinite(value) else None
