"""The server of the page, spoken to without a browser: what it takes, and what it refuses."""

import asyncio
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from yarl import URL

from graphtv.app.limits import MOST_CLASSES, Limits
from graphtv.app.tab import Tab
from page import SMALL, asynchronous, decoded, encoded, halves, one_tab, serving

TRUTH = np.where(np.arange(60) < 30, 1, 2) * np.ones((40, 1), dtype=int)


async def paint_halves(tab):
    """Paint both halves; return what is shown in the end."""
    await tab.paint(1, (5, 5), (8, 35))
    await tab.hear("waiting")
    await tab.paint(2, (52, 5), (50, 35))
    return await tab.hear_done("labels")


# The page ----------------------------------------------------------------------------------------


@asynchronous
async def test_the_page_and_its_files_are_served_with_a_strict_policy():
    async with serving() as (server, client):
        for path, kind in [
            ("/", "text/html"),
            ("/static/main.js", "text/javascript"),
            ("/static/style.css", "text/css"),
            ("/static/icon.svg", "image/svg+xml"),
        ]:
            async with client.get(server.address + path) as response:
                assert response.status == 200
                assert response.content_type == kind
                assert "default-src 'none'" in response.headers["Content-Security-Policy"]
                assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/..%2fserver.py",
        "/static/%2e%2e/server.py",
        "/static/%2e%2e%2f%2e%2e%2f__init__.py",
        "/static/..%5cserver.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/main.js%00.png",
        "/static/",
        "/session/../../etc/passwd",
        "/session/x/..%2f..%2fetc%2fpasswd.png",
        "/session//labels.png",
        "/server.py",
    ],
)
@asynchronous
async def test_no_path_leads_to_a_file(path):
    async with serving() as (server, client):
        async with client.get(URL(server.address + path, encoded=True)) as response:
            assert response.status in (400, 404)
            assert "import" not in await response.text()
        url = URL(f"{server.address}{path}", encoded=True)
        async with client.post(url, data=b"x") as response:
            assert response.status in (400, 404, 405)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "attacker.example"},
        {"Host": "127.0.0.1.attacker.example"},
        {"Host": "[::1"},
        {"Origin": "http://attacker.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
    ],
)
@asynchronous
async def test_other_pages_are_not_answered(headers):
    async with serving() as (server, client):
        for path in ("/", "/live"):
            async with client.get(server.address + path, headers=headers) as response:
                assert response.status == 403
        assert len(server.sessions) == 0


# Uploads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: encoded(halves()), "image/png"),
        (lambda: encoded(halves(), "JPEG"), "image/jpeg"),
        (lambda: encoded(halves(), "WEBP"), "image/webp"),
        (lambda: encoded(halves(), "BMP"), "image/bmp"),
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
        status, data = await tab.download("image")
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
        assert (await paint_halves(tab))["done"]  # with the image from before


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@asynchronous
async def test_photographs_are_shown_upright_and_transparency_is_white(kind):
    image = Image.fromarray(halves(300, 200))
    exif = image.getexif()
    exif[0x0112] = 6  # the camera was held upright: turn it to the right
    async with one_tab() as tab:
        status, _ = await tab.upload(encoded(image, kind, exif=exif), f"image/{kind.lower()}")
        assert status == 200
        message = await tab.hear("image")
        assert message["original"] == [200, 300]
        assert message["width"] < message["height"]
        _, data = await tab.download("image")
        shown = np.asarray(decoded(data), dtype=float)
        middle = len(shown) // 2
        np.testing.assert_allclose(shown[: middle - 2].mean((0, 1)), (200, 60, 50), atol=5)
        np.testing.assert_allclose(shown[middle + 2 :].mean((0, 1)), (40, 90, 180), atol=5)
        clear = np.zeros((200, 300, 4), dtype=np.uint8)
        clear[:, :150] = (10, 20, 30, 255)
        await tab.upload(encoded(clear))
        _, data = await tab.download("image")
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
        await asyncio.sleep(0.3)
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
        _, data = await tab.download("labels")
        labels = np.asarray(decoded(data))
        assert labels.shape == (200, 300)
        assert (labels[:, :140] == 1).all()
        assert (labels[:, 160:] == 2).all()


# Scribbles ---------------------------------------------------------------------------------------


@asynchronous
async def test_two_classes_are_told_apart_with_a_certificate():
    async with one_tab() as tab:
        await tab.upload(encoded(halves()))
        done = await paint_halves(tab)
        np.testing.assert_array_equal(done["pixels"], TRUTH)
        assert done["gap"] <= done["tolerance"]
        assert done["iterations"] > 0


