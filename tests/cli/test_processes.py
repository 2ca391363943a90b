"""Commands as processes: pipes, Ctrl-C, completion, and help."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

from graphtv.cli import COMMANDS, main, make_parser

COMMAND = [sys.executable, "-m", "graphtv"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_names_of_files_arrive_whole_in_json(encoding):
    raw = os.fsencode("grün ") + b"\xff.npy"
    image = np.random.default_rng(0).normal(size=(3, 4))
    with open(raw, "wb") as file:
        np.save(file, image)
    finished = subprocess.run(
        [*COMMAND, "denoise", raw, b"out " + raw, "--weight", "0.1", "--json"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "1"},
    )
    assert finished.returncode == 0, finished.stderr
    assert os.fsencode(json.loads(finished.stdout)["output"]) == b"out " + raw


def test_a_pipe_of_arrays():
    image = np.random.default_rng(0).normal(size=(12, 14))
    buffer = io.BytesIO()
    np.save(buffer, image)
    script = "{0} denoise - - --weight 0.1 | {0} denoise - - --weight 0.1 -q".format(
        " ".join(COMMAND)
    )
    finished = subprocess.run(
        script, shell=True, input=buffer.getvalue(), capture_output=True, check=False
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr.startswith(b"standard output: optimal")
    out = np.load(io.BytesIO(finished.stdout))
    assert out.shape == image.shape
    assert out.std() < image.std()


def test_a_reader_that_leaves_is_no_error():
    script = f"{' '.join(COMMAND)} --help | head -1; exit ${{PIPESTATUS[0]}}"
    finished = subprocess.run(["bash", "-c", script], capture_output=True, check=False)
    assert finished.returncode == 0
    assert finished.stderr == b""


# Ctrl-C -----------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="signals are not sent there")
def test_control_c_writes_the_best_so_far_and_no_half_file(here):
    # Eight-connected, exact, on noise alone: long enough to be interrupted on any machine.
    np.save("in.npy", np.random.default_rng(0).normal(size=(400, 400)))
    options = ["--weight", "3", "--connectivity", "2", "--method", "pdhg", "--tol", "0"]
    process = subprocess.Popen(
        [*COMMAND, "denoise", "in.npy", "out.npy", *options, "--verbose", "--threads", "1"],
        stderr=subprocess.PIPE,
    )
    for line in process.stderr:
        if b"rel.gap" in line:
            break
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    assert process.wait() == 130
    assert b"out.npy: interrupted" in rest
    assert sorted(os.listdir()) == ["in.npy", "out.npy"]
    assert np.isfinite(np.load("out.npy")).all()
    process.stderr.close()


def test_control_c_while_solving(monkeypatch, capsys):
    def press_control_c(info):
        signal.raise_signal(signal.SIGINT)

    @contextmanager
    def bar(title, tol):
        yield press_control_c

    monkeypatch.setattr("graphtv.cli.progress.progress_bar", bar)
    np.save("in.npy", np.random.default_rng(0).normal(size=(64, 64)))
    assert main(["denoise", "in.npy", "out.npy", "--weight", "1", "--tol", "0"]) == 130
    assert "out.npy: interrupted" in capsys.readouterr().err
    assert np.load("out.npy").shape == (64, 64)


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_control_c_while_writing(moment, monkeypatch, capsys):
    def press_control_c(*_):
        raise KeyboardInterrupt

    np.save("in.npy", np.zeros((4, 4)))
    monkeypatch.setattr(os, moment, press_control_c)
    assert main(["denoise", "in.npy", "out.npy", "--weight", "1"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
    assert os.listdir() == ["in.npy"]


# Help and completion ----------------------------------------------------------------------------


@pytest.mark.parametrize("command", sorted({*COMMANDS} - {"info"}))
def test_help_has_examples(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    out = capsys.readouterr().out
    assert "examples:" in out
    assert f"graphtv {command}" in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize("command", ["denoise", "segment", "cut", "fuse"])
def test_help_has_the_exit_codes(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    out = capsys.readouterr().out
    for code in ("0 ", "2 ", "3 ", "4 ", "5 ", "130"):
        assert f"\n  {code}" in out


def test_help_lists_every_command(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    out = capsys.readouterr().out
    for command in COMMANDS:
        assert f"\n    {command} " in out


def test_unknown_commands_are_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["denoize"])
    assert "invalid choice: 'denoize'" in capsys.readouterr().err


def test_a_parser_knows_all_commands_at_once():
    arguments = make_parser(*COMMANDS).parse_args(["cut", "x.max", "--side", "y"])
    assert (arguments.command, arguments.input, arguments.side) == ("cut", "x.max", "y")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_completion_is_code_for_the_shell(shell, capsys, tmp_path):
    pytest.importorskip("shtab")
    assert main(["completion", shell]) == 0
    code = capsys.readouterr().out
    for command in COMMANDS:
        assert command in code
    if shell in ("bash", "zsh", "fish") and shutil.which(shell):
        script = tmp_path / "code"
        script.write_text(code)
        subprocess.run([shell, "-n", str(script)], check=True)


def test_bash_completes_commands_options_choices_and_files(capsys, tmp_path):
    pytest.importorskip("shtab")
    main(["completion", "bash"])
    (tmp_path / "noisy.png").touch()
    asked = [
        ["de"],
        ["denoise", "--prec"],
        ["denoise", "--preconditioner", "ne"],
        ["denoise", "noi"],
    ]
    script = capsys.readouterr().out + "".join(
        f"COMP_WORDS=(graphtv {' '.join(words)}); COMP_CWORD={len(words)}; COMPREPLY=();"
        ' _shtab_graphtv; echo "${COMPREPLY[*]}"\n'
        for words in asked
    )
    finished = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    lines = [line.split() for line in finished.stdout.splitlines()]
    assert lines == [["demo", "denoise"], ["--preconditioner"], ["nested"], ["noisy.png"]]


def test_completion_without_shtab(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert 'pip install "graphtv[cli]"' in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes_commands_options_choices_and_files(capsys, tmp_path):
    pytest.importorskip("shtab")
    main(["completion", "fish"])
    script = tmp_path / "graphtv.fish"
    script.write_text(capsys.readouterr().out)
    (tmp_path / "noisy.png").touch()

    def completed(line):
        code = f"source {script}; complete -C '{line}'"
        done = subprocess.run(["fish", "-c", code], capture_output=True, text=True, check=True)
        return dict(row.partition("\t")[::2] for row in done.stdout.splitlines())

    assert completed("graphtv de") == {name: COMMANDS[name] for name in ("demo", "denoise")}
    assert set(completed("graphtv denoise --prec")) == {"--preconditioner"}
    assert set(completed("graphtv denoise --preconditioner ne")) == {"nested"}
    assert set(completed("graphtv denoise noi")) == {"noisy.png"}
