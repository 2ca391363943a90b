"""PNG files with 16 bits per channel, by pypng.

Pillow and imageio read only 8 of the 16 bits, and cannot write such files.
"""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv.io.errors import FileError

SEVERAL_CHANNELS = (2, 4, 6)
"""Colour types in the header of a PNG: RGB, grey with alpha, RGB with alpha."""

ORIENTATION = 0x0112
"""The EXIF tag for the orientation of the camera."""

METRES_PER_INCH = 0.0254


def is_deep(data: bytes) -> bool:
    """Return whether a file is a 16-bit PNG with several channels."""
    signature = b"\x89PNG\r\n\x1a\n"
    return data[:8] == signature and data[24:25] == b"\x10" and data[25] in SEVERAL_CHANNELS


def read(data: bytes, orientation: int) -> NDArray[np.uint16]:
    """Return the pixels, channels last, in upright orientation.

    A colour that is declared transparent becomes an alpha channel.
    """
    width, height, rows, info = _pypng().Reader(bytes=data).read()
    numbers = np.empty((height, width * info["planes"]), dtype=np.uint16)
    for number, row in enumerate(rows):
        numbers[number] = row
    numbers = numbers.reshape(height, width, -1)
    if info.get("transparent") is not None:
        is_clear = (numbers == np.array(info["transparent"])).all(axis=-1)
        numbers = np.dstack([numbers, np.where(is_clear, np.uint16(0), np.uint16(65535))])
    return _upright(numbers, orientation)


def _upright(pixels: NDArray[np.uint16], orientation: int) -> NDArray[np.uint16]:
    """Return the pixels in the orientation that EXIF specifies."""
    if orientation in (5, 6, 7, 8):
        pixels = pixels.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return np.ascontiguousarray(pixels)


def encode(pixels: NDArray[np.uint16], extras: dict[str, Any]) -> bytes:
    """Return a PNG file with these pixels, channels last; `extras` as in Pillow's `save`."""
    height, width, n_channels = pixels.shape
    options: dict[str, Any] = {}
    if "dpi" in extras:
        x, y = (round(per_inch / METRES_PER_INCH) for per_inch in extras["dpi"])
        options = {"x_pixels_per_unit": x, "y_pixels_per_unit": y, "unit_is_meter": True}
    png, buffer = _pypng(), BytesIO()
    png.Writer(
        width, height, greyscale=n_channels < 3, alpha=n_channels % 2 == 0, bitdepth=16, **options
    ).write(buffer, pixels.reshape(height, -1))
    if "icc_profile" not in extras:
        return buffer.getvalue()
    header, *others = png.Reader(bytes=buffer.getvalue()).chunks()
    profile = (b"iCCP", b"ICC Profile\0\0" + zlib.compress(extras["icc_profile"]))
    buffer = BytesIO()
    png.write_chunks(buffer, [header, profile, *others])
    return buffer.getvalue()


def _pypng() -> Any:
    try:
        import png
    except ImportError:
        message = 'PNG with 16 bits per colour needs pypng: pip install "graphtv[image]"'
        raise FileError(message) from None
    return png
