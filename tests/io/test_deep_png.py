"""PNG with 16 bits per channel, against a slow encoder that uses every feature of the format."""

import struct
import sys
import zlib
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image, ImageOps

pytest.importorskip("png")

from graphtv.io import deep_png
from graphtv.io.errors import FileError
from graphtv.io.picture import Picture
from graphtv.io.pictures import encode, picture_of

ADAM7 = (
    (0, 0, 8, 8),
    (0, 4, 8, 8),
    (4, 0, 8, 4),
    (0, 2, 4, 4),
    (2, 0, 4, 2),
    (0, 1, 2, 2),
    (1, 0, 2, 1),
)
KINDS = {2: 4, 3: 2, 4: 6}

numbers = (
    st.integers(1, 9)
    .flatmap(
        lambda height: st.tuples(st.just(height), st.integers(1, 9), st.sampled_from([2, 3, 4]))
    )
    .flatmap(lambda shape: hnp.arrays(np.uint16, shape))
)


def paeth(left, up, corner):
    nearest = min((abs(up - corner), 0), (abs(left - corner), 1), (abs(left + up - 2 * corner), 2))
    return (left, up, corner)[nearest[1]]


def filtered(pixels, filters):
    """Return the rows, each with one of the five filters of the specification."""
    rows = [bytes(row) for row in pixels.astype(">u2").view(np.uint8).reshape(len(pixels), -1)]
    size, out, above = 2 * pixels.shape[2], b"", bytes(len(rows[0]))
    for k, row in enumerate(rows):
        kind = filters[k % len(filters)]
        out += bytes([kind])
        for i, value in enumerate(row):
            left, corner = (row[i - size], above[i - size]) if i >= size else (0, 0)
            guess = (0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner))[kind]
            out += bytes([(value - guess) % 256])
        above = row
    return out


def slow_png(pixels, filters=(0,), interlaced=False, extra=b""):
    height, width, n_channels = pixels.shape
    passes = ADAM7 if interlaced else ((0, 0, 1, 1),)
    parts = [pixels[y::dy, x::dx] for y, x, dy, dx in passes]
    content = b"".join(filtered(part, filters) for part in parts if part.size)
    header = struct.pack(">IIBBBBB", width, height, 16, KINDS[n_channels], 0, 0, interlaced)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(content)), (b"IEND", b"")
    first, *others = (png_chunk(*chunk) for chunk in chunks)
    return b"\x89PNG\r\n\x1a\n" + first + extra + b"".join(others)


def png_chunk(name, content):
    check = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)


def whole(picture):
    """Return all values of a picture, transparency last."""
    pixels = picture.pixels if picture.pixels.ndim == 3 else picture.pixels[..., None]
    return pixels if picture.alpha is None else np.dstack([pixels, picture.alpha])


@given(numbers, st.lists(st.integers(0, 4), min_size=1, max_size=5), st.booleans())
def test_every_bit_is_read(pixels, filters, interlaced):
    picture = picture_of(slow_png(pixels, filters, interlaced), "deep.png")
    assert picture.pixels.dtype == np.uint16
    assert picture.format == "png"
    assert picture.channel_axis == (None if pixels.shape[2] == 2 else 2)
    np.testing.assert_array_equal(whole(picture), pixels)


@given(numbers)
def test_every_bit_is_written(pixels):
    data = deep_png.encode(pixels, {})
    np.testing.assert_array_equal(whole(picture_of(data, "deep.png")), pixels)
    image = Image.open(BytesIO(data))
    image.verify()  # the checksums of all chunks
    assert image.size == pixels.shape[1::-1]


def test_a_picture_goes_there_and_back_with_what_belongs_to_it():
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 2**16, (7, 5, 3)).astype(np.uint16)
    alpha = rng.integers(0, 2**16, (7, 5)).astype(np.uint16)
    extras = {"icc_profile": b"profile", "dpi": (300, 300)}
    back = picture_of(encode(Picture(pixels, "png", 2, alpha, extras), "png"), "deep.png")
    np.testing.assert_array_equal(back.pixels, pixels)
    np.testing.assert_array_equal(back.alpha, alpha)
    assert back.extras["icc_profile"] == b"profile"
    assert back.extras["dpi"] == pytest.approx((300, 300), abs=0.1)
    grey = picture_of(encode(Picture(pixels[..., 0], "png", None, alpha), "png"), "grey.png")
    np.testing.assert_array_equal(grey.pixels, pixels[..., 0])
    np.testing.assert_array_equal(grey.alpha, alpha)


def test_a_colour_that_is_transparent():
    pixels = np.arange(24, dtype=np.uint16).reshape(4, 2, 3) + 1000
    key = png_chunk(b"tRNS", struct.pack(">HHH", *pixels[1, 1]))
    picture = picture_of(slow_png(pixels, extra=key), "keyed.png")
    np.testing.assert_array_equal(picture.pixels, pixels)
    assert picture.alpha.min() == picture.alpha[1, 1] == 0
    assert (picture.alpha == 65535).sum() == 7


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_camera_that_was_turned(orientation):
    pixels = np.arange(24, dtype=np.uint16).reshape(4, 2, 3) + 1000
    exif = Image.Exif()
    exif[0x0112] = orientation
    turned = slow_png(pixels, extra=png_chunk(b"eXIf", exif.tobytes()[6:]))
    low = Image.fromarray((pixels - 1000).astype(np.uint8))  # what Pillow makes of 8 bits
    low.getexif()[0x0112] = orientation
    expected = np.array(ImageOps.exif_transpose(low)).astype(np.uint16) + 1000
    np.testing.assert_array_equal(picture_of(turned, "turned.png").pixels, expected)


def test_without_pypng_the_extra_is_named(monkeypatch):
    data = slow_png(np.zeros((2, 2, 3), dtype=np.uint16))
    monkeypatch.setitem(sys.modules, "png", None)
    with pytest.raises(FileError, match=r'^PNG with 16 bits .* pypng: pip install "graphtv\[image'):
        picture_of(data, "deep.png")


def test_a_damaged_file_is_an_error_that_names_it():
    pixels = np.random.default_rng(0).integers(0, 2**16, (9, 9, 3))
    data = slow_png(pixels.astype(np.uint16))
    for wrong in (data[:60], data[:-40], data[:45] + b"\0\0\0" + data[48:]):
        with pytest.raises(FileError, match=r"wrong\.png cannot be read as an image"):
            picture_of(wrong, "wrong.png")
