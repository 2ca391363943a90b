"""The outcome of a benchmark on one problem, as it is shown and stored in a file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from races.peer_process import OURS


@dataclass(frozen=True)
class Figure:
    """The fastest run that reached an accuracy.

    Attributes
    ----------
    seconds : float
        Processor time with one thread, wall-clock time with more.
    accuracy : float
        The accuracy reached, the worst of its turns; for graphtv, the proved accuracy.
    variant, setting
        The variant and the setting that were used.
    """

    seconds: float
    accuracy: float
    variant: str
    setting: Any


@dataclass
class Row:
    """A contestant.

    Attributes
    ----------
    status : str
        ``raced``, ``declined`` (not for this kind of problem), ``missing`` (not installed, could
        not be built) or ``failed`` (an error, a crash, silence).
    reason : str
        Why it did not race.
    figures : dict
        By accuracy, of those that it reached.
    closest : float, optional
        The best accuracy observed, reached in `closest_seconds`.
    """

    peer: str
    version: str = ""
    status: str = "raced"
    reason: str = ""
    note: str = ""
    threads: int = 1
    figures: dict[float, Figure] = field(default_factory=dict)
    closest: float | None = None
    closest_seconds: float | None = None


@dataclass
class Outcome:
    """A benchmark on one problem with a given number of threads, and its date."""

    name: str
    title: str
    n_vertices: int
    n_edges: int
    threads: int
    primal: float
    dual: float
    note: str = ""
    rows: list[Row] = field(default_factory=list)
    date: str = ""

    @property
    def key(self) -> str:
        """The key that identifies the benchmark."""
        return self.name if self.threads == 1 else f"{self.name}, {self.threads} threads"

    def row(self, peer: str) -> Row | None:
        """Return a contestant."""
        return next((row for row in self.rows if row.peer == peer), None)

    def seconds(self, peer: str, accuracy: float) -> float | None:
        """Return the time of a contestant to an accuracy, or None."""
        row = self.row(peer)
        figure = row.figures.get(accuracy) if row is not None else None
        return figure.seconds if figure is not None else None

    def ratio(self, peer: str, accuracy: float) -> float | None:
        """Return the time of a contestant over that of graphtv; above 1, graphtv is faster."""
        theirs, mine = self.seconds(peer, accuracy), self.seconds(OURS, accuracy)
        return theirs / mine if theirs is not None and mine is not None else None

    def to_json(self) -> dict[str, Any]:
        """Return a value for JSON; accuracies become text."""
        content = asdict(self)
        for row in content["rows"]:
            row["figures"] = {f"{key:g}": figure for key, figure in row["figures"].items()}
        return content

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Outcome:
        """Return the outcome that `to_json` stored."""
        rows = []
        for row in content["rows"]:
            figures = {float(key): Figure(**figure) for key, figure in row["figures"].items()}
            rows.append(Row(**{**row, "figures": figures}))
        return cls(**{**content, "rows": rows})
