"""Text tables: with rich in the terminal, otherwise and in files as Markdown."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Table:
    """Rows of text under a heading; all columns but the first are right-aligned."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    caption: str = ""

    def markdown(self, level: int = 3) -> str:
        """Return the table as Markdown, under a heading of that level if it has a title."""
        lines = [f"{'#' * level} {self.title}", ""] if self.title else []
        lines.append("| " + " | ".join(self.columns) + " |")
        lines.append("|---" + "|--:" * (len(self.columns) - 1) + "|")
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        if self.caption:
            lines += ["", self.caption]
        return "\n".join(lines) + "\n"

    def show(self) -> None:
        """Print the table."""
        try:
            from rich.console import Console
            from rich.table import Table as RichTable
            from rich.text import Text
        except ImportError:
            print(self.markdown(), flush=True)
            return
        table = RichTable(title=self.title, title_justify="left", title_style="bold")
        for number, column in enumerate(self.columns):
            table.add_column(column, justify="left" if number == 0 else "right", overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(cell.replace("**", "")) for cell in row))
        console = Console(file=sys.stdout)
        if not console.is_terminal:
            console.width = max(console.width, 160)  # a file has no width limit
        console.print(table)
        if self.caption:
            console.print(Text(self.caption), soft_wrap=True)
        console.print()


def seconds(value: float | None) -> str:
    """Return a time in seconds with three digits."""
    return "–" if value is None else f"{value:.3g}"


def ratio(value: float | None) -> str:
    """Return a ratio; it is highlighted below 1, where the peer is faster."""
    if value is None:
        return "–"
    text = f"{value:.0f}×" if value >= 9.95 else f"{value:.2g}×"
    return text if value >= 1.0 else f"**{value:.2f}×**"


def power(accuracy: float) -> str:
    """Return an accuracy in the usual notation."""
    return f"{accuracy:.0e}".replace("e-0", "e-")
