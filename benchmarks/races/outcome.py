"""The outcome of a race on one problem, as it is shown and kept in a file."""

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
        Of processor time with one thread, by the clock on the wall with more.
    accuracy : float
        What it reached, the worst of its turns; of graphtv what it proved.
    variant, setting
        How.
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
        Why, where it has not raced.
    figures : dict
        By accuracy, of those that it reached.
    closest : float, optional
        The best accuracy that it was seen to reach, and in how many `closest_seconds`.
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
    """A race on one problem, on so many threads."""

    name: str
    title: str
    n_vertices: int
    n_edges: int
    threads: int
    primal: float
    dual: float
    note: str = ""
    rows: list[Row] = field(default_factory=list)

    @property
    def key(self) -> str:
        """What tells the race from others."""
        return self.name if self.threads == 1 else f"{self.name}, {self.threads} threads"

    def row(self, peer: str) -> Row | None:
        """Return a contestant."""
        return next((row for row in self.rows if row.peer == peer), None)

    def seconds(self, peer: str, accuracy: float) -> float | None:
        """Return the time of a contestant to an accuracy, None if it has none."""
        row = self.row(peer)
        figure = row.figures.get(accuracy) if row is not None else None
        return figure.seconds if figure is not None else None

    def ratio(self, peer: str, accuracy: float) -> float | None:
        """Return the time of a contestant over that of graphtv; above 1, graphtv is faster."""
        theirs, mine = self.seconds(peer, accuracy), self.seconds(OURS, accuracy)
        return theirs / mine if theirs is not None and mine is not None else None

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold; accuracies become text."""
        content = asdict(self)
        for row in content["rows"]:
            row["figures"] = {f"{key:g}": figure for key, figure in row["figures"].items()}
        return content

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Outcome:
        """Return what `to_json` had."""
        rows = []
        for row in content["rows"]:
            figures = {float(key): Figure(**figure) for key, figure in row["figures"].items()}
            rows.append(Row(**{**row, "figures": figures}))
        return cls(**{**content, "rows": rows})
