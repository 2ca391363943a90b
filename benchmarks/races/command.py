"""``graphtv bench``: benchmarks of the kernels, against the peers, and against size."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphtv.cli.errors import UsageError
from graphtv.cli.solving import positive, positive_count

if TYPE_CHECKING:
    from races.outcome import Outcome

SUMMARIES = {
    "kernels": "exact total variation on chains (against prox_tv) and on trees",
    "peers": "seconds to an accuracy, against the packages that people use today",
    "scaling": "cost against size",
}
EXAMPLES = """\
examples:
  graphtv bench kernels --quick
  graphtv bench peers --problems P1 P5 --accuracies 1e-3 1e-6
  graphtv bench scaling --out results"""

QUICK_PROBLEMS = ("P1", "P5", "P4", "P3S")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.description = (
        "Run benchmarks on this machine. Tables are printed and written as Markdown, numbers as\n"
        "JSON and CSV, plots as PNG. Each peer has a separate environment, which\n"
        "benchmarks/setup_peers creates. Peers that are not installed are listed as missing."
    )
    parser.epilog = EXAMPLES
    races = parser.add_subparsers(dest="race", required=True, metavar="race")
    for race, summary in SUMMARIES.items():
        one = races.add_parser(race, help=summary, description=f"{summary.capitalize()}.")
        one.add_argument("--quick", action="store_true", help="tiny problems, few turns")
        one.add_argument(
            "--out",
            type=Path,
            default=Path("results/bench"),
            metavar="DIR",
            help="folder for tables, numbers and plots (default: %(default)s)",
        )
        if race != "scaling":
            one.add_argument(
                "--environments",
                type=Path,
                metavar="DIR",
                help="folder of the environments that benchmarks/setup_peers created (default: "
                "$GRAPHTV_PEERS, or build/peers if it exists)",
            )
        ADD_OPTIONS[race](one)


def _peer_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--problems",
        nargs="+",
        metavar="NAME",
        help="names of problems, such as P1 P3S (default: all)",
    )
    parser.add_argument(
        "--accuracies",
        nargs="+",
        type=_accuracy,
        default=[1e-3, 1e-6, 1e-12],
        metavar="E",
        help="relative primal suboptimalities (default: 1e-3 1e-6 1e-12)",
    )
    parser.add_argument(
        "--peers",
        nargs="+",
        default=[],
        metavar="NAME",
        help="parts of the names of peers (default: all)",
    )
    parser.add_argument("--threads", nargs="+", type=positive_count, default=[1], metavar="N")
    parser.add_argument(
        "--turns", type=positive_count, metavar="N", help="number of turns (default: 5)"
    )
    parser.add_argument(
        "--budget",
        type=positive,
        metavar="S",
        help="time limit of a run in seconds (default: 25)",
    )
    parser.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="file of the fastest settings found (default: settings.json in --out)",
    )


def _scaling_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", nargs="+", type=positive_count, default=[1], metavar="N")
    parser.add_argument(
        "--side", type=positive_count, default=4096, metavar="N", help="side of the largest grid"
    )
    parser.add_argument(
        "--edges",
        type=positive_count,
        default=10**7,
        metavar="N",
        help="number of edges of the largest random graph",
    )


ADD_OPTIONS: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "kernels": lambda _: None,
    "peers": _peer_options,
    "scaling": _scaling_options,
}


def _accuracy(text: str) -> float:
    value = float(text)
    if not 1e-12 <= value < 1.0:
        raise argparse.ArgumentTypeError(f"must lie in [1e-12, 1), got {text}")
    return value


_accuracy.__name__ = "accuracy"  # argparse names it in its errors


def run(arguments: argparse.Namespace) -> int:
    """Run a benchmark; the exit code is 1 if its outcome is void."""
    if arguments.out.exists() and not arguments.out.is_dir():
        raise UsageError(f"--out must be a folder, got {arguments.out}")
    try:
        return RACES[arguments.race](arguments)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"--out {arguments.out} cannot be used: {error}") from None


def _environments(given: Path | None) -> Path | None:
    """Return the folder of the peers' environments, or None."""
    if given is None and "GRAPHTV_PEERS" in os.environ:
        given = Path(os.environ["GRAPHTV_PEERS"])
    if given is None:
        return Path("build/peers") if Path("build/peers").is_dir() else None
    if not given.is_dir():
        raise UsageError(f"--environments must be a folder, got {given}")
    return given


