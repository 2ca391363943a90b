"""Compare the core problems of `benchmarks/core` with the figures of an earlier commit.

    python benchmarks/regressions.py          # print both, and their ratio
    python benchmarks/regressions.py --save   # keep today's figures in regressions.json

Iterations are the same on every machine. Work is the processor time in passes over the edges, so it
varies less between machines than seconds do, but it does vary. A line is marked where iterations
rise by a tenth or work rises by half.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from core.problems import PROBLEMS, Forests, Solve

SAVED = Path(__file__).with_suffix(".json")


def measure() -> dict[str, tuple[int, float]]:
    """Return iterations and work of each problem."""
    figures = {}
    for name in PROBLEMS:
        case = Solve()
        case.setup(name)
        figures[name] = case.track_iterations(name), round(case.track_passes(name), 1)
    forests = Forests()
    forests.setup()
    for name in ("tv_chain", "tv_forest", "decompose_matroid"):
        figures[name] = 1, round(getattr(forests, f"track_passes_{name}")(), 1)
    return figures


def main() -> None:
    """Print the table."""
    figures = measure()
    if "--save" in sys.argv[1:]:
        SAVED.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    saved = json.loads(SAVED.read_text(encoding="utf-8"))
    print(f"{'problem':28}{'iterations':>12}{'saved':>8}{'work':>11}{'saved':>11}{'ratio':>8}")
    for name, (iterations, work) in figures.items():
        old_iterations, old_work = saved.get(name, (iterations, work))
        mark = "  <-" if iterations > 1.1 * old_iterations or work > 1.5 * old_work else ""
        ratio = f"{work / old_work:8.2f}"
        print(f"{name:28}{iterations:12}{old_iterations:8}{work:11}{old_work:11}{ratio}{mark}")


if __name__ == "__main__":
    main()
