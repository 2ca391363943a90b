"""Read scribbles from images of numbers, with a palette, or with colours on a background."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv.io.errors import FileError
from graphtv.io.palette import default_colour
from graphtv.io.pictures import Colour, indices_of, picture_of

MOST_CLASSES = 64
"""Images with more colours are rejected: a soft brush or a photograph."""

PART = 1 << 20
"""Number of pixels processed at a time."""


@dataclass(frozen=True, eq=False)
class Scribbles:
    """Classes drawn on an image.

    Attributes
    ----------
    marks : ndarray of int
        The class 1, …, C of each pixel, or 0 for none.
    colours : list of Colour
        The colours of the C classes.
    names : list of str
        The classes as in the file: a number, or a colour in hexadecimal.
    """

    marks: NDArray[np.int64]
    colours: list[Colour]
    names: list[str]


class NoBackgroundError(FileError):
    """No pixel has the colour that means no scribble."""


def scribbles_of(data: bytes, name: str, background: str | None = None) -> Scribbles:
    """Return the scribbles in the content of a file with this name.

    `background` is the colour of pixels without scribbles, if unusual.
    """
    found = indices_of(data, name)
    if found is not None and background is None:
        indices, palette = found
        return _of_numbers(indices, palette, name)
    picture = picture_of(data, name)
    if picture.format == "jpeg":
        raise FileError(f"{name} is a JPEG, which is lossy; scribbles must be PNG, TIFF or .npy")
    pixels = picture.pixels
    if pixels.dtype.kind == "f":
        raise FileError(f"{name} must hold integers, got {pixels.dtype}")
    is_coloured = picture.channel_axis is not None and pixels.ndim == 3 and pixels.shape[-1] == 3
    if not is_coloured and background is None and picture.alpha is None:
        return _of_numbers(pixels, [], name)
    if pixels.dtype != np.uint8:
        raise FileError(f"{name} must have 8 bits per colour, got {pixels.dtype}")
    if not is_coloured:
        pixels = np.stack([pixels] * 3, axis=-1)
    return _of_colours(pixels, picture.alpha, background, name)


def _of_numbers(numbers: NDArray[Any], palette: list[Colour], name: str) -> Scribbles:
    """Return the scribbles of an image of numbers; 0 means none."""
    if numbers.dtype.kind == "b":
        raise FileError(f"{name} has one class; at least 2 are needed")
    values = _values(numbers, None)
    if len(values) and values[0] < 0:
        raise FileError(f"{name} must not contain negative numbers, got {values[0]}")
    used = values[values > 0]
    _check_classes([str(v) for v in used.tolist()], name)
    colours = [
        palette[v] if v < len(palette) else default_colour(k) for k, v in enumerate(used.tolist())
    ]
    if len(set(colours)) < len(colours):
        colours = [default_colour(k) for k in range(len(used))]
    marks = _ranks(numbers, used, numbers == 0)
    return Scribbles(marks, colours, [str(v) for v in used.tolist()])


def _of_colours(
    pixels: NDArray[np.uint8], alpha: NDArray[Any] | None, background: str | None, name: str
) -> Scribbles:
    """Return the scribbles of a painted image: one class per colour, sorted by colour code."""
    codes = np.zeros(pixels.shape[:-1], dtype=np.int32)
    for k in range(3):
        codes <<= 8
        codes |= pixels[..., k]
    if background is not None:
        empty = codes == int(background, 16)
    elif alpha is not None and (alpha == 0).any():
        empty = alpha == 0
    else:
        black, white = codes == 0, codes == 0xFFFFFF
        empty = black if black.sum() >= white.sum() else white
    if not empty.any():
        ground = "transparent, black or white" if background is None else f"#{background}"
        raise NoBackgroundError(f"{name} has no background: no pixel is {ground}")
    used = _values(codes, empty)
    names = [f"#{code:06x}" for code in used.tolist()]
    _check_classes(names, name)
    marks = _ranks(codes, used, empty)
    colours = [(code >> 16, code >> 8 & 255, code & 255) for code in used.tolist()]
    return Scribbles(marks, colours, names)


def _values(numbers: NDArray[Any], empty: NDArray[np.bool_] | None) -> NDArray[Any]:
    """Return the distinct values outside of `empty`, sorted; in parts, to save memory."""
    found = np.empty(0, dtype=numbers.dtype)
    for part in _parts(numbers.size):
        here = numbers.reshape(-1)[part]
        found = np.union1d(found, here if empty is None else here[~empty.reshape(-1)[part]])
    return found


def _ranks(
    numbers: NDArray[Any], used: NDArray[Any], empty: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the rank of each value among the used values, from 1; 0 for empty pixels."""
    marks = np.zeros(numbers.shape, dtype=np.int64)
    for part in _parts(numbers.size):
        ranks = np.searchsorted(used, numbers.reshape(-1)[part]) + 1
        marks.reshape(-1)[part] = np.where(empty.reshape(-1)[part], 0, ranks)
    return marks


def _parts(size: int) -> list[slice]:
    return [slice(begin, begin + PART) for begin in range(0, size, PART)]


def _check_classes(names: list[str], path: str) -> None:
    if len(names) < 2:
        got = f"one, {names[0]}" if names else "none"
        raise FileError(f"{path} must have scribbles of at least 2 classes, got {got}")
    if len(names) > MOST_CLASSES:
        raise FileError(
            f"{path} has {len(names)} colours, but at most {MOST_CLASSES} classes are possible;"
            " draw with a hard brush, without anti-aliasing"
        )
