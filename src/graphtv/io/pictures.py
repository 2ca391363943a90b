"""Read and write images, volumes and arrays: PNG, JPEG, TIFF and .npy files.

Pillow handles PNG and JPEG, pypng handles PNG with 16 bits per channel, and tifffile handles TIFF.
Pixels keep their data type. Transparency is stored separately and restored when the image is
written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import white_level
from graphtv.io import deep_png, tiff
from graphtv.io.errors import FileError
from graphtv.io.picture import Picture, can_unpack, native

FORMATS = {
    ".jpeg": "jpeg",
    ".jpg": "jpeg",
    ".npy": "npy",
    ".png": "png",
    ".tif": "tiff",
    ".tiff": "tiff",
}
"""Formats by suffix."""

JPEG_QUALITY = 95

MOST_PIXELS = 2**29
"""A PNG or JPEG whose header declares more than twice as many pixels is rejected."""

Colour = tuple[int, int, int]


# Reading -----------------------------------------------------------------------------------------


def picture_of(data: bytes, name: str, *, most_values: int | None = None) -> Picture:
    """Return the picture in the content of a file with this name.

    A TIFF that declares more than `most_values` numbers is rejected before it is decoded.
    """
    if not data:
        raise FileError(f"{name}: the file is empty")
    if data[:6] == b"\x93NUMPY":
        return _read_npy(data, name)
    if data[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return tiff.read(data, name, most_values) or _read_with_pillow(data, name)
    return _read_with_pillow(data, name)


def _read_npy(data: bytes, name: str) -> Picture:
    try:
        array = np.load(BytesIO(data), allow_pickle=False)
    except Exception as error:  # of every kind: the file may say anything
        raise FileError(f"{name} cannot be read as .npy: {error}") from None
    if array.dtype.kind not in "buif":
        raise FileError(f"{name} must hold real numbers, got dtype {array.dtype}")
    return Picture(native(array), "npy")


def _read_with_pillow(data: bytes, name: str) -> Picture:
    image = _open(data, name)
    if getattr(image, "n_frames", 1) > 1:
        raise FileError(f"{name} has {image.n_frames} frames; it must be a single image")
    return _from_pillow(image, data, name)


def _open(data: bytes, name: str) -> Any:
    """Open an image with Pillow; it may be larger than Pillow's default limit."""
    with _judging(name):
        image = _pillow().open(BytesIO(data))
        _believe(image, len(data))
        image.load()
    return image


@contextlib.contextmanager
def _judging(name: str) -> Iterator[None]:
    """Let Pillow open large images, and turn its errors into FileError."""
    from warnings import catch_warnings, simplefilter

    image_module = _pillow()
    limit, image_module.MAX_IMAGE_PIXELS = image_module.MAX_IMAGE_PIXELS, MOST_PIXELS
    try:
        with catch_warnings():
            simplefilter("ignore")
            yield
    except FileError:
        raise
    except Exception as error:  # of every kind: the file may say anything
        reason = str(error).split("<_io")[0].rstrip(" '") or type(error).__name__
        if "cannot identify image" in reason:
            reason = "it is not a PNG, JPEG, TIFF or .npy file"
        raise FileError(f"{name} cannot be read as an image: {reason}") from None
    finally:
        image_module.MAX_IMAGE_PIXELS = limit


def _believe(image: Any, n_bytes: int) -> None:
    """Raise if an image declares more pixels than a file of this size can contain."""
    width, height = image.size
    # Pillow allocates a pointer per row.
    claimed = height * (width * len(image.getbands()) + 8)
    if not can_unpack(claimed, n_bytes):
        raise ValueError(f"it declares {width} × {height} pixels, but has {n_bytes} bytes")


