"""Limits for untrusted requests: sizes, counts and times."""

from __future__ import annotations

from dataclasses import dataclass

MOST_CLASSES = 8
MOST_STROKES = 2_000
MOST_POINTS = 100_000
"""Total number of points of all strokes."""

LONGEST_NAME = 40
LARGEST_BRUSH = 200.0
LONGEST_MESSAGE = 256 * 1024
"""Bytes of a WebSocket message; images are uploaded by HTTP."""

SMALLEST_SIDE = 8
NARROWEST = 20.0
"""Largest ratio of the longer to the shorter side of an image."""


@dataclass(frozen=True)
class Limits:
    """The limits of a server.

    Attributes
    ----------
    upload_bytes : int
        Largest size of an upload in bytes.
    decoded_pixels : int
        Images with more pixels, according to the file header, are not decoded.
    pixels : int
        Larger images are reduced to this number of pixels.
    sessions : int
        Largest number of simultaneous sessions.
    idle_seconds : float
        Seconds without a request after which a session is closed.
    linger_seconds : float
        Seconds for which a session is kept after its connection is lost, so that the tab can
        reconnect.
    """

    upload_bytes: int = 20 * 2**20
    decoded_pixels: int = 50_000_000
    pixels: int = 100_000
    sessions: int = 32
    idle_seconds: float = 1800.0
    linger_seconds: float = 60.0
