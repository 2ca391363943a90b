"""Read and write TIFF with tifffile: stacks, volumes, transparency and metadata."""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Iterator
from io import BytesIO
from typing import Any, Literal

import numpy as np

from graphtv.io.errors import FileError
from graphtv.io.picture import Picture, can_unpack, native
from graphtv.io.tiff_metadata import metadata_of, write_options


def read(data: bytes, name: str, most_values: int | None = None) -> Picture | None:
    """Return the picture in the content of a file, or None if tifffile does not support its kind.

    A file that declares more than `most_values` numbers is rejected before it is decoded.
    """
    tifffile = _tifffile()
    if _has_endless_pages(data):
        raise FileError(f"{name} cannot be read as TIFF: its list of pages contains a loop")
    try:
        with _listening() as complaints, tifffile.TiffFile(BytesIO(data)) as file:
            page, series = file.pages[0], file.series[0]
            if page.photometric not in (tifffile.PHOTOMETRIC.MINISBLACK, tifffile.PHOTOMETRIC.RGB):
                return None
            _believe(series, len(data), name, most_values)
            extras = {"axes": series.axes, **metadata_of(file)}
            n_extra, pixels = len(page.extrasamples), series.asarray()
    except FileError:
        raise
    except Exception as error:  # of every kind: the file may say anything
        if "imagecodecs" in str(error):  # a compression that tifffile leaves to another package
            return None
        raise FileError(f"{name} cannot be read as TIFF: {error}") from None
    if complaints.first is not None:
        raise FileError(f"{name} cannot be read as TIFF: {complaints.first}")
    return _without_alpha(pixels, extras, n_extra)


def _believe(series: Any, n_bytes: int, name: str, most_values: int | None) -> None:
    """Raise if a file declares more than it can contain, or more than is allowed."""
    if not can_unpack(series.nbytes, n_bytes):
        raise FileError(
            f"{name} cannot be read as TIFF: it declares the shape {series.shape}, but has"
            f" {n_bytes} bytes"
        )
    if most_values is not None and math.prod(series.shape) > most_values:
        raise FileError(
            f"{name} is too large: it declares the shape {series.shape}, but at most"
            f" {most_values} values are allowed"
        )
    n_pieces = math.prod(series.keyframe.chunked) * len(series.pages)
    if n_pieces > n_bytes:  # each offset is stored in the file and takes some bytes
        raise FileError(
            f"{name} cannot be read as TIFF: it declares {n_pieces} strips or tiles, but has"
            f" {n_bytes} bytes"
        )


def _without_alpha(pixels: Any, extras: dict[str, Any], n_extra: int) -> Picture:
    """Return the picture with its second or fourth sample split off as transparency."""
    axes = extras["axes"]
    colours = [k for k, letter in enumerate(axes) if letter in "SC"]
    axis = colours[-1] if colours else None
    alpha = None
    if axis is not None and axes[axis] == "S" and n_extra == 1 and pixels.shape[axis] in (2, 4):
        alpha = np.ascontiguousarray(np.take(pixels, -1, axis))
        pixels = np.delete(pixels, -1, axis)
        if pixels.shape[axis] == 1:
            pixels, axis = pixels.squeeze(axis), None
            extras["axes"] = axes.replace("S", "")
    return Picture(native(np.ascontiguousarray(pixels)), "tiff", axis, alpha, extras)


def _has_endless_pages(data: bytes) -> bool:
    """Return whether the linked list of directories of a TIFF contains a loop."""
    order: Literal["little", "big"] = "little" if data[:1] == b"I" else "big"
    is_big = data[2:4] in (b"+\0", b"\0+")
    width, first, count, entry = (8, 8, 8, 20) if is_big else (4, 4, 2, 12)
    at, seen = int.from_bytes(data[first : first + width], order), set[int]()
    while 0 < at <= len(data) - count:
        if at in seen:
            return True
        seen.add(at)
        at += count + entry * int.from_bytes(data[at : at + count], order)
        at = int.from_bytes(data[at : at + width], order) if at <= len(data) - width else 0
    return False


class _Complaints(logging.Handler):
    """Stores the first error that tifffile logs before it continues with zeros."""

    first: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Store the first message."""
        self.first = self.first or record.getMessage()


@contextlib.contextmanager
def _listening() -> Iterator[_Complaints]:
    """Collect what tifffile logs instead of showing it."""
    complaints = _Complaints(logging.ERROR)
    logger = logging.getLogger("tifffile")
    was_loud, logger.propagate = logger.propagate, False
    logger.addHandler(complaints)
    try:
        yield complaints
    finally:
        logger.removeHandler(complaints)
        logger.propagate = was_loud


def write(picture: Picture, buffer: BytesIO) -> None:
    """Write a picture with its transparency and its metadata."""
    pixels, axis = picture.pixels, picture.channel_axis
    if pixels.dtype == np.bool_:
        pixels = pixels.astype(np.uint8) * np.uint8(255)
    options = _write_options(picture)
    if picture.alpha is not None:
        at = pixels.ndim if axis is None else axis
        colours = pixels if axis is not None else np.expand_dims(pixels, at)
        pixels = np.concatenate([colours, np.expand_dims(picture.alpha, at)], axis=at)
    _tifffile().imwrite(buffer, np.ascontiguousarray(pixels), **options)


def _write_options(picture: Picture) -> dict[str, Any]:
    """Return arguments of `tifffile.imwrite`."""
    shape, axes = picture.pixels.shape, picture.extras.get("axes", "")
    has_axes = len(axes) == len(shape)
    is_rgb = len(shape) == 3 and picture.channel_axis == 2 and shape[2] == 3
    options: dict[str, Any] = {}
    options["photometric"] = "rgb" if is_rgb or axes.endswith("S") else "minisblack"
    if not is_rgb and has_axes and "S" not in axes:
        options["metadata"] = {"axes": axes}
    extras = picture.extras
    if picture.alpha is not None or not has_axes or "S" in axes[:-1]:
        extras = {key: extras[key] for key in ("resolution", "icc_profile") if key in extras}
    options |= write_options(extras, axes, shape)
    if picture.alpha is not None:
        options |= {"extrasamples": ["unassalpha"], "planarconfig": "contig"}
        options.pop("metadata", None)
    return options


def _tifffile() -> Any:
    try:
        import tifffile
    except ImportError:
        raise FileError('TIFF needs tifffile: pip install "graphtv[image]"') from None
    return tifffile
