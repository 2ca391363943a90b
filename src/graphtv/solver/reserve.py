"""The time reserved for the end of a run.

Computing the points of the last iterate and their certificate takes several passes over the edges.
A time limit includes this time. After Ctrl-C they are computed only if that is fast.
"""

from __future__ import annotations

import math

from graphtv import _core
from graphtv.result import Status
from graphtv.solver.tuning import Tuning


class Reserve:
    """Predicts how long the end of a run takes, from the times of earlier iterations.

    Attributes
    ----------
    certificate : float
        Predicted seconds for the last certificate; infinite before the first measurement.
    is_unhurried : bool
        Whether the run may take its time to end although it was interrupted.
    """

    def __init__(
        self, n_entries: int, watch: _core.Watch, time_limit: float, tuning: Tuning
    ) -> None:
        self._n_entries, self._watch = n_entries, watch
        self._time_limit, self._tuning = time_limit, tuning
        self._iteration = self._evaluation = math.inf  # seconds of the shortest ones
        self.certificate = math.inf
        self.is_unhurried = False
        self._keep(tuning.trivial_seconds_per_entry * n_entries)

    @property
    def seconds(self) -> float:
        """Seconds for what follows an interrupted iteration: restore the state, and certify."""
        if self.certificate < math.inf:
            settling = self._iteration if self._iteration < math.inf else 0.0
            return self.certificate + settling
        return self._tuning.seconds_per_entry * self._n_entries

    @property
    def is_quick(self) -> bool:
        """Whether the end is so fast that no point needs to be held."""
        return self.seconds <= self._tuning.grace

    def fits(self, status: Status) -> bool:
        """Whether there is time to certify the last iterate of a run with this status."""
        if status not in ("interrupted", "time_limit"):
            return True
        if self.is_unhurried or self._watch.stopped or self.is_quick:
            return True
        if status == "interrupted" or self.certificate == math.inf:
            return False
        excess = self._tuning.excess * max(0.05 * self._time_limit, 0.05)
        return self.seconds <= self._watch.remaining + self._kept + excess

    def saw_iteration(self, seconds: float) -> None:
        """Record the seconds of an iteration."""
        self._iteration = min(self._iteration, seconds)

    def saw_evaluation(self, seconds: float) -> None:
        """Record the seconds of an evaluation, which predict those of a certificate."""
        self._evaluation = min(self._evaluation, seconds)
        least = self._tuning.least_seconds_per_entry * self._n_entries
        self.saw_certificate(max(self._tuning.evaluations * self._evaluation, least))

    def saw_certificate(self, seconds: float) -> None:
        """Record the seconds of a certificate including its points."""
        self.certificate = seconds
        trivial = self._tuning.trivial_seconds_per_entry * self._n_entries
        self._keep(trivial + self._tuning.margin * self.seconds)

    def _keep(self, seconds: float) -> None:
        # At most half of the time limit, since a measurement may include waiting for other
        # processes.
        self._kept = min(seconds, 0.5 * self._time_limit)
        self._watch.reserve(self._kept)
