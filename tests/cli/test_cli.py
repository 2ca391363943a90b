"""The command line as a user meets it: output, files, messages and exit codes."""

import builtins
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from importlib.metadata import version

import numpy as np
import pytest

from graphtv.cli import main

DEMO = ["demo", "--size", "32"]


@pytest.fixture(autouse=True)
def empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    return tmp_path


def refuse(argv, capsys):
    """Run a command that must be refused; return what it says."""
    try:
        code = main(argv)
    except SystemExit as exit_:
        code = exit_.code
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    return captured.err


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
    assert {"core", "python", "platform", "scipy", "matplotlib", "rich"} <= lines.keys()


def test_no_command_is_an_error(capsys):
    assert "command" in refuse([], capsys)


# The picture ------------------------------------------------------------------------------------


def test_demo_saves_its_picture(capsys, tmp_path):
    assert main(DEMO) == 0
    out = capsys.readouterr().out
    assert "graphtv-demo.png" in out
    assert "Certified" in out
    for method in ("none", "diagonal", "linear", "nested", "matroid"):
        assert f"\n{method} " in out
    assert (tmp_path / "graphtv-demo.png").read_bytes().startswith(b"\x89PNG")
    assert os.listdir(tmp_path) == ["graphtv-demo.png"]


def test_demo_reaches_its_tolerance_and_then_the_exact_answer(capsys):
    assert main([*DEMO, "--no-picture"]) == 0
    out = capsys.readouterr().out
    ends = re.findall(r"^(\w+): primal .*, relative gap (\S+)$", out, re.M)
    assert [status for status, _ in ends] == ["optimal", "optimal"]
    first, exact = (float(gap) for _, gap in ends)
    assert first <= 1e-3
    assert exact <= 1e-12
    bounds = [float(bound) for bound in re.findall(r"‖u - u\*‖ ≤ (\S+) of", out)]
    assert len(bounds) == 2
    (distance,) = re.findall(r"The first answer is (\S+) away", out)
    # The distance is one of computed points, and printed to three digits.
    assert float(distance) <= 1.01 * (bounds[0] + bounds[1])


def test_demo_without_a_picture(tmp_path):
    assert main([*DEMO, "--no-picture"]) == 0
    assert os.listdir(tmp_path) == []


def test_existing_file_is_kept_unless_forced(capsys, tmp_path):
    target = tmp_path / "mine.svg"
    target.write_text("precious")
    assert "--force" in refuse([*DEMO, "--out", str(target)], capsys)
    assert target.read_text() == "precious"
    assert main([*DEMO, "--out", str(target), "--force"]) == 0
    assert "<svg" in target.read_text()


def test_default_pictures_are_numbered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(3):
        assert main(DEMO) == 0
    names = ["graphtv-demo-2.png", "graphtv-demo-3.png", "graphtv-demo.png"]
    assert sorted(os.listdir(tmp_path)) == names
    assert main([*DEMO, "--force"]) == 0
    assert sorted(os.listdir(tmp_path)) == names


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--out", "."], "not a file"),
        (["--out", "nowhere/picture.png"], "nowhere is not a directory"),
        (["--out", "picture.docx"], "must end in one of"),
        (["--out", "picture"], "must end in one of"),
        (["--size", "7"], "must lie in"),
        (["--size", "big"], "invalid size value"),
        (["--out", "picture.png", "--no-picture"], "not allowed with"),
    ],
)
def test_wrong_requests_are_refused_before_any_work(options, complaint, capsys, tmp_path):
    assert complaint in refuse(["demo", *options], capsys)
    assert os.listdir(tmp_path) == []


def test_failed_write_leaves_nothing(capsys, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr("graphtv.cli.demo._picture", lambda *_: b"picture")
    assert main(DEMO) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


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

    monkeypatch.setattr("graphtv.cli.demo.progress_bar", bar)
    assert main([*DEMO, "--no-picture"]) == 130
    captured = capsys.readouterr()
    assert captured.err == "interrupted\n"
    assert "Certified" not in captured.out


@pytest.mark.parametrize(("encoding", "kappa"), [("utf-8", "κ"), ("ascii", "?")])
def test_as_a_process(encoding, kappa):
    finished = subprocess.run(
        [sys.executable, "-m", "graphtv", *DEMO, "--no-picture"],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        encoding=encoding,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    assert f"\n  {kappa}          1.414\n" in finished.stdout
