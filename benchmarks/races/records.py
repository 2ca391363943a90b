"""The outcomes of benchmarks in a folder; outcomes of earlier runs are kept unless repeated."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from races import machine, pictures, race_tables
from races.comparison import comparison
from races.files import write, write_csv, write_json
from races.outcome import Outcome
from races.problems import PROBLEMS

FILE = "peers.json"


class Records:
    """The outcomes of this run and of earlier runs on the same machine.

    Parameters
    ----------
    out : Path
        The folder.
    quick : bool
        Whether the problems are the small versions, which are stored separately.
    """

    def __init__(self, out: Path, *, quick: bool) -> None:
        self.out = out
        self.quick = quick
        self.machine = machine.describe()
        self.outcomes: list[Outcome] = []
        if (out / FILE).exists():
            try:
                content = json.loads((out / FILE).read_text())
                if content["quick"] == quick and content["machine"] == self.machine:
                    self.outcomes = [Outcome.from_json(one) for one in content["races"]]
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"out: {out / FILE} is no file of a race: {error!r}") from None

    def add(self, outcome: Outcome) -> None:
        """Store an outcome, in the order of the problems, and write all outcomes to the file."""
        order = list(PROBLEMS)
        others = [one for one in self.outcomes if one.key != outcome.key]
        self.outcomes = sorted(
            [*others, outcome], key=lambda one: (one.threads, order.index(one.name))
        )
        races = [one.to_json() for one in self.outcomes]
        content = {"machine": self.machine, "quick": self.quick, "races": races}
        write_json(self.out / FILE, content)

    def write(self, accuracies: Sequence[float], *, plots: bool) -> list[str]:
        """Write tables and, if requested, plots; return the names of all files."""
        rows = race_tables.csv_rows(self.outcomes)
        write_csv(self.out / "peers.csv", race_tables.COLUMNS, rows)
        pieces: dict[str, str | bytes] = {
            "peers.md": race_tables.summary(self.outcomes, accuracies, self.machine),
            "problems.md": race_tables.details(self.outcomes, accuracies),
        }
        table = comparison(self.outcomes, self.machine)
        if table is not None:
            pieces["comparison.md"] = table
        if plots:
            fewest = min(outcome.threads for outcome in self.outcomes)
            drawn = [outcome for outcome in self.outcomes if outcome.threads == fewest]
            pieces["curves.png"] = pictures.curves(drawn)
            pieces["profile.png"] = pictures.profiles(drawn, accuracies)
        for name, content in pieces.items():
            write(self.out / name, content)
        return [FILE, "peers.csv", *pieces]
