"""Tables for the terminal, as CSV and as a self-contained HTML page.

The paper's figures are shown next to ours: in separate columns of the CSV file, and dimmed below
ours elsewhere.
"""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO

from graphtv._atomic import replaced
from graphtv.paper.experiment import Claim, Column, Entry, Picture, Row, Table

NOTHING = "·"


@dataclass(frozen=True)
class Section:
    """The part of the page for one experiment."""

    name: str
    title: str
    tables: Sequence[Table]
    pictures: Sequence[Picture]
    claims: Sequence[Claim] = ()
    notes: Sequence[str] = ()


def write_csv(table: Table, folder: Path) -> Path:
    """Write a table with separate columns for the paper's figures; return the file."""
    has_paper = [
        any(row.entries and row.entries[k].paper for row in table.rows)
        for k in range(len(table.columns))
    ]
    header = ["section"] if any(row.section for row in table.rows) else []
    for column, beside in zip(table.columns, has_paper, strict=True):
        header += [str(column), f"{column}, paper"] if beside else [str(column)]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*header, "note"])
    section = ""
    for row in table.rows:
        section = row.section or section
        if not row.entries:
            continue
        values = [section] if header[0] == "section" else []
        for entry, beside in zip(row.entries, has_paper, strict=True):
            values += [entry.ours, entry.paper] if beside else [entry.ours]
        writer.writerow([*values, row.note])
    path = folder / f"{table.name}.csv"
    with replaced(path) as file:
        file.write(text.getvalue().encode())
    return path


# The terminal -----------------------------------------------------------------------------------


def show(table: Table, stream: TextIO) -> None:
    """Print a table, with rich if it is installed."""
    try:
        from rich.console import Console
    except ImportError:
        _show_plainly(table, stream)
        return
    console = Console(file=stream, highlight=False)
    wanted = _width(table)
    if not console.is_terminal or console.width < wanted:
        # In a file, the table has its natural width; on a narrow terminal, lines wrap.
        console = Console(file=stream, highlight=False, width=wanted, soft_wrap=True)
    console.print(_rich_table(table))
    for note in _notes(table):
        console.print(f"[dim]{_plain(note)}[/dim]", soft_wrap=True)


