"""Limits for untrusted requests: sizes, counts and times."""

from __future__ import annotations

from dataclasses import dataclass

MOST_CLASSES = 8
MOST_STROKES = 2_000
MOST_POINTS = 100_000
"""Total number of points of all strokes on a slice."""

MOST_PAINTED_SLICES = 64
"""Number of slices of a stack that can have strokes."""

LONGEST_NAME = 40
LARGEST_BRUSH = 200.0
LONGEST_MESSAGE = 256 * 1024
"""Bytes of a WebSocket message; images are uploaded by HTTP."""

SMALLEST_SIDE = 8
NARROWEST = 20.0
"""Largest ratio of the longer to the shorter side of an image."""

MOST_CHANNELS = 4
"""Largest ratio of numbers to pixels of an image."""

VIEW_PIXELS = 4_000_000
"""Larger images are reduced to this number of pixels for display."""


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
        Larger images are reduced to this number of pixels for segmentation.
    preview_pixels : int
        Larger images are reduced to this number of pixels for the preview of denoising.
    run_bytes : int
        Estimated memory of a full-size run. Larger runs are refused.
    run_seconds : float
        Seconds after which a full-size run is stopped.
    held_bytes : int
        Memory of the images of all sessions. Further images are refused.
    sessions : int
        Largest number of simultaneous sessions.
    idle_seconds : float
        Seconds without a request after which a session is closed.
    linger_seconds : float
        Seconds for which a session is kept after its connection is lost, so that the tab can
        reconnect.
    """

    upload_bytes: int = 100 * 2**20
    decoded_pixels: int = 50_000_000
    pixels: int = 100_000
    preview_pixels: int = 2**18
    run_bytes: int = 4 * 2**30
    run_seconds: float = 600.0
    held_bytes: int = 2 * 2**30
    sessions: int = 32
    idle_seconds: float = 1800.0
    linger_seconds: float = 60.0
