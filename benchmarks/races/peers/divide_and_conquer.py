"""Exact total variation by parametric minimum cuts, with the max flow of PyMaxflow.

Divide and conquer over the values (Hochbaum 2001; Chambolle and Darbon 2009): if a group of
vertices has the mean m, the minimum cut of Σ_{i∈S} (m - f_i) + ω(∂S) is {u > m}. If no S is better
than the empty set, the group has the value m. Otherwise it is split in two, and the weights of the
saturated edges between the parts are added to the signal. All groups of a level share one max flow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .task import Answer, Entrant, Floats, Task, imported

PACKAGES = ("PyMaxflow",)


def parametric_cuts(task: Task, maxflow: Any) -> Floats:
    """Return the minimiser."""
    (tail, head), weights = task.edges.T.astype(np.int64), task.weights
    f = task.signal.copy()
    u = np.empty_like(f)
    group = np.zeros(len(f), dtype=np.int64)
    alive = np.arange(len(f))
    # A cut must gain more than rounding errors, or groups of equal values would be split.
    tolerance = 1e-13 * max(np.abs(f).max(initial=0), weights.max(initial=0))
    while len(alive):
        _, group = np.unique(group, return_inverse=True)
        sizes = np.bincount(group)
        mean = np.bincount(group, f[alive]) / sizes
        pull = f[alive] - mean[group]
        network = maxflow.GraphFloat(len(alive), len(tail))
        nodes = network.add_nodes(len(alive))
        network.add_edges(tail, head, weights, weights)
        network.add_grid_tedges(nodes, np.maximum(pull, 0), np.maximum(-pull, 0))
        network.maxflow()
        above = ~network.get_grid_segments(nodes)
        crossing = above[tail] != above[head]
        gain = np.bincount(group, pull * above)
        gain -= np.bincount(group[tail], weights * crossing, minlength=len(gain))
        above &= (gain > tolerance * sizes)[group]
        u[alive] = mean[group]

        # Cut edges move into the signal; groups without a cut are final.
        crossing = above[tail] != above[head]
        sign = np.where(above[tail], 1.0, -1.0)[crossing] * weights[crossing]
        np.subtract.at(f, alive[tail[crossing]], sign)
        np.add.at(f, alive[head[crossing]], sign)
        divided = np.bincount(group, above) > 0
        stays = divided[group]
        inner = stays[tail] & ~crossing
        number = np.cumsum(stays) - 1
        tail, head, weights = number[tail[inner]], number[head[inner]], weights[inner]
        group, alive = (2 * group + above)[stays], alive[stays]
    return u


def enter(task: Task) -> list[Entrant]:
    """Return the one entrant, for any graph."""
    maxflow = imported("maxflow")

    return [
        Entrant(
            "PyMaxflow, divide and conquer", "", lambda _: Answer(parametric_cuts(task, maxflow))
        )
    ]
