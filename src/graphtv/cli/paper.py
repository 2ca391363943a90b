"""``graphtv paper``: reproduce the tables and figures of the paper."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphtv.cli.errors import UsageError
from graphtv.paper.experiment import NAMES, Experiment, Outcome, Outcomes, load
from graphtv.paper.report import Section, show, show_claims, write_csv, write_page
from graphtv.paper.run import Listener, stored
from graphtv.paper.run import run as run_cells
from graphtv.paper.store import Store, library_version

DEFAULT_OUT = Path("graphtv-paper")

EXAMPLES = """\
examples:
  graphtv paper figure1
  graphtv paper table1 table2 --quick
  graphtv paper all --data instances --out results"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.description = (
        "Reproduce the tables and figures of the paper. They are printed, and written as CSV,\n"
        "PNG and an HTML report. An interrupted run can be continued with the same command."
    )
    parser.epilog = EXAMPLES
    parser.add_argument(
        "experiments",
        nargs="+",
        choices=[*NAMES, "all"],
        metavar="experiment",
        help=f"{', '.join(NAMES)}, or all",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="folder of the instances that cannot be generated (default: $GRAPHTV_DATA)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small instances and few iterations: about a minute"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=DEFAULT_OUT,
        metavar="DIR",
        help="folder for tables, figures and report (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the experiments that are not complete, print the tables and write the report."""
    asked = arguments.experiments
    wanted = NAMES if "all" in asked else tuple(dict.fromkeys(asked))
    data = _data(arguments.data)
    out: Path = arguments.out
    _prepare(out)
    store = Store(out)
    sections: dict[str, Section] = {}
    with _listener() as listener:
        for name in wanted:
            experiment = load(name)(arguments.quick, data)
            try:
                outcomes = run_cells(experiment, store, listener)
            except KeyboardInterrupt:
                print(
                    f"Completed cells are in {out}; run the same command to continue.",
                    file=sys.stderr,
                )
                raise
            sections[name] = _section(experiment, outcomes, out)
    for name in wanted:
        for table in sections[name].tables:
            show(table, sys.stdout)
            print()
        show_claims(sections[name].claims, sys.stdout)
        print()
    # The report also contains the results of earlier runs.
    for name in filter(store.has, set(NAMES) - set(wanted)):
        experiment = load(name)(arguments.quick, data)
        if outcomes := stored(experiment, store):
            sections[name] = _section(experiment, outcomes, out)
    shown = [sections[name] for name in NAMES if name in sections]
    page = write_page(shown, _facts(arguments.quick), out)
    print(f"Report written to {page}; its tables and figures are in the same folder.")


def _section(experiment: Experiment, outcomes: Outcomes, out: Path) -> Section:
    """Write the tables and figures of an experiment."""
    tables = experiment.tables(outcomes)
    for table in tables:
        write_csv(table, out)
    notes = []
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        pictures = []
        notes.append('Figures need matplotlib: pip install "graphtv[plot]"')
    else:
        pictures = experiment.pictures(outcomes, out)
    claims = experiment.claims(outcomes)
    return Section(experiment.name, experiment.title, tables, pictures, claims, notes)


def _data(given: Path | None) -> Path | None:
    """Return the data folder, or None if there is none."""
    if given is not None:
        if not given.is_dir():
            raise UsageError(f"--data {given} is not a directory")
        return given
    named = os.environ.get("GRAPHTV_DATA")
    if not named:
        return None
    if not Path(named).is_dir():
        raise UsageError(f"GRAPHTV_DATA is {named}, which is not a directory")
    return Path(named)


def _prepare(out: Path) -> None:
    """Create the output folder."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UsageError(f"--out {out} cannot be written: {error.strerror}") from None


def _facts(quick: bool) -> list[str]:
    facts = [
        f"graphtv {library_version()}".strip(),
        f"Python {platform.python_version()}",
        platform.machine(),
        "one thread",
        time.strftime("%Y-%m-%d"),
    ]
    return ["quick run: small instances, few iterations", *facts] if quick else facts


# Progress ---------------------------------------------------------------------------------------


@contextmanager
def _listener() -> Iterator[Listener]:
    """Yield a listener that shows progress on stderr: a bar on a terminal, else lines."""
    try:
        from rich import progress
        from rich.console import Console
    except ImportError:
        yield _Lines()
        return
    if not sys.stderr.isatty():
        yield _Lines()
        return
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=24),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.fields[doing]}"),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Bar(bar)


class _Lines:
    """Print a line for each completed cell."""

    def begin(self, experiment: Experiment, cells: int, kept: int) -> None:
        self._name, self._n_cells, self._n_done = experiment.name, cells, kept
        if kept:
            print(f"{self._name}: {kept} of {cells} cells already complete", file=sys.stderr)

    def start(self, key: str) -> None:
        self._start = time.perf_counter()

    def tell(self, text: str) -> None:
        pass

    def finish(self, key: str, outcome: Outcome | None, reason: str) -> None:
        self._n_done += 1
        seconds = time.perf_counter() - self._start
        what = f"{seconds:.1f} s" if outcome is not None else reason
        print(
            f"{self._name} [{self._n_done}/{self._n_cells}] {key}: {what}",
            file=sys.stderr,
            flush=True,
        )


class _Bar:
    """A progress bar per experiment, with the current step."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def begin(self, experiment: Experiment, cells: int, kept: int) -> None:
        self._task = self._bar.add_task(experiment.name, total=cells, completed=kept, doing="")

    def start(self, key: str) -> None:
        self._key = key
        self._bar.update(self._task, doing=key)

    def tell(self, text: str) -> None:
        self._bar.update(self._task, doing=f"{self._key}: {text}")

    def finish(self, key: str, outcome: Outcome | None, reason: str) -> None:
        self._bar.update(self._task, advance=1, doing="")
        if outcome is None:
            self._bar.console.print(f"{key}: {reason}", highlight=False, markup=False)
