"""Parts of a large image that resemble the whole, to choose a weight on.

The risk takes several exact solutions, which would be most of the time on a large image; and the
weight of least risk is nearly the same for a part that resembles the whole. A part is a mosaic:
along every axis some runs of pixels at even distances, so that corners and middle are both in it.
Its seams are edges like others. Several small parts take less time than a large one, and together
they see more of the image.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv.applications.imaging.image import Image

MOST_PIXELS = 2**18
"""Pixels to load of an image that does not fit into memory."""

PART_PIXELS = 2**13
"""Pixels of a part; a smaller image is taken as it is."""

PIXELS_PER_PART = 90_000
"""Of the image: one part stands for so many."""

PARTS = 8
"""How many parts an image has at most."""

RUN = 32
"""Pixels of a run along an axis, roughly; there are at least two runs."""

GOLDEN = 0.6180339887498949


def samples(image: Image) -> list[Image]:
    """Return parts of a large image; a small one, or one of which too little is known, itself."""
    n = math.prod(image.shape)
    if n <= PART_PIXELS:
        return [image]
    parts = []
    for number in range(max(min(n // PIXELS_PER_PART, PARTS), 1)):
        chosen = mosaic(image.shape, PART_PIXELS, (0.5 + number * GOLDEN) % 1.0)
        assert chosen is not None
        known = None if image.known is None else _take(image.known, image.shape, chosen)
        if known is not None and not known.any(axis=0).all():
            return [image]
        shape = tuple(len(indices) for indices in chosen)
        signal = _take(image.signal, image.shape, chosen)
        parts.append(Image(signal, known, replace(image.layout, shape=shape)))
    return parts


def mosaic(shape: tuple[int, ...], most: int, offset: float = 0.5) -> list[NDArray[np.intp]] | None:
    """Return the indices along every axis of a part with at most so many pixels; None for all.

    Runs lie in the middle of equal cells, or nearer to an end by another `offset` from 0 to 1.
    """
    if math.prod(shape) <= most:
        return None
    lengths = list(shape)
    room = float(most)
    # Short axes stay as they are, long ones become equally long.
    for rank, axis in enumerate(sorted(range(len(shape)), key=lambda k: shape[k])):
        lengths[axis] = max(min(shape[axis], int(room ** (1.0 / (len(shape) - rank)))), 1)
        room /= lengths[axis]
    return [_runs(n, length, offset) for n, length in zip(shape, lengths, strict=True)]


def _runs(n: int, length: int, offset: float) -> NDArray[np.intp]:
    """Return `length` of n indices at most, in runs of about RUN."""
    if length >= n:
        return np.arange(n)
    count = min(max(round(length / RUN), 2), length)
    runs = []
    for k in range(count):
        first, last = k * n // count, (k + 1) * n // count
        size = min((k + 1) * length // count - k * length // count, last - first)
        start = first + int(offset * (last - first - size))
        runs.append(np.arange(start, start + size))
    return np.concatenate(runs)


def _take(
    rows: NDArray[Any], shape: tuple[int, ...], chosen: list[NDArray[np.intp]]
) -> NDArray[Any]:
    """Return the rows, one per pixel, of the pixels with these indices."""
    pixels = rows.reshape(*shape, *rows.shape[1:])[np.ix_(*chosen)]
    return pixels.reshape(-1, *rows.shape[1:])
