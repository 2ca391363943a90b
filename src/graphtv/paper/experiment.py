"""The definition of an experiment: cells to run, and tables and figures of their outcomes."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

NAMES = ("table1", "table2", "table3", "figure1", "figure2")
"""The experiments, each the module of that name."""

Outcome = dict[str, Any]
"""The outcome of a cell in JSON types: numbers, strings, lists and dictionaries."""

Progress = Callable[[str], None]
"""Called periodically by a running cell with a short description of its progress."""


class UnavailableError(Exception):
    """A cell cannot be run because data or a package are missing; the message says which.

    Nothing is stored, and the table shows the reason.
    """


@dataclass(frozen=True)
class Cell:
    """The smallest part of an experiment that is run, stored and resumed.

    Parameters
    ----------
    key : str
        Its name in the experiment, for example ``rmf-long.n2/nested``. The outcome depends only on
        the version, on the key and on whether the run is quick.
    run : callable
        Runs the cell and returns the outcome. May raise `UnavailableError`.
    """

    key: str
    run: Callable[[Progress], Outcome]


class Outcomes(Mapping[str, Outcome]):
    """The known outcomes by key, and the reasons why others are missing."""

    def __init__(
        self, known: Mapping[str, Outcome] | None = None, reasons: Mapping[str, str] | None = None
    ) -> None:
        self._known = dict(known or {})
        self.reasons = dict(reasons or {})

    def __getitem__(self, key: str) -> Outcome:
        return self._known[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


@dataclass(frozen=True)
class Column:
    """A column: its group (may be empty) and its name within the group."""

    group: str
    name: str

    def __str__(self) -> str:
        return f"{self.group}, {self.name}" if self.group else self.name


@dataclass(frozen=True)
class Entry:
    """The content of one cell of a table.

    Parameters
    ----------
    ours : str
        Our figure.
    paper : str
        The paper's, empty if it has none.
    is_best : bool
        Whether it is the best of its row.
    """

    ours: str = ""
    paper: str = ""
    is_best: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a table. With `section` alone, it is the title of the rows that follow.

    Parameters
    ----------
    entries : sequence of Entry
        One per column.
    section : str
        The title.
    note : str
        A note about this row.
    """

    entries: Sequence[Entry] = ()
    section: str = ""
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A table, as the terminal, the CSV file and the page show it.

    Parameters
    ----------
    name : str
        Name of its CSV file.
    title : str
        What it shows.
    columns : sequence of Column
        The columns.
    rows : sequence of Row
        The rows.
    notes : sequence of str
        Notes about the table.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str] = field(default=())


@dataclass(frozen=True)
class Claim:
    """A claim of the paper and whether it holds here.

    Parameters
    ----------
    text : str
        What is claimed.
    holds : bool or None
        Whether it holds; None if the runs do not decide it.
    evidence : str
        What was found.
    """

    text: str
    holds: bool | None
    evidence: str


@dataclass(frozen=True)
class Picture:
    """A PNG file and its caption."""

    path: Path
    caption: str


class Experiment(ABC):
    """A table or figure of the paper.

    Parameters
    ----------
    quick : bool
        Small instances and few iterations, to see that it works.
    data : Path, optional
        The folder of instances that cannot be generated.
    """

    name: ClassVar[str]
    """As in `NAMES`."""
    title: ClassVar[str]
    """Its title in the paper, in one line."""
    revision: ClassVar[int] = 1
    """Changes when stored outcomes of earlier versions of the module become invalid."""

    def __init__(self, quick: bool = False, data: Path | None = None) -> None:
        self.quick = quick
        self.data = data

    @abstractmethod
    def cells(self) -> list[Cell]:
        """Return the cells in the order in which they are run."""

    @abstractmethod
    def tables(self, outcomes: Outcomes) -> list[Table]:
        """Return the tables of the outcomes so far."""

    def claims(self, outcomes: Outcomes) -> list[Claim]:
        """Return the claims of the paper, judged by the outcomes so far."""
        return []

    def pictures(self, outcomes: Outcomes, folder: Path) -> list[Picture]:
        """Draw the outcomes so far into PNG files in the folder; needs matplotlib."""
        return []


def load(name: str) -> type[Experiment]:
    """Return the experiment of that name."""
    module = importlib.import_module(f"graphtv.paper.{name}")
    experiment: type[Experiment] = module.EXPERIMENT
    return experiment