@asynchronous
async def test_undo_erase_and_clear():
    async with one_tab() as tab:
        await tab.upload(encoded(halves()))
        await paint_halves(tab)
        await tab.say("undo")
        assert "second class" in (await tab.hear("waiting"))["message"]
        assert (await tab.download("labels"))[0] == 409
        await tab.paint(2, (50, 35), (50, 5))
        np.testing.assert_array_equal((await tab.hear_done("labels"))["pixels"], TRUTH)
        await tab.paint(0, (50, 0), (50, 40), size=10)
        assert "second class" in (await tab.hear("waiting"))["message"]
        await tab.say("clear")
        assert "each of two" in (await tab.hear("waiting"))["message"]
        assert (await tab.download("scribbles"))[0] == 409


@asynchronous
async def test_a_stroke_is_worked_on_while_it_is_painted():
    async with one_tab() as tab:
        await tab.upload(encoded(halves()))
        await tab.paint(1, (5, 5), (8, 35))
        await tab.paint(2, (50, 5))
        for y in range(6, 30, 4):
            await tab.paint(2, (50, y), continues=True)
        done = await tab.hear_done("labels")
        await tab.say("undo")  # the whole stroke
        assert "second class" in (await tab.hear("waiting"))["message"]
        assert done["pixels"].shape == (40, 60)


@asynchronous
async def test_classes_are_added_named_and_removed():
    async with one_tab() as tab:
        await tab.upload(encoded(halves()))
        await tab.say("classes", names=["red", "grün", "blue"])
        await tab.paint(1, (5, 5), (8, 35))
        await tab.paint(3, (52, 5), (50, 35))
        done = await tab.hear_done("labels")
        np.testing.assert_array_equal(done["pixels"], np.where(TRUTH == 2, 3, 1))
        _, data = await tab.download("labels")
        assert decoded(data).text["Classes"] == "1 red\n2 grün\n3 blue"
        await tab.say("remove", **{"class": 2})
        done = await tab.hear_done("labels")
        np.testing.assert_array_equal(done["pixels"], TRUTH)
        _, data = await tab.download("scribbles")
        assert decoded(data).text["Classes"] == "1 red\n2 blue"
        assert sorted(set(np.asarray(decoded(data)).ravel().tolist())) == [0, 1, 2]


@pytest.mark.parametrize("preconditioner", ["none", "diagonal", "chains", "nested", "matroid"])
@asynchronous
async def test_preconditioners_agree(preconditioner):
    async with one_tab() as tab:
        await tab.upload(encoded(halves()))
        await tab.say("segment", weight=0.1, preconditioner=preconditioner)
        done = await paint_halves(tab)
        assert done["preconditioner"] == preconditioner
        np.testing.assert_array_equal(done["pixels"], TRUTH)


@asynchronous
async def test_what_is_downloaded_is_what_the_command_line_reads(tmp_path):
    from graphtv.cli import main

    async with one_tab() as tab:
        await tab.upload(encoded(halves()))
        await paint_halves(tab)
        for name in ("image", "scribbles", "labels"):
            status, data = await tab.download(name)
            assert status == 200
            (tmp_path / f"{name}.png").write_bytes(data)
    inputs = [str(tmp_path / "image.png"), str(tmp_path / "scribbles.png")]
    assert main(["segment", *inputs, str(tmp_path / "again.png"), "--quiet"]) == 0
    again, labels = (Image.open(tmp_path / f"{name}.png") for name in ("again", "labels"))
    np.testing.assert_array_equal(np.asarray(again), np.asarray(labels))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "[" * 100_000,
        "{}",
        '{"type": "open", "path": "/etc/passwd"}',
        '{"type": "sample", "name": "../../etc/passwd"}',
        '{"type": "stroke"}',
        '{"type": "stroke", "class": 1, "size": 5, "points": []}',
        '{"type": "stroke", "class": 1, "size": 5, "points": [[1]]}',
        '{"type": "stroke", "class": 1, "size": 5, "points": [[NaN, 1]]}',
        '{"type": "stroke", "class": 1, "size": 5, "points": [[1e999, 1]]}',
        '{"type": "stroke", "class": 1, "size": 5, "points": [["1", "2"]]}',
        '{"type": "stroke", "class": 1, "size": 1e9, "points": [[1, 1]]}',
        '{"type": "stroke", "class": -1, "size": 5, "points": [[1, 1]]}',
        '{"type": "stroke", "class": 7, "size": 5, "points": [[1, 1]]}',
        '{"type": "stroke", "class": true, "size": 5, "points": [[1, 1]]}',
        '{"type": "stroke", "class": 1, "size": 5, "points": [' + "[1,1]," * 5000 + "[1,1]]}",
        '{"type": "segment", "weight": 0, "preconditioner": "auto"}',
        '{"type": "segment", "weight": 1, "preconditioner": "rm -rf"}',
        '{"type": "denoise", "weight": "much", "noise": 0, "preconditioner": "auto"}',
        '{"type": "classes", "names": ["one"]}',
        '{"type": "classes", "names": ["a", ""]}',
        '{"type": "classes", "names": ' + str(["x"] * (MOST_CLASSES + 1)).replace("'", '"') + "}",
        '{"type": "remove", "class": 1}',
    ],
)
@asynchronous
async def test_messages_that_make_no_sense_are_answered_with_an_error(text):
    async with one_tab() as tab:
        await tab.upload(encoded(halves()))
        await tab.hear("waiting")
        await tab.say_raw(text)
        message = await tab.hear()
        assert message["type"] == "error"
        assert message["message"].endswith(".")
        assert (await paint_halves(tab))["done"]


