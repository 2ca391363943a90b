"""``graphtv paper`` for a user: requests, interrupts, exit codes."""

import builtins
import os
import signal
from pathlib import Path

import pytest

from commands import refused
from graphtv.cli import main, paper
from graphtv.paper import table1

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRAPHTV_DATA", raising=False)
    # Two graphs are enough here.
    monkeypatch.setattr(table1, "PAPER", {k: table1.PAPER[k] for k in (0.68, 6.48)})
    return tmp_path


def test_unknown_and_missing_experiments_are_refused(capsys, tmp_path):
    assert "table9" in refused(capsys, "paper", "table9")
    assert "experiment" in refused(capsys, "paper")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_data_must_exist(capsys, tmp_path, monkeypatch):
    assert "--data nowhere" in refused(capsys, "paper", "table1", "--data", "nowhere")
    monkeypatch.setenv("GRAPHTV_DATA", "nowhere")
    assert "GRAPHTV_DATA is nowhere" in refused(capsys, "paper", "table1")
    assert list(tmp_path.iterdir()) == []


def test_output_must_be_a_folder_that_can_be_written(capsys, tmp_path):
    (tmp_path / "file").write_text("mine")
    assert "--out file" in refused(capsys, "paper", "table1", "--out", "file")
    assert "--out" in refused(capsys, "paper", "table1", "--out", "file/below")
    assert (tmp_path / "file").read_text() == "mine"


def test_output_goes_to_the_default_folder(capsys, tmp_path):
    assert main(["paper", "table1", "--quick"]) == 0
    captured = capsys.readouterr()
    assert "6.48" in captured.out
    assert "holds" in captured.out
    assert "table1 [4/4] 6.48/1" in captured.err
    assert os.listdir(tmp_path) == ["graphtv-paper"]
    names = os.listdir("graphtv-paper")
    assert {"report.html", "table1.csv", "table1-gaps.png", "table1-kappa.png"} < set(names)


def test_an_interrupt_keeps_what_is_finished(capsys, monkeypatch, tmp_path):
    real = paper._Lines.start

    def interrupt(self, key):
        real(self, key)
        if key == "6.48/0":
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(paper._Lines, "start", interrupt)
    assert main(["paper", "table1", "--quick"]) == 130
    captured = capsys.readouterr()
    assert "run the same command to continue" in captured.err
    assert len(list((tmp_path / "graphtv-paper/cells/table1/quick").iterdir())) == 2
    monkeypatch.setattr(paper._Lines, "start", real)
    assert main(["paper", "table1", "--quick"]) == 0
    assert "2 of 4 cells already complete" in capsys.readouterr().err


def test_a_signal_reaches_a_running_cell(capsys, monkeypatch, tmp_path):
    told = []

    def tell(self, text):
        told.append(text)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(paper._Lines, "tell", tell)
    assert main(["paper", "table1", "--quick"]) == 130
    assert "iteration" in told[0]
    assert not (tmp_path / "graphtv-paper/cells").exists()


def test_without_matplotlib_there_are_tables(capsys, monkeypatch):
    real = builtins.__import__

    def without_matplotlib(name, *rest):
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    assert main(["paper", "table1", "--quick"]) == 0
    page = Path("graphtv-paper/report.html").read_text(encoding="utf-8")
    assert "graphtv[plot]" in page
    assert "<img" not in page
