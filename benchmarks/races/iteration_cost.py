"""The cost of an iteration of descent, from the difference of two iteration limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import graphtv
from graphtv import Graph, Result
from graphtv._validate import Floats


def solve(graph: Graph, signal: Floats, **options: Any) -> Result:
    """Return the result for the squared loss."""
    return graphtv.solve(graphtv.Problem(graph, graphtv.SquaredLoss(signal)), **options)


def seconds_per_iteration(
    graph: Graph,
    signal: Floats,
    *,
    few: int = 10,
    many: int = 40,
    turns: int = 3,
    clock: Callable[[], float] = time.process_time,
    **options: Any,
) -> float:
    """Return the seconds of an iteration of descent.

    The difference of two runs excludes decomposition, layout and certificate.
    """
    best = dict.fromkeys((few, many), np.inf)
    done = dict.fromkeys((few, many), 0)
    for _ in range(turns):
        for limit in best:
            start = clock()
            result = solve(
                graph, signal, method="descent", tol=1e-15, max_iterations=limit, **options
            )
            best[limit] = min(best[limit], clock() - start)
            done[limit] = result.iterations
    return float(best[many] - best[few]) / max(done[many] - done[few], 1)