def indices_of(data: bytes, name: str) -> tuple[NDArray[Any], list[Colour]] | None:
    """Return the indices and the palette of a PNG with a palette, or None for other files."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[25:26] != b"\x03":
        return None
    image = _open(data, name)
    flat = image.getpalette("RGB")
    return np.array(image), list(zip(flat[::3], flat[1::3], flat[2::3], strict=True))


def _from_pillow(image: Any, data: bytes, name: str) -> Picture:
    from PIL import ImageOps

    kind = str(image.format).lower()
    extras = {key: image.info[key] for key in ("icc_profile", "dpi") if key in image.info}
    if deep_png.is_deep(data):
        with _judging(name):
            pixels = deep_png.read(data, image.getexif().get(deep_png.ORIENTATION, 1))
        return _without_alpha(pixels, kind, extras)
    image = ImageOps.exif_transpose(image)
    if image.mode in ("P", "PA", "L", "1", "RGB") and "transparency" in image.info:
        image = image.convert("LA" if image.mode in ("L", "1") else "RGBA")
    elif image.mode in ("P", "CMYK", "YCbCr", "LAB", "HSV", "RGBX"):
        image = image.convert("RGB")
        extras.pop("icc_profile", None)  # it belongs to the original colours
    elif image.mode in ("PA", "RGBa"):
        image = image.convert("RGBA")
    elif image.mode == "La":
        image = image.convert("LA")
    pixels = np.array(image)
    if kind == "png" and data[24] == 16:
        pixels = pixels.astype(np.uint16)
    return _without_alpha(native(pixels), kind, extras)


def _without_alpha(pixels: NDArray[Any], kind: str, extras: dict[str, Any]) -> Picture:
    """Return the picture with its second or fourth channel split off as transparency."""
    alpha = None
    if pixels.ndim == 3 and pixels.shape[2] in (2, 4):
        pixels, alpha = pixels[..., :-1], np.ascontiguousarray(pixels[..., -1])
        pixels = np.ascontiguousarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
    return Picture(pixels, kind, 2 if pixels.ndim == 3 else None, alpha, extras)


# Writing -----------------------------------------------------------------------------------------


def check_can_hold(picture: Picture, kind: str, where: str) -> None:
    """Raise if a format cannot represent a picture exactly; `where` is the name of the output."""
    better = "; write .tif or .npy" if picture.alpha is None else "; write .tif"
    if kind == "npy":
        if picture.alpha is not None:
            raise FileError(f"{where}: the format does not support transparency{better} or .png")
        return
    if kind == "tiff":
        return
    shape, axis, name = picture.pixels.shape, picture.channel_axis, kind.upper()
    if len(shape) - (axis is not None) != 2:
        raise FileError(f"{where}: {name} supports 2-D images only, got shape {shape}{better}")
    if axis is not None and shape[axis] != 3:
        raise FileError(f"{where}: {name} supports 1 or 3 channels, got {shape[axis]}{better}")
    types = [np.dtype(t) for t in ((bool, np.uint8, np.uint16) if kind == "png" else (np.uint8,))]
    if picture.pixels.dtype not in types:
        raise FileError(
            f"{where}: {name} does not support {picture.pixels.dtype}{better}"
            if kind == "png"
            else f"{where}: JPEG supports uint8 only, got {picture.pixels.dtype}{better} or .png"
        )
    if kind == "jpeg" and picture.alpha is not None:
        raise FileError(f"{where}: JPEG does not support transparency; write .png")


def of_type(denoised: Any, dtype: Any, *, holds_counts: bool = False) -> Any:
    """Return the result of `denoise_tv` in the data type of its image."""
    if dtype.kind == "f":
        return denoised.astype(dtype)
    if dtype.kind == "b":
        return denoised >= 0.5
    numbers = np.rint(denoised * white_level(dtype, holds_counts=holds_counts))
    limits = np.iinfo(dtype)
    # The largest 64-bit integer is rounded up as a float, out of the range of the type.
    highest = min(float(limits.max), np.nextafter(limits.max + 1.0, 0.0))
    return np.clip(numbers, limits.min, highest).astype(dtype)


def encode(picture: Picture, kind: str) -> bytes:
    """Return the content of a file with this picture; the format must support it."""
    buffer = BytesIO()
    if kind == "npy":
        np.save(buffer, picture.pixels, allow_pickle=False)
    elif kind == "tiff":
        tiff.write(picture, buffer)
    else:
        pixels = picture.pixels
        if picture.channel_axis is not None:
            pixels = np.moveaxis(pixels, picture.channel_axis, -1)
        if picture.alpha is not None:
            pixels = np.dstack([pixels, picture.alpha])
        options = {k: v for k, v in picture.extras.items() if k in ("icc_profile", "dpi")}
        if pixels.dtype == np.uint16 and pixels.ndim == 3:
            return deep_png.encode(np.ascontiguousarray(pixels), options)
        if kind == "jpeg":
            options |= {"quality": JPEG_QUALITY, "subsampling": 0}
        image = _pillow().fromarray(np.ascontiguousarray(pixels))
        image.save(buffer, kind.upper(), **options)
    return buffer.getvalue()


def encode_labels(labels: NDArray[np.uint8], colours: list[Colour]) -> bytes:
    """Return a PNG with a palette: pixel k has colour k."""
    image = _pillow().fromarray(labels)
    image.putpalette([value for colour in colours for value in colour])
    buffer = BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise FileError('images need Pillow: pip install "graphtv[image]"') from None
    return Image
