"""``graphtv denoise`` with folders, patterns and lists of files."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from commands import refused
from graphtv import denoise_tv
from graphtv.cli import main


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("scans").mkdir()
    rng = np.random.default_rng(0)
    for name in ("b", "a", "c"):
        np.save(f"scans/{name}.npy", rng.normal(size=(6, 7)))
    Path("scans/notes.txt").write_text("by night")
    return tmp_path


def run(*argv):
    return main(["denoise", *argv, "--weight", "0.5"])


@pytest.mark.parametrize(
    "inputs", [["scans"], ["scans/"], ["scans/*.npy"], [f"scans/{k}.npy" for k in "cab"]]
)
def test_each_file_and_its_certificate(inputs, capsys):
    assert run(*inputs, "clean") == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert all("optimal" in line for line in lines)
    assert sorted(os.listdir("clean")) == [f"{k}.npy{end}" for k in "abc" for end in ("", ".json")]
    for k in "abc":
        expected = denoise_tv(np.load(f"scans/{k}.npy"), 0.5)
        np.testing.assert_array_equal(np.load(f"clean/{k}.npy"), expected)
        proved = json.loads(Path(f"clean/{k}.npy.json").read_text())
        assert (proved["status"], proved["exit_code"]) == ("optimal", 0)
        assert proved["output"] == os.path.join("clean", f"{k}.npy")
        assert proved["options"]["input"] == os.path.join("scans", f"{k}.npy")
        assert proved["relative_gap"] <= 1e-6


def test_one_file_into_a_folder():
    assert run("scans/a.npy", "clean/") == 0
    assert sorted(os.listdir("clean")) == ["a.npy", "a.npy.json"]


def test_json_is_a_line_per_file(capsys):
    assert run("scans", "clean", "--json", "--no-sidecar") == 0
    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [Path(report["output"]).name for report in reports] == ["a.npy", "b.npy", "c.npy"]
    assert sorted(os.listdir("clean")) == ["a.npy", "b.npy", "c.npy"]


def test_sidecar_of_a_single_file(capsys):
    assert run("scans/a.npy", "out.npy", "--sidecar", "--json") == 0
    assert json.loads(Path("out.npy.json").read_text()) == json.loads(capsys.readouterr().out)
    message = refused(capsys, "denoise", "scans/a.npy", "out.npy", "--sidecar")
    assert "out.npy exists; use --force" in message
    Path("out.npy").unlink()
    assert "out.npy.json exists" in refused(
        capsys, "denoise", "scans/a.npy", "out.npy", "--sidecar"
    )


def test_a_bad_file_does_not_stop_the_others(capsys):
    Path("scans/b.npy").write_bytes(b"nonsense")
    assert run("scans", "clean") == 2
    assert "b.npy cannot be read" in capsys.readouterr().err
    assert sorted(os.listdir("clean")) == ["a.npy", "a.npy.json", "c.npy", "c.npy.json"]


def test_the_largest_exit_code_counts():
    assert run("scans", "clean", "--max-iterations", "0") == 3


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["scans/*.tif", "clean"], "scans/*.tif: no file matches"),
        (["empty", "clean"], "empty has no file that ends in .jpeg"),
        (
            ["scans", "there"],
            os.path.join("there", "b.npy") + " exists; use --force to overwrite it",
        ),
        (["scans", "scans/notes.txt"], "scans/notes.txt must be a folder for several files"),
        (["scans/a.npy", "scans/b.npy", "-"], "OUT must be a folder"),
        (["-", "scans/b.npy", "clean"], "OUT must be a folder"),
        (["scans/a.npy", "other/a.npy", "clean"], "must differ, got " + os.path.join("clean", "a")),
        (["scans", "clean", "--format", "png"], "--format is for standard output"),
        (["scans/a.npy", "scans/notes.txt", "clean"], "must end in one of"),
    ],
)
def test_refusals_before_any_work(argv, reason, capsys):
    for name in ("empty", "there", "other"):
        Path(name).mkdir()
    Path("there/b.npy").write_text("mine")
    np.save("other/a.npy", np.zeros((2, 2)))
    assert reason in refused(capsys, "denoise", *argv)
    assert not Path("clean").exists()
    assert os.listdir("there") == ["b.npy"]
