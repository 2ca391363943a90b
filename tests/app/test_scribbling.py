"""Scribbles sent in the way the page does, and the labels of the answer."""

import numpy as np
import pytest
from PIL import Image

from graphtv.app.limits import MOST_CLASSES
from page_support import TRUTH, asynchronous, decoded, encoded, halves, one_tab, paint_halves


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
        assert (await tab.download("labels.png"))[0] == 409
        await tab.paint(2, (50, 35), (50, 5))
        np.testing.assert_array_equal((await tab.hear_done("labels"))["pixels"], TRUTH)
        await tab.paint(0, (50, 0), (50, 40), size=10)
        assert "second class" in (await tab.hear("waiting"))["message"]
        await tab.say("clear")
        assert "each of two" in (await tab.hear("waiting"))["message"]
        assert (await tab.download("scribbles.png"))[0] == 409


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
        _, data = await tab.download("labels.png")
        assert decoded(data).text["Classes"] == "1 red\n2 grün\n3 blue"
        await tab.say("remove", **{"class": 2})
        done = await tab.hear_done("labels")
        np.testing.assert_array_equal(done["pixels"], TRUTH)
        _, data = await tab.download("scribbles.png")
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
            status, data = await tab.download(f"{name}.png")
            assert status == 200
            (tmp_path / f"{name}.png").write_bytes(data)
    inputs = [str(tmp_path / "image.png"), str(tmp_path / "scribbles.png")]
    assert main(["segment", *inputs, str(tmp_path / "again.png"), "--quiet"]) == 0
    again, labels = (Image.open(tmp_path / f"{name}.png") for name in ("again", "labels"))
    np.testing.assert_array_equal(np.asarray(again), np.asarray(labels))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("half \ud83d", "half ?"),
        ("\udc00", "?"),
        ("two\nlines", "two lines"),
        ("nul\0 \u2028", "nul   "),
        ("whole 😀", "whole 😀"),
    ],
)
@asynchronous
async def test_every_name_can_be_downloaded(name, shown):
    async with one_tab() as tab:
        await tab.upload(encoded(halves()))
        await tab.say("classes", names=["first", name])
        await paint_halves(tab)
        for file in ("labels", "scribbles"):
            status, data = await tab.download(f"{file}.png")
            assert status == 200
            assert decoded(data).text["Classes"] == f"1 first\n2 {shown}"


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
        '{"type": "classes", "names": ["a", "b"], "colours": [[1, 2, 3]]}',
        '{"type": "classes", "names": ["a", "b"], "colours": [[1, 2, 3], [1, 2, 999]]}',
        '{"type": "slice", "index": -1}',
        '{"type": "slice", "index": 99}',
        '{"type": "finish", "weight": "auto", "noise": 0, "preconditioner": "auto"}',
        '{"type": "denoise", "weight": 1e99, "noise": 0, "preconditioner": "auto"}',
        '{"type": "race"}',
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
        assert (await tab.download("image.png"))[0] == 409


@asynchronous
async def test_undo_can_be_undone_and_clear_too():
    async with one_tab() as tab:
        await tab.upload(encoded(halves()))
        await paint_halves(tab)
        for back in ("undo", "clear"):
            await tab.say(back)
            await tab.hear("waiting")
            await tab.say("redo" if back == "undo" else "undo")
            np.testing.assert_array_equal((await tab.hear_done("labels"))["pixels"], TRUTH)


@asynchronous
async def test_scribbles_are_downloaded_and_loaded_again():
    async with one_tab() as tab:
        await tab.upload(encoded(halves(300, 200)))  # reduced
        colours = [[250, 0, 0], [0, 250, 0], [1, 2, 3]]
        await tab.say("classes", names=["sky", "unused", "sea"], colours=colours)
        await tab.paint(1, (5, 5), (8, 35))
        await tab.paint(3, (70, 5), (70, 35))
        first = await tab.hear_done("labels")
        _, data = await tab.download("scribbles.png")
        assert decoded(data).getpalette()[3:12] == [250, 0, 0, 0, 250, 0, 1, 2, 3]
        await tab.say("classes", names=["a", "b"])
        await tab.say("clear")
        await tab.hear("waiting")  # the answer to the last message: both have arrived
        assert await tab.upload_scribbles(data) == (200, '{"classes": 3}')
        told = await tab.hear("classes")
        assert told["names"] == ["sky", "unused", "sea"]
        assert told["colours"][0] == [250, 0, 0]
        marks = (await tab.hear("marks"))["pixels"]
        assert set(marks.ravel().tolist()) == {0, 1, 3}
        again = await tab.hear_done("labels")
        np.testing.assert_array_equal(again["pixels"], first["pixels"])
        assert (await tab.download("scribbles.png"))[1] == data


@pytest.mark.parametrize(
    ("data", "kind", "status", "words"),
    [
        (b"not a png", "image/png", 422, "not a PNG"),
        (encoded(halves(61, 40)), "image/png", 422, "61 × 40 pixels, but the image has 60 × 40"),
        (encoded(halves()), "image/png", 422, "no background"),
        (encoded(TRUTH.astype(np.uint8) * 9), "image/png", 422, "class 18"),
        (encoded(TRUTH.astype(np.uint8) // 2), "image/png", 422, "at least 2"),
        (encoded(halves(), "JPEG"), "image/jpeg", 415, "PNG"),
    ],
)
@asynchronous
async def test_other_files_are_no_scribbles(data, kind, status, words):
    async with one_tab() as tab:
        assert (await tab.upload_scribbles(encoded(halves())))[0] == 409
        await tab.upload(encoded(halves()))
        answer, text = await tab.upload_scribbles(data, kind)
        assert answer == status
        assert words in text
        assert (await paint_halves(tab))["done"]
