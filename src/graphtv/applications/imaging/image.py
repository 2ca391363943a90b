"""Convert images and volumes to signals, with one row per pixel, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import (
    Floats,
    as_array,
    as_count,
    as_intensities,
    moderate,
    unmasked,
    where_known,
)


@dataclass(frozen=True)
class Layout:
    """The shape and type of an image, to convert a solution back into an image.

    Attributes
    ----------
    shape : tuple of int
        Lengths of the spatial axes.
    channel_axis : int or None
        The axis of the channels, counted from the front.
    dtype : dtype
        Type of the image to return: float32 or float64.
    """

    shape: tuple[int, ...]
    channel_axis: int | None
    dtype: np.dtype[Any]

    def restore(self, u: Floats, *, copy: bool = False) -> NDArray[Any]:
        """Return u, which has the shape of the signal, as an image with this layout."""
        if self.channel_axis is None:
            pixels = u.reshape(self.shape)
        else:
            pixels = np.moveaxis(u.reshape(*self.shape, -1), -1, self.channel_axis)
        image = np.asarray(pixels, self.dtype, order="C")
        return image.copy() if copy and np.may_share_memory(image, u) else image


@dataclass(frozen=True, eq=False)
class Image:
    """An image as a signal, with a mask of known pixels and the layout.

    Attributes
    ----------
    signal : ndarray of float64, shape (n,) or (n, C)
        The pixels in row-major order, 0 where unknown. It may share memory with the input.
    known : ndarray of bool of the same shape, or None
        Where there is data; None means everywhere.
    layout : Layout
        Shape and type of the image, to convert a solution back.
    """

    signal: Floats
    known: NDArray[np.bool_] | None
    layout: Layout

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the spatial axes."""
        return self.layout.shape


def as_image(
    image: Any,
    name: str,
    mask: Any = None,
    channel_axis: Any = None,
    *,
    holds_counts: bool = False,
) -> Image:
    """Return `image` as a signal whose entries are divided by their `white_level`.

    NaN, the masked entries of a masked array and pixels where `mask` is False are unknown.
    """
    array, known = _without_mask(image, name)
    if array.dtype.kind not in "buif":
        raise ValueError(f"{name} must hold real numbers, got dtype {array.dtype}")
    if array.ndim == 0:
        raise ValueError(f"{name} must have at least one axis, got the number {array}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    axis = as_channel_axis(channel_axis, array.ndim, array.shape)
    shape = tuple(n for k, n in enumerate(array.shape) if k != axis)
    if mask is not None:
        known = _meet(known, _as_mask(mask, name, array.shape, shape, axis))
    if known is not None:
        known = np.broadcast_to(known, array.shape)
    known = where_known(array, name, known)
    signal = _to_rows(as_intensities(array, holds_counts=holds_counts), axis)
    if known is not None and not known.all():
        known = _to_rows(known, axis)
        _check_some_known(known, name)
        signal = np.where(known, signal, 0.0)
    else:
        known = None
    moderate(signal, name)
    return Image(signal, known, Layout(shape, axis, float_type(array.dtype)))


def _without_mask(image: Any, name: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return the data of an array and, for a masked array, a mask of the valid entries."""
    known = ~np.ma.getmaskarray(image) if np.ma.is_masked(image) else None
    return as_array(unmasked(image), name), known


def as_channel_axis(channel_axis: Any, ndim: int, shape: tuple[int, ...]) -> int | None:
    """Return the axis of the channels, counted from 0, or None if there is none."""
    if channel_axis is None:
        return None
    try:
        axis = as_count(channel_axis, "channel_axis", minimum=-ndim, maximum=ndim - 1) % ndim
    except ValueError as error:
        raise ValueError(f"{error} for an image of shape {shape}") from None
    if ndim == 1:
        raise ValueError(
            f"channel_axis must leave an axis of pixels, got {channel_axis!r} for an image of"
            f" shape {shape}"
        )
    return axis


def _as_mask(
    mask: Any, name: str, full: tuple[int, ...], shape: tuple[int, ...], axis: int | None
) -> NDArray[np.bool_]:
    """Return a mask with the shape of the image, or one that broadcasts to it."""
    given = as_array(mask, "mask")
    if given.dtype.kind not in "bui":
        raise ValueError(f"mask must hold booleans, got dtype {given.dtype}")
    if given.shape not in (full, shape):
        forms = " or ".join(str(form) for form in dict.fromkeys((shape, full)))
        raise ValueError(f"mask must have the shape of {name}, {forms}, got {given.shape}")
    known = given.astype(bool, copy=False)
    if not known.any():
        raise ValueError("mask must be True for at least one pixel, got no True")
    return known if given.shape == full or axis is None else np.expand_dims(known, axis)


def _meet(a: NDArray[np.bool_] | None, b: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return b if a is None else a & b


def _check_some_known(known: NDArray[np.bool_], name: str) -> None:
    if known.ndim == 1 and not known.any():
        raise ValueError(f"{name} must have at least one known pixel, got none")
    empty = np.flatnonzero(~known.reshape(len(known), -1).any(axis=0))
    if empty.size:
        raise ValueError(
            f"{name} must have a known pixel in every channel, got none in channel {empty[0]}"
        )


def float_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return float32 for float16 and float32, and float64 for all other types."""
    return np.dtype(np.float32 if dtype.kind == "f" and dtype.itemsize <= 4 else np.float64)


def _to_rows(pixels: NDArray[Any], axis: int | None) -> NDArray[Any]:
    """Return the pixels of an image as (n,), or as (n, C) if there are channels."""
    if axis is None:
        return pixels.reshape(-1)
    moved = np.moveaxis(pixels, axis, -1)
    return moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1])


def columns(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array of shape (n,) as (n, 1), and (n, C) unchanged."""
    return values.reshape(len(values), -1)
