"""Tables in the terminal, as CSV and as HTML."""

import builtins
import csv
import io

import pytest

from graphtv.paper.experiment import Claim, Column, Entry, Picture, Row, Table
from graphtv.paper.report import Section, show, show_claims, write_csv, write_page

TABLE = Table(
    "trial",
    "A <trial> of [brackets] & more",
    [Column("", "name"), Column("None", "it"), Column("None", "time [s]"), Column("Ours", "it")],
    [
        Row(section="first"),
        Row([Entry("one, two"), Entry("12", "34", True), Entry("1.0"), Entry()]),
        Row(section="second"),
        Row([Entry("[three]"), Entry(">100", "–"), Entry("–"), Entry("5")], note="a <stand-in>"),
    ],
    ["a note with [dim]brackets[/dim]"],
)


def text_of(table):
    stream = io.StringIO()
    show(table, stream)
    return stream.getvalue()


def test_the_terminal_shows_both_figures_and_all_brackets():
    text = text_of(TABLE)
    words = ("A <trial> of [brackets]", "12", "34", "one, two", "[three]", "time [s]", "second")
    for word in (*words, "a <stand-in>", "[dim]brackets[/dim]"):
        assert word in text
    assert "…" not in text


def test_without_rich_it_is_plain(monkeypatch):
    real = builtins.__import__

    def without_rich(name, *rest):
        if name.split(".")[0] == "rich":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_rich)
    text = text_of(TABLE)
    assert "12 / 34" in text
    assert "[three]" in text
    assert "a <stand-in>" in text


def test_csv_has_the_papers_figures_in_columns_of_their_own(tmp_path):
    path = write_csv(TABLE, tmp_path)
    assert path == tmp_path / "trial.csv"
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {
        "section": "first",
        "name": "one, two",
        "None, it": "12",
        "None, it, paper": "34",
        "None, time [s]": "1.0",
        "Ours, it": "",
        "note": "",
    }
    assert rows[1]["section"] == "second"
    assert rows[1]["note"] == "a <stand-in>"


def test_the_page_escapes_what_it_shows_and_holds_its_pictures(tmp_path):
    png = tmp_path / "a.png"
    png.write_bytes(b"\x89PNG\r\n\x1a\n")
    claims = [Claim("a < b", True, "3 of 3"), Claim("b < a", False, "0"), Claim("c", None, "-")]
    section = Section("trial", "A trial", [TABLE], [Picture(png, 'the "gap" & so on')], claims)
    page = write_page([section], ["quick"], tmp_path).read_text(encoding="utf-8")
    for text in (
        "A &lt;trial&gt; of [brackets] &amp; more",
        '<td class="best">12<small>34</small></td>',
        "a &lt; b",
        "DOES NOT HOLD",
        "data:image/png;base64,iVBORw0KGgo=",
        "the &quot;gap&quot; &amp; so on",
        '<th colspan="2" scope="colgroup">None</th>',
    ):
        assert text in page


def test_claims_are_printed_with_their_verdicts():
    stream = io.StringIO()
    show_claims([Claim("a", True, "x"), Claim("b", False, "y"), Claim("c", None, "z")], stream)
    lines = stream.getvalue().splitlines()
    assert lines == ["holds: a (x)", "DOES NOT HOLD: b (y)", "undecided: c (z)"]


@pytest.mark.parametrize("rows", [[], [Row(section="nothing")]])
def test_empty_tables_are_no_error(tmp_path, rows):
    table = Table("empty", "Empty", [Column("", "a")], rows)
    assert "Empty" in text_of(table)
    write_csv(table, tmp_path)
    write_page([Section("empty", "Empty", [table], [])], [], tmp_path)
