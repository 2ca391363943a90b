"""Grids in tiles and graphs in parts: rounds, time, bytes and memory, in tables.

    python benchmarks/scale/run.py [--quick] [--only NAME ...]

On a busy machine, ratios of processor time are the most reliable figures. All contestants of a
table take turns in the same run.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from scale import chains, graphs, memory, workers

TABLES = {
    "tasks": memory.tasks,
    "memory": memory.against_memory,
    "tiles": memory.more_tiles,
    "chains": chains.against_chains,
    "workers": workers.one_and_two,
    "larger": workers.larger_than_memory,
    "graphs": graphs.against_memory,
    "one-machine": graphs.on_one_machine,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small grids")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    arguments = parser.parse_args()
    start = time.perf_counter()
    for name in arguments.only:
        TABLES[name](arguments.quick)
    print(f"\n{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
