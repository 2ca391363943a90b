"""Downloads: labels, scribbles and images as PNG files."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from graphtv.io.palette import default_colour

GREY = (128, 128, 128)


def colours() -> list[tuple[int, int, int]]:
    """Return the colours of all possible classes; the last colour is grey."""
    return [default_colour(k) for k in range(7)] + [GREY]


def encode_classes(
    numbers: NDArray[np.uint8], size: tuple[int, int], names: tuple[str, ...]
) -> bytes:
    """Return a PNG with a palette that `graphtv segment` can read: value k means class k.

    The text field ``Classes`` contains the names of the classes. `size` is (height, width).
    """
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    image = Image.fromarray(numbers)
    image.putpalette([value for colour in [(0, 0, 0), *colours()] for value in colour])
    if image.size != size[::-1]:
        image = image.resize(size[::-1], Image.Resampling.NEAREST)
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
