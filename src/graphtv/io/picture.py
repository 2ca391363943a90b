"""A picture: an image, a volume or an array with what its file says about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

MOST_UNPACKED, MOST_PACKING = 2**26, 20_000
"""Largest size of a decompressed file: a constant, plus a number of bytes per file byte."""


@dataclass(frozen=True, eq=False)
class Picture:
    """An image, a volume or an array from a file.

    Attributes
    ----------
    pixels : ndarray
        The pixels without transparency.
    format : str
        ``png``, ``jpeg``, ``tiff`` or ``npy``, or Pillow's name of a format that can only be read.
    channel_axis : int or None
        The axis of the colour channels according to the file.
    alpha : ndarray or None
        The transparency, with the shape of the pixels without channels.
    extras : dict
        Metadata to preserve: ``icc_profile`` and ``dpi``, or ``axes`` and metadata of a TIFF.
    """

    pixels: NDArray[Any]
    format: str
    channel_axis: int | None = None
    alpha: NDArray[Any] | None = None
    extras: dict[str, Any] = field(default_factory=dict)

    @property
    def n_channels(self) -> int:
        """The number of colour channels."""
        return 1 if self.channel_axis is None else self.pixels.shape[self.channel_axis]


def can_unpack(n_values: int, n_bytes: int) -> bool:
    """Whether a file of this size can contain so many values."""
    return n_values <= MOST_UNPACKED + MOST_PACKING * n_bytes


def native(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in native byte order."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)
