"""PNG with 16 bits per colour, which Pillow reads as 8 bits and does not write.

Pillow's decoder knows how to undo the filters of such a file; it only drops the second byte of each
number. Told that these numbers have their bytes the other way round, it drops the first instead:
two readings make the whole. Grey with transparency, four bytes in all, passes for red, green, blue
and transparency of one byte each.

Writing needs no more than three chunks, as the PNG specification (ISO/IEC 15948) describes them;
rows are filtered by differences to the row above.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

GREY_ALPHA, COLOURS, COLOURS_ALPHA = 4, 2, 6
"""Types of colour, as a header has them."""

CHANNELS = {GREY_ALPHA: 2, COLOURS: 3, COLOURS_ALPHA: 4}
SIGNATURE = b"\x89PNG\r\n\x1a\n"
UP = 2
"""The filter that takes differences to the row above."""

METRES_PER_INCH = 0.0254


def is_deep(data: bytes) -> bool:
    """Whether a file is a PNG of 16 bits with several channels."""
    return data[:8] == SIGNATURE and data[24:25] == b"\x10" and data[25] in CHANNELS


def read(data: bytes, open_image: Callable[[bytes], Any]) -> NDArray[np.uint16]:
    """Return the numbers, channels last; `open_image` opens a file of Pillow's, not yet loaded.

    A colour that stands for transparency becomes a channel.
    """
    kind = data[25]
    image = open_image(data)
    if kind == GREY_ALPHA:
        halves = _decode(image, "RGBA", "RGBA")
        high, low = halves[..., ::2], halves[..., 1::2]
    else:
        mode = "RGB" if kind == COLOURS else "RGBA"
        high = _decode(image, mode, f"{mode};16B")
        low = _decode(open_image(data), mode, f"{mode};16L")
    numbers: NDArray[np.uint16] = high * np.uint16(256) + low
    key = image.info.get("transparency") if kind == COLOURS else None
    if key is None:
        return numbers
    is_clear = (numbers == np.array(key)).all(axis=-1)
    return np.dstack([numbers, np.where(is_clear, np.uint16(0), np.uint16(65535))])


def _decode(image: Any, mode: str, raw_mode: str) -> NDArray[np.uint16]:
    """Return the bytes of an image that is read as if it were of this mode, upright."""
    from PIL import ImageOps

    image._mode = mode
    image.tile = [(*image.tile[0][:3], raw_mode)]
    return np.asarray(ImageOps.exif_transpose(image)).astype(np.uint16)


def encode(pixels: NDArray[np.uint16], extras: dict[str, Any]) -> bytes:
    """Return a file with these numbers, channels last; `extras` are those of Pillow's `save`."""
    height, width, n_channels = pixels.shape
    kind = next(kind for kind, n in CHANNELS.items() if n == n_channels)
    rows = pixels.astype(">u2").view(np.uint8).reshape(height, -1)
    filtered = np.empty((height, 1 + rows.shape[1]), dtype=np.uint8)
    filtered[:, 0] = UP
    filtered[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=filtered[1:, 1:])
    chunks = [_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, kind, 0, 0, 0))]
    if "icc_profile" in extras:
        profile = zlib.compress(extras["icc_profile"])
        chunks.append(_chunk(b"iCCP", b"ICC Profile\0\0" + profile))
    if "dpi" in extras:
        x, y = (round(per_inch / METRES_PER_INCH) for per_inch in extras["dpi"])
        chunks.append(_chunk(b"pHYs", struct.pack(">IIB", x, y, 1)))
    chunks += [_chunk(b"IDAT", zlib.compress(filtered.tobytes(), 6)), _chunk(b"IEND", b"")]
    return SIGNATURE + b"".join(chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    check = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)
