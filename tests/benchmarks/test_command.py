"""``graphtv bench``: properties of the benchmarks other than times."""

import csv
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import graphtv
from graphtv.cli import main
from races import reference
from races.outcome import Outcome
from races.peer_process import DeclinedError, PeerError, Worker
from races.problems import make

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
NAMES = ("P1", "P3S")
ACCURACIES = (1e-3, 1e-6, 1e-12)


def interpreter(folder, peer, *lines):
    """Create an environment whose Python is a script."""
    python = folder / peer / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
    python.chmod(0o755)


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    """One peer that crashes, one without numpy, one that could not be built; others unchanged."""
    folder = tmp_path_factory.mktemp("environments")
    interpreter(folder, "PyMaxflow", "echo double free >&2", "kill -SEGV $$")
    interpreter(folder, "ortools", f'exec {sys.executable} -S -E "$@"')
    (folder / "prox_tv.error").write_text("building\nerror: lapacke.h: No such file\n\n")
    return folder


@pytest.fixture(scope="module")
def race(environments, tmp_path_factory):
    """Run the benchmark of the peers once: its folder and its output."""
    folder = tmp_path_factory.mktemp("race")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLBACKEND", "Agg")
        words = ["--problems", *NAMES, "--environments", str(environments), "--out", str(folder)]
        assert main(["bench", "peers", "--quick", *words]) == 0
    return folder


@pytest.fixture(scope="module")
def outcomes(race):
    content = json.loads((race / "peers.json").read_text())
    assert content["machine"]["cores"].isdigit()
    assert content["machine"]["processor"]
    found = {one["name"]: Outcome.from_json(one) for one in content["races"]}
    assert list(found) == list(NAMES)
    return found


def test_optimum_is_proved(outcomes):
    for name, outcome in outcomes.items():
        instance = make(name, small=True)
        problem = graphtv.Problem(instance.graph, graphtv.SquaredLoss(instance.signal))
        result = graphtv.solve(problem, method="pdhg", tol=1e-9, max_iterations=10**5)
        assert outcome.dual <= outcome.primal <= outcome.dual * (1 + reference.CERTIFIED)
        assert result.dual <= outcome.primal * (1 + 1e-14)
        assert outcome.dual <= result.primal * (1 + 1e-14)


def test_contestants_reach_what_is_reported(outcomes, environments):
    checked = set()
    for name, outcome in outcomes.items():
        instance = make(name, small=True)
        problem = graphtv.Problem(instance.graph, graphtv.SquaredLoss(instance.signal))
        for adapter in ("graphtv_solve", "fast_gradient", "scikit_image", "modelling"):
            worker = Worker(adapter, environments)
            try:
                offers = {(o.peer, o.variant): o for o in worker.enter(instance.task())}
                for peer in dict.fromkeys(peer for peer, _ in offers):
                    if "OSQP" in peer:  # it adapts to the clock
                        continue
                    for accuracy, figure in outcome.row(peer).figures.items():
                        # A proved run may be the fastest without its proof, too.
                        offer = offers.get((peer, figure.variant)) or offers["graphtv", "proved"]
                        u = worker.run(offer, figure.setting).u.astype(float).ravel()
                        reached = problem.primal(u) / outcome.dual - 1
                        assert reached <= accuracy * (1 + 1e-9) + 1e-15
                        if peer == "graphtv":  # it proved more than required
                            assert reached <= figure.accuracy + 1e-15
                        else:
                            assert reached == pytest.approx(figure.accuracy, rel=1e-6, abs=1e-14)
                        checked.add(peer)
            except (PeerError, DeclinedError):
                continue
            finally:
                worker.close()
    assert {"graphtv", "graphtv, unproved"} <= checked
    assert shutil.which("c++") is None or "FGP, float32" in checked


def test_graphtv_proves_every_accuracy(outcomes):
    for outcome in outcomes.values():
        figures = outcome.row("graphtv").figures
        for accuracy in ACCURACIES:
            assert figures[accuracy].accuracy <= accuracy