def _rich_table(table: Table) -> Any:
    from rich import box
    from rich.table import Table as RichTable

    shown = RichTable(
        title=_plain(table.title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for k, (group, column) in enumerate(zip(_groups(table), table.columns, strict=True)):
        head = _plain(f"{group}\n{column.name}")
        shown.add_column(head, justify="right" if k else "left", no_wrap=True)
    for row in table.rows:
        if row.section:
            shown.add_row(f"[bold]{_plain(row.section)}[/bold]")
        if row.entries:
            shown.add_row(*map(_marked, row.entries))
    return shown


def _marked(entry: Entry) -> str:
    ours = _plain(entry.ours or NOTHING)
    ours = f"[bold]{ours}[/bold]" if entry.is_best else ours
    return f"{ours}\n[dim]{_plain(entry.paper)}[/dim]" if entry.paper else ours


def _plain(text: str) -> str:
    """Return the text with escaped brackets, which rich would interpret as markup."""
    return text.replace("[", r"\[")


def _text(entry: Entry) -> str:
    ours = entry.ours or NOTHING
    return f"{ours} / {entry.paper}" if entry.paper else ours


def _groups(table: Table) -> list[str]:
    """Return the group of each column; empty if it is the same as that of the previous column."""
    groups = [column.group for column in table.columns]
    pairs = zip(groups, ["", *groups], strict=False)
    return [group if group != before else "" for group, before in pairs]


def _widths(table: Table, measure: Callable[[Entry], str]) -> list[int]:
    pairs = zip(_groups(table), table.columns, strict=True)
    widths = [max(len(group), len(column.name)) for group, column in pairs]
    for row in table.rows:
        for k, entry in enumerate(row.entries):
            widths[k] = max(widths[k], len(measure(entry)))
        if row.section:
            widths[0] = max(widths[0], len(row.section))
    return widths


def _width(table: Table) -> int:
    """Return the width of the table with the paper's figures below ours."""
    widths = _widths(table, lambda entry: max(entry.ours, entry.paper, key=len))
    return sum(widths) + 3 * len(table.columns) + 4


def _show_plainly(table: Table, stream: TextIO) -> None:
    widths = _widths(table, _text)

    def line(texts: Iterable[str]) -> str:
        cells = [
            text.rjust(width) if k else text.ljust(width)
            for k, (text, width) in enumerate(zip(texts, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    lines = [table.title]
    lines.append(line(_groups(table)))
    lines.append(line(column.name for column in table.columns))
    for row in table.rows:
        if row.section:
            lines.append(row.section)
        if row.entries:
            lines.append(line(map(_text, row.entries)))
    print("\n".join([*lines, *_notes(table)]), file=stream)


def _notes(table: Table) -> list[str]:
    """Return the notes of the rows, then those of the table."""
    of_rows = [f"{row.entries[0].ours}: {row.note}" for row in table.rows if row.note]
    return [*of_rows, *table.notes]


def show_claims(claims: Sequence[Claim], stream: TextIO) -> None:
    """Print the claims of the paper and whether they hold."""
    for claim in claims:
        print(f"{_verdict(claim)}: {claim.text} ({claim.evidence})", file=stream)


def _verdict(claim: Claim) -> str:
    return {True: "holds", False: "DOES NOT HOLD", None: "undecided"}[claim.holds]


# The page ---------------------------------------------------------------------------------------

STYLE = """
:root { --ink: #22262b; --quiet: #6b7280; --line: #d9dce1; --paper: #ffffff; --shade: #f5f6f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --quiet: #9aa3ae; --line: #3a4048; --paper: #16191d; --shade: #1e2227; }
  img { background: #ffffff; border-radius: 6px; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 3rem; font-size: 1.25rem; }
p, li { max-width: 60rem; } .quiet { color: var(--quiet); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { padding: .25rem .6rem; text-align: right; vertical-align: top; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 1px solid var(--line); font-weight: 600; }
thead tr:first-child th { border-bottom: 0; text-align: center; }
tbody tr:hover { background: var(--shade); }
td.best { font-weight: 700; } td small { display: block; color: var(--quiet); font-weight: 400; }
tr.section td { font-weight: 700; padding-top: .8rem; }
figure { margin: 1.5rem 0; } img { max-width: 100%; height: auto; }
.holds strong { color: #009e73; } .fails strong { color: #d55e00; }
figcaption, .notes { color: var(--quiet); font-size: .92em; }
"""


def write_page(sections: Sequence[Section], facts: Sequence[str], folder: Path) -> Path:
    """Write the page into the folder, with all pictures inside, and return the file."""
    title = "Combinatorial preconditioners: tables and figures of the paper, reproduced"
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        "<p>T. Möllenhoff, Z. Ye, T. Wu, D. Cremers, <em>Combinatorial Preconditioners for "
        "Proximal Algorithms on Graphs</em>, AISTATS 2018. Small grey figures are the "
        "paper’s, those above them are ours.</p>",
        f'<p class="quiet">{escape(" · ".join(facts))}</p>',
    ]
    for section in sections:
        parts.append(f'<section id="{escape(section.name)}"><h2>{escape(section.title)}</h2>')
        parts += [f"<p>{escape(note)}</p>" for note in section.notes]
        parts += [_html_table(table) for table in section.tables]
        if section.claims:
            parts.append(f'<ul class="claims">{"".join(map(_html_claim, section.claims))}</ul>')
        parts += [_html_figure(picture) for picture in section.pictures]
        parts.append("</section>")
    parts.append("</body></html>\n")
    path = folder / "report.html"
    with replaced(path) as file:
        file.write("\n".join(parts).encode())
    return path


def _html_table(table: Table) -> str:
    groups = "".join(
        f'<th colspan="{len(list(members))}" scope="colgroup">{escape(group)}</th>'
        for group, members in groupby(table.columns, key=_group)
    )
    names = "".join(f'<th scope="col">{escape(column.name)}</th>' for column in table.columns)
    body = "".join(_html_row(row, len(table.columns)) for row in table.rows)
    notes = "".join(f"<li>{escape(note)}</li>" for note in _notes(table))
    listed = f'<ul class="notes">{notes}</ul>' if notes else ""
    return (
        f'<div class="wide"><table><caption>{escape(table.title)}</caption>'
        f"<thead><tr>{groups}</tr><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>"
        f"{listed}"
    )


def _group(column: Column) -> str:
    return column.group


def _html_row(row: Row, n_columns: int) -> str:
    title = ""
    if row.section:
        title = f'<tr class="section"><td colspan="{n_columns}">{escape(row.section)}</td></tr>'
    if not row.entries:
        return title
    return f"{title}<tr>{''.join(map(_html_entry, row.entries))}</tr>"


def _html_entry(entry: Entry) -> str:
    kind = ' class="best"' if entry.is_best else ""
    beside = f"<small>{escape(entry.paper)}</small>" if entry.paper else ""
    return f"<td{kind}>{escape(entry.ours or NOTHING)}{beside}</td>"


def _html_claim(claim: Claim) -> str:
    kind = {True: "holds", False: "fails", None: "open"}[claim.holds]
    return (
        f'<li class="{kind}"><strong>{escape(_verdict(claim))}</strong>: {escape(claim.text)}'
        f' <span class="quiet">({escape(claim.evidence)})</span></li>'
    )


def _html_figure(picture: Picture) -> str:
    content = base64.b64encode(picture.path.read_bytes()).decode()
    caption = escape(picture.caption)
    return (
        f'<figure><img alt="{caption}" src="data:image/png;base64,{content}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )
