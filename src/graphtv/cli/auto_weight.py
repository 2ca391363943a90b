"""The weight of ``--weight auto``: by the noise of the whole image, and the risk on a part of it.

The risk takes several exact solutions, which would be most of the time on a large image; and the
weight of least risk is nearly the same for a part that resembles the whole. The part is a mosaic:
along every axis two runs of pixels, about a quarter and three quarters of the way, so that corners
and middle are both in it. Its few seams are edges like others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv.applications.noise import estimate_noise, suggest_weight

MOST_PIXELS = 2**18
"""Up to this many pixels the whole image is taken."""


def auto_weight(
    pixels: NDArray[Any],
    *,
    mask: NDArray[np.bool_] | None,
    channel_axis: int | None,
    **options: Any,
) -> float:
    """Return the weight of least risk; the options are those of `graphtv.suggest_weight`."""
    shape = tuple(n for k, n in enumerate(pixels.shape) if k != channel_axis)
    chosen = mosaic(shape, MOST_PIXELS)
    whole: dict[str, Any] = {"mask": mask, "channel_axis": channel_axis}
    if chosen is None:
        return suggest_weight(pixels, **whole, **options)
    sigma = estimate_noise(pixels, **whole)
    part = _take(pixels, chosen, channel_axis)
    known = None
    if mask is not None:
        known = _take(mask, chosen, channel_axis if mask.ndim == pixels.ndim else None)
    try:
        return suggest_weight(part, mask=known, channel_axis=channel_axis, sigma=sigma, **options)
    except ValueError:  # too little is known in this part of all
        return suggest_weight(pixels, sigma=sigma, **whole, **options)


def mosaic(shape: tuple[int, ...], most: int) -> list[NDArray[np.intp]] | None:
    """Return the indices along every axis of a part with at most so many pixels; None for all."""
    if int(np.prod(shape, dtype=np.float64)) <= most:
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
    values: NDArray[Any], chosen: list[NDArray[np.intp]], channel_axis: int | None
) -> NDArray[Any]:
    indices = list(chosen)
    if channel_axis is not None:
        indices.insert(channel_axis, np.arange(values.shape[channel_axis]))
    return values[np.ix_(*indices)]
