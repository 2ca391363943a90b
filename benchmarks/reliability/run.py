"""Test the guarantees of graphtv and print a table.

    python benchmarks/reliability/run.py [--only NAME ...] [--quick] [--seconds S] [--seed N]
                                         [--cases N] [--store FILE]

The long version takes hours. With --store it continues where it ended: after Ctrl-C, after
--seconds (for each property), or with more --cases. Each case runs in a process that may crash or
hang. The exit code is the number of properties with failures.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from reliability.harness import Store, row, run
from reliability.properties import PROPERTIES

HEADER = ["Property", "Cases", "Failures", "Time", "Figures"]


def main(arguments: list[str] | None = None) -> int:
    """Run the requested properties; return how many failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(PROPERTIES), default=list(PROPERTIES))
    parser.add_argument("--quick", action="store_true", help="a few cases of each property")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="time limit of each property in seconds"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, help="number of cases of each property")
    parser.add_argument(
        "--store", type=Path, help="JSON file of results to continue from, which is updated"
    )
    given = parser.parse_args(arguments)
    store = Store(given.store)
    rows, failed = [], []
    try:
        for key in given.only:
            prop = PROPERTIES[key]
            cases = given.cases or (prop.quick if given.quick else prop.cases)
            outcome = run(prop, given.seed, cases, store, given.seconds, _tell)
            rows.append(row(prop, outcome))
            failed += [key] if outcome.failures else []
            for line in outcome.told:
                print(f"{key}: {line}", file=sys.stderr)
    except KeyboardInterrupt:
        store.save()
        print("interrupted; the same --store continues from here" if given.store else "interrupted")
    print(f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}")
    for values in rows:
        print(f"| {' | '.join(map(str, values))} |")
    return len(failed)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
