"""Decode uploaded images, which are untrusted input."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv.app.limits import NARROWEST, SMALLEST_SIDE, Limits

FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/webp": "WEBP",
    "image/bmp": "BMP",
}
"""Accepted content types and the names of their Pillow decoders."""


ORIENTATION = 0x0112
"""The EXIF tag for the orientation of the camera."""


class BadImageError(ValueError):
    """An upload cannot be used; the message is shown to the user."""


@dataclass(frozen=True, eq=False)
class Photo:
    """An RGB image and its size before reduction.

    Attributes
    ----------
    pixels : ndarray of uint8, shape (height, width, 3)
    original : tuple of int
        Height and width of the uploaded image.
    """

    pixels: NDArray[np.uint8]
    original: tuple[int, int]

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.pixels.shape[0], self.pixels.shape[1]


def decode(data: bytes, kind: str, limits: Limits) -> Photo:
    """Decode an image and reduce it to the working size.

    The header is checked before any pixel is decoded, so that a small file cannot cause a large
    allocation. Only the decoder of the given content type is used.
    """
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns about large sizes, which are checked here
        try:
            image = Image.open(BytesIO(data), formats=[FORMATS[kind]])
        except Image.DecompressionBombError:
            raise BadImageError(_too_large("far too many", limits)) from None
        except Exception:  # any exception: the input is untrusted
            raise BadImageError(f"This is not a {FORMATS[kind]} image.") from None
        _check_size(*image.size, limits)
        try:
            original, image = _reduced(image, limits)
        except Exception:
            raise BadImageError(f"This {FORMATS[kind]} image is damaged or incomplete.") from None
    return Photo(np.asarray(image, dtype=np.uint8).copy(), original)


def _reduced(image: Any, limits: Limits) -> tuple[tuple[int, int], Any]:
    """Return the original height and width, and the upright RGB image reduced to the limit.

    The reduction comes first, to save memory.
    """
    from PIL import Image, ImageOps

    width, height = image.size
    scale = min(1.0, math.sqrt(limits.pixels / (width * height)))
    size = max(int(width * scale), 1), max(int(height * scale), 1)
    if scale < 1.0:
        image.draft(None, size)  # a JPEG can be decoded at a fraction of its size
    image.load()
    exif = image.getexif()
    is_turned = exif.get(ORIENTATION, 1) >= 5
    image = _with_smooth_colours(image)
    if image.size != size:
        image = image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
    image.getexif().update(exif)
    image = _on_white(ImageOps.exif_transpose(image))
    return ((width, height) if is_turned else (height, width)), image


def _check_size(width: int, height: int, limits: Limits) -> None:
    if width * height > limits.decoded_pixels:
        raise BadImageError(_too_large(f"{width} × {height}", limits))
    short, long = sorted((width, height))
    if short < SMALLEST_SIDE:
        raise BadImageError(f"This image is too small: {width} × {height} pixels.")
    if long > NARROWEST * short:
        raise BadImageError(f"This image is too narrow: {width} × {height} pixels.")


def _too_large(size: str, limits: Limits) -> str:
    most = limits.decoded_pixels / 1e6
    return f"This image is too large: {size} pixels. The limit is {most:g} million."


def _with_smooth_colours(image: Any) -> Any:
    """Return the image with 8 bits per channel and without a palette, so that it can be resized."""
    from PIL import Image

    if image.mode.startswith("I") or image.mode == "F":
        values = np.asarray(image, dtype=np.float32)
        return Image.fromarray(np.clip(values / 257.0, 0, 255).astype(np.uint8))
    if "A" in image.mode or "a" in image.mode or "transparency" in image.info:
        return image.convert("RGBA")
    return image if image.mode in ("RGB", "L") else image.convert("RGB")


def _on_white(image: Any) -> Any:
    """Return the image as RGB, with transparent pixels on a white background."""
    from PIL import Image

    if image.mode == "RGBA":
        ground = Image.new("RGBA", image.size, (255, 255, 255, 255))
        image = Image.alpha_composite(ground, image)
    return image.convert("RGB")
