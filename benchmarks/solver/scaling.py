"""Cost against size: grids from 128² to 4096² and random graphs of 10⁴ to 10⁷ edges, one thread.

    python benchmarks/solver/scaling.py [--side 4096] [--edges 10000000] [--out FOLDER] [--quick]

Of each size: nanoseconds per vertex (grids) or edge (graphs) and iteration of descent, and the
seconds of the whole call for the exact answer. Writes scaling.csv and scaling.png into the folder.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from problems import Instance, grid, random_graph
from runs import require_solver, seconds_per_iteration, solve

from graphtv.gallery import piecewise_constant_image

FIELDS = (
    "kind",
    "size",
    "vertices",
    "edges",
    "ns_per_element_and_iteration",
    "exact_seconds",
    "exact_relative_gap",
)


def instances(quick: bool, most_side: int, most_edges: int) -> Iterator[tuple[str, int, Instance]]:
    """Yield the kind, the number of elements (vertices of grids, edges of graphs), the instance."""
    for side in (16, 32) if quick else (128, 256, 512, 1024, 2048, 4096):
        if side <= most_side:
            image = piecewise_constant_image((side, side))[0]
            yield "grid", side * side, grid(f"{side}²", image, 0.1)
    for n_edges in (300, 900) if quick else (10**4, 10**5, 10**6, 10**7):
        if n_edges <= most_edges:
            n = n_edges // 3
            yield "random graph", 3 * n, random_graph(f"{n_edges:.0e} edges", n, 0.3)


def measure(kind: str, size: int, instance: Instance) -> dict[str, object]:
    turns = 3 if size < 2_000_000 else 1
    graph, signal = instance.graph, instance.signal
    step = seconds_per_iteration(graph, signal, turns=turns, n_threads=1)
    start = time.process_time()
    result = solve(graph, signal, tol=0.0, n_threads=1)
    seconds = time.process_time() - start
    row = (kind, instance.name, graph.n_vertices, graph.n_edges, 1e9 * step / size, seconds)
    return dict(zip(FIELDS, (*row, result.relative_gap), strict=True))


def plot(rows: list[dict], path: Path) -> None:
    """Draw both costs against the number of elements."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for kind, colour, element in (("grid", "C0", "vertex"), ("random graph", "C1", "edge")):
        mine = [row for row in rows if row["kind"] == kind]
        if not mine:
            continue
        size = np.array([row["vertices" if kind == "grid" else "edges"] for row in mine])
        label = f"{kind}, per {element}"
        step = [row["ns_per_element_and_iteration"] for row in mine]
        left.plot(size, step, "o-", color=colour, label=label)
        exact = 1e6 * np.array([row["exact_seconds"] for row in mine]) / size
        right.plot(size, exact, "o-", color=colour, label=label)
    left.set(ylabel="nanoseconds", title="One iteration of descent")
    right.set(ylabel="microseconds", title="Exact answer, whole call")
    for axes in (left, right):
        axes.set(xlabel="vertices of grids, edges of random graphs", xscale="log")
        axes.set_ylim(bottom=0)
        axes.grid(color="0.9")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes")
    parser.add_argument("--side", type=int, default=4096, help="of the largest grid")
    parser.add_argument("--edges", type=int, default=10**7, help="of the largest graph")
    parser.add_argument("--out", type=Path, default=Path("results/scaling"))
    arguments = parser.parse_args()
    require_solver()
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict] = []
    print(f"{'kind':>12} {'size':>12} {'ns per element, iteration':>26} {'exact, s':>9} {'gap':>8}")
    for kind, size, instance in instances(arguments.quick, arguments.side, arguments.edges):
        row = measure(kind, size, instance)
        rows.append(row)
        print(
            f"{kind:>12} {row['size']:>12} {row['ns_per_element_and_iteration']:>26.1f}"
            f" {row['exact_seconds']:>9.3f} {row['exact_relative_gap']:>8.0e}",
            flush=True,
        )
        with (arguments.out / "scaling.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(rows)
    plot(rows, arguments.out / "scaling.png")


if __name__ == "__main__":
    main()
