"""Uploaded images: which are accepted, and which are rejected."""

import asyncio
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from page_support import (
    SMALL,
    asynchronous,
    decoded,
    encoded,
    eventually,
    halves,
    one_tab,
    paint_halves,
    serving,
)
from tab import Tab


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: encoded(halves()), "image/png"),
        (lambda: encoded(halves(), "JPEG"), "image/jpeg"),
        (lambda: encoded(halves(), "WEBP"), "image/webp"),
        (lambda: encoded(halves(), "BMP"), "image/bmp"),
        (lambda: encoded(halves(), "TIFF"), "image/tiff"),
        (lambda: encoded(halves()[..., 0]), "image/png"),
        (lambda: encoded(halves()[..., 0].astype(np.uint16) * 257), "image/png"),
        (lambda: encoded(Image.fromarray(halves()).convert("RGBA")), "image/png"),
        (lambda: encoded(Image.fromarray(halves()).convert("LA")), "image/png"),
        (lambda: encoded(Image.fromarray(halves()).convert("P")), "image/png"),
        (lambda: encoded(Image.fromarray(halves()).convert("1")), "image/png"),
        (lambda: encoded(Image.fromarray(halves()).convert("CMYK"), "JPEG"), "image/jpeg"),
    ],
)
@asynchronous
async def test_images_of_all_kinds_are_taken(make, kind):
    async with one_tab() as tab:
        status, text = await tab.upload(make(), kind)
        assert (status, text) == (200, '{"width": 60, "height": 40}')
        message = await tab.hear("image")
        assert (message["width"], message["height"], message["original"]) == (60, 40, [60, 40])
        status, data = await tab.download("image.png")
        assert status == 200
        shown = np.asarray(decoded(data), dtype=float)
        assert shown.shape == (40, 60, 3)
        if kind != "image/jpeg" and decoded(make()).mode == "RGB":
            assert np.abs(shown - halves()).mean() < 8


def bomb(width, height):
    """Return a PNG whose header claims a size that its content does not have."""

    def chunk(name, data):
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    content = chunk(b"IDAT", zlib.compress(bytes(100_000)))
    return b"\x89PNG\r\n\x1a\n" + header + content + chunk(b"IEND", b"")


def huge_tiff():
    """Return a small TIFF with many pixels."""
    return encoded(Image.new("L", (2100, 2100)), "TIFF", compression="tiff_adobe_deflate")


