"""Run the cells of an experiment that are not in the store."""

from __future__ import annotations

from typing import Protocol

from graphtv.paper.experiment import Cell, Experiment, Outcome, Outcomes, UnavailableError
from graphtv.paper.store import Store


class Listener(Protocol):
    """Reports the progress of a run."""

    def begin(self, experiment: Experiment, cells: int, kept: int) -> None:
        """Report that an experiment begins, and how many of its cells are already complete."""

    def start(self, key: str) -> None:
        """Report that a cell starts."""

    def tell(self, text: str) -> None:
        """Report the progress of the cell."""

    def finish(self, key: str, outcome: Outcome | None, reason: str) -> None:
        """Report that a cell is complete, or with None the reason why it cannot be run."""


def run(experiment: Experiment, store: Store, listener: Listener) -> Outcomes:
    """Run the cells whose outcomes are not stored, store them, and return all outcomes."""
    cells = experiment.cells()
    known, reasons = collect(experiment, cells, store), {}
    listener.begin(experiment, len(cells), len(known))
    for cell in cells:
        if cell.key in known:
            continue
        listener.start(cell.key)
        try:
            outcome = cell.run(listener.tell)
        except UnavailableError as error:
            reasons[cell.key] = str(error)
            listener.finish(cell.key, None, str(error))
            continue
        store.put(experiment, cell.key, outcome)
        known[cell.key] = outcome
        listener.finish(cell.key, outcome, "")
    return Outcomes(known, reasons)


def stored(experiment: Experiment, store: Store) -> Outcomes:
    """Return the stored outcomes of an experiment without running anything."""
    return Outcomes(collect(experiment, experiment.cells(), store))


def collect(experiment: Experiment, cells: list[Cell], store: Store) -> dict[str, Outcome]:
    """Return the stored outcomes of the cells."""
    found = ((cell.key, store.get(experiment, cell.key)) for cell in cells)
    return {key: outcome for key, outcome in found if outcome is not None}
