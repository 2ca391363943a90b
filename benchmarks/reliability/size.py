"""Size: an image of 8192² pixels and 10⁷ random edges, within the documented memory.

Each solve runs in a separate process, whose peak memory is compared with the documentation. The
certificate is recomputed in pieces, with sums of long doubles. The small cases come first, for the
short version.
"""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))
from graphtv import Graph, Problem, Result, SquaredLoss, gallery, grid_graph, solve
from process_memory import in_child, peak, reset_peak
from reliability.harness import Figures, Property
from reliability.verifier import EPSILON

SHAPES: tuple[Any, ...] = ((1000, 1000), (250_000, 1_000_000), (8192, 8192), (2_000_000, 10**7))
"""An image's height and width, or a random graph's vertices and edges, by number."""

TOLERANCE = 1e-3
PER_VERTEX, PER_EDGE = 14, 5
"""Doubles of a solve beyond its input, including the points stored for Ctrl-C."""

INPUT_PER_VERTEX, INPUT_PER_EDGE = 2, 2
"""Doubles of the signal with its weights, and of the graph."""

PIECE = 1 << 22


def check(seed: int, number: int) -> Figures:
    """Solve one problem in a separate process and compare its peak with the documented memory."""
    n, m, most, gap = in_child(_solve, seed, number)
    allowed = 8 * ((PER_VERTEX + INPUT_PER_VERTEX) * n + (PER_EDGE + INPUT_PER_EDGE) * m)
    name = f"{n} vertices, {m} edges"
    assert gap is not None, f"{name}: {most}"
    assert most <= allowed, f"{name}: {most / 2**30:.2f} GB, promised {allowed / 2**30:.2f} GB"
    return {
        "largest number of edges": m, "largest peak in GB": most / 2**30,
        "largest part of the promise": most / allowed, "largest relative gap": gap,
    }  # fmt: skip


def _solve(seed: int, number: int, queue: multiprocessing.Queue[Any]) -> None:
    solve(Problem(grid_graph((4, 4)), SquaredLoss(np.arange(16.0))))  # loads libraries
    before = reset_peak()
    graph, signal = _instance(seed, number)
    reset_peak()  # the temporary arrays are freed from here on
    problem = Problem(graph, SquaredLoss(signal))
    result = solve(problem, tol=TOLERANCE)
    most = peak() - before
    try:
        gap = confirm_squares(graph, signal, result)
        queue.put((graph.n_vertices, graph.n_edges, most, gap))
    except AssertionError as error:
        queue.put((graph.n_vertices, graph.n_edges, str(error), None))


def _instance(seed: int, number: int) -> tuple[Graph, NDArray[np.float64]]:
    rng = np.random.default_rng([seed, number, 7])
    a, b = SHAPES[number % len(SHAPES)]
    if number % 2 == 0:
        steps = np.add.outer(np.arange(a) * 4 // a, np.arange(b) * 3 // b)
        signal = rng.standard_normal((a, b))
        signal *= 0.5
        signal += steps
        return grid_graph((a, b), 0.3), signal.ravel()
    return gallery.erdos_renyi_graph(a, b, number, 0.1), rng.standard_normal(a)


def confirm_squares(graph: Graph, f: NDArray[np.float64], result: Result) -> float:
    """Return the true gap of a squared loss and total variation; raise if the result differs.

    P = ½‖u - f‖² + Σ ω|u_i - u_j|,  D = ½‖f‖² - ½‖f - Kᵀp‖²  for |p| ≤ 1.
    """
    assert result.status == "optimal", f"status {result.status}"
    u, p = result.u, result.p
    primal = dual = size = np.longdouble(0.0)
    pull = np.zeros(graph.n_vertices)
    edges, weights = graph.edges, graph.weights
    for begin in range(0, graph.n_edges, PIECE):
        piece = slice(begin, begin + PIECE)
        (tails, heads), w, q = edges[piece].T, weights[piece], p[piece]
        assert abs(q).max(initial=0.0) <= 1.0, f"|p| is {abs(q).max()!r}"
        primal += (w * abs(u[tails] - u[heads])).sum(dtype=np.longdouble)
        np.add.at(pull, tails, w * q)
        np.subtract.at(pull, heads, w * q)
    for begin in range(0, graph.n_vertices, PIECE):
        piece = slice(begin, begin + PIECE)
        rest = f[piece] - pull[piece]
        primal += 0.5 * ((u[piece] - f[piece]) ** 2).sum(dtype=np.longdouble)
        dual += 0.5 * ((f[piece] - rest) * (f[piece] + rest)).sum(dtype=np.longdouble)
        size += (f[piece] ** 2 + rest**2 + u[piece] ** 2).sum(dtype=np.longdouble)
    slack = 64 * EPSILON * (size + primal)
    told = {"primal": (result.primal, primal), "dual": (result.dual, dual)}
    for name, (claim, truth) in told.items():
        assert abs(claim - truth) <= slack, f"{name} is {claim!r}, truly {truth!r}"
    gap = (primal - dual) / max(abs(primal), abs(dual))
    assert -slack <= primal - dual, f"a negative gap, {primal - dual!r}"
    assert gap <= TOLERANCE, f"optimal, but the gap is {gap:.3g}"
    return float(gap)


PROPERTY = Property("size", "Size", check, cases=4, quick=2, timeout=3600.0)
