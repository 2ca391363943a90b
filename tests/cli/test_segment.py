"""``graphtv segment``: scribbles of every kind, labels in every format."""

import json
from pathlib import Path

import numpy as np
import pytest

from commands import refused
from graphtv import segment_image
from graphtv.cli import main

Image = pytest.importorskip("PIL.Image")
tifffile = pytest.importorskip("tifffile")

COLOURS = np.array([(0, 0, 0), (20, 40, 250), (250, 30, 30)], dtype=np.uint8)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An image of two halves, and a stroke in each."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    image = np.clip(80 + 20 * rng.standard_normal((20, 30, 3)), 0, 255).astype(np.uint8)
    image[:, 15:] += 60
    Image.fromarray(image).save("photo.png")
    marks = np.zeros((20, 30), dtype=np.uint8)
    marks[5:15, 4] = 1
    marks[5:15, 25] = 2
    np.save("marks.npy", marks)
    return image, marks


def run(*argv):
    return main(["segment", *map(str, argv)])


def refuse(capsys, *argv):
    return refused(capsys, "segment", *argv)


def scribbles_as(kind, marks):
    """Save scribbles in one of the supported forms; return the file's name."""
    transparent = np.dstack([COLOURS[marks], np.where(marks > 0, 255, 0).astype(np.uint8)])
    white = np.where((marks > 0)[..., None], COLOURS[marks], np.uint8(255))
    if kind == "npy":
        return "marks.npy"
    if kind == "tiff":
        tifffile.imwrite("scribbles.tif", marks)
        return "scribbles.tif"
    images = {
        "numbers": lambda: Image.fromarray(marks),
        "greys": lambda: Image.fromarray(100 * marks),
        "black": lambda: Image.fromarray(COLOURS[marks]),
        "white": lambda: Image.fromarray(white),
        "transparent": lambda: Image.fromarray(transparent, "RGBA"),
        "palette": lambda: with_palette(marks),
    }
    images[kind]().save("scribbles.png")
    return "scribbles.png"


def with_palette(marks):
    image = Image.fromarray(marks)
    image.putpalette(COLOURS.ravel().tolist())
    return image


KINDS = ("npy", "tiff", "numbers", "greys", "black", "white", "transparent", "palette")


@pytest.mark.parametrize("kind", KINDS)
def test_scribbles_of_all_kinds(kind, here, capsys):
    image, marks = here
    assert run("photo.png", scribbles_as(kind, marks), "labels.png", "--json") == 0
    with Image.open("labels.png") as picture:
        assert picture.mode == "P"
        labels, palette = np.array(picture), np.array(picture.getpalette()).reshape(-1, 3)
    np.testing.assert_array_equal(labels, segment_image(image, marks))
    report = json.loads(capsys.readouterr().out)
    assert [c["pixels"] for c in report["classes"]] == np.bincount(labels.ravel())[1:].tolist()
    if kind in ("black", "white", "transparent", "palette"):
        np.testing.assert_array_equal(palette[1:3], COLOURS[1:])
    if kind in ("black", "white", "transparent"):
        assert [c["scribbles"] for c in report["classes"]] == ["#1428fa", "#fa1e1e"]
    if kind == "greys":
        assert [c["scribbles"] for c in report["classes"]] == ["100", "200"]


@pytest.mark.parametrize("suffix", ["npy", "tif"])
def test_labels_as_numbers(suffix, here, capsys):
    image, marks = here
    assert run("photo.png", "marks.npy", f"labels.{suffix}") == 0
    labels = np.load("labels.npy") if suffix == "npy" else tifffile.imread("labels.tif")
    assert labels.dtype == np.uint8
    np.testing.assert_array_equal(labels, segment_image(image, marks))
    err = capsys.readouterr().err
    assert "optimal" in err
    assert f"class 1 (1) {100 * (labels == 1).mean():.1f} %" in err


def test_labels_are_scribbles_for_the_next_run():
    assert run("photo.png", "marks.npy", "labels.png") == 0
    assert run("photo.png", "labels.png", "again.npy") == 0
    np.testing.assert_array_equal(np.array(Image.open("labels.png")), np.load("again.npy"))


def test_background_of_another_colour(here):
    image, marks = here
    ground = np.array([(9, 9, 9), (0, 0, 0), (255, 255, 255)], dtype=np.uint8)
    Image.fromarray(ground[marks]).save("scribbles.png")
    assert run("photo.png", "scribbles.png", "labels.npy", "--background", "#090909") == 0
    np.testing.assert_array_equal(np.load("labels.npy"), segment_image(image, marks))