def test_ratios_are_finite_and_those_of_the_seconds(race, outcomes):
    with (race / "peers.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["seconds"]]
    assert len(rows) > 10
    for row in rows:
        outcome, accuracy = outcomes[row["problem"]], float(row["accuracy"])
        ratio = float(row["ratio"])
        assert math.isfinite(ratio)
        assert ratio > 0
        assert ratio == pytest.approx(
            float(row["seconds"]) / outcome.seconds("graphtv", accuracy), rel=1e-12
        )
        assert float(row["reached"]) <= accuracy


def test_peers_that_cannot_run_are_listed_with_the_reason(race, outcomes):
    expected = {
        "PyMaxflow": "signal SIGSEGV: double free",
        "ortools": "No module named 'numpy'",
        "prox_tv": "could not be installed: error: lapacke.h: No such file",
    }
    page = (race / "peers.md").read_text()
    for outcome in outcomes.values():
        for peer, reason in expected.items():
            row = outcome.row(peer)
            assert row.status == "missing"
            assert reason in row.reason
            assert not row.figures
            assert reason in page
    image = outcomes["P3S"].row("scikit-image")
    assert image.status in ("declined", "missing")


def test_files_are_complete_and_nothing_else_is_left(race):
    tables = {"peers.json", "peers.csv", "peers.md", "problems.md", "settings.json"}
    assert set(os.listdir(race)) == tables | {"curves.png", "profile.png"}
    for picture in ("curves.png", "profile.png"):
        assert (race / picture).read_bytes().startswith(b"\x89PNG")


def test_second_race_keeps_the_first_and_its_settings(race, environments, tmp_path, capsys):
    out = tmp_path / "copy"
    shutil.copytree(race, out)
    settings = json.loads((out / "settings.json").read_text())
    before = {one["name"]: one for one in json.loads((out / "peers.json").read_text())["races"]}
    words = ["--problems", "P1", "--environments", str(environments), "--out", str(out)]
    assert main(["bench", "peers", "--quick", *words, "--peers", "FGP"]) == 0
    assert json.loads((out / "settings.json").read_text()) == settings
    after = {one["name"]: one for one in json.loads((out / "peers.json").read_text())["races"]}
    assert after["P3S"] == before["P3S"]
    assert {row["peer"].partition(",")[0] for row in after["P1"]["rows"]} == {"graphtv", "FGP"}
    assert "To 1e-12" in capsys.readouterr().out


def test_two_threads(environments, tmp_path):
    words = ["--problems", "P3S", "--peers", "none", "--threads", "2", "--out", str(tmp_path)]
    assert main(["bench", "peers", "--quick", "--environments", str(environments), *words]) == 0
    (one,) = json.loads((tmp_path / "peers.json").read_text())["races"]
    assert one["threads"] == 2
    assert [row["threads"] for row in one["rows"]] == [2]


def test_void_race_has_its_exit_code(environments, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reference, "CERTIFIED", -1.0)
    words = ["--problems", "P3S", "--peers", "none", "--out", str(tmp_path)]
    assert main(["bench", "peers", "--quick", "--environments", str(environments), *words]) == 1
    assert "P3S" in capsys.readouterr().err


def test_kernels(environments, tmp_path, capsys):
    assert (
        main(
            [
                "bench",
                "kernels",
                "--quick",
                "--environments",
                str(environments),
                "--out",
                str(tmp_path),
            ]
        )
        == 0
    )
    content = json.loads((tmp_path / "kernels.json").read_text())
    assert "lapacke.h" in content["missing"][0]
    assert "lapacke.h" in capsys.readouterr().out
    assert "lapacke.h" in (tmp_path / "kernels.md").read_text()
    assert len(content["chains"]) == 20
    for row in content["chains"]:
        assert row["disagreement"] <= 1e-9
        assert row["uniform_ratio"] is None
        assert min(row["uniform"], row["weighted"], row["warm"]) > 0
    assert {row["tree"] for row in content["trees"]} >= {"star", "heavy spine", "grid, depth"}
    assert set(os.listdir(tmp_path)) == {"kernels.json", "kernels.md", "chains.csv"}


def test_scaling(tmp_path):
    assert main(["bench", "scaling", "--quick", "--threads", "1", "2", "--out", str(tmp_path)]) == 0
    rows = json.loads((tmp_path / "scaling.json").read_text())["rows"]
    assert [row["threads"] for row in rows] == [1, 2] * 4
    assert {row["kind"] for row in rows} == {"grid", "random graph"}
    for row in rows:
        assert row["exact_relative_gap"] <= 1e-12
        assert math.isfinite(row["iteration_seconds"])
        assert row["elements"] == row["vertices" if row["kind"] == "grid" else "edges"]
    names = {"scaling.json", "scaling.csv", "scaling.md", "scaling.png"}
    assert set(os.listdir(tmp_path)) == names


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "race"),
        (["racing"], "racing"),
        (["peers", "--problems", "P9"], "--problems must be among P1, "),
        (["peers", "--accuracies", "1"], "argument --accuracies: must lie in"),
        (["peers", "--accuracies", "1e-13"], "argument --accuracies: must lie in"),
        (["peers", "--accuracies", "fine"], "invalid accuracy value: 'fine'"),
        (["peers", "--turns", "0"], "argument --turns: must be at least 1, got 0"),
        (["peers", "--budget", "nan"], "argument --budget: must be a finite number > 0, got nan"),
        (["peers", "--threads", "two"], "argument --threads: invalid integer value: 'two'"),
        (["peers", "--environments", "nowhere"], "--environments must be a folder, got nowhere"),
        (["peers", "--settings", "file"], "--settings must be a JSON file"),
        (["kernels", "--out", "file"], "--out must be a folder, got file"),
        (["scaling", "--side", "1", "--edges", "1"], "--side and --edges leave no problem"),
    ],
)
def test_wrong_requests_are_refused(words, complaint, tmp_path, monkeypatch, capsys):
    (tmp_path / "benchmarks").symlink_to(BENCHMARKS)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    (here / "file").write_text("no JSON")
    try:
        code = main(["bench", *words])
    except SystemExit as exit_:
        code = exit_.code
    captured = capsys.readouterr()
    assert code == 2
    assert complaint in captured.err
    assert captured.out == ""
    assert os.listdir(here) == ["file"]


