"""Scribbles as people draw them: numbers, a palette, or colours on an empty ground."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv.cli.errors import UsageError
from graphtv.cli.files import read_bytes, shown
from graphtv.cli.pictures import Colour, indices_of, picture_of
from graphtv.io.palette import default_colour

MOST_CLASSES = 64
"""More colours than this are a soft brush or a photograph, not scribbles."""

PART = 1 << 20
"""Pixels to deal with at a time."""


@dataclass(frozen=True, eq=False)
class Scribbles:
    """Classes drawn on an image.

    Attributes
    ----------
    marks : ndarray of int
        The class of every pixel, 1…C, or 0.
    colours : list of Colour
        What the classes are drawn in, C of them.
    names : list of str
        What the classes are called in the file: a number, or a colour in hexadecimal.
    """

    marks: NDArray[np.int64]
    colours: list[Colour]
    names: list[str]


def read_scribbles(path: str, background: str | None) -> Scribbles:
    """Read scribbles; `background` is the colour of pixels without, if it is not the usual."""
    data, name = read_bytes(path), shown(path, "input")
    found = indices_of(data, name)
    if found is not None and background is None:
        indices, palette = found
        return _of_numbers(indices, palette, name)
    picture = picture_of(data, name)
    if picture.format == "jpeg":
        raise UsageError(
            f"{name} is a JPEG, which blurs colours; scribbles must be PNG, TIFF or .npy"
        )
    pixels = picture.pixels
    if pixels.dtype.kind == "f":
        raise UsageError(f"{name} must hold integers, got {pixels.dtype}")
    is_coloured = picture.channel_axis is not None and pixels.ndim == 3 and pixels.shape[-1] == 3
    if not is_coloured and background is None and picture.alpha is None:
        return _of_numbers(pixels, [], name)
    if pixels.dtype != np.uint8:
        raise UsageError(f"{name} must have 8 bits per colour, got {pixels.dtype}")
    if not is_coloured:
        pixels = np.stack([pixels] * 3, axis=-1)
    return _of_colours(pixels, picture.alpha, background, name)


def _of_numbers(numbers: NDArray[Any], palette: list[Colour], name: str) -> Scribbles:
    """Return the scribbles of an image of numbers, 0 for none."""
    if numbers.dtype.kind == "b":
        raise UsageError(f"{name} has one class; there must be at least 2")
    values = _values(numbers, None)
    if len(values) and values[0] < 0:
        raise UsageError(f"{name} must not hold negative numbers, got {values[0]}")
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
    """Return the scribbles of a painted image: a class per colour, sorted by its code."""
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
        raise UsageError(
            f"{name} has no ground without scribbles: nothing in it is {ground}; --background says"
            " which colour it is"
        )
    used = _values(codes, empty)
    names = [f"#{code:06x}" for code in used.tolist()]
    _check_classes(names, name)
    marks = _ranks(codes, used, empty)
    colours = [(code >> 16, code >> 8 & 255, code & 255) for code in used.tolist()]
    return Scribbles(marks, colours, names)


def _values(numbers: NDArray[Any], empty: NDArray[np.bool_] | None) -> NDArray[Any]:
    """Return what numbers there are outside of `empty`, sorted; by parts, to save memory."""
    found = np.empty(0, dtype=numbers.dtype)
    for part in _parts(numbers.size):
        here = numbers.reshape(-1)[part]
        found = np.union1d(found, here if empty is None else here[~empty.reshape(-1)[part]])
    return found


def _ranks(
    numbers: NDArray[Any], used: NDArray[Any], empty: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return which of the used numbers each is, counted from 1, and 0 for the empty ones."""
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
        raise UsageError(f"{path} must have scribbles of at least 2 classes, got {got}")
    if len(names) > MOST_CLASSES:
        raise UsageError(
            f"{path} has {len(names)} colours, more than the {MOST_CLASSES} classes there may be;"
            " draw with a hard brush, without smooth edges"
        )
