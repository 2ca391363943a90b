"""Compare graphtv with its peers on one problem: seconds to a relative accuracy.

An accuracy is (P(u) - P*) / P*, with P* proved in the same run (`reference`). Peers are controlled
by a number of iterations or by a tolerance of their own kind. The cheapest setting that reaches the
accuracy is searched first, then timed. graphtv has the harder task: its time is that of the whole
call until it has proved the accuracy itself, without knowing P*. The preparation of the peers (a
layout of the graph, a conversion of the image, a compilation) is not counted.

All contestants take turns and the best turn counts. With one thread, processor time is measured;
with more, wall-clock time. A contestant that takes longer than a second has a single turn.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from races.outcome import Figure, Outcome, Row
from races.peer_process import ENVIRONMENTS, OURS, RACERS, Offer, PeerError, Worker
from races.peers.task import DeclinedError
from races.problems import Instance
from races.race import Elsewhere, race
from races.reference import Reference, prove
from races.search import Search, Trial, settings_for
from races.settings import Settings

CURVE = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12)
"""Accuracies for the curves; no search runs between them."""
UNPROVED = "graphtv, unproved"
SLOWER = 2.0
"""A variant that is this much slower than another of its peer is not searched further."""
SLOW = 3.0
"""Settings that are only for a curve are not timed if they take more seconds than this."""


@dataclass(frozen=True)
class Rules:
    """The rules of a race.

    Attributes
    ----------
    accuracies : tuple of float
        The accuracies for which the cheapest settings are searched.
    turns : int
        The number of runs of a contestant that is not slow.
    budget : float
        The time limit of a run in seconds.
    threads : int
        How many threads contestants may use.
    peers : tuple of str
        Parts of the names of the peers that may race; empty for all.
    """

    accuracies: tuple[float, ...] = (1e-3, 1e-6, 1e-12)
    turns: int = 5
    budget: float = 60.0
    threads: int = 1
    peers: tuple[str, ...] = ()

    def admits(self, peer: str) -> bool:
        """Return whether a peer may take part; graphtv always does."""
        wanted = [name.lower() for name in self.peers]
        return not wanted or peer == OURS or any(name in peer.lower() for name in wanted)


@dataclass
class Entry:
    """A setting of an entrant, and its outcome."""

    worker: Worker
    offer: Offer
    setting: Any
    accuracy: float = 0.0
    proved: float = 0.0
    failure: str = ""


@dataclass
class Contest:
    """The benchmark on one instance."""

    instance: Instance
    title: str
    rules: Rules
    settings: Settings
    tell: Callable[[str], None] = lambda _: None
    reference: Reference = field(init=False)

    def run(self, workers: list[Worker]) -> Outcome:
        """Run all contestants."""
        self.tell("proving the optimum")
        self.reference = prove(self.instance)
        rows: dict[str, Row] = {}
        entries: dict[tuple[str, str, str], Entry] = {}
        for worker in workers:
            for row, found in self._candidates(worker):
                rows[row.peer] = row
                for entry in found:
                    key = (row.peer, entry.offer.variant, json.dumps(entry.setting))
                    entries[key] = entry
        self.tell(f"race of {len(entries)} settings")
        runs = {key: self._contestant(entry) for key, entry in entries.items()}
        seconds = race(runs, turns=self.rules.turns)
        for key, entry in entries.items():
            self._enter_figures(rows[key[0]], entry, seconds[key])
            if key[0] == OURS and UNPROVED in rows:
                self._enter_figures(rows[UNPROVED], entry, seconds[key])
        graph = self.instance.graph
        return Outcome(
            self.instance.name,
            self.title,
            graph.n_vertices,
            graph.n_edges,
            self.rules.threads,
            self.reference.primal,
            self.reference.dual,
            self.instance.note,
            list(rows.values()),
            date.today().isoformat(),
        )

    def _candidates(self, worker: Worker) -> list[tuple[Row, list[Entry]]]:
        """Return the rows of a worker's peers, with the settings to time."""
        if not any(map(self.rules.admits, RACERS[worker.adapter])):
            return []
        name = ENVIRONMENTS[worker.adapter]
        try:
            offers = worker.enter(self.instance.task(self.rules.threads, self.rules.budget))
        except (DeclinedError, PeerError) as error:
            status = "declined" if isinstance(error, DeclinedError) else "missing"
            return [(Row(name, status=status, reason=str(error)), [])]
        rows = []
        for peer in dict.fromkeys(offer.peer for offer in offers):
            if self.rules.admits(peer):
                mine = [offer for offer in offers if offer.peer == peer]
                rows.append(self._best_variants(worker, peer, mine))
        return rows

    def _best_variants(
        self, worker: Worker, peer: str, offers: list[Offer]
    ) -> tuple[Row, list[Entry]]:
        """Return a peer's row and, for each accuracy, its fastest variant."""
        row = Row(peer, worker.version, threads=offers[0].threads)
        if peer == OURS:  # its setting is the accuracy
            wanted = sorted({*self.rules.accuracies, *CURVE}, reverse=True)
            return row, [Entry(worker, offers[0], accuracy) for accuracy in wanted]
        fastest: dict[float, tuple[Offer, Trial]] = {}
        content: set[str] = set()
        for offer in offers:
            if offer.rescues in content:
                content.add(offer.variant)
                continue
            self.tell(f"settings of {peer} {offer.variant}")
            limits = {accuracy: SLOWER * trial.seconds for accuracy, (_, trial) in fastest.items()}
            try:
                found, best = self._settings(worker, offer, limits)
            except PeerError as error:
                row.status, row.reason = "failed", f"{offer.variant} {error}".strip()
                continue
            if row.closest is None or best.accuracy < row.closest:
                row.closest, row.closest_seconds = best.accuracy, best.seconds
            if all(accuracy in found for accuracy in self.rules.accuracies):
                content.add(offer.variant)
            for accuracy, trial in found.items():
                if accuracy not in fastest or trial.seconds < fastest[accuracy][1].seconds:
                    fastest[accuracy] = offer, trial
        if row.closest is not None:
            row.status = "raced"  # another variant works
        notes = [offer.note for offer, _ in fastest.values()] or [offers[0].note]
        row.note = "; ".join(dict.fromkeys(note for note in notes if note))
        chosen = {
            (offer.variant, json.dumps(trial.setting)): Entry(worker, offer, trial.setting)
            for accuracy, (offer, trial) in fastest.items()
            if trial.seconds <= (self.rules.budget if accuracy in self.rules.accuracies else SLOW)
        }
        return row, list(chosen.values())

    def _settings(
        self, worker: Worker, offer: Offer, limits: dict[float, float]
    ) -> tuple[dict[float, Trial], Trial]:
        """Return settings by accuracy, and the most accurate run, from a file or a search."""
        rules = self.rules
        told = (offer.peer, offer.variant, worker.version, f"{rules.threads} threads")
        key = Settings.key(self.instance, *told, *sorted(rules.accuracies))
        known = self.settings.get(key) if offer.peer != UNPROVED else None
        if known is not None and known["budget"] >= rules.budget:
            found = {float(accuracy): Trial(*trial) for accuracy, trial in known["found"].items()}
            return found, Trial(*known["best"])

        def attempt(setting: Any) -> tuple[float, float]:
            try:
                run = worker.run(offer, setting)
            except PeerError:
                if not search.trials:
                    raise
                return float("inf"), rules.budget  # it works, but not with this setting
            spent = run.processor if rules.threads == 1 else run.wall
            return self.reference.accuracy(self.instance, run.u), spent

        search = Search(offer.ladder, attempt, rules.budget)
        found = settings_for(search, rules.accuracies, CURVE, limits)
        if offer.peer != UNPROVED:  # the speed of graphtv may have changed since
            kept = {f"{accuracy:g}": list(trial) for accuracy, trial in found.items()}
            content = {"budget": rules.budget, "found": kept, "best": list(search.best())}
            self.settings.put(key, content)
        return found, search.best()

    def _contestant(self, entry: Entry) -> Callable[[], Elsewhere]:
        def run() -> Elsewhere:
            try:
                done = entry.worker.run(entry.offer, entry.setting)
            except PeerError as error:
                entry.failure = str(error)
                return Elsewhere(float("inf"))
            reached = self.reference.accuracy(self.instance, done.u)
            entry.accuracy = max(entry.accuracy, reached)
            if entry.offer.peer == OURS:
                entry.proved = max(entry.proved, done.proved or 0.0)
            return Elsewhere(done.processor if self.rules.threads == 1 else done.wall)

        return run

    def _enter_figures(self, row: Row, entry: Entry, seconds: float) -> None:
        """Enter a run wherever it is the fastest so far that reaches an accuracy."""
        if entry.failure:
            row.reason = row.reason or entry.failure
            return
        reached = max(entry.accuracy, entry.proved) if row.peer == OURS else entry.accuracy
        figure = Figure(seconds, reached, entry.offer.variant, entry.setting)
        if row.closest is None or reached < row.closest:
            row.closest, row.closest_seconds = reached, seconds
        for accuracy in sorted({*self.rules.accuracies, *CURVE}, reverse=True):
            if row.peer == OURS and entry.setting > accuracy:
                continue  # it proved more than requested, which a user cannot rely on
            known = row.figures.get(accuracy)
            if reached <= accuracy and (known is None or seconds < known.seconds):
                row.figures[accuracy] = figure