def test_overlay(here):
    image, _ = here
    assert run("photo.png", "marks.npy", "labels.npy", "--overlay", "over.png") == 0
    over = np.array(Image.open("over.png"))
    assert over.shape == image.shape
    labels = np.load("labels.npy")
    border = np.flatnonzero(labels[10, 1:] != labels[10, :-1]) + 1
    assert (over[10, border] == 255).all()
    assert over[10, 5].argmax() != over[10, 25].argmax()


def test_volumes_and_grey_arrays(here):
    rng = np.random.default_rng(1)
    volume = rng.normal(size=(6, 8, 10)) * 0.2
    volume[:, :, 5:] += 1.0
    marks = np.zeros(volume.shape, dtype=int)
    marks[3, 4, 1], marks[3, 4, 8] = 1, 2
    np.save("volume.npy", volume)
    np.save("seeds.npy", marks)
    assert run("volume.npy", "seeds.npy", "labels.npy", "--connectivity", 3) == 0
    np.testing.assert_array_equal(
        np.load("labels.npy"), segment_image(volume, marks, connectivity=3)
    )


def test_limits_have_exit_codes_and_labels_all_the_same(capsys):
    assert run("photo.png", "marks.npy", "labels.npy", "--max-iterations", 0, "--json") == 3
    report = json.loads(capsys.readouterr().out)
    assert report["status"] == "iteration_limit"
    assert set(np.unique(np.load("labels.npy"))) <= {1, 2}


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (
            ["photo.png", "small.npy", "out.png"],
            "small.npy has shape (3, 4), photo.png has (20, 30)",
        ),
        (["photo.png", "one.npy", "out.png"], "one.npy must have scribbles of at least 2 classes"),
        (["photo.png", "empty.npy", "out.png"], "at least 2 classes, got none"),
        (["photo.png", "negative.npy", "out.png"], "must not contain negative numbers, got -1"),
        (["photo.png", "float.npy", "out.png"], "float.npy must hold integers, got float64"),
        (["photo.png", "photo.png", "out.png"], "IMAGE and SCRIBBLES must differ"),
        (["photo.png", "soft.png", "out.png"], "colours, but at most 64 classes are possible"),
        (["photo.png", "full.png", "out.png"], "full.png has no background"),
        (["photo.png", "photo.jpg", "out.png"], "photo.jpg is a JPEG, which is lossy"),
        (["photo.png", "nothing.png", "out.png"], "nothing.png: no such file"),
        (["nothing.png", "marks.npy", "out.png"], "nothing.png: no such file"),
        (["photo.png", "marks.npy", "out.jpg"], "out.jpg must end in one of"),
        (["photo.png", "marks.npy", "nowhere/out.png"], "nowhere is not a directory"),
        (["photo.png", "marks.npy", "marks.npy"], "marks.npy exists"),
        (
            ["photo.png", "marks.npy", "a.png", "--overlay", "a.png"],
            "OUT and --overlay must differ",
        ),
        (["photo.png", "marks.npy", "a.png", "--overlay", "b.jpg"], "must end in one of .png"),
        (["photo.png", "marks.npy", "a.png", "--overlay", "-"], "--overlay must be a file"),
        (["photo.png", "marks.npy", "-", "--json"], "must not both go to standard output"),
        (["photo.png", "marks.npy", "a.png", "--weight", "0"], "--weight: must be a finite number"),
        (["photo.png", "marks.npy", "a.png", "--background", "red"], "six hexadecimal digits"),
        (
            ["photo.png", "marks.npy", "a.png", "--connectivity", "3"],
            "connectivity must be one of",
        ),
        (["volume.npy", "seeds.npy", "a.png"], "PNG supports 2-D images only"),
    ],
)
def test_wrong_requests_are_refused(argv, complaint, here, capsys):
    image, marks = here
    np.save("small.npy", np.eye(3, 4, dtype=int) + np.eye(3, 4, 1, dtype=int) * 2)
    np.save("one.npy", np.minimum(marks, 1))
    np.save("empty.npy", 0 * marks)
    np.save("negative.npy", -marks.astype(int) // 2)
    np.save("float.npy", marks.astype(float))
    np.save("volume.npy", np.zeros((4, 5, 6)))
    np.save("seeds.npy", np.arange(120).reshape(4, 5, 6) % 3)
    soft = np.random.default_rng(0).integers(0, 256, image.shape, np.uint8)
    soft[0] = 0
    Image.fromarray(soft).save("soft.png")
    Image.fromarray(np.where(marks[..., None] > 0, COLOURS[1], COLOURS[2])).save("full.png")
    Image.fromarray(image).save("photo.jpg")
    assert complaint in refuse(capsys, *argv)


def test_outputs_are_checked_before_inputs_are_read(capsys):
    Path("over.png").touch()
    complaint = refuse(capsys, "no.png", "no.npy", "labels.npy", "--overlay", "over.png")
    assert "over.png exists" in complaint
