"""``graphtv fuse``: tables in, tables out, and errors in a row."""

import csv
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from commands import refused
from graphtv import Graph, datasets, fused_lasso, fused_lasso_path
from graphtv.cli import main

EDGES = "from,to,weight\nrome,paris,1\nparis,oslo,2\noslo,bonn,1.5\nbonn,rome,1\n"
SIGNAL = "city,heat\nrome,30\nparis,22\noslo,12\nbonn,21\n"
GRAPH = Graph(4, [[0, 1], [1, 2], [2, 3], [3, 0]], [1.0, 2.0, 1.5, 1.0])
HEAT = np.array([30.0, 22.0, 12.0, 21.0])


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text(EDGES)
    Path("signal.csv").write_text(SIGNAL)


def run(*argv):
    return main(["fuse", *map(str, argv)])


def refuse(capsys, *argv):
    return refused(capsys, "fuse", *argv)


def rows_of(path, delimiter=","):
    with open(path, newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


def test_with_names_of_columns():
    assert run("edges.csv", "signal.csv", "out.csv", "--lam", 2) == 0
    header, *rows = rows_of("out.csv")
    assert header == ["city", "heat"]
    assert [row[0] for row in rows] == ["rome", "paris", "oslo", "bonn"]
    found = [float(row[1]) for row in rows]
    np.testing.assert_array_equal(found, fused_lasso(GRAPH, HEAT, lam=2.0, tol=0).u)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
def test_without_names_and_with_any_delimiter(delimiter):
    for name, text in (("edges", EDGES), ("signal", SIGNAL)):
        rows = [line.replace(",", delimiter) for line in text.splitlines()[1:]]
        Path(f"{name}.txt").write_text("# a comment\n\n" + "\n".join(rows))
    assert run("edges.txt", "signal.txt", "out.txt", "--lam", 2) == 0
    rows = rows_of("out.txt", delimiter)
    assert [row[0] for row in rows] == ["rome", "paris", "oslo", "bonn"]
    found = [float(row[1]) for row in rows]
    np.testing.assert_array_equal(found, fused_lasso(GRAPH, HEAT, lam=2.0, tol=0).u)


def test_without_weights_and_with_numbers_for_names():
    Path("e.csv").write_text("7,9\n9,8\n")
    Path("s.csv").write_text("9,1\n8,5\n7,1\n")
    assert run("e.csv", "s.csv", "out.csv", "--lam", 0.5) == 0
    expected = fused_lasso([[2, 0], [0, 1]], [1.0, 5.0, 1.0], lam=0.5, tol=0).u
    assert rows_of("out.csv") == [
        [n, repr(u)] for n, u in zip("987", expected.tolist(), strict=True)
    ]


def test_empty_fields_are_predicted():
    Path("s.csv").write_text("city,heat\nrome,30\nparis,\noslo,NA\nbonn,21\n")
    assert run("edges.csv", "s.csv", "out.csv", "--lam", 0.1, "--pieces") == 0
    header, *rows = rows_of("out.csv")
    assert header == ["city", "heat", "piece"]
    values = {row[0]: float(row[1]) for row in rows}
    assert 21.0 <= values["oslo"] <= values["paris"] <= 30.0


def test_weights_of_vertices_and_several_columns(capsys):
    Path("s.csv").write_text("id,a,weight,b\nrome,1,2,5\nparis,2,0,6\noslo,9,1,7\nbonn,8,1,\n")
    assert run("edges.csv", "s.csv", "out.csv", "--lam", 0.3, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["columns"] == ["a", "b"]
    assert report["observations"] == 5
    header, *rows = rows_of("out.csv")
    assert header == ["id", "a", "b"]
    weights = np.array([[2.0, 2.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    data = np.array([[1.0, 5.0], [2.0, 6.0], [9.0, 7.0], [8.0, 0.0]])
    expected = fused_lasso(GRAPH, data, lam=0.3, vertex_weights=weights, tol=0)
    np.testing.assert_array_equal(np.array(rows)[:, 1:].astype(float), expected.u)


def test_chosen_columns_of_a_table_with_many():
    data = datasets.us_counties()
    folder = Path(datasets.__file__).parent
    edges, nodes = folder / "us_counties_edges.csv", folder / "us_counties_nodes.csv"
    options = ["--value", "unemployment_2009_pct", "--edge-weight", "none", "--lam", 1.0]
    assert run(edges, nodes, "out.csv", *options) == 0
    header, *rows = rows_of("out.csv")
    assert header == ["index", "unemployment_2009_pct"]
    expected = fused_lasso(
        (data.graph.edges, np.ones(data.graph.n_edges)), data.unemployment, tol=0
    )
    np.testing.assert_array_equal([float(row[1]) for row in rows], expected.u)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["auto", "aic", "gcv", "cv", "cv_1se"])
def test_lambda_by_a_criterion(criterion, capsys):
    rng = np.random.default_rng(0)
    signal = np.repeat([0.0, 3.0, 1.0], 15) + 0.4 * rng.standard_normal(45)
    Path("chain.csv").write_text("".join(f"{i},{i + 1}\n" for i in range(44)))
    Path("s.csv").write_text("".join(f"{i},{x!r}\n" for i, x in enumerate(signal.tolist())))
    assert run("chain.csv", "s.csv", "out.csv", "--lam", criterion, "--json", "--folds", 3) == 0
    report = json.loads(capsys.readouterr().out)
    edges = np.column_stack([np.arange(44), np.arange(1, 45)])
    path = fused_lasso_path(edges, signal, cv=3 if criterion.startswith("cv") else None)
    name = "bic" if criterion == "auto" else criterion
    assert report["lam"] == path.best_lambda(name)
    assert report["status"] == "optimal"
    np.testing.assert_array_equal([float(u) for _, u in rows_of("out.csv")], path.best(name).u)


@pytest.mark.parametrize("loss", ["absolute", "huber", "logistic", "poisson"])
def test_other_losses(loss, capsys):
    Path("s.csv").write_text(
        "rome,1\nparis,1\noslo,-1\nbonn,0\n".replace("-1", "0", loss == "poisson")
    )
    assert run("edges.csv", "s.csv", "out.csv", "--lam", 0.2, "--loss", loss, "--json") == 0
    assert json.loads(capsys.readouterr().out)["status"] == "optimal"


def test_standard_streams(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SIGNAL.encode())))
    assert run("edges.csv", "-", "-", "--lam", 2) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("city,heat\nrome,")
    assert captured.err.startswith("standard output: optimal")


def test_output_is_input_for_the_next_run():
    assert run("edges.csv", "signal.csv", "out.csv", "--lam", 2) == 0
    assert run("edges.csv", "out.csv", "again.csv", "--lam", 1e-9) == 0
    first, second = (rows_of(name)[1:] for name in ("out.csv", "again.csv"))
    np.testing.assert_allclose(
        *(np.array(r)[:, 1].astype(float) for r in (first, second)), atol=1e-7
    )


@pytest.mark.parametrize(
    ("edges", "signal", "complaint"),
    [
        (EDGES + "rome\n", SIGNAL, "e.csv, line 6: expected 3 fields as in line 1, got 1"),
        (EDGES + "rome,nice,1\n", SIGNAL, "e.csv, line 6: 'nice' is not a vertex of s.csv"),
        (EDGES + "rome,oslo,far\n", SIGNAL, "line 6: a weight must be a finite number or empty"),
        (EDGES + "rome,oslo,\n", SIGNAL, "e.csv, line 6: a weight must be at least 0, got ''"),
        (EDGES + "rome,oslo,-1\n", SIGNAL, "e.csv, line 6: a weight must be at least 0, got '-1'"),
        (EDGES + "rome,oslo,inf\n", SIGNAL, "e.csv, line 6: a weight must be a finite number"),
        ("rome\nparis\n", SIGNAL, "e.csv, line 1: expected two vertices, got one field"),
        ("", SIGNAL, "e.csv: the table is empty"),
        ("from,to\n", SIGNAL, "e.csv: there is no row after the header"),
        (EDGES, SIGNAL + "rome,3\n", "s.csv, line 6: 'rome' is a duplicate of line 2"),
        (EDGES, SIGNAL + "nice,warm\n", "s.csv, line 6: heat must be a finite number or empty"),
        (EDGES, SIGNAL + "nice\n", "s.csv, line 6: expected 2 fields as in line 1, got 1"),
        (EDGES, SIGNAL + ",3\n", "s.csv, line 6: the name of the vertex is empty"),
        (EDGES, "rome\nparis\n", "s.csv, line 1: expected a vertex and a value, got one field"),
        (EDGES, "city,heat\nrome,\nparis,\n", "s.csv: there is no number in heat"),
        (EDGES, "city,weight\nrome,1\n", "s.csv: there is no column of values"),
        (EDGES, "city,heat\nr\udcffme,3\n", "s.csv, line 2: the text is not UTF-8: byte 0xff"),
        (EDGES, 'city,heat\n"rome,3\n', "s.csv, line 2"),
    ],
)
def test_malformed_rows_are_told_with_the_line(edges, signal, complaint, capsys):
    Path("e.csv").write_text(edges)
    Path("s.csv").write_bytes(signal.encode("utf-8", "surrogateescape"))
    assert complaint in refuse(capsys, "e.csv", "s.csv", "out.csv")


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["nothing.csv", "signal.csv", "out.csv"], "nothing.csv: no such file"),
        (["edges.csv", "nothing.csv", "out.csv"], "nothing.csv: no such file"),
        (["-", "-", "out.csv"], "EDGES and SIGNAL must differ"),
        (["edges.csv", "signal.csv", "signal.csv"], "signal.csv exists"),
        (["edges.csv", "signal.csv", "no/out.csv"], "no is not a directory"),
        (["edges.csv", "signal.csv", "-", "--json"], "must not both go to standard output"),
        (["edges.csv", "signal.csv", "out.csv", "--lam", "0"], "must be a finite number > 0"),
        (["edges.csv", "signal.csv", "out.csv", "--lam", "best"], "invalid lambda value: 'best'"),
        (["edges.csv", "signal.csv", "out.csv", "--value", "cold"], "(city, heat), got cold"),
        (["edges.csv", "signal.csv", "out.csv", "--value", "3"], "must be a column of signal.csv"),
        (["edges.csv", "signal.csv", "out.csv", "--edge-weight", "x"], "(from, to, weight), got x"),
        (["edges.csv", "signal.csv", "out.csv", "--loss", "logistic", "--lam", "1"], "must"),
        (
            ["edges.csv", "signal.csv", "out.csv", "--lam", "cv", "--folds", "9"],
            "cv must be at most",
        ),
    ],
)
def test_wrong_requests_are_refused(argv, complaint, capsys):
    assert complaint in refuse(capsys, *argv)


def test_quoted_names_with_commas():
    Path("e.csv").write_text('"a, b",c\n')
    Path("s.csv").write_text('"a, b",1\nc,2\n')
    assert run("e.csv", "s.csv", "out.csv", "--lam", 0.1) == 0
    assert [row[0] for row in rows_of("out.csv")] == ["a, b", "c"]
