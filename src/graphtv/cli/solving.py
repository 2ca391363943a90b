"""Options, exit codes and reports of all commands that solve a problem."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from graphtv.cli.errors import UsageError

if TYPE_CHECKING:
    from graphtv.result import Result

EXIT_CODES = {
    "optimal": 0,
    "iteration_limit": 3,
    "time_limit": 4,
    "stalled": 5,
    "interrupted": 130,
}
"""The exit code of each status; 1 means a bug, 2 invalid usage."""

EXIT_HELP = """\
exit codes:
  0    solved: the certified relative gap is at most --tol
  2    invalid usage, or an input that cannot be read; nothing is written
  3    --max-iterations was reached
  4    --time-limit was reached
  5    no further progress, usually because of rounding errors
  130  Ctrl-C
With 3, 4, 5 and 130 the best solution so far is written with its certificate,
if there is one."""

PRECONDITIONERS = ("auto", "none", "diagonal", "chains", "linear", "nested", "matroid")
METHODS = ("auto", "pdhg", "descent", "exact")


def add_solver_options(parser: argparse.ArgumentParser, tol: str) -> None:
    """Add the options of `graphtv.solve`; `tol` describes the default tolerance."""
    group = parser.add_argument_group("solver")
    group.add_argument(
        "--tol",
        type=nonnegative,
        metavar="GAP",
        help=f"relative gap to certify, 0 for the exact solution (default: {tol})",
    )
    group.add_argument("--time-limit", type=nonnegative, metavar="S", help="time limit in seconds")
    group.add_argument(
        "--max-iterations", type=count, metavar="N", help="largest number of iterations"
    )
    group.add_argument(
        "--threads", type=positive_count, metavar="N", help="default: number of processors"
    )
    group.add_argument("--method", choices=METHODS, default="auto", help="default: auto")
    group.add_argument(
        "--preconditioner", choices=PRECONDITIONERS, default="auto", help="default: auto"
    )


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for output files and printed output."""
    group = parser.add_argument_group("output")
    group.add_argument("--force", action="store_true", help="overwrite existing files")
    group.add_argument(
        "--json", action="store_true", help="print the certificate as one JSON object"
    )
    chat = group.add_mutually_exclusive_group()
    chat.add_argument("-q", "--quiet", action="store_true", help="print no summary")
    chat.add_argument(
        "-v", "--verbose", action="store_true", help="print the solver log on standard error"
    )


def solver_options(arguments: argparse.Namespace, callback: Any = None) -> dict[str, Any]:
    """Return the options of `graphtv.solve` that were given."""
    options = {
        "tol": arguments.tol,
        "time_limit": arguments.time_limit,
        "max_iterations": arguments.max_iterations,
        "n_threads": arguments.threads,
        "callback": callback,
    }
    named = {"method": arguments.method, "preconditioner": arguments.preconditioner}
    given = {name: value for name, value in options.items() if value is not None}
    return given | {name: value for name, value in named.items() if value != "auto"}


@contextlib.contextmanager
def solving(title: str, arguments: argparse.Namespace, tol: float) -> Iterator[dict[str, Any]]:
    """Yield solver options, show progress, and turn ValueError into UsageError."""
    from graphtv.cli.progress import progress_bar

    tolerance = tol if arguments.tol is None else arguments.tol
    try:
        if arguments.verbose:
            with contextlib.redirect_stdout(sys.stderr):
                yield {**solver_options(arguments), "verbose": True}
        else:
            bar = contextlib.nullcontext() if arguments.quiet else progress_bar(title, tolerance)
            with bar as callback:
                yield solver_options(arguments, callback)
    except ValueError as error:
        raise UsageError(str(error)) from None


def report(
    arguments: argparse.Namespace, result: Result, output: str, facts: dict[str, Any]
) -> int:
    """Print the certificate, as JSON if `--json` is given, and return the exit code."""
    code = exit_code(result)
    if arguments.json:
        print_json(arguments, run_facts(result) | facts | {"exit_code": code})
    elif not arguments.quiet:
        words = ", ".join(
            f"{name} {_brief(value)}" for name, value in facts.items() if _is_plain(value)
        )
        print(
            f"{output}: {result.status}, relative gap {result.relative_gap:.2g}"
            f" after {_iterations(result)} and {_seconds(result):.2g} s"
            + (f"; {words}" if words else ""),
            file=sys.stderr,
        )
    return code


def exit_code(result: Result) -> int:
    """Return the exit code for the status of a run."""
    return EXIT_CODES[result.status]


def print_json(arguments: argparse.Namespace, facts: dict[str, Any]) -> None:
    """Print facts and the options of the command as a JSON object on one line."""
    print(json_text(with_options(arguments, facts), sys.stdout.encoding))


def with_options(arguments: argparse.Namespace, facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts between the name of the command and its options."""
    options = {k: v for k, v in vars(arguments).items() if k not in ("command", "version")}
    return {"command": arguments.command, **facts, "options": options}


def run_facts(result: Result) -> dict[str, Any]:
    """Return the certificate and how it was found."""
    return {
        "status": result.status,
        "primal": result.primal,
        "dual": result.dual,
        "gap": result.gap,
        "relative_gap": result.relative_gap,
        "tolerance": result.tolerance,
        "error_bound": result.error_bound,
        "iterations": result.iterations,
        "sweeps": result.sweeps,
        "time": _seconds(result),
        "method": result.method,
        "preconditioner": result.preconditioner,
        "reason": result.reason,
        "stages": [stage._asdict() for stage in result.stages],
    }


def json_text(content: dict[str, Any], encoding: str | None = "utf-8") -> str:
    """Return JSON on one line, with escapes for characters that the encoding lacks.

    File names may contain bytes that cannot be decoded.
    """
    finite = _finite(content)
    text = json.dumps(finite, allow_nan=False, ensure_ascii=False)
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(finite, allow_nan=False)
    return text


def _finite(value: Any) -> Any:
    """Return a value with None for numbers that JSON cannot represent."""
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _iterations(result: Result) -> str:
    return "1 iteration" if result.iterations == 1 else f"{result.iterations} iterations"


def _seconds(result: Result) -> float:
    return result.setup_time + result.solve_time


def _is_plain(value: Any) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool)


def _brief(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# Types of arguments, named as argparse shows them ------------------------------------------------


def nonnegative(text: str) -> float:
    """Return a finite nonnegative number."""
    value = float(text)
    if not 0.0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a finite number >= 0, got {text}")
    return value


def positive(text: str) -> float:
    """Return a finite number above 0."""
    value = float(text)
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a finite number > 0, got {text}")
    return value


def count(text: str) -> int:
    """Return a nonnegative integer."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must be at least 0, got {text}")
    return value


def positive_count(text: str) -> int:
    """Return an integer above 0."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
    return value


nonnegative.__name__ = positive.__name__ = "number"  # as in "invalid number value: 'x'"
count.__name__ = positive_count.__name__ = "integer"
