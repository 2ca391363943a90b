"""What a peer is, and how the cheapest of its settings that reaches an accuracy is found."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass
class Run:
    """An answer; `seconds` of processor time where it was found in another process."""

    u: NDArray[np.floating]
    seconds: float | None = None


def iterations(most: int = 200_000) -> list[int]:
    """Return numbers of iterations from 1 to `most`, each an eighth more than the last."""
    ladder = [1]
    while ladder[-1] < most:
        ladder.append(max(ladder[-1] + 1, ladder[-1] * 9 // 8))
    return ladder


@dataclass
class Peer:
    """A method with a ladder of settings, cheap to dear; `run` takes one of them.

    Attributes
    ----------
    missing : str
        Why the peer cannot run here, if it cannot.
    note : str
        What a reader of its figures should know.
    rescues : str
        The peer that this is a dearer variant of: it runs only where that one fails.
    """

    name: str
    run: Callable[[Any], Run] | None
    ladder: Sequence[Any] = field(default_factory=iterations)
    missing: str = ""
    note: str = ""
    rescues: str = ""


@dataclass
class Trial:
    """What one setting reached, in one run."""

    setting: Any
    accuracy: float
    seconds: float


class Search:
    """Runs a peer's settings, each at most once, and remembers what they reached."""

    def __init__(self, peer: Peer, accuracy: Callable[[NDArray[np.floating]], float]) -> None:
        self.peer = peer
        self.accuracy = accuracy
        self.trials: dict[int, Trial] = {}

    def __call__(self, step: int) -> Trial:
        """Return what the setting on that step of the ladder reaches."""
        if step not in self.trials:
            setting = self.peer.ladder[step]
            assert self.peer.run is not None
            start = time.process_time()
            answer = self.peer.run(setting)
            spent = time.process_time() - start if answer.seconds is None else answer.seconds
            self.trials[step] = Trial(setting, self.accuracy(answer.u), spent)
        return self.trials[step]

    def climb(self, target: float, budget: float) -> None:
        """Go up the ladder in leaps until the target is met or a run takes half the budget."""
        last = len(self.peer.ladder) - 1
        step = min(16, last)
        previous: Trial | None = None
        while True:
            trial = self(step)
            if trial.accuracy <= target or step == last or trial.seconds > budget / 2:
                return
            if previous is not None and trial.seconds < 1.1 * previous.seconds:
                return  # it has a stopping rule of its own, and has stopped
            previous = trial if trial.seconds > 0.05 else None
            step = min(step + 6, last)

    def cheapest(self, target: float) -> Trial | None:
        """Return the first setting that meets the target, found by bisection after a climb."""
        good = [step for step, trial in self.trials.items() if trial.accuracy <= target]
        if not good:
            return None
        high = min(good)
        low = max((step for step in self.trials if step < high), default=-1)
        while high - low > 1:
            middle = (low + high) // 2
            if self(middle).accuracy <= target:
                high = middle
            else:
                low = middle
        return self.trials[high]

    def best(self) -> Trial:
        """Return the most accurate run."""
        return min(self.trials.values(), key=lambda trial: trial.accuracy)
