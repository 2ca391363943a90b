"""graphtv's exact total variation on a batch of chains, the rows of the task's image.

Like prox_tv, it is called in the core, with all arrays allocated and checked beforehand. *warm*
solves the same chains again after a change of a thousandth, from the pieces of the last solution.
"""

from __future__ import annotations

import itertools

import numpy as np

from .task import Answer, Entrant, Task

PACKAGES = ("graphtv",)


def enter(task: Task) -> list[Entrant]:
    """Return the kernels for one weight, a weight per edge, and a warm start."""
    from graphtv import _core

    x, weight, threads = task.image, task.weight, task.n_threads
    n_chains, n = x.shape
    uniform = np.full((1, 1), weight)
    per_edge = np.full((n_chains, n - 1), weight)
    u = np.empty_like(x)
    vertices = np.arange(x.size, dtype=np.int32).reshape(x.shape)
    edges = np.stack([vertices[:, :-1].ravel(), vertices[:, 1:].ravel()], axis=1)
    forest = _core.ForestTV(x.size, edges, per_edge.ravel(), 0.0, np.empty(0))
    change = 1e-3 * np.random.default_rng(0).standard_normal(x.shape)
    # Ends with the signal of the task, so that every second solution can be checked.
    signals = itertools.cycle([(x + change).ravel(), x.ravel()])

    def cold(weights: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Answer:
        _core.tv_chain(x, weights, weight, u, threads)
        return Answer(u)

    def warm(_: int) -> Answer:
        forest.solve(next(signals), u.ravel(), warm=True, n_threads=threads)
        return Answer(u)

    return [
        Entrant("graphtv", "uniform", lambda _: cold(uniform), threads=threads),
        Entrant("graphtv", "weighted", lambda _: cold(per_edge), threads=threads),
        Entrant("graphtv", "warm", warm, threads=threads),
    ]
