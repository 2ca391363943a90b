"""A progress bar for solver runs, shown on terminals only.

The gap decreases by a roughly constant factor per iteration, so the bar shows its logarithm: it
starts at log₁₀ of the first gap and is full at log₁₀ of the tolerance.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from graphtv.solver.progress import Info
from graphtv.solver.reach import Reach


@contextmanager
def progress_bar(title: str, tol: float) -> Iterator[Callable[[Info], None] | None]:
    """Show a bar on stderr during a run, and yield the callback that updates it.

    Yield None, which means no callback in `graphtv.solve`, if stderr is not a terminal or rich is
    not installed.

    Parameters
    ----------
    title : str
        Text in front of the bar.
    tol : float
        The relative gap at which the bar is full, as passed to `graphtv.solve`.
    """
    rich = _rich() if sys.stderr.isatty() else None
    if rich is None:
        yield None
        return
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TextColumn("iteration {task.fields[iteration]}"),
        rich.TextColumn("{task.fields[state]}"),
        rich.TimeElapsedColumn(),
    )
    with rich.Progress(
        *columns,
        console=_console(),
        transient=True,
        # Output to the same terminal appears above the bar; files and pipes are not affected.
        redirect_stdout=sys.stdout.isatty(),
    ) as bar:
        task = bar.add_task(title, total=1.0, iteration=0, state="log₁₀ gap -")
        reach, last, runs = Reach(tol), 0, 1

        def show(info: Info) -> None:
            nonlocal reach, last, runs
            if info.iteration < last:  # the next of several runs, for example of a path
                reach, runs = Reach(tol), runs + 1
            last = info.iteration
            bar.update(
                task,
                description=title if runs == 1 else f"{title}, run {runs}",
                completed=reach(info.relative_gap, info.settled or 0.0),
                iteration=info.iteration,
                state=_state(info),
            )

        yield show


def _state(info: Info) -> str:
    """Return how far a run is, as text."""
    if info.settled is not None:
        return f"max-flow {info.settled:.0%}"
    return f"log₁₀ gap {_logarithm(info.relative_gap)}"


def _logarithm(gap: float) -> str:
    """Return log₁₀ of a gap as text, or - if the gap is 0 or unknown."""
    if gap == 0.0:
        return "-∞"
    return f"{math.log10(gap):.1f}" if gap < math.inf else "-"


def _rich() -> Any:
    """Return the module rich.progress, or None if rich is not installed."""
    try:
        from rich import progress
    except ImportError:
        return None
    return progress


def _console() -> Any:
    from rich.console import Console

    return Console(stderr=True)
