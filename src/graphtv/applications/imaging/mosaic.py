"""Representative parts of a large image, on which a weight is chosen.

The risk needs several exact solutions, which would dominate the run time on a large image. The
weight of least risk is nearly the same for a representative part. A part is a mosaic: along every
axis it consists of runs of pixels at equal distances, so that it contains both corners and centre.
The seams between runs are ordinary edges. Several small parts need less time than one large part
and together cover more of the image.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv.applications.imaging.image import Image

MOST_PIXELS = 2**18
"""Number of pixels to load from an image that does not fit into memory."""

PART_PIXELS = 2**13
"""Number of pixels of a part; a smaller image is used as a whole."""

PIXELS_PER_PART = 90_000
"""There is one part for this many pixels of the image."""

PARTS = 8
"""Largest number of parts."""

LOOSE = 1e-4
"""From this tolerance on a single solution is so fast that smaller parts are used."""

LOOSE_SHARE = 1 / 25
"""The part of an image that is then used, in parts of at least LEAST_PIXELS."""

LEAST_PIXELS = 2**11
"""Smallest number of pixels of such a part."""

LOOSE_PIXELS_PER_PART = 160_000
"""There is then one part for this many pixels of the image."""

RUN = 32
"""Approximate length of a run in pixels; there are at least two runs per axis."""

GOLDEN = 0.6180339887498949
"""The golden section: multiples of it, modulo 1, are spread evenly."""


def samples(image: Image, tolerance: float = 0.0) -> list[Image]:
    """Return parts of a large image, or the image itself if it is small or mostly unknown.

    `tolerance` is that of the solution for which the weight is chosen.
    """
    n = math.prod(image.shape)
    n_parts, n_pixels = max(min(n // PIXELS_PER_PART, PARTS), 1), PART_PIXELS
    if tolerance >= LOOSE:
        n_parts = max(min(n // LOOSE_PIXELS_PER_PART, PARTS), 1)
        n_pixels = min(max(int(LOOSE_SHARE * n / n_parts), LEAST_PIXELS), PART_PIXELS)
    if n <= n_pixels:
        return [image]
    parts = []
    for number in range(n_parts):
        chosen = mosaic(image.shape, n_pixels, (0.5 + number * GOLDEN) % 1.0)
        assert chosen is not None
        known = None if image.known is None else _take(image.known, image.shape, chosen)
        if known is not None and not known.any(axis=0).all():
            return [image]
        shape = tuple(len(indices) for indices in chosen)
        signal = _take(image.signal, image.shape, chosen)
        parts.append(Image(signal, known, replace(image.layout, shape=shape)))
    return parts


def mosaic(shape: tuple[int, ...], most: int, offset: float = 0.5) -> list[NDArray[np.intp]] | None:
    """Return the indices of a part along each axis, or None if the image is small enough.

    There is one run in each of several equal cells. `offset` is its position in the cell: 0 at
    the start, 0.5 in the middle, 1 at the end.
    """
    if math.prod(shape) <= most:
        return None
    lengths = list(shape)
    room = float(most)
    # Short axes are kept, long ones are reduced to equal lengths.
    for rank, axis in enumerate(sorted(range(len(shape)), key=lambda k: shape[k])):
        lengths[axis] = max(min(shape[axis], int(room ** (1.0 / (len(shape) - rank)))), 1)
        room /= lengths[axis]
    return [_runs(n, length, offset) for n, length in zip(shape, lengths, strict=True)]


def _runs(n: int, length: int, offset: float) -> NDArray[np.intp]:
    """Return at most `length` of n indices, in runs of about RUN."""
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