@asynchronous
async def test_strokes_before_an_image_are_an_error():
    async with one_tab() as tab:
        await tab.paint(1, (1, 1))
        assert "no image" in (await tab.hear("error"))["message"]
        assert (await tab.download("image"))[0] == 409


# Denoising ---------------------------------------------------------------------------------------


@asynchronous
async def test_denoising_follows_the_weight_from_warm_starts():
    async with one_tab() as tab:
        flat = halves(seed=1)
        await tab.upload(encoded(flat))
        await tab.say("denoise", weight=0.3, noise=0.1, preconditioner="auto")
        first = await tab.hear_done("denoised")
        await tab.say("denoise", weight=0.31, noise=0.1, preconditioner="auto")
        second = await tab.hear_done("denoised")
        assert second["warm"]
        assert second["gap"] <= second["tolerance"]
        noisy, clean = second["pixels"].astype(float)
        assert np.abs(noisy - flat).mean() > 10
        assert clean[:, :28].std(axis=(0, 1)).max() < 6
        assert first["weight"] == 0.3
        status, data = await tab.download("denoised")
        np.testing.assert_array_equal(np.asarray(decoded(data)), second["pixels"][1])
        assert status == 200


@asynchronous
async def test_a_weight_is_suggested():
    async with one_tab() as tab:
        await tab.upload(encoded(halves()))
        await tab.say("denoise", weight="auto", noise=0.2, preconditioner="auto")
        done = await tab.hear_done("denoised")
        assert 0.05 < done["weight"] < 0.6


# Many sessions -----------------------------------------------------------------------------------


@asynchronous
async def test_users_at_once_see_their_own_image_only():
    async def use(server, client, number):
        rng = np.random.default_rng(number)
        column = 15 + 5 * number
        colours = rng.integers(0, 90, 3), rng.integers(160, 255, 3)
        truth = np.where(np.arange(60) < column, 1, 2) * np.ones((40, 1), dtype=int)
        async with Tab(client, server.address) as tab:
            await tab.upload(encoded(halves(60, 40, *colours, column, number)))
            for _ in range(3):
                await tab.paint(1, (3, 5), (3, 35))
                await tab.paint(2, (56, 5), (56, 35))
                done = await tab.hear_done("labels")
                np.testing.assert_array_equal(done["pixels"], truth)
                await tab.say("clear")
                await tab.hear("waiting")
            assert not [each for each in tab.heard if each["type"] == "error"]
            return tab.token

    async with serving() as (server, client):
        tokens = await asyncio.gather(*(use(server, client, k) for k in range(6)))
        assert len(set(tokens)) == 6


@asynchronous
async def test_a_token_must_be_right():
    async with serving() as (server, client):
        for token in ("x", "ü", "x" * 4000, "%00"):
            async with client.get(f"{server.address}/session/{token}/image.png") as response:
                assert response.status in (400, 404)
            url = f"{server.address}/session/{token}/image"
            headers = {"Content-Type": "image/png"}
            async with client.post(url, data=encoded(halves()), headers=headers) as response:
                assert response.status in (400, 404)


@asynchronous
async def test_when_all_places_are_taken_others_are_told():
    async with serving(Limits(sessions=2)) as (server, client):
        async with Tab(client, server.address) as first, Tab(client, server.address):
            async with Tab(client, server.address) as third:
                assert third.hello["type"] == "full"
            assert first.hello["type"] == "hello"
        await asyncio.sleep(0.1)
        async with Tab(client, server.address) as fourth:  # a closed tab's place is free again
            assert fourth.hello["type"] == "hello"


@asynchronous
async def test_a_tab_comes_back_to_its_session():
    async with serving() as (server, client):
        async with Tab(client, server.address) as tab:
            await tab.upload(encoded(halves()))
            await paint_halves(tab)
        await asyncio.sleep(0.1)
        async with Tab(client, server.address, tab.token) as again:
            assert again.hello["back"]
            np.testing.assert_array_equal((await again.hear("labels"))["pixels"], TRUTH)
            async with Tab(client, server.address, tab.token) as other:  # it is taken
                assert other.token != tab.token
                assert not other.hello["back"]


@asynchronous
async def test_sessions_that_nobody_uses_are_dropped():
    limits = Limits(idle_seconds=0.4, linger_seconds=0.2, pixels=4000)
    async with serving(limits) as (server, client):
        async with Tab(client, server.address) as tab:
            await tab.upload(encoded(halves()))
            await tab.hear("expired")
            assert len(server.sessions) == 0
            assert (await tab.download("image"))[0] == 404
        async with Tab(client, server.address):
            pass
        await asyncio.sleep(0.8)
        assert len(server.sessions) == 0
