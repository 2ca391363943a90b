"""The command line for a user: output, files, messages and exit codes."""

import builtins
import io
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from importlib.metadata import version

import numpy as np
import pytest

from commands import refused
from graphtv.cli import main

DEMO = ["demo", "--size", "32"]


@pytest.fixture(autouse=True)
def empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    return tmp_path


@pytest.fixture
def small_examples(monkeypatch):
    """Make the examples of the demonstration small."""
    from graphtv.gallery import examples

    roads, landscape = examples.roads, examples.landscape
    monkeypatch.setattr(examples, "roads", lambda: roads(200))
    monkeypatch.setattr(examples, "landscape", lambda: landscape(40, 60))


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"graphtv {version('graphtv')}\n"


def test_info_names_every_package(capsys):
    assert main(["info"]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["numpy"] == np.__version__
    assert lines["graphtv"] == version("graphtv")
    assert int(lines["threads"].split()[0]) >= 1
    assert {"core", "build", "python", "platform", "scipy", "matplotlib", "rich"} <= lines.keys()


def test_no_command_is_an_error(capsys):
    assert "command" in refused(
        capsys,
    )


# The picture ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_demo_saves_its_picture_and_reaches_what_it_promises(capsys, tmp_path):
    assert main(DEMO) == 0
    out = capsys.readouterr().out
    assert out.endswith(f"\nFigure saved to {tmp_path / 'graphtv-demo.png'}\n")
    assert (tmp_path / "graphtv-demo.png").read_bytes().startswith(b"\x89PNG")
    assert os.listdir(tmp_path) == ["graphtv-demo.png"]
    for title in ("Denoise", "Segment", "Cut", "Race of preconditioners", "Forests"):
        assert f"\n{title}\n" in out
    for method in ("none", "diagonal", "linear", "nested", "matroid"):
        assert out.count(f"\n{method} ") == 2  # in the race, and among the forests

    ends = re.findall(r"^(\w+): primal .*, relative gap (\S+)$", out, re.M)
    assert [status for status, _ in ends] == ["optimal", "optimal"]
    first, exact = (float(gap) for _, gap in ends)
    assert first <= 1e-3
    assert exact <= 1e-12
    bounds = [float(bound) for bound in re.findall(r"‖u - u\*‖ ≤ (\S+) of", out)]
    assert len(bounds) == 2
    (distance,) = re.findall(r"Distance of the first answer: (\S+);", out)
    # The distance is that of computed points, printed to three digits.
    assert float(distance) <= 1.01 * (bounds[0] + bounds[1])
    (right,) = re.findall(r"([\d.]+) % are correct", out)
    assert float(right) > 98.0
    iterations = dict(re.findall(r"^(\w+) +(\d+) +\S+e-\S+ ", out, re.M))
    assert int(iterations["matroid"]) < int(iterations["diagonal"]) < int(iterations["none"])


@pytest.mark.slow
@pytest.mark.usefixtures("small_examples")
def test_demo_without_a_picture(tmp_path):
    assert main([*DEMO, "--no-picture"]) == 0
    assert os.listdir(tmp_path) == []


@pytest.mark.usefixtures("small_examples")
def test_existing_file_is_kept_unless_forced(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("graphtv.cli.demo.picture.picture", lambda *_: b"<svg/>")
    target = tmp_path / "mine.svg"
    target.write_text("precious")
    assert "--force" in refused(capsys, *DEMO, "--out", str(target))
    assert target.read_text() == "precious"
    assert main([*DEMO, "--out", str(target), "--force"]) == 0
    assert "<svg" in target.read_text()


def test_default_pictures_are_numbered(tmp_path):
    from graphtv.cli.demo import DEFAULT_PICTURE, _free_name

    for expected in ("graphtv-demo.png", "graphtv-demo-2.png", "graphtv-demo-3.png"):
        path = _free_name(DEFAULT_PICTURE, taken_too=False)
        assert str(path) == expected
        path.touch()
    assert _free_name(DEFAULT_PICTURE, taken_too=True) == DEFAULT_PICTURE


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--out", "."], "is a directory"),
        (["--out", "nowhere/picture.png"], "nowhere is not a directory"),
        (["--out", "picture.docx"], "must end in one of"),
        (["--out", "picture"], "must end in one of"),
        (["--size", "7"], "must lie in"),
        (["--size", "big"], "invalid size value"),
        (["--out", "picture.png", "--no-picture"], "not allowed with"),
    ],
)
def test_wrong_requests_are_refused_before_any_work(options, complaint, capsys, tmp_path):
    assert complaint in refused(capsys, "demo", *options)
    assert os.listdir(tmp_path) == []


@pytest.mark.usefixtures("small_examples")
def test_failed_write_leaves_nothing(capsys, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr("graphtv.cli.demo.picture.picture", lambda *_: b"picture")
    assert main(DEMO) == 2
    assert "no space left on device" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
@pytest.mark.usefixtures("small_examples")
def test_demo_without_matplotlib(capsys, tmp_path, monkeypatch):
    real_import = builtins.__import__

    def no_matplotlib(name, *args, **kwargs):
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_matplotlib)
    assert main(DEMO) == 0
    assert 'pip install "graphtv[plot]"' in capsys.readouterr().out
    assert os.listdir(tmp_path) == []


def test_interrupt(capsys, monkeypatch):
    def press_control_c(info):
        signal.raise_signal(signal.SIGINT)

    @contextmanager
    def bar(title, tol):
        yield press_control_c

    monkeypatch.setattr("graphtv.cli.progress.progress_bar", bar)
    assert main([*DEMO, "--no-picture"]) == 130
    captured = capsys.readouterr()
    assert captured.err == "interrupted\n"
    assert "Certified" not in captured.out


@pytest.mark.usefixtures("small_examples")
def test_a_terminal_without_greek(monkeypatch):
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    assert main([*DEMO, "--no-picture"]) == 0
    shown = terminal.buffer.getvalue().decode("ascii")
    assert "         ?        ??" in shown  # κ and κ²


def test_the_race_is_live_on_a_terminal(monkeypatch, capsys):
    pytest.importorskip("rich")
    from graphtv.cli.demo import race
    from graphtv.gallery import examples

    monkeypatch.setattr(race, "_can_be_live", lambda: True)
    results = race.race(examples.roads(200))
    out = capsys.readouterr().out
    for name, result in results.items():
        assert re.search(rf"{name} +{result.iterations} ", out)
    assert "times fewer iterations" in out
    assert not race._Live()._rows["none"].iteration


def test_as_a_process():
    finished = subprocess.run(
        [sys.executable, "-m", "graphtv", "info"], capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0
    assert finished.stderr == ""
    assert finished.stdout.startswith("graphtv ")