@pytest.mark.parametrize(
    ("data", "kind", "status", "words"),
    [
        (b"", "image/png", 422, "not a PNG image"),
        (b"not an image at all", "image/png", 422, "not a PNG image"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "image/png", 422, "not a PNG image"),
        (encoded(halves())[:-600], "image/png", 422, "damaged"),
        (encoded(halves(), "JPEG"), "image/png", 422, "not a PNG image"),
        (b"<svg onload='alert(1)'/>", "image/png", 422, "not a PNG image"),
        (bomb(60_000, 60_000), "image/png", 422, "too large"),
        (bomb(2_000, 2_000), "image/png", 422, "2000 × 2000"),
        (bomb(800, 800), "image/png", 422, "damaged"),
        (encoded(halves(4, 4)), "image/png", 422, "too small"),
        (encoded(halves(400, 10)), "image/png", 422, "too narrow"),
        (bytes(300_000), "image/png", 413, "too large"),
        (encoded(halves()), "text/plain", 415, "not a PNG, JPEG"),
        (encoded(halves()), "application/octet-stream", 415, "not a PNG, JPEG"),
        (encoded(halves()), "multipart/form-data", 415, "not a PNG, JPEG"),
        (encoded(halves()), "image/svg+xml", 415, "not a PNG, JPEG"),
        (encoded(halves(), "GIF"), "image/gif", 415, "not a PNG, JPEG"),
        (encoded(halves()), "image/tiff", 422, "not a TIFF"),
        (b"II*\0" + bytes(60), "image/tiff", 422, "TIFF"),
        (encoded(halves(), "TIFF")[:-500], "image/tiff", 422, "TIFF"),
        (huge_tiff(), "image/tiff", 422, "too large"),
        (
            encoded(Image.fromarray(np.full((40, 60), np.inf, np.float32)), "TIFF"),
            "image/tiff",
            422,
            "infinite",
        ),
    ],
)
@asynchronous
async def test_what_is_no_image_is_refused_with_a_message(data, kind, status, words):
    async with one_tab() as tab:
        await tab.upload(encoded(halves()))
        await tab.hear("image")
        answer, text = await tab.upload(data, kind)
        assert answer == status
        assert words in text
        assert (await paint_halves(tab))["done"]  # with the previous image


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@asynchronous
async def test_photographs_are_shown_upright_and_transparency_is_white(kind):
    image = Image.fromarray(halves(300, 200))
    exif = image.getexif()
    exif[0x0112] = 6  # the camera was held upright: rotate to the right
    async with one_tab() as tab:
        status, _ = await tab.upload(encoded(image, kind, exif=exif), f"image/{kind.lower()}")
        assert status == 200
        message = await tab.hear("image")
        assert message["original"] == [200, 300]
        assert message["width"] < message["height"]
        _, data = await tab.download("image.png")
        shown = np.asarray(decoded(data), dtype=float)
        middle = len(shown) // 2
        np.testing.assert_allclose(shown[: middle - 2].mean((0, 1)), (200, 60, 50), atol=5)
        np.testing.assert_allclose(shown[middle + 2 :].mean((0, 1)), (40, 90, 180), atol=5)
        clear = np.zeros((200, 300, 4), dtype=np.uint8)
        clear[:, :150] = (10, 20, 30, 255)
        await tab.upload(encoded(clear))
        _, data = await tab.download("image.png")
        shown = np.asarray(decoded(data))
        assert (shown[:, 0] == (10, 20, 30)).all()
        assert (shown[:, -1] == 255).all()


@asynchronous
async def test_an_upload_of_unknown_length_ends_at_the_limit():
    async def drip():
        for _ in range(100):
            yield bytes(10_000)

    async with one_tab() as tab:
        url = f"{tab.address}/session/{tab.token}/image"
        headers = {"Content-Type": "image/png"}
        async with tab.client.post(url, data=drip(), headers=headers) as response:
            assert response.status == 413


@asynchronous
async def test_slow_uploads_are_ended_and_do_not_hold_others_up(monkeypatch):
    monkeypatch.setattr("graphtv.app.server.UPLOAD_SECONDS", 1.0)

    async def drip():
        for _ in range(1000):
            yield b"x"
            await asyncio.sleep(0.05)

    async with (
        serving() as (server, client),
        Tab(client, server.address) as slow,
        Tab(client, server.address) as quick,
    ):
        waiting = [asyncio.create_task(slow.upload(drip())) for _ in range(3)]
        await eventually(lambda: sum(task.done() for task in waiting) == 2)  # refused
        monkeypatch.undo()  # the limit holds for the upload under way
        assert (await quick.upload(encoded(halves())))[0] == 200
        answers = [status for status, _ in await asyncio.gather(*waiting)]
        assert sorted(answers) == [408, 409, 409]
        assert (await slow.upload(encoded(halves())))[0] == 200


@asynchronous
async def test_large_images_are_reduced_and_labels_have_the_original_size():
    async with one_tab() as tab:
        status, _ = await tab.upload(encoded(halves(300, 200)))
        assert status == 200
        image = await tab.hear("image")
        assert image["width"] * image["height"] <= SMALL.pixels
        assert image["original"] == [300, 200]
        await tab.paint(1, (5, 5), (8, 35))
        await tab.paint(2, (70, 5), (70, 35))
        await tab.hear_done("labels")
        _, data = await tab.download("labels.png")
        labels = np.asarray(decoded(data))
        assert labels.shape == (200, 300)
        assert (labels[:, :140] == 1).all()
        assert (labels[:, 160:] == 2).all()
