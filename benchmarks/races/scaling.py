"""Cost against size: grids from 128² to 4096², random graphs of 10⁴ to 10⁷ edges.

For each size: the cost of an iteration of descent, and that of the whole call for the exact
solution. One thread is measured by processor time, several threads by wall-clock time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from graphtv.gallery import piecewise_constant_image
from races.iteration_cost import seconds_per_iteration, solve
from races.problems import Instance, grid, random_graph
from races.tables import Table, seconds

Counts = tuple[int, ...]
SIZES: dict[bool, tuple[Counts, Counts]] = {
    False: ((128, 256, 512, 1024, 2048, 4096), (10**4, 10**5, 10**6, 10**7)),
    True: ((16, 32), (300, 900)),
}
"""Sides of grids and numbers of edges, and those of a quick run."""
LARGE = 2_000_000
"""Sizes from this number of elements on have a single turn."""
COLUMNS = (
    "kind",
    "size",
    "vertices",
    "edges",
    "elements",
    "threads",
    "iteration_seconds",
    "exact_seconds",
    "exact_relative_gap",
)


def instances(
    sides: tuple[int, ...], edges: tuple[int, ...]
) -> Iterator[tuple[str, int, Instance]]:
    """Yield the kind, the number of elements (grid vertices or graph edges), and the instance."""
    for side in sides:
        image = piecewise_constant_image((side, side))[0]
        yield "grid", side * side, grid(f"{side}²", image, 0.1)
    for n_edges in edges:
        n = n_edges // 3
        yield "random graph", 3 * n, random_graph(f"{n_edges:.0e} edges", n, 0.3)


def measure_scaling(
    sides: tuple[int, ...],
    edges: tuple[int, ...],
    threads: tuple[int, ...],
    tell: Callable[[str], None],
) -> Iterator[dict[str, Any]]:
    """Yield a row per size and number of threads."""
    for kind, elements, instance in instances(sides, edges):
        for n_threads in threads:
            tell(f"{kind}, {instance.name}, {n_threads} thread(s)")
            yield measure(kind, elements, instance, n_threads)


def measure(kind: str, elements: int, instance: Instance, n_threads: int) -> dict[str, Any]:
    """Return the costs of one size."""
    clock = time.process_time if n_threads == 1 else time.perf_counter
    graph, signal = instance.graph, instance.signal
    turns = 3 if elements < LARGE else 1
    step = seconds_per_iteration(graph, signal, turns=turns, clock=clock, n_threads=n_threads)
    exact = float("inf")
    for _ in range(turns):
        start = clock()
        result = solve(graph, signal, tol=0.0, n_threads=n_threads)
        exact = min(exact, clock() - start)
    row = (kind, instance.name, graph.n_vertices, graph.n_edges, elements, n_threads)
    return dict(zip(COLUMNS, (*row, step, exact, result.relative_gap), strict=True))


def scaling_table(rows: list[dict[str, Any]]) -> Table:
    """Return the costs, and per element."""
    table = Table(
        "Iterations and exact answers",
        ["problem", "threads", "iteration, ns per element", "exact, s", "µs per element", "gap"],
    )
    for row in rows:
        table.rows.append(
            [
                f"{row['kind']}, {row['size']}",
                str(row["threads"]),
                f"{1e9 * row['iteration_seconds'] / row['elements']:.1f}",
                seconds(row["exact_seconds"]),
                f"{1e6 * row['exact_seconds'] / row['elements']:.2f}",
                f"{row['exact_relative_gap']:.0e}",
            ]
        )
    table.caption = "Elements are the vertices of grids and the edges of graphs."
    return table
