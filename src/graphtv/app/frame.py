"""Frames that the server sends to the page: pixels and a header with the proven gap."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Frame:
    """An image to display on the page.

    Attributes
    ----------
    header : dict
        The kind of frame (``type``), its size and the progress of the solver.
    payload : bytes
        The pixels in row-major order: one byte for a class, three bytes for a colour.
    """

    header: dict[str, Any]
    payload: bytes

    def encode(self) -> bytes:
        """Return the length of the header in four bytes, the header in JSON, and the pixels."""
        header = json.dumps(self.header, allow_nan=False).encode()
        return struct.pack("<I", len(header)) + header + self.payload


def finite(value: float) -> float | None:
    """Return `value`, or None if it is not finite, since JSON has no infinity or NaN."""
    return float(value) if math.isfinite(value) else None
