"""Tiles in a folder: less memory, interrupts without loss, complete files."""

import ast
import json
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

from graphtv import denoise_tv
from graphtv.scale import array_file, steps
from graphtv.scale.checkpoint import Checkpoint

pytestmark = pytest.mark.slow


@pytest.fixture
def image() -> da.Array:
    return da.from_array(np.random.default_rng(0).normal(size=(70, 110)), chunks=37)


def run(image: da.Array, weight: Any = 1.0, **options: Any) -> Any:
    return denoise_tv(image, weight, return_result=True, **{"tol": 1e-7, **options})


def test_the_same_bits_as_in_memory(image: da.Array, tmp_path: Path) -> None:
    expected, result = run(image)
    found, kept = run(image, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(found.compute(), expected.compute())
    assert (kept.primal, kept.dual) == (result.primal, result.dual)


def test_with_masks_and_weights(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(90, 100, 2))
    values[30:50, 30:70, 1] = np.nan
    image, weight = da.from_array(values, chunks=(45, 50, 1)), rng.random((90, 100))
    expected, _ = run(image, weight, channel_axis=2)
    found, _ = run(image, weight, channel_axis=2, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(found.compute(), expected.compute())
    again, result = run(image, weight, channel_axis=2, checkpoint=str(tmp_path / "run"))
    np.testing.assert_array_equal(again.compute(), expected.compute())
    assert result.status == "optimal"


@pytest.mark.parametrize("rounds", [2, 5])  # without momentum and with it
def test_a_stopped_run_goes_on(image: da.Array, tmp_path: Path, rounds: int) -> None:
    expected, whole = run(image, 2.0)
    assert whole.iterations > rounds
    _, first = run(image, 2.0, checkpoint=tmp_path, max_iterations=rounds)
    assert first.status == "iteration_limit"
    found, second = run(image, 2.0, checkpoint=tmp_path)
    assert second.iterations == whole.iterations
    assert [r.relative_gap for r in second.history] == [r.relative_gap for r in whole.history]
    np.testing.assert_array_equal(found.compute(), expected.compute())


def test_threads_parse_no_python_to_read_tiles(
    image: da.Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Python 3.11.7 occasionally raised "SystemError: AST constructor recursion depth mismatch"
    # when several threads read the headers of NumPy's files.
    def refuse(*args: Any, **options: Any) -> Any:
        raise AssertionError("Python was parsed")

    run(image, checkpoint=tmp_path, max_iterations=1)
    monkeypatch.setattr(ast, "parse", refuse)
    _, result = run(image, checkpoint=tmp_path)
    assert result.status == "optimal"


@pytest.mark.parametrize("dtype", ["<f8", ">f4", "?", "<i2"])
@pytest.mark.parametrize("shape", [(7,), (3, 1, 5), (0, 4), (1,) * 30 + (2, 3)])
def test_arrays_come_back_from_files(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).integers(0, 9, shape).astype(dtype)
    with open(tmp_path / "array", "wb") as file:
        array_file.write(file, array.T)
    found = array_file.mapped(tmp_path / "array")
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array.T)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "array"
    with open(path, "wb") as file:
        array_file.write(file, np.ones(10))
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[1:], b"[]" + whole[2:], b"", whole.replace(b"<f8", b"<q8")):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="array is damaged"):
            array_file.mapped(path)


def test_a_run_that_died_early_leaves_no_mask_to_the_next(
    image: da.Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*args: Any) -> None:
        raise OSError("No space left on device")

    mask = da.from_array(np.random.default_rng(1).random(image.shape) < 0.7, chunks=37)
    monkeypatch.setattr(Checkpoint, "write", die)
    with pytest.raises(OSError, match="No space left"):
        run(image, mask=mask, checkpoint=tmp_path)
    monkeypatch.undo()
    assert list(tmp_path.glob("tiles/*/data/c"))
    found, result = run(image, checkpoint=tmp_path)
    expected, _ = run(image)
    np.testing.assert_array_equal(found.compute(), expected.compute())
    assert result.status == "optimal"
    assert not list(tmp_path.glob("tiles/*/data/c"))


def test_a_checkpoint_of_another_version_is_named_as_such(image: da.Array, tmp_path: Path) -> None:
    run(image, checkpoint=tmp_path)
    manifest = tmp_path / "manifest.json"
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(content | {"format": content["format"] - 1}))
    with pytest.raises(ValueError, match="another version of graphtv"):
        run(image, checkpoint=tmp_path)


def test_a_crash_leaves_the_last_round(
    image: da.Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, whole = run(image)
    count, relax_strip = 0, steps.relax_strip

    def break_down(*args: Any) -> Any:
        nonlocal count
        count += 1
        if count > 15:  # in the second round
            raise OSError("No space left on device")
        return relax_strip(*args)

    monkeypatch.setattr(steps, "relax_strip", break_down)
    with pytest.raises(OSError, match="No space left"), dask.config.set(scheduler="sync"):
        run(image, checkpoint=tmp_path)
    monkeypatch.undo()
    found, result = run(image, checkpoint=tmp_path)
    np.testing.assert_array_equal(found.compute(), expected.compute())
    assert result.iterations == whole.iterations


def test_only_what_is_needed_is_kept(image: da.Array, tmp_path: Path) -> None:
    run(image, checkpoint=tmp_path)
    for tile in (tmp_path / "tiles").iterdir():
        assert len(list(tile.iterdir())) == 2  # the data and one version of the points
    assert {path.name for path in tmp_path.iterdir()} == {"tiles", "manifest.json"}


def test_another_problem_is_refused(image: da.Array, tmp_path: Path) -> None:
    run(image, checkpoint=tmp_path)
    for other, weight in ((image + 1e-9, 1.0), (image, 1.5), (image.rechunk(60), 1.0)):
        with pytest.raises(ValueError, match="checkpoint must be of the same problem"):
            run(other, weight, checkpoint=tmp_path)


def test_strange_folders_are_refused(image: da.Array, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(
        ValueError, match=r"checkpoint must be a folder without other files.*thesis"
    ):
        run(image, checkpoint=tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "mine"
    with pytest.raises(ValueError, match="checkpoint must be a folder, got the file"):
        run(image, checkpoint=tmp_path / "thesis.tex")
    folder = tmp_path / "run"
    folder.mkdir()
    for content in ("{", "[]", "{}", json.dumps({"format": 1})):
        (folder / "manifest.json").write_text(content)
        with pytest.raises(ValueError, match="checkpoint"):
            run(image, checkpoint=folder)


def test_zarr_to_zarr(image: da.Array, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    image.to_zarr(str(tmp_path / "in.zarr"))
    lazy = da.from_zarr(str(tmp_path / "in.zarr"))
    found = denoise_tv(lazy, 1.0, checkpoint=tmp_path / "run")
    found.to_zarr(str(tmp_path / "out.zarr"))
    expected = denoise_tv(image, 1.0)
    np.testing.assert_array_equal(zarr.open(str(tmp_path / "out.zarr"))[:], expected.compute())


def test_xarray(image: da.Array) -> None:
    xarray = pytest.importorskip("xarray")
    named = xarray.DataArray(image, dims=("y", "x"))
    found = xarray.apply_ufunc(denoise_tv, named, kwargs={"weight": 1.0}, dask="allowed")
    assert found.dims == ("y", "x")
    np.testing.assert_array_equal(found.values, denoise_tv(image, 1.0).compute())