@pytest.mark.parametrize("words", [[], ["peers"]])
def test_outside_the_repository_it_says_where_the_races_are(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", *words]) == 2
    assert "call this command inside a copy of the repository" in capsys.readouterr().err


def test_help_outside_the_repository(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="0"):
        main(["bench", "--help"])
    assert "inside a copy of the repository" in capsys.readouterr().out


def test_interrupt(tmp_path, monkeypatch):
    def press_control_c(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("races.contest.prove", press_control_c)
    assert main(["bench", "peers", "--quick", "--out", str(tmp_path)]) == 130


def test_failed_write_leaves_what_was_there(tmp_path, monkeypatch, capsys):
    def fail(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "scaling.csv").write_text("precious")
    monkeypatch.setattr(os, "replace", fail)
    assert main(["bench", "scaling", "--quick", "--out", str(tmp_path)]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["scaling.csv"]
    assert (tmp_path / "scaling.csv").read_text() == "precious"


def test_without_matplotlib_and_rich(tmp_path, monkeypatch, capsys):
    for name in ("matplotlib", "rich", "rich.console"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["bench", "scaling", "--quick", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert 'pip install "graphtv[plot]"' in out
    assert "| problem | threads |" in out
    assert not (tmp_path / "scaling.png").exists()
    assert np.genfromtxt(tmp_path / "scaling.csv", delimiter=",", skip_header=1).shape[0] == 4


def test_page_of_the_docs_takes_the_tables(race, tmp_path):
    root = Path(__file__).parents[2]
    shutil.copytree(root / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("*.png"))
    (tmp_path / "docs" / "images").mkdir(exist_ok=True)
    script = tmp_path / "benchmarks" / "update_docs"
    script.parent.mkdir()
    shutil.copyfile(root / "benchmarks" / "update_docs", script)
    for _ in range(2):  # repeating it changes nothing
        subprocess.run([sys.executable, script, race], check=True, capture_output=True)
        page = (tmp_path / "docs" / "benchmarks.md").read_text()
        for table in ("peers.md", "problems.md"):
            assert page.count((race / table).read_text().strip()) == 1
    assert (tmp_path / "docs" / "images" / "benchmarks" / "profile.png").exists()
    before = (root / "docs" / "benchmarks.md").read_text().partition("<!-- peers -->")[0]
    assert page.startswith(before)
