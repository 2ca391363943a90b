"""Downloads: labels and scribbles as PNG files, denoised images in the format of the upload."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from graphtv.app.strokes import enlarged_marks
from graphtv.io.palette import Colour, default_colour
from graphtv.io.picture import Picture
from graphtv.io.pictures import encode

GREY = (128, 128, 128)

FORMATS = ("png", "jpeg", "tiff")
"""Formats in which a picture can be written. Others become PNG."""


def colours() -> list[Colour]:
    """Return the colours of all possible classes; the last colour is grey."""
    return [default_colour(k) for k in range(7)] + [GREY]


def encode_classes(
    numbers: NDArray[np.uint8],
    size: tuple[int, int],
    names: tuple[str, ...],
    class_colours: tuple[Colour, ...],
) -> bytes:
    """Return a PNG with a palette that `graphtv segment` can read: value k means class k.

    The text field ``Classes`` contains the names of the classes. `size` is (height, width).
    """
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    image = Image.fromarray(enlarged_marks(numbers, size))
    image.putpalette([value for colour in [(0, 0, 0), *class_colours] for value in colour])
    about = PngInfo()
    listed = "\n".join(f"{number} {name}" for number, name in enumerate(names, start=1))
    about.add_itxt("Classes", listed)
    buffer = BytesIO()
    image.save(buffer, "PNG", pnginfo=about)
    return buffer.getvalue()


def encode_image(pixels: NDArray[np.uint8]) -> bytes:
    """Return a colour PNG."""
    from PIL import Image

    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def written_format(picture: Picture) -> str:
    """Return the format in which a picture is downloaded: its own if possible."""
    return picture.format if picture.format in FORMATS else "png"


def encode_picture(picture: Picture) -> bytes:
    """Return a picture in its own format and data type."""
    return encode(picture, written_format(picture))
