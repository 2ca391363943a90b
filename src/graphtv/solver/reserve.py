"""The time that the end of a run takes, kept in reserve.

The points of the last iterate, and their certificate, take several passes over the edges. A time
limit includes them. After Ctrl-C they are made only if they are quick.
"""

from __future__ import annotations

import math

from graphtv import _core
from graphtv.result import Status
from graphtv.solver.tuning import Tuning


class Reserve:
    """Predicts how long the end of a run takes, from how long its parts took so far.

    Attributes
    ----------
    certificate : float
        Seconds that the last certificate will take; infinite before anything was measured.
    is_unhurried : bool
        Whether nobody waits although the run was interrupted.
    """

    def __init__(
        self, n_entries: int, watch: _core.Watch, time_limit: float, tuning: Tuning
    ) -> None:
        self._n_entries, self._watch = n_entries, watch
        self._time_limit, self._tuning = time_limit, tuning
        self._iteration = self._evaluation = math.inf  # seconds that the shortest ones took
        self.certificate = math.inf
        self.is_unhurried = False
        self._keep(tuning.trivial_seconds_per_entry * n_entries)

    @property
    def seconds(self) -> float:
        """What is left to do once an iteration was ended early: settle the state, and certify."""
        if self.certificate < math.inf:
            settling = self._iteration if self._iteration < math.inf else 0.0
            return self.certificate + settling
        return self._tuning.seconds_per_entry * self._n_entries

    @property
    def is_quick(self) -> bool:
        """Whether nobody would wait too long for the end: then no point need be held."""
        return self.seconds <= self._tuning.grace

    def fits(self, status: Status) -> bool:
        """Whether there is time to certify the last iterate of a run that ends so."""
        if status not in ("interrupted", "time_limit"):
            return True
        if self.is_unhurried or self._watch.stopped or self.is_quick:
            return True
        if status == "interrupted" or self.certificate == math.inf:
            return False
        excess = self._tuning.excess * max(0.05 * self._time_limit, 0.05)
        return self.seconds <= self._watch.remaining + self._kept + excess

    def saw_iteration(self, seconds: float) -> None:
        """Hear how long an iteration took."""
        self._iteration = min(self._iteration, seconds)

    def saw_evaluation(self, seconds: float) -> None:
        """Hear how long an evaluation took, which predicts a certificate."""
        self._evaluation = min(self._evaluation, seconds)
        least = self._tuning.least_seconds_per_entry * self._n_entries
        self.saw_certificate(max(self._tuning.evaluations * self._evaluation, least))

    def saw_certificate(self, seconds: float) -> None:
        """Hear how long a certificate with its points took."""
        self.certificate = seconds
        trivial = self._tuning.trivial_seconds_per_entry * self._n_entries
        self._keep(trivial + self._tuning.margin * self.seconds)

    def _keep(self, seconds: float) -> None:
        # At most half of all: what was measured may have waited for another process.
        self._kept = min(seconds, 0.5 * self._time_limit)
        self._watch.reserve(self._kept)
