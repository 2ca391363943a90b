"""Exact TV on chains: graphtv against the one-dimensional methods of prox_tv.

The table shows nanoseconds per vertex on one thread. All methods run in the same run, as library
calls with all arrays allocated and checked beforehand. A ratio is the time of the fastest peer over
that of graphtv: above 1, graphtv is faster. With one weight for all edges, all methods of prox_tv
are compared; with a weight per edge, its weighted method. `warm` solves the same chains again after
a change of a thousandth of the noise, starting from the pieces of the last solution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats
from races.peer_process import OURS, Offer, PeerError, Run, Team, Worker
from races.peers.chains_proximal_tv import WEIGHTED
from races.peers.task import Task
from races.race import Elsewhere, race
from races.tables import Table

Signal = Callable[[int, np.random.Generator], Floats]
SIGNALS: dict[str, Signal] = {
    "noise": lambda n, rng: rng.standard_normal(n),
    "steps": lambda n, rng: (
        np.repeat(2 * rng.standard_normal(n // 100 + 1), 100)[:n] + 0.5 * rng.standard_normal(n)
    ),
    "walk": lambda n, rng: 0.1 * np.cumsum(rng.standard_normal(n)),
    "smooth": lambda n, rng: 3 * np.sin(np.arange(n) * (2 * np.pi / 5000)),
    "ramp": lambda n, rng: 1e-3 * np.arange(float(n)),
}
WEIGHTS = (0.01, 0.1, 1.0, 10.0, 100.0)
AGREEMENT = 1e-6
"""The largest relative difference of solutions; one method of prox_tv uses single precision."""
COLUMNS = (
    "chains",
    "length",
    "signal",
    "weight",
    "uniform",
    "weighted",
    "warm",
    "uniform_peer",
    "weighted_peer",
    "uniform_ratio",
    "weighted_ratio",
    "fastest",
    "disagreement",
)


class VoidRaceError(Exception):
    """The methods do not agree on the solution."""


def measure_chains(
    *, quick: bool, environments: Path | None, tell: Callable[[str], None]
) -> tuple[list[dict[str, Any]], str]:
    """Return a row of nanoseconds per signal and weight, and the reason if prox_tv is missing."""
    sizes = ((1, 20_000), (40, 512)) if quick else ((1, 1_000_000), (2000, 512))
    rows: list[dict[str, Any]] = []
    missing = ""
    with Team(("chains_graphtv", "chains_proximal_tv"), environments) as workers:
        for n_chains, n, kind, weight in cases(sizes, WEIGHTS[1::2] if quick else WEIGHTS):
            tell(f"{n_chains} × {n}, {kind}, weight {weight}")
            signal = SIGNALS[kind](n_chains * n, np.random.default_rng(0))
            task = batch(signal, (n_chains, n), weight)
            team: dict[str, tuple[Worker, Offer]] = {}
            for worker in workers:
                try:
                    offers = worker.enter(task)
                except PeerError as error:
                    if worker.adapter == "chains_graphtv":
                        raise
                    missing = f"prox_tv: {error}"
                    continue
                team |= {f"{one.peer} {one.variant}": (worker, one) for one in offers}
            row = {"chains": n_chains, "length": n, "signal": kind, "weight": weight}
            rows.append(row | times(team, signal.size, turns=2 if quick else 7))
            if rows[-1]["disagreement"] > AGREEMENT * np.abs(signal).max():
                raise VoidRaceError(f"the contestants disagree on {row}: the race is void")
    return rows, missing


def cases(
    sizes: tuple[tuple[int, int], ...], weights: tuple[float, ...]
) -> Iterator[tuple[int, int, str, float]]:
    """Yield the number and length of the chains, the kind of signal, and the weight."""
    for n_chains, n in sizes:
        for kind in SIGNALS:
            for weight in weights:
                yield n_chains, n, kind, weight


def batch(signal: Floats, shape: tuple[int, int], weight: float) -> Task:
    """Return the task of the rows of an array."""
    none: NDArray[np.int32] = np.empty((0, 2), dtype=np.int32)
    return Task(signal, none, np.empty(0), shape, weight)


def times(team: Mapping[str, tuple[Worker, Offer]], size: int, turns: int) -> dict[str, Any]:
    """Return nanoseconds per vertex, the ratios, and the largest difference of the solutions."""
    answers: dict[str, Floats] = {}

    def contestant(name: str) -> Callable[[], Elsewhere]:
        worker, offer = team[name]

        def run() -> Elsewhere:
            done: Run = worker.run(offer, 0)
            answers[name] = done.u
            return Elsewhere(done.processor)

        return run

    # Warm starts alternate between two signals: an even number of turns ends with the first.
    best = race({name: contestant(name) for name in team}, turns=turns + turns % 2)
    cost = {name: seconds * 1e9 / size for name, seconds in best.items()}
    row: dict[str, Any] = {what: cost[f"{OURS} {what}"] for what in ("uniform", "weighted", "warm")}
    mine = answers[f"{OURS} uniform"]
    row["disagreement"] = max(float(np.abs(mine - u).max()) for u in answers.values())
    theirs = {name: ns for name, ns in cost.items() if not name.startswith(OURS)}
    row |= dict.fromkeys(COLUMNS[7:12])
    if theirs:
        weighted = theirs.pop(f"prox_tv {WEIGHTED}")
        row["fastest"] = min(theirs, key=theirs.__getitem__)
        row["uniform_peer"], row["weighted_peer"] = min(theirs.values()), weighted
        # A method for weights per edge also works for one weight.
        row["uniform_ratio"] = min(weighted, row["uniform_peer"]) / row["uniform"]
        row["weighted_ratio"] = weighted / row["weighted"]
    return row


def chain_table(rows: list[dict[str, Any]]) -> Table:
    """Return nanoseconds per vertex, as graphtv / the fastest peer."""
    title = "Exact total variation on chains, nanoseconds per vertex"
    columns = ["chains", "signal", "weight", "graphtv / prox_tv", "ratio"]
    table = Table(title, [*columns, "weighted", "ratio", "warm", "fastest peer"])
    for row in rows:
        pairs = []
        for what in ("uniform", "weighted"):
            peer, ratio = row[f"{what}_peer"], row[f"{what}_ratio"]
            pairs.append(f"{row[what]:.1f} / " + ("–" if peer is None else f"{peer:.1f}"))
            pairs.append("–" if ratio is None else f"{ratio:.2f}×")
        name = f"{row['chains']:,} × {row['length']:,}"
        fastest = (row["fastest"] or "–").removeprefix("prox_tv ")
        cells = [name, row["signal"], f"{row['weight']:g}", *pairs, f"{row['warm']:.1f}", fastest]
        table.rows.append(cells)
    mine = [row["weighted"] for row in rows]
    table.caption = (
        f"graphtv, weighted: median {np.median(mine):.1f} ns per vertex, the slowest row "
        f"{max(mine) / np.median(mine):.1f} times that."
    )
    for what, words in (("uniform", "One weight"), ("weighted", "A weight per edge")):
        over = [row[f"{what}_ratio"] for row in rows if row[f"{what}_ratio"] is not None]
        if over:
            typical = float(np.median(over))
            table.caption += (
                f" {words}: prox_tv's fastest takes {min(over):.2f} to {max(over):.3g} times as "
                f"long, median {typical:.2f}."
            )
    return table
