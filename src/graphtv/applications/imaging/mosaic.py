"""A part of a large image that resembles the whole, to choose a weight on.

The risk takes several exact solutions, which would be most of the time on a large image; and the
weight of least risk is nearly the same for a part that resembles the whole. The part is a mosaic:
along every axis two runs of pixels, about a quarter and three quarters of the way, so that corners
and middle are both in it. Its few seams are edges like others.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv.applications.imaging.image import Image

MOST_PIXELS = 2**18
"""Up to this many pixels the whole image is taken."""


def sample(image: Image) -> Image:
    """Return a part of a large image; a small one, or one of which too little is known, itself."""
    chosen = mosaic(image.shape, MOST_PIXELS)
    if chosen is None:
        return image
    known = None if image.known is None else _take(image.known, image.shape, chosen)
    if known is not None and not known.any(axis=0).all():
        return image
    shape = tuple(len(indices) for indices in chosen)
    signal = _take(image.signal, image.shape, chosen)
    return Image(signal, known, replace(image.frame, shape=shape))


def mosaic(shape: tuple[int, ...], most: int) -> list[NDArray[np.intp]] | None:
    """Return the indices along every axis of a part with at most so many pixels; None for all."""
    if math.prod(shape) <= most:
        return None
    lengths = list(shape)
    room = float(most)
    # Short axes stay as they are, long ones become equally long.
    for rank, axis in enumerate(sorted(range(len(shape)), key=lambda k: shape[k])):
        lengths[axis] = max(min(shape[axis], int(room ** (1.0 / (len(shape) - rank)))), 1)
        room /= lengths[axis]
    return [_two_runs(n, length) for n, length in zip(shape, lengths, strict=True)]


def _two_runs(n: int, length: int) -> NDArray[np.intp]:
    if length >= n - 1:
        return np.arange(length)
    half = length // 2
    starts = (n // 4 - half // 2, 3 * n // 4 - half // 2)
    first = max(starts[0], 0)
    second = min(max(starts[1], first + half), n - (length - half))
    return np.concatenate(
        [np.arange(first, first + half), np.arange(second, second + length - half)]
    )


def _take(
    rows: NDArray[Any], shape: tuple[int, ...], chosen: list[NDArray[np.intp]]
) -> NDArray[Any]:
    """Return the rows, one per pixel, of the pixels with these indices."""
    pixels = rows.reshape(*shape, *rows.shape[1:])[np.ix_(*chosen)]
    return pixels.reshape(-1, *rows.shape[1:])
