"""``graphtv denoise``: the output is cleaner and of the same kind as the input."""

import io
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from commands import refused
from graphtv import denoise_tv, suggest_weight
from graphtv.cli import main
from graphtv.io.picture import Picture
from graphtv.io.pictures import encode, picture_of

Image = pytest.importorskip("PIL.Image")
tifffile = pytest.importorskip("tifffile")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def noisy_image(shape=(16, 20), dtype=np.uint8, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.zeros(shape)
    truth[shape[0] // 2 :] = 0.6
    floats = np.clip(truth + 0.2 + 0.08 * rng.standard_normal(shape), 0.0, 1.0)
    if np.dtype(dtype).kind == "f":
        return floats.astype(dtype)
    if np.dtype(dtype).kind == "b":
        return floats > 0.5
    return np.rint(floats * np.iinfo(dtype).max).astype(dtype)


def run(*argv):
    return main(["denoise", *map(str, argv)])


def refuse(capsys, *argv):
    return refused(capsys, "denoise", *argv)


def expected(image, weight, **options):
    """Return the result of the library, in the type of the image."""
    clean = denoise_tv(image, weight, **options)
    if image.dtype.kind == "f":
        return clean.astype(image.dtype)
    if image.dtype.kind == "b":
        return clean >= 0.5
    is_grey = image.dtype in (np.uint8, np.uint16)
    return np.rint(clean * (np.iinfo(image.dtype).max if is_grey else 1)).astype(image.dtype)


# Kinds of files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "float16", "float32", "f8", "bool"])
@pytest.mark.parametrize("shape", [(40,), (16, 20), (6, 7, 8)])
def test_arrays_keep_their_type_and_shape(dtype, shape):
    image = noisy_image(shape, dtype)
    np.save("in.npy", image)
    weight = 3000 if dtype == "int16" else 0.1
    assert run("in.npy", "out.npy", "--weight", weight) == 0
    out = np.load("out.npy")
    assert out.dtype == image.dtype
    np.testing.assert_array_equal(out, expected(image, weight))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_long_integers_keep_their_values(dtype):
    image = np.rint(1000 * noisy_image((16, 20), "f8")).astype(dtype)
    np.save("in.npy", image)
    assert run("in.npy", "out.npy", "--weight", 100) == 0
    out = np.load("out.npy")
    assert out.dtype == image.dtype
    assert np.ptp(out) < np.ptp(image)
    np.testing.assert_array_equal(out, expected(image, 100))
    image[0] = np.iinfo(dtype).max
    np.save("in.npy", image)
    assert run("in.npy", "same.npy", "--weight", 0) == 0  # no overflow wraps around
    np.testing.assert_allclose(np.load("same.npy").astype(float), image.astype(float))


def test_counts_in_bytes_are_counts():
    counts = np.random.default_rng(0).poisson(9.0, (6, 7)).astype(np.uint8)
    np.save("in.npy", counts)
    assert run("in.npy", "out.npy", "--weight", 0.3, "--loss", "poisson") == 0
    clean = denoise_tv(counts, 0.3, loss="poisson")
    np.testing.assert_array_equal(np.load("out.npy"), np.rint(clean).astype(np.uint8))


def test_bytes_in_another_order_are_read():
    image = noisy_image(dtype="uint16")
    np.save("in.npy", image.astype(">u2"))
    assert run("in.npy", "out.png", "--weight", 0.1) == 0
    np.testing.assert_array_equal(np.array(Image.open("out.png")), expected(image, 0.1))


@pytest.mark.parametrize(
    ("name", "shape", "dtype"),
    [
        ("grey.png", (16, 20), "uint8"),
        ("colour.png", (16, 20, 3), "uint8"),
        ("deep.png", (16, 20), "uint16"),
        ("bits.png", (16, 20), "bool"),
        ("grey.tif", (16, 20), "uint8"),
        ("colour.tiff", (16, 20, 3), "uint16"),
        ("float.tif", (16, 20), "float32"),
        ("volume.tif", (5, 16, 20), "uint8"),
    ],
)
def test_images_keep_their_type_and_colours(name, shape, dtype):
    image = noisy_image(shape, dtype)
    is_colour = shape[-1] == 3
    if name.endswith("png"):
        Image.fromarray(image).save(name)
    else:
        tifffile.imwrite(name, image, photometric="rgb" if is_colour else "minisblack")
    out = f"out{Path(name).suffix}"
    assert run(name, out, "--weight", 0.1) == 0
    found = np.array(Image.open(out)) if name.endswith("png") else tifffile.imread(out)
    if name == "deep.png":
        found = found.astype(np.uint16)  # Pillow 10 opens them as int32
    assert found.dtype == image.dtype
    axis = -1 if is_colour else None
    np.testing.assert_array_equal(found, expected(image, 0.1, channel_axis=axis))


def test_colours_of_16_bits_in_png():
    pytest.importorskip("png")
    image = noisy_image((16, 20, 3), "uint16")
    Path("in.png").write_bytes(encode(Picture(image, "png", 2), "png"))
    assert run("in.png", "out.png", "--weight", 0.1) == 0
    found = picture_of(Path("out.png").read_bytes(), "out.png").pixels
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found, expected(image, 0.1, channel_axis=-1))


def test_jpeg_in_and_out():
    Image.fromarray(noisy_image((16, 20, 3))).save("in.jpg", quality=95)
    assert run("in.jpg", "out.jpg", "--weight", 0.2) == 0
    before, after = (np.array(Image.open(name), dtype=float) for name in ("in.jpg", "out.jpg"))
    assert after.shape == (16, 20, 3)
    assert after[:6].std(axis=(0, 1)).max() < 0.5 * before[:6].std(axis=(0, 1)).min()


@pytest.mark.parametrize("mode", ["LA", "RGBA", "P"])
@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_transparency_stays(mode, suffix):
    alpha = np.arange(16 * 20, dtype=np.uint8).reshape(16, 20)
    grey = noisy_image()
    colour = noisy_image((16, 20, 3))
    if mode == "P":
        picture = Image.fromarray(colour).quantize(8)
        picture.info["transparency"] = 0
        picture.save("in.png", transparency=0)
        alpha = np.array(Image.open("in.png").convert("RGBA"))[..., 3]
        assert set(np.unique(alpha)) == {0, 255}
    else:
        Image.fromarray(np.dstack([grey if mode == "LA" else colour, alpha]), mode).save("in.png")
    assert run("in.png", f"out.{suffix}", "--weight", 0.1) == 0
    out = np.array(Image.open("out.png")) if suffix == "png" else tifffile.imread("out.tif")
    np.testing.assert_array_equal(out[..., -1], alpha)
    assert out.shape[-1] == (2 if mode == "LA" else 4)
    # The output can be read again, and its transparency is unchanged.
    assert run(f"out.{suffix}", "again.png", "--weight", 0.1) == 0
    np.testing.assert_array_equal(np.array(Image.open("again.png"))[..., -1], alpha)


def test_upright_as_the_camera_says():
    image = Image.fromarray(noisy_image((16, 20, 3)))
    exif = Image.Exif()
    exif[0x0112] = 6  # rotate by 90°
    image.save("in.jpg", exif=exif)
    assert run("in.jpg", "out.png", "--weight", 0.1) == 0
    assert np.array(Image.open("out.png")).shape == (20, 16, 3)


def test_profile_and_resolution_are_handed_on():
    Image.fromarray(noisy_image((16, 20, 3))).save("in.png", icc_profile=b"profile", dpi=(300, 300))
    assert run("in.png", "out.png", "--weight", 0.1) == 0
    with Image.open("out.png") as out:
        info = out.info
    assert info["icc_profile"] == b"profile"
    assert round(info["dpi"][0]) == 300


def test_channels_of_an_array_where_one_says():
    image = noisy_image((3, 16, 20), "float64")
    np.save("in.npy", image)
    assert run("in.npy", "out.npy", "--weight", 0.1, "--channel-axis", 0) == 0
    np.testing.assert_array_equal(np.load("out.npy"), denoise_tv(image, 0.1, channel_axis=0))
    assert run("in.npy", "volume.npy", "--weight", 0.1, "--spacing", "2,1,1") == 0
    np.testing.assert_array_equal(np.load("volume.npy"), denoise_tv(image, 0.1, spacing=(2, 1, 1)))


def test_from_standard_input_to_standard_output(monkeypatch, capfdbinary):
    image = noisy_image((16, 20, 3))
    Image.fromarray(image).save("in.png")
    content = io.BytesIO(Path("in.png").read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
    assert run("-", "-", "--weight", 0.1) == 0
    out, err = capfdbinary.readouterr()
    found = np.array(Image.open(io.BytesIO(out)))
    np.testing.assert_array_equal(found, expected(image, 0.1, channel_axis=-1))
    assert b"standard output: optimal" in err
    assert run("in.png", "-", "--weight", 0.1, "--format", "npy", "-q") == 0
    out, err = capfdbinary.readouterr()
    np.testing.assert_array_equal(np.load(io.BytesIO(out)), found)
    assert err == b""


# Options ----------------------------------------------------------------------------------------


def test_mask_and_nan_are_filled_in():
    image = noisy_image(dtype="float64")
    holes = np.zeros(image.shape, dtype=bool)
    holes[3:6, 4:9] = True
    np.save("in.npy", np.where(holes, 5.0, image))
    np.save("nan.npy", np.where(holes, np.nan, image))
    Image.fromarray((~holes).astype(np.uint8) * 255).save("mask.png")
    assert run("in.npy", "out.npy", "--mask", "mask.png", "--weight", 0.1) == 0
    assert run("nan.npy", "nan-out.npy", "--weight", 0.1) == 0
    np.testing.assert_array_equal(np.load("out.npy"), np.load("nan-out.npy"))
    assert np.load("out.npy").max() < 1.0


def test_weight_auto_is_the_default_and_told(capsys):
    np.save("in.npy", noisy_image((32, 32), "float64"))
    assert run("in.npy", "out.npy", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert 0.02 < report["weight"] < 0.2
    assert report["options"]["weight"] == "auto"
    assert run("in.npy", "same.npy", "--weight", report["weight"]) == 0
    np.testing.assert_allclose(np.load("out.npy"), np.load("same.npy"), atol=1e-12)


def test_weight_auto_is_that_of_the_library_for_large_images_too(monkeypatch, capsys):
    monkeypatch.setattr("graphtv.applications.imaging.mosaic.PART_PIXELS", 900)
    image = noisy_image((80, 60, 3), "float64")
    np.save("in.npy", image)
    mask = np.ones((80, 60), dtype=bool)
    mask[:3] = False
    np.save("mask.npy", mask)
    options = ["--channel-axis", -1, "--mask", "mask.npy", "--json"]
    assert run("in.npy", "out.npy", *options) == 0
    told = json.loads(capsys.readouterr().out)["weight"]
    assert told == suggest_weight(image, channel_axis=-1, mask=mask)
    expected = denoise_tv(image, "auto", channel_axis=-1, mask=mask)
    np.testing.assert_array_equal(np.load("out.npy"), expected)


def test_json_is_one_object_with_the_certificate(capsys):
    image = noisy_image()
    Image.fromarray(image).save("in.png")
    assert run("in.png", "out.png", "--weight", 0.1, "--tol", 1e-4, "--json", "--threads", 1) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out.count("\n") == 1
    report = json.loads(captured.out)
    _, result = denoise_tv(image, 0.1, tol=1e-4, return_result=True)
    assert report["status"] == "optimal"
    assert report["exit_code"] == 0
    assert report["primal"] == result.primal
    assert report["dual"] == result.dual
    assert report["relative_gap"] == result.relative_gap <= 1e-4
    assert report["gap"] == result.gap
    assert report["options"]["threads"] == 1
    assert report["output"] == "out.png"
    assert report["shape"] == [16, 20]
    assert {"iterations", "time", "method", "tolerance", "error_bound"} <= report.keys()


@pytest.mark.parametrize(
    ("options", "status", "code"),
    [
        (["--max-iterations", 0], "iteration_limit", 3),
        (["--time-limit", 0], "time_limit", 4),
    ],
)
def test_exit_codes_and_what_is_written_then(options, status, code, capsys):
    np.save("in.npy", noisy_image((64, 64), "float64"))
    assert run("in.npy", "out.npy", "--weight", 0.1, "--tol", 0, "--json", *options) == code
    report = json.loads(capsys.readouterr().out)
    assert report["status"] == status
    assert report["exit_code"] == code
    assert np.isfinite(np.load("out.npy")).all()


def test_summary_and_silence(capsys):
    np.save("in.npy", noisy_image())
    assert run("in.npy", "out.npy", "--weight", 0.1) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("out.npy: optimal, relative gap ")
    assert captured.err.endswith("weight 0.1\n")
    assert run("in.npy", "out.npy", "--weight", 0.1, "--force", "--quiet") == 0
    assert capsys.readouterr() == ("", "")
    assert run("in.npy", "out.npy", "--weight", 0.1, "--force", "--verbose") == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "rel.gap" in captured.err


def test_other_losses_and_penalties():
    image = noisy_image(dtype="float64")
    np.save("in.npy", image)
    assert run("in.npy", "abs.npy", "--weight", 0.6, "--loss", "absolute") == 0
    assert run("in.npy", "huber.npy", "--weight", 0.1, "--huber", 0.05) == 0
    assert run("in.npy", "eight.npy", "--weight", 0.1, "--connectivity", 2) == 0
    for name in ("abs", "huber", "eight"):
        assert np.load(f"{name}.npy").std() < image.std()


def test_in_place_with_force():
    np.save("in.npy", noisy_image())
    before = np.load("in.npy")
    assert run("in.npy", "in.npy", "--weight", 0.1, "--force") == 0
    np.testing.assert_array_equal(np.load("in.npy"), expected(before, 0.1))


# Errors -----------------------------------------------------------------------------------------


def test_existing_file_is_kept_unless_forced(capsys):
    np.save("in.npy", noisy_image())
    Path("out.npy").write_text("precious")
    assert "out.npy exists; use --force to overwrite it" in refuse(capsys, "in.npy", "out.npy")
    assert Path("out.npy").read_text() == "precious"
    assert run("in.npy", "out.npy", "--weight", 0.1, "--force") == 0
    assert np.load("out.npy").shape == (16, 20)


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["nothing.png", "out.png"], "nothing.png: no such file or directory"),
        ([".", "out.png"], "out.png must be a folder for several files"),
        (["in.npy", "nowhere/out.npy"], "nowhere is not a directory"),
        (["in.npy", "."], "in.npy exists; use --force to overwrite it"),
        (["in.npy", "out.gif"], "out.gif must end in one of .jpeg, .jpg, .npy, .png, .tif"),
        (["in.npy", "out"], "out must end in one of"),
        (["text.png", "out.png"], "text.png cannot be read as an image: it is not a PNG, JPEG"),
        (["empty.png", "out.png"], "empty.png: the file is empty"),
        (["cut.png", "out.png"], "cut.png cannot be read as an image"),
        (["cut.tif", "out.tif"], "cut.tif cannot be read as TIFF"),
        (["cut.npy", "out.npy"], "cut.npy cannot be read as .npy"),
        (["objects.npy", "out.npy"], "objects.npy cannot be read as .npy: Object arrays"),
        (["complex.npy", "out.npy"], "must hold real numbers, got dtype complex128"),
        (["frames.gif", "out.png"], "frames.gif has 2 frames"),
        (
            ["deep.npy", "out.jpg"],
            "JPEG supports uint8 only, got uint16; write .tif or .npy or .png",
        ),
        (["float.npy", "out.png"], "PNG does not support float64; write .tif or .npy"),
        (["volume.npy", "out.png"], "supports 2-D images only, got shape (4, 5, 6)"),
        (["alpha.png", "out.jpg"], "JPEG does not support transparency; write .png"),
        (["alpha.png", "out.npy"], "the format does not support transparency; write .tif or .png"),
        (["in.npy", "out.npy", "--mask", "small.npy"], "small.npy has shape (3, 4), in.npy has"),
        (["in.npy", "out.npy", "--mask", "none.npy"], "none.npy is 0 everywhere"),
        (["in.npy", "out.npy", "--mask", "photo.jpg"], "photo.jpg is a JPEG"),
        (["in.npy", "out.npy", "--mask", "in.npy"], "IN and --mask must differ"),
        (
            ["in.npy", "out.npy", "--weight", "-1"],
            "--weight: must be auto or a number >= 0, got -1",
        ),
        (["in.npy", "out.npy", "--weight", "much"], "invalid weight value: 'much'"),
        (["in.npy", "out.npy", "--weight", "nan"], "must be auto or a number"),
        (["in.npy", "out.npy", "--tol", "-1"], "--tol: must be a finite number >= 0, got -1"),
        (["in.npy", "out.npy", "--threads", "0"], "--threads: must be at least 1"),
        (["in.npy", "out.npy", "--channel-axis", "5"], "--channel-axis must lie in [-2, 2), got 5"),
        (["in.npy", "out.npy", "--spacing", "1,2,3", "--weight", "1"], "spacing"),
        (
            ["in.npy", "out.npy", "--spacing", "1,0"],
            "--spacing: must be a finite number > 0, got 0",
        ),
        (["in.npy", "out.npy", "--loss", "poisson"], "--weight must be a number with --loss"),
        (["in.npy", "out.npy", "--format", "png"], "--format is for standard output"),
        (["in.npy", "-", "--json"], "--json and OUT must not both go to standard output"),
        (["in.npy"], "the following arguments are required: OUT"),
    ],
)
def test_wrong_requests_are_refused(argv, complaint, capsys):
    np.save("in.npy", noisy_image())
    np.save("small.npy", np.ones((3, 4), dtype=bool))
    np.save("none.npy", np.zeros((16, 20), dtype=bool))
    np.save("float.npy", noisy_image(dtype="float64"))
    np.save("volume.npy", noisy_image((4, 5, 6)))
    np.save("complex.npy", np.ones(4, dtype=complex))
    np.save("objects.npy", np.array([{}]), allow_pickle=True)
    Image.fromarray(noisy_image((16, 20, 4)), "RGBA").save("alpha.png")
    Image.fromarray(noisy_image()).save("photo.jpg")
    frames = [Image.fromarray(noisy_image(seed=seed)) for seed in (0, 1)]
    frames[0].save("frames.gif", save_all=True, append_images=frames[1:])
    Image.fromarray(noisy_image((64, 64))).save("whole.png")
    tifffile.imwrite("whole.tif", noisy_image((64, 64)))
    Path("cut.png").write_bytes(Path("whole.png").read_bytes()[:1000])
    Path("cut.tif").write_bytes(Path("whole.tif").read_bytes()[:100])
    Path("cut.npy").write_bytes(Path("in.npy").read_bytes()[:150])
    np.save("deep.npy", noisy_image((4, 5), "uint16"))
    Path("empty.png").touch()
    Path("text.png").write_text("not a picture")
    assert complaint in refuse(capsys, *argv)


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write everywhere")
def test_folder_that_is_not_writable(capsys, tmp_path):
    np.save("in.npy", noisy_image())
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    assert "locked is not writable" in refuse(capsys, "in.npy", "locked/out.npy")


def test_without_pillow(capsys, monkeypatch):
    Image.fromarray(noisy_image()).save("in.png")
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert 'images need Pillow: pip install "graphtv[image]"' in refuse(capsys, "in.png", "out.png")


def test_failed_write_leaves_nothing(capsys, monkeypatch):
    np.save("in.npy", noisy_image())

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    assert "out.npy cannot be written: no space left" in refuse(
        capsys, "in.npy", "out.npy", "--weight", 0.1
    )
