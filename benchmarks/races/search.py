"""The cheapest of an entrant's settings that reaches an accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple


class Trial(NamedTuple):
    """The accuracy and the time of one run with one setting."""

    setting: Any
    accuracy: float
    seconds: float


class Search:
    """Tries settings of a ladder, each at most once, and remembers what they reached.

    Parameters
    ----------
    ladder : list
        The settings, from cheap to expensive.
    attempt : callable
        Returns the accuracy and the seconds of a setting.
    budget : float
        The longest time of a run, in seconds.
    """

    def __init__(
        self, ladder: list[Any], attempt: Callable[[Any], tuple[float, float]], budget: float
    ) -> None:
        self.ladder = ladder
        self.attempt = attempt
        self.budget = budget
        self.trials: dict[int, Trial] = {}

    def __call__(self, step: int) -> Trial:
        """Return the result of the setting at that position of the ladder."""
        if step not in self.trials:
            setting = self.ladder[step]
            self.trials[step] = Trial(setting, *self.attempt(setting))
        return self.trials[step]

    def climb(self, target: float, limit: float = math.inf) -> None:
        """Go up the ladder in leaps until the target is met or a run takes too long.

        A run takes too long beyond half the budget, since the next leap might exceed it, or beyond
        the limit. For numbers of iterations, though not for tolerances, the climb also ends when
        two leaps in a row gain nothing.
        """
        enough = min(self.budget / 2, limit)
        last = len(self.ladder) - 1
        leap = max(1, min(6, len(self.ladder) // 8))
        step = max(self.trials, default=min(2 * leap, last))
        anchor: Trial | None = None
        stale = 0
        while True:
            trial = self(step)
            if trial.accuracy <= target or step == last or trial.seconds > enough:
                return
            if anchor is None:
                anchor = trial
            elif isinstance(trial.setting, int) and trial.setting >= 1.5 * anchor.setting:
                stale = stale + 1 if trial.accuracy > 0.9 * anchor.accuracy else 0
                # More iterations that cost no more: the method has its own stopping rule.
                has_stopped = 0.05 < trial.seconds < 1.1 * anchor.seconds
                if stale == 2 or has_stopped:
                    return
                anchor = trial
            step = min(step + leap, last)

    def cheapest(self, target: float) -> Trial | None:
        """Return the first setting that meets the target, found by bisection after a climb."""
        high = min((step for step in self._good(target)), default=None)
        if high is None:
            return None
        low = max((step for step in self.trials if step < high), default=-1)
        while high - low > 1:
            middle = (low + high) // 2
            if self(middle).accuracy <= target:
                high = middle
            else:
                low = middle
        return self.trials[high]

    def seen(self, target: float) -> Trial | None:
        """Return the first of the tried settings that meets the target."""
        good = self._good(target)
        return self.trials[min(good)] if good else None

    def best(self) -> Trial:
        """Return the most accurate run."""
        return min(self.trials.values(), key=lambda trial: trial.accuracy)

    def _good(self, target: float) -> list[int]:
        return [step for step, trial in self.trials.items() if trial.accuracy <= target]


def settings_for(
    search: Search,
    accuracies: Iterable[float],
    others: Iterable[float],
    limits: Mapping[float, float] | None = None,
) -> dict[float, Trial]:
    """Return a setting for each accuracy that is reached: the cheapest, for `others` any good one.

    For `others`, settings that were tried anyway are used, so that curves need no separate search.
    `limits` are the time limits in seconds for each accuracy.
    """
    limits = limits or {}
    wanted = sorted(accuracies, reverse=True)
    found: dict[float, Trial] = {}
    for accuracy in wanted:
        search.climb(accuracy, limits.get(accuracy, math.inf))
        trial = search.cheapest(accuracy)
        if trial is None:
            break  # the next accuracy is harder
        found[accuracy] = trial
    for accuracy in others:
        trial = search.seen(accuracy)
        if trial is not None:
            found.setdefault(accuracy, trial)
    return dict(sorted(found.items(), reverse=True))