@contextmanager
def _status(title: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current activity, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    try:
        from rich.console import Console
    except ImportError:
        yield lambda words: print(f"{title}: {words}", file=sys.stderr)
        return
    with Console(stderr=True).status(title) as status:
        yield lambda words: status.update(f"{title}: {words}")


def _can_plot() -> bool:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print('No plots without matplotlib: pip install "graphtv[plot]"\n')
        return False
    return True


def _kernels(arguments: argparse.Namespace) -> int:
    from races import chains, machine, pictures, trees
    from races.files import write, write_csv, write_json

    environments, out = _environments(arguments.environments), arguments.out
    quick = arguments.quick
    try:
        with _status("chains") as tell:
            rows, missing = chains.measure_chains(quick=quick, environments=environments, tell=tell)
    except chains.VoidRaceError as error:
        print(f"graphtv bench kernels: {error}", file=sys.stderr)
        return 1
    chain_table = chains.chain_table(rows)
    if missing:
        chain_table.caption += f"\nMissing: {missing}"
    chain_table.show()
    with _status("trees") as tell:
        tree_rows = trees.measure_trees(quick=quick, tell=tell)
    tree_table = trees.tree_table(tree_rows)
    tree_table.show()
    facts = machine.describe()
    content = {"machine": facts, "quick": quick, "chains": rows, "trees": tree_rows}
    write_json(out / "kernels.json", content | {"missing": [missing] if missing else []})
    write_csv(out / "chains.csv", chains.COLUMNS, rows)
    words = f"Machine: {machine.in_a_sentence(facts)}.\n"
    write(out / "kernels.md", "\n".join([words, chain_table.markdown(), tree_table.markdown()]))
    if not missing and _can_plot():
        write(out / "chains.png", pictures.chains(rows))
    print(f"Written to {out}: kernels.json, kernels.md, chains.csv")
    return 0


def _peers(arguments: argparse.Namespace) -> int:
    from races.contest import Contest, Rules
    from races.peer_process import RACERS, Team
    from races.problems import PROBLEMS, make, title
    from races.race_tables import detail
    from races.records import Records
    from races.settings import Settings

    names = arguments.problems or list(QUICK_PROBLEMS if arguments.quick else PROBLEMS)
    for name in names:
        if name not in PROBLEMS:
            raise UsageError(f"--problems must be among {', '.join(PROBLEMS)}, got {name}")
    out, environments = arguments.out, _environments(arguments.environments)
    try:
        settings = Settings(arguments.settings or out / "settings.json")
    except ValueError as error:
        raise UsageError(f"--{error}, got {arguments.settings or out / 'settings.json'}") from None
    turns = arguments.turns or (1 if arguments.quick else 5)
    budget = arguments.budget or (0.2 if arguments.quick else 25.0)
    accuracies = tuple(sorted(set(arguments.accuracies), reverse=True))
    try:
        records = Records(out, quick=arguments.quick)
    except ValueError as error:
        raise UsageError(f"--{error}") from None
    void = False
    for threads in dict.fromkeys(arguments.threads):
        rules = Rules(accuracies, turns, budget, threads, tuple(arguments.peers))
        with Team(tuple(RACERS), environments, threads) as workers:
            for name in names:
                with _status(name) as tell:
                    instance = make(name, small=arguments.quick)
                    words = title(name, small=arguments.quick)
                    contest = Contest(instance, words, rules, settings, tell)
                    outcome = contest.run(workers)
                detail(outcome, accuracies).show()
                if not contest.reference.certified:
                    gap = contest.reference.relative_gap
                    print(
                        f"graphtv bench peers: {name}: optimum known to {gap:.1e} only: void",
                        file=sys.stderr,
                    )
                    void = True
                records.add(outcome)
    _show(records.outcomes, accuracies)
    names = records.write(accuracies, plots=_can_plot())
    print(f"Written to {out}: {', '.join(names)}")
    return 1 if void else 0


def _show(outcomes: list[Outcome], accuracies: tuple[float, ...]) -> None:
    """Print the ratios over all problems."""
    from races import race_tables

    for accuracy in accuracies:
        race_tables.ratios(outcomes, accuracy).show()
    for heading, lines in (
        ("Where a peer is faster", race_tables.wins(outcomes, accuracies)),
        ("Peers that could not run", race_tables.absent(outcomes)),
    ):
        print(f"{heading}\n{race_tables.bullets(lines, '- none')}")


def _scaling(arguments: argparse.Namespace) -> int:
    from races import machine, pictures, scaling
    from races.files import write, write_csv, write_json

    quick, out = arguments.quick, arguments.out
    all_sides, all_edges = scaling.SIZES[quick]
    sides = tuple(side for side in all_sides if side <= arguments.side)
    edges = tuple(count for count in all_edges if count <= arguments.edges)
    if not sides and not edges:
        raise UsageError(
            f"--side and --edges leave no problem, got {arguments.side} and {arguments.edges}"
        )
    facts = machine.describe()
    rows: list[dict[str, Any]] = []
    threads = tuple(dict.fromkeys(arguments.threads))
    with _status("scaling") as tell:
        for row in scaling.measure_scaling(sides, edges, threads, tell):
            rows.append(row)
            write_csv(out / "scaling.csv", scaling.COLUMNS, rows)
    write_json(out / "scaling.json", {"machine": facts, "quick": quick, "rows": rows})
    table = scaling.scaling_table(rows)
    table.show()
    words = f"Machine: {machine.in_a_sentence(facts)}.\n"
    write(out / "scaling.md", f"{words}\n{table.markdown()}")
    if _can_plot():
        write(out / "scaling.png", pictures.scaling(rows))
    print(f"Written to {out}: scaling.json, scaling.csv, scaling.md, scaling.png")
    return 0


RACES: dict[str, Callable[[argparse.Namespace], int]] = {
    "kernels": _kernels,
    "peers": _peers,
    "scaling": _scaling,
}
