"""Comparison of preconditioners: same problem, same method, a table that grows as they run.

On a terminal with rich installed, the table is updated live. Otherwise a row is printed at the end
of each run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.solver.progress import Info
from graphtv.solver.reach import Reach

RUNNERS = ("none", "diagonal", "linear", "nested", "matroid")

TOLERANCE = 1e-6

BAR = 20
"""Width of a full bar in characters."""

HEADINGS = ("preconditioner", "iterations", "gap", "seconds", "")


class Row(NamedTuple):
    """State of a run; `slowest` is the number of iterations of the first run, set at the end."""

    name: str
    iteration: int = 0
    gap: float = 1.0
    seconds: float = 0.0
    reach: float = 0.0
    slowest: int = 0

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """The row as text. The bar is full at the tolerance and then shows the speedup."""
        if not self.iteration:
            return self.name, "", "", "", ""
        bar = "█" * round(BAR * self.reach)
        if self.slowest:
            gain = self.slowest / self.iteration
            bar = f"{gain:.3g} times fewer iterations" if gain > 1.0 else ""
        return self.name, str(self.iteration), f"{self.gap:.1e}", f"{self.seconds:.2f}", bar


def race(problem: Problem) -> dict[str, Result]:
    """Run PDHG with each preconditioner in turn and show the progress."""
    table: _Plain | _Live = _Live() if _can_be_live() else _Plain()
    results: dict[str, Result] = {}
    with table:
        for name in RUNNERS:
            result = _run(problem, name, table.update)
            if result.status == "interrupted":
                raise KeyboardInterrupt
            results[name] = result
            slowest = results[RUNNERS[0]].iterations
            seconds = result.setup_time + result.solve_time
            row = Row(name, result.iterations, result.relative_gap, seconds, 1.0, slowest)
            table.update(row)
    return results


def _run(problem: Problem, name: str, update: Callable[[Row], None]) -> Result:
    reach = Reach(TOLERANCE)

    def show(info: Info) -> None:
        share = reach(info.relative_gap)
        update(Row(name, info.iteration, info.relative_gap, info.time, share))

    return solve(problem, method="pdhg", preconditioner=name, tol=TOLERANCE, callback=show)


class _Plain:
    """A table that gains a row at the end of each run."""

    def __enter__(self) -> _Plain:
        print(_line(HEADINGS))
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, row: Row) -> None:
        """Take note of how a run does."""
        if row.slowest:
            print(_line(row.cells), flush=True)


class _Live:
    """A live table of rich, redrawn after each change."""

    def __init__(self) -> None:
        from rich.live import Live

        self._rows = {name: Row(name) for name in RUNNERS}
        self._live = Live(self._table(), refresh_per_second=20)

    def __enter__(self) -> _Live:
        self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._live.__exit__(*error)

    def update(self, row: Row) -> None:
        """Take note of how a run does."""
        self._rows[row.name] = row
        self._live.update(self._table(), refresh=row.slowest > 0)

    def _table(self) -> Any:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(box=SIMPLE_HEAD, pad_edge=False, min_width=72)
        for k, heading in enumerate(HEADINGS):
            is_number = 0 < k < len(HEADINGS) - 1
            table.add_column(heading, justify="right" if is_number else "left", no_wrap=True)
        fastest = min((row.iteration for row in self._rows.values() if row.slowest), default=0)
        for row in self._rows.values():
            style = "bold green" if row.slowest and row.iteration == fastest else ""
            table.add_row(*row.cells, style=style)
        return table


def _line(cells: tuple[str, str, str, str, str]) -> str:
    name, iterations, gap, seconds, bar = cells
    return f"{name:<16}{iterations:>10}{gap:>10}{seconds:>10}  {bar}".rstrip()


def _can_be_live() -> bool:
    if not sys.stdout.isatty():
        return False
    try:
        import rich.live  # noqa: F401
    except ImportError:
        return False
    return True
