"""A session's time on a processor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Shift:
    """When a session must make room, and when nobody wants its work any more.

    Attributes
    ----------
    is_unwanted : callable
        Whether something else has been asked for meanwhile: then work ends at once.
    is_over : callable
        Whether others must have their turn. Before the first look at an answer it does not count:
        what a run begins with would be done again and again, and nothing else.
    n_threads : int
        How many processors may be used.
    """

    is_unwanted: Callable[[], bool]
    is_over: Callable[[], bool]
    n_threads: int = 1
    has_answer: bool = False

    def ends(self) -> bool:
        """Whether to end now."""
        return self.is_unwanted() or (self.has_answer and self.is_over())
