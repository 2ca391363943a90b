"""The time slice of a session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class TimeSlice:
    """The conditions under which a session must stop working.

    Attributes
    ----------
    is_obsolete : callable
        Returns whether a newer job has replaced this one. The work then ends at once.
    is_over : callable
        Returns whether other sessions must get their turn. It is ignored before the first answer,
        since otherwise only the setup of the run would be repeated in every slice.
    n_threads : int
        Number of processors that may be used.
    """

    is_obsolete: Callable[[], bool]
    is_over: Callable[[], bool]
    n_threads: int = 1
    has_answer: bool = False

    def ends(self) -> bool:
        """Return whether to stop now."""
        return self.is_obsolete() or (self.has_answer and self.is_over())
