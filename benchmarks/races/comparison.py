"""The table of the README: a row per package, with its times divided by those of graphtv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from races.machine import in_a_sentence
from races.outcome import Outcome
from races.peer_process import OURS
from races.tables import ratio

COMMAND = "graphtv bench peers --settings benchmarks/settings.json"
ACCURACY = 1e-6

PROBLEMS = {
    "photograph of 512², weights 0.1, 1": ("P1", "P1L"),
    "nearest neighbours, 10⁵ points": ("P2",),
    "random graph, 150,000 edges": ("P3",),
    "chain of 10⁶": ("P4",),
}
"""The columns, and the problems of each."""


class Package(NamedTuple):
    """A row: its label, the name of the peer, and what is known without a measurement."""

    label: str
    peer: str
    graphs: str
    proof: str
    licence: str


PACKAGES = (
    Package("**graphtv**", OURS, "any", "yes", "BSD"),
    Package("prox_tv", "prox_tv", "grids, chains", "", "BSD"),
    Package("pycut-pursuit", "pycut-pursuit", "any", "", "GPL"),
    Package(
        "PyMaxflow, in a loop of forty lines", "PyMaxflow, divide and conquer", "any", "", "GPL"
    ),
    Package("fast gradient projection, float32", "FGP, float32", "any", "", ""),
    Package("OR-tools PDLP", "ortools PDLP", "any", "gap", "Apache"),
    Package("scikit-image", "scikit-image", "grids", "", "BSD"),
)


def comparison(outcomes: Sequence[Outcome], machine: dict[str, str]) -> str | None:
    """Return the table and where it was measured; None if one of its problems is missing."""
    found = {outcome.name: outcome for outcome in outcomes if outcome.threads == 1}
    names = [name for group in PROBLEMS.values() for name in group]
    if any(name not in found for name in names):
        return None
    head = ["", *PROBLEMS, "graphs", "proof", "licence"]
    lines = [" | ".join(["|", *head[1:]]) + " |", "|---" * len(head) + "|"]
    for package in PACKAGES:
        cells = [_cell(package.peer, [found[name] for name in g]) for g in PROBLEMS.values()]
        row = [package.label, *cells, package.graphs, package.proof, package.licence]
        lines.append(f"| {' | '.join(row)} |".replace("  ", " "))
    dates = sorted({found[name].date for name in names})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    where = f"Measured on {when} on one machine: {in_a_sentence(machine)}."
    again = f"`{COMMAND} && benchmarks/update_docs results/bench` measures and writes it again."
    return "\n".join([where, again, "", *lines]) + "\n"


def _cell(peer: str, outcomes: Sequence[Outcome]) -> str:
    """Return the ratios; – where the accuracy is out of reach, nothing where it does not apply."""
    rows = [outcome.row(peer) for outcome in outcomes]
    if not any(row is not None and row.status == "raced" for row in rows):
        return ""
    ratios = [outcome.ratio(peer, ACCURACY) for outcome in outcomes]
    if peer == OURS or not any(ratios):
        return "1" if peer == OURS else "–"
    return ", ".join(ratio(value).replace("×", "") for value in ratios)
