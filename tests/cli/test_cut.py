"""``graphtv cut``: the value, the side, the flow, and errors in a file."""

import gzip
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from commands import refused
from graphtv import FlowNetwork, gallery, write_dimacs
from graphtv.cli import main

NETWORK = FlowNetwork(4, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]], [3, 2, 1, 2, 4], 0, 3)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_dimacs(NETWORK, "network.max")


def run(*argv):
    return main(["cut", *map(str, argv)])


def refuse(capsys, *argv):
    return refused(capsys, "cut", *argv)


def test_prints_the_value_and_the_proof(capsys):
    assert run("network.max") == 0
    captured = capsys.readouterr()
    lines = dict(line.rsplit("  ", 1) for line in captured.out.splitlines())
    assert {name.strip(): value for name, value in lines.items()} == {
        "value": "5",
        "certified": "yes",
        "bound": "5",
        "source side": "1 of 4 vertices",
    }
    assert captured.err == ""
    assert run("network.max", "--quiet") == 0
    assert capsys.readouterr().out == "5\n"


@pytest.mark.parametrize("is_packed", [False, True])
def test_standard_input(is_packed, capsys, monkeypatch):
    data = Path("network.max").read_bytes()
    stream = io.TextIOWrapper(io.BytesIO(gzip.compress(data) if is_packed else data))
    monkeypatch.setattr(sys, "stdin", stream)
    assert run("-", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["value"] == report["bound"] == 5
    assert report["certified"] is True
    assert report["status"] == "optimal"
    assert report["gap"] == 0


def test_side_and_flow_prove_each_other(capsys):
    network = gallery.genrmf(4, 5, 1, 100, rng=3)
    write_dimacs(network, "big.max")
    assert run("big.max", "--side", "side.txt", "--flow", "flow.txt", "--json") == 0
    value = json.loads(capsys.readouterr().out)["value"]
    side = np.zeros(network.n_vertices, dtype=bool)
    side[[int(line) - 1 for line in Path("side.txt").read_text().split()]] = True
    assert side[network.source]
    assert not side[network.sink]
    assert network.cut_value(side) == value
    first, *lines = Path("flow.txt").read_text().splitlines()
    assert first == f"s {value}"
    rows = np.array([line.split()[1:] for line in lines], dtype=int)
    np.testing.assert_array_equal(rows[:, :2] - 1, network.arcs)
    flow = rows[:, 2]
    assert ((flow >= 0) & (flow <= network.capacities)).all()
    balance = np.bincount(rows[:, 0] - 1, flow, network.n_vertices)
    balance -= np.bincount(rows[:, 1] - 1, flow, network.n_vertices)
    assert balance[network.source] == value == -balance[network.sink]
    inner = np.delete(balance, [network.source, network.sink])
    assert (inner == 0).all()


def test_without_options_no_solver_runs(capsys, monkeypatch):
    write_dimacs(gallery.genrmf(4, 5, 1, 100, rng=3), "big.max")
    assert run("big.max", "--method", "descent", "--json") == 0
    by_solver = json.loads(capsys.readouterr().out)
    monkeypatch.setattr("graphtv.applications.cuts.min_cut.solve", None)
    assert run("big.max", "--json") == 0
    by_flow = json.loads(capsys.readouterr().out)
    assert by_flow["value"] == by_solver["value"]
    assert by_flow.keys() == by_solver.keys()
    assert by_flow["method"] == "max-flow"
    assert by_solver["method"] == "descent"
    assert run("big.max", "--time-limit", 0) == 4
    assert run("big.max", "--threads", 1, "-q") == 0


def test_side_as_booleans():
    assert run("network.max", "--side", "side.npy", "-q") == 0
    np.testing.assert_array_equal(np.load("side.npy"), [True, False, False, False])


def test_limits(capsys):
    write_dimacs(gallery.genrmf(6, 8, 1, 1000, rng=1), "big.max")
    assert run("big.max", "--time-limit", 0, "--side", "side.txt", "--json") == 4
    report = json.loads(capsys.readouterr().out)
    assert report["status"] == "time_limit"
    assert report["certified"] is False
    assert report["bound"] <= report["value"]
    assert Path("side.txt").exists()
    assert run("big.max", "--time-limit", 0, "--flow", "flow.txt") == 4
    assert "flow.txt is not written: the cut is not certified" in capsys.readouterr().err
    assert not Path("flow.txt").exists()
    assert run("big.max", "--max-iterations", 0) == 3
    assert "certified    no, iteration_limit" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "p max 2 1\nn 1 s\nn 2 t\na 1 2 x\n",
            "bad.max, line 4: a capacity must be a finite number",
        ),
        ("p max 2 2\nn 1 s\nn 2 t\na 1 2 3\n", "bad.max, line 4: the problem line promises 2 arcs"),
        ("hello\n", "bad.max, line 1: a line begins with c, p, n or a"),
        ("", "bad.max, line 1: the file ends without a problem line"),
    ],
)
def test_malformed_files_are_told_with_the_line(text, complaint, capsys):
    Path("bad.max").write_text(text)
    assert complaint in refuse(capsys, "bad.max")


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["nothing.max"], "nothing.max: no such file or directory"),
        (["network.max", "--side", "network.max"], "network.max exists"),
        (["network.max", "--side", "nowhere/side.txt"], "nowhere is not a directory"),
        (["network.max", "--side", "-"], "--side must be a file"),
        (["network.max", "--side", "a", "--flow", "a"], "--side and --flow must differ"),
        (["network.max", "--max-iterations", "-1"], "must be at least 0"),
        (["network.max", "--preconditioner", "chains"], "preconditioner"),
    ],
)
def test_wrong_requests_are_refused(argv, complaint, capsys):
    assert complaint in refuse(capsys, *argv)


def test_bad_standard_input_is_called_by_its_name(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"p max\n")))
    assert "standard input, line 1: too few fields" in refuse(capsys, "-")
