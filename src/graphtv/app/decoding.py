"""Decode uploaded images and scribbles, which are untrusted input."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv.app.limits import (
    LONGEST_NAME,
    MOST_CHANNELS,
    MOST_CLASSES,
    NARROWEST,
    SMALLEST_SIDE,
    Limits,
)
from graphtv.app.names import printable
from graphtv.app.photo import Photo
from graphtv.io.errors import FileError
from graphtv.io.palette import Colour, default_colour
from graphtv.io.pictures import indices_of, picture_of
from graphtv.io.scribbles import scribbles_of

FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/tiff": "TIFF",
    "image/webp": "WEBP",
    "image/bmp": "BMP",
}
"""Accepted content types and the names of their Pillow decoders."""

NOT_AN_IMAGE = "This is not a PNG, JPEG, TIFF, WebP or BMP image."


class BadImageError(ValueError):
    """An upload cannot be used; the message is shown to the user."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """Uploaded scribbles.

    Attributes
    ----------
    marks : ndarray of uint8
        The class of each pixel of the original image, or 0 for none.
    names, colours : tuple
        Of the classes 1, 2, ….
    """

    marks: NDArray[np.uint8]
    names: tuple[str, ...]
    colours: tuple[Colour, ...]


def decode(data: bytes, kind: str, limits: Limits) -> Photo:
    """Decode an image in full size.

    The header is checked before any pixel is decoded, so that a small file cannot cause a large
    allocation. Only the decoder of the given content type is used.
    """
    name = FORMATS[kind]
    if name == "TIFF":
        if data[:4] not in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
            raise BadImageError("This is not a TIFF image.")
    else:
        width, height = _opened(data, name, limits).size
        _check_size(width, height, limits)
    try:
        picture = picture_of(data, "This file", most_values=MOST_CHANNELS * limits.decoded_pixels)
    except FileError as error:
        if name == "TIFF" or "frames" in str(error):
            raise BadImageError(f"{error}.") from None
        raise BadImageError(f"This {name} image is damaged or incomplete.") from None
    if picture.pixels.dtype.kind == "f" and np.isinf(picture.pixels).any():
        raise BadImageError("This image contains infinite values.")
    if picture.pixels.ndim - (picture.channel_axis is not None) < 2:
        raise BadImageError(f"This file has the shape {picture.pixels.shape}. It is not an image.")
    photo = Photo(picture)
    height, width = photo.size
    _check_size(width, height, limits, photo.n_slices)
    return photo


def decode_scribbles(data: bytes, size: tuple[int, int], limits: Limits) -> Sheet:
    """Decode scribbles for an image of this height and width: a PNG as `graphtv segment` reads."""
    image = _opened(data, "PNG", limits)
    if image.size != size[::-1]:
        theirs, ours = (" × ".join(map(str, each)) for each in (image.size, size[::-1]))
        raise BadImageError(f"The scribbles have {theirs} pixels, but the image has {ours}.")
    try:
        found = scribbles_of(data, "This file")
    except FileError as error:
        raise BadImageError(f"{error}.") from None
    numbers = list(range(1, len(found.names) + 1))
    if all(each.isdigit() for each in found.names):  # keep the numbers of the file
        numbers = [int(each) for each in found.names]
    if numbers[-1] > MOST_CLASSES:
        raise BadImageError(f"The scribbles have class {numbers[-1]}. The limit is {MOST_CLASSES}.")
    names = _listed_names(getattr(image, "text", {}).get("Classes", ""))
    n_classes = max(numbers[-1], *names, 2)
    colours = [default_colour(k) for k in range(n_classes)]
    if names and (indexed := indices_of(data, "This file")) is not None:  # written by this page
        colours[: len(indexed[1]) - 1] = indexed[1][1 : n_classes + 1]
    for number, colour in zip(numbers, found.colours, strict=True):
        colours[number - 1] = colour
    return Sheet(
        np.array([0, *numbers], dtype=np.uint8)[found.marks],
        tuple(names.get(k, f"class {k}") for k in range(1, n_classes + 1)),
        tuple(colours),
    )


def _listed_names(text: object) -> dict[int, str]:
    """Return the names in the text field of a PNG that this page has written."""
    lines = re.findall(r"^(\d) (.+)$", str(text)[: 100 * MOST_CLASSES], re.MULTILINE)
    known = {int(number): printable(name[:LONGEST_NAME]) for number, name in lines}
    return {number: name for number, name in known.items() if 1 <= number <= MOST_CLASSES}


def _opened(data: bytes, name: str, limits: Limits) -> Any:
    """Open an image, which reads its header only."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns about large sizes, which are checked here
        try:
            return Image.open(BytesIO(data), formats=[name])
        except Image.DecompressionBombError:
            raise BadImageError(_too_large("far too many", limits)) from None
        except Exception:  # any exception: the input is untrusted
            raise BadImageError(f"This is not a {name} image.") from None


def _check_size(width: int, height: int, limits: Limits, n_slices: int = 1) -> None:
    if width * height * n_slices > limits.decoded_pixels:
        slices = f" × {n_slices}" if n_slices > 1 else ""
        raise BadImageError(_too_large(f"{width} × {height}{slices}", limits))
    short, long = sorted((width, height))
    if short < SMALLEST_SIDE:
        raise BadImageError(f"This image is too small: {width} × {height} pixels.")
    if long > NARROWEST * short:
        raise BadImageError(f"This image is too narrow: {width} × {height} pixels.")


def _too_large(size: str, limits: Limits) -> str:
    most = limits.decoded_pixels / 1e6
    return f"This image is too large: {size} pixels. The limit is {most:g} million."
