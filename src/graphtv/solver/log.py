"""The log of a run: a header with the problem and the method, then a table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Protocol, TextIO

from graphtv.result import Record, Stage

FIRST_FLOW = 1.0
"""Seconds of a run before its log tells how far max-flow is."""

COLUMNS = "  iter   sweeps     time |       primal         dual  rel.gap |     step restart"


class Outcome(Protocol):
    """The content of the last lines of a log, for results in memory and on Dask."""

    @property
    def status(self) -> str:
        """How the run ended."""

    @property
    def primal(self) -> float:
        """The primal objective."""

    @property
    def dual(self) -> float:
        """The dual objective."""

    @property
    def relative_gap(self) -> float:
        """The relative gap."""

    @property
    def iterations(self) -> int:
        """Iterations, or rounds."""

    @property
    def setup_time(self) -> float:
        """Seconds before the first iteration."""

    @property
    def solve_time(self) -> float:
        """Seconds of the iterations."""


class Log:
    """Prints to `stream` if `verbose`, and is silent otherwise."""

    def __init__(self, verbose: bool, stream: TextIO | None = None) -> None:
        self._verbose = verbose
        self._stream = stream or sys.stdout
        self._next = 0
        self._next_flow = FIRST_FLOW

    def header(self, **facts: str) -> None:
        """Print one line per fact, then the header of the table."""
        if not self._verbose:
            return
        self._print("graphtv")
        for name, fact in facts.items():
            self._print(f"  {name:<15} {fact}")
        self._print("-" * len(COLUMNS))
        self._print(COLUMNS)
        self._print("-" * len(COLUMNS))

    def row(self, record: Record, step: float, restarts: int, note: str = "") -> None:
        """Print a row of the table. Rows become less frequent during a long run."""
        if not self._verbose or (record.iteration < self._next and not note):
            return
        self._next = record.iteration + max(1, record.iteration // 8)
        self._print(
            f"{record.iteration:6d} {record.sweeps:8d} {record.time:8.3f} |"
            f" {record.primal:12.6g} {record.dual:12.6g} {record.relative_gap:8.1e} |"
            f" {step:8.3g} {restarts:7d}{'  ' + note if note else ''}"
        )

    def flow(self, seconds: float, settled: float) -> None:
        """Print how far max-flow is. Rows become less frequent during a long run."""
        if not self._verbose or seconds < self._next_flow:
            return
        self._next_flow = max(seconds + FIRST_FLOW, 1.25 * seconds)
        self._print(f"{'':15s} {seconds:8.3f} | max-flow: {settled:.0%} of the vertices are final")

    def footer(self, result: Outcome, stages: Sequence[Stage] = ()) -> None:
        """Print the status, the objectives and the work done."""
        if not self._verbose:
            return
        self._print("-" * len(COLUMNS))
        self._print(
            f"{result.status}: primal {result.primal:.10g}, dual {result.dual:.10g},"
            f" relative gap {result.relative_gap:.2e}"
        )
        for stage in stages:
            self._print(f"  {stage}")
        self._print(
            f"{result.iterations} iterations, {result.setup_time:.3g} s to set up,"
            f" {result.solve_time:.3g} s to solve"
        )

    def _print(self, line: str) -> None:
        print(line, file=self._stream, flush=True)
