"""What a stranger may ask for: sizes, numbers and times beyond which the page says no."""

from __future__ import annotations

from dataclasses import dataclass

MOST_CLASSES = 8
MOST_STROKES = 2_000
MOST_POINTS = 100_000
"""Points of all strokes together."""

LONGEST_NAME = 40
LARGEST_BRUSH = 200.0
LONGEST_MESSAGE = 256 * 1024
"""Bytes of a message by WebSocket; images come by HTTP."""

SMALLEST_SIDE = 8
NARROWEST = 20.0
"""No image is longer than so many times its breadth."""


@dataclass(frozen=True)
class Limits:
    """What a server is started with.

    Attributes
    ----------
    upload_bytes : int
        The largest upload.
    decoded_pixels : int
        The largest image, as its header claims, that is decoded at all.
    pixels : int
        Images are reduced to so many pixels to be worked on.
    sessions : int
        Sessions at the same time.
    idle_seconds : float
        A session without a sign of its user is closed after so long.
    linger_seconds : float
        How long a session outlives its connection, so that a tab can come back.
    """

    upload_bytes: int = 20 * 2**20
    decoded_pixels: int = 50_000_000
    pixels: int = 100_000
    sessions: int = 32
    idle_seconds: float = 1800.0
    linger_seconds: float = 60.0
