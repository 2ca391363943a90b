"""An opened image in full size, and its slices in the sizes that the page needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphtv._validate import Floats, as_intensities, white_level
from graphtv.io.picture import Picture

WINDOW = (0.1, 99.9)
"""Percentiles that are shown as black and white if an image has more than 8 bits."""

MOST_COUNTED = 1_000_000
"""Number of values from which the percentiles are computed."""

ROWS = 256
"""Number of rows that are converted for display at a time, to save memory."""


@dataclass(frozen=True, eq=False)
class Photo:
    """An image or a stack of slices.

    Attributes
    ----------
    picture : Picture
        The image in full size, in its own data type.
    """

    picture: Picture

    @cached_property
    def stack(self) -> NDArray[Any]:
        """The pixels as a view of shape (..., height, width, channels)."""
        pixels, axis = self.picture.pixels, self.picture.channel_axis
        return pixels[..., None] if axis is None else np.moveaxis(pixels, axis, -1)

    def slice(self, index: int) -> NDArray[Any]:
        """Return a slice of the stack, of shape (height, width, channels)."""
        leading = self.stack.shape[:-3]
        where = np.unravel_index(index, leading) if leading else ()
        return np.asarray(self.stack[where])

    def in_layout(self, stack: NDArray[Any]) -> NDArray[Any]:
        """Return an array in the shape of `stack` in the layout of the picture."""
        axis = self.picture.channel_axis
        return np.ascontiguousarray(stack[..., 0] if axis is None else np.moveaxis(stack, -1, axis))

    @property
    def n_slices(self) -> int:
        """The number of slices; 1 for an image."""
        return math.prod(self.stack.shape[:-3])

    @property
    def n_channels(self) -> int:
        """The number of channels."""
        return int(self.stack.shape[-1])

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return self.stack.shape[-3], self.stack.shape[-2]

    @cached_property
    def window(self) -> tuple[float, float]:
        """The values that are shown as black and white."""
        pixels = self.picture.pixels
        if pixels.dtype == np.bool_:
            return 0.0, 1.0
        if pixels.dtype == np.uint8:
            return 0.0, 255.0
        flat = pixels.reshape(-1)
        some = np.asarray(flat[:: -(-flat.size // MOST_COUNTED)], dtype=np.float64)
        known = some[np.isfinite(some)]
        if not known.size:
            return 0.0, 1.0
        low, high = (float(value) for value in np.percentile(known, WINDOW))
        return (low, high) if high > low else (low, low + 1.0)

    @property
    def contrast(self) -> float:
        """The range of the window in the unit of the weight of `denoise_tv`."""
        low, high = self.window
        return (high - low) / white_level(self.picture.pixels.dtype)

    # Display -------------------------------------------------------------------------------------

    def shown(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        """Return pixels (height, width, channels) of the picture's type as 8-bit colours."""
        shown = np.empty((*values.shape[:2], 3), dtype=np.uint8)
        for begin in range(0, len(values), ROWS):
            rows = slice(begin, begin + ROWS)
            shown[rows] = self._bytes(values[rows])
        return shown

    def shown_intensities(self, values: Floats) -> NDArray[np.uint8]:
        """Return intensities, as `denoise_tv` returns them, as 8-bit colours."""
        return self._bytes(values * white_level(self.picture.pixels.dtype))

    def _bytes(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        if values.dtype != np.uint8:
            low, high = self.window
            scaled = (np.asarray(values, dtype=np.float64) - low) * (255.0 / (high - low))
            values = np.rint(np.clip(np.nan_to_num(scaled, nan=0.0), 0.0, 255.0)).astype(np.uint8)
        return _as_colours(values)

    def view(self, index: int, most_pixels: int) -> NDArray[np.uint8]:
        """Return a slice as 8-bit colours on white, reduced to a number of pixels."""
        return reduced(self._on_white(self.shown(self.slice(index))), most_pixels)

    def _on_white(self, colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
        alpha = self.picture.alpha
        if alpha is None or self.n_slices > 1:
            return colours
        share = as_intensities(alpha)[..., None]
        return np.asarray(np.rint(share * colours + (1.0 - share) * 255.0), dtype=np.uint8)

    # Data ----------------------------------------------------------------------------------------

    def intensities(self, index: int, noise: float = 0.0) -> Floats:
        """Return a slice as `denoise_tv` sees it, with artificial noise.

        `noise` is a standard deviation relative to `contrast`. Each slice has its own noise, which
        is the same in every call.
        """
        values = as_intensities(self.slice(index))
        if noise > 0.0:
            rng = np.random.default_rng(index)
            values = values + noise * self.contrast * rng.standard_normal(values.shape)
        return values


def reduced_shape(shape: tuple[int, int], most_pixels: int) -> tuple[int, int]:
    """Return the height and width with at most this number of pixels, in proportion."""
    height, width = shape
    scale = min(1.0, math.sqrt(most_pixels / (height * width)))
    return max(int(height * scale), 1), max(int(width * scale), 1)


def reduced(colours: NDArray[np.uint8], most_pixels: int) -> NDArray[np.uint8]:
    """Return 8-bit colours with at most this number of pixels."""
    from PIL import Image

    height, width = reduced_shape(colours.shape[:2], most_pixels)
    if (height, width) == colours.shape[:2]:
        return colours
    image = Image.fromarray(colours)
    smaller = image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0)
    return np.asarray(smaller)


def averaged(values: Floats, shape: tuple[int, int]) -> Floats:
    """Return pixels (height, width, channels) as the means of equal areas in a smaller shape."""
    if values.shape[:2] == shape:
        return values
    for size in shape:  # along the first axis, which then becomes the second one
        flat = _areas(size, len(values)) @ values.reshape(len(values), -1)
        values = flat.reshape(size, *values.shape[1:]).swapaxes(0, 1)
    return np.ascontiguousarray(values)


def _areas(small: int, large: int) -> csr_array:
    """Return the matrix of means of `large` equal intervals over `small` equal ones."""
    ends = np.union1d(np.arange(large + 1), np.arange(small + 1) * (large / small))
    lengths = np.diff(ends)
    middles = ends[:-1] + 0.5 * lengths
    rows = np.minimum(middles * (small / large), small - 1).astype(np.int64)
    columns = np.minimum(middles, large - 1).astype(np.int64)
    return csr_array((lengths * (small / large), (rows, columns)), shape=(small, large))


def _as_colours(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return channels as red, green and blue: two are magenta and green, other numbers grey."""
    n_channels = values.shape[-1]
    if n_channels == 3:
        return values
    if n_channels == 2:
        return values[..., [0, 1, 0]]
    grey = values if n_channels == 1 else values.mean(axis=-1, keepdims=True).astype(np.uint8)
    return np.repeat(grey, 3, axis=-1)
