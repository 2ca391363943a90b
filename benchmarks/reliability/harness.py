"""Runs cases in separate processes, so that a crash or a hang is only one failure.

A property is a function of a seed and a number: `check(seed, number)` raises if the case fails, or
returns figures. The same seed and number always give the same case, so they identify a failure.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

Figures = dict[str, float]

MOST_TOLD = 20
"""The number of failures that are stored in full."""


@dataclass(frozen=True)
class Property:
    """Something that must hold, in numbered cases.

    Attributes
    ----------
    key, title : str
        Its name for the command line, and for people.
    check : callable
        Runs a case, given the seed and the number; raises if it fails.
    cases, quick : int
        Cases of the long and of the short version.
    timeout : float
        Seconds after which a case counts as hanging, which is a failure.
    limits : mapping of str to float
        The largest allowed values of figures. `run` checks them and `check` does not: they are
        times, and the tests, which share cases with this harness, do not measure time.
    """

    key: str
    title: str
    check: Callable[[int, int], Figures]
    cases: int
    quick: int
    timeout: float = 120.0
    limits: Mapping[str, float] = field(default_factory=dict)

    def excess(self, figures: Figures) -> str:
        """Return the name of a figure above its limit, or an empty string."""
        for name, limit in self.limits.items():
            if figures.get(name, 0.0) > limit:
                told = ", ".join(f"{key} {value:.3g}" for key, value in figures.items())
                return f"{name} must be at most {limit:g}: {told}"
        return ""


@dataclass
class Outcome:
    """The results of a property so far.

    Figures whose name begins with ``largest``, ``longest`` or ``most`` are maxima; all others are
    sums over the cases.
    """

    done: int = 0
    failures: int = 0
    seconds: float = 0.0
    figures: Figures = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def add(self, figures: Figures) -> None:
        """Add the figures of a successful case."""
        for name, value in figures.items():
            if name.split()[0] in ("largest", "longest", "most"):
                self.figures[name] = max(self.figures.get(name, value), value)
            else:
                self.figures[name] = self.figures.get(name, 0.0) + value

    def fail(self, number: int, reason: str) -> None:
        """Record a failed case."""
        self.failures += 1
        if len(self.told) < MOST_TOLD:
            self.told.append(f"case {number}: {reason}")


class Store:
    """Outcomes in a JSON file, from which a later run resumes."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.outcomes: dict[str, Outcome] = {}
        if path is not None and path.exists():
            for key, values in json.loads(path.read_text()).items():
                self.outcomes[key] = Outcome(**values)

    def outcome(self, key: str, seed: int) -> Outcome:
        """Return the results of a property for a seed."""
        return self.outcomes.setdefault(f"{key} {seed}", Outcome())

    def save(self) -> None:
        """Write all results atomically."""
        if self.path is None:
            return
        new = self.path.with_name(self.path.name + ".new")
        new.write_text(json.dumps({k: vars(v) for k, v in self.outcomes.items()}, indent=1))
        os.replace(new, self.path)


def run(
    prop: Property,
    seed: int,
    cases: int,
    store: Store,
    seconds: float = float("inf"),
    tell: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Run the remaining cases of a property for at most this many seconds."""
    outcome = store.outcome(prop.key, seed)
    end = time.monotonic() + seconds
    while outcome.done < cases and time.monotonic() < end:
        for figures, reason, taken in in_child(prop, seed, range(outcome.done, cases), end):
            reason = reason or prop.excess(figures)
            if reason:
                outcome.fail(outcome.done, reason)
                tell(f"{prop.key} {seed} case {outcome.done}: {reason}")
            else:
                outcome.add(figures)
            outcome.done += 1
            outcome.seconds += taken
            if outcome.done % 100 == 0 or reason:
                store.save()
        store.save()
    return outcome


def in_child(
    prop: Property, seed: int, numbers: Sequence[int], end: float = float("inf")
) -> Iterator[tuple[Figures, str, float]]:
    """Yield figures, failure reason and seconds for each case, until the child ends."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(prop, seed, numbers, theirs))
    child.start()
    theirs.close()
    begin = time.monotonic()
    try:
        for _ in numbers:
            try:
                arrived = ours.poll(prop.timeout)
                answer: tuple[Figures, str] | None = ours.recv() if arrived else None
            except EOFError:
                child.join()
                yield {}, f"the process died with code {child.exitcode}", time.monotonic() - begin
                return
            taken, begin = time.monotonic() - begin, time.monotonic()
            if answer is None:
                yield {}, f"no answer after {prop.timeout:g} s", taken
                return
            yield *answer, taken
            if time.monotonic() > end:
                return
    finally:
        if child.is_alive():
            child.kill()
        child.join()
        ours.close()


def _work(prop: Property, seed: int, numbers: Sequence[int], answers: Connection) -> None:
    """Run cases one by one, in the main thread of a new process."""
    for number in numbers:
        figures: Figures = {}
        reason = ""
        try:
            figures = prop.check(seed, number)
        except AssertionError as error:
            reason = f"{error}" or _last_line(error)
        except BaseException as error:
            reason = f"{type(error).__name__}: {error} ({_last_line(error)})"
        answers.send((figures, reason))


def _last_line(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno} {frames[-1].line}"


def row(prop: Property, outcome: Outcome) -> list[Any]:
    """Return a line of the table."""
    figures = "; ".join(f"{name} {value:.4g}" for name, value in outcome.figures.items())
    return [prop.title, outcome.done, outcome.failures, f"{outcome.seconds:.0f} s", figures]
