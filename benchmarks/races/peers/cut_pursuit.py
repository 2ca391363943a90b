"""pycut-pursuit's `cp_d1_ql1b` (Raguet and Landrieu), for any graph. Its wheel needs numpy < 2.

The ladder is the number of cuts, for three tolerances of the reduced problems. A smaller tolerance
is tried only if a larger one is not sufficient. `cp_prox_tv` would be the natural function to call,
but it frees memory twice for scalar signals. Large components are not split between threads in a
balanced way, because this can give wrong answers.
"""

from __future__ import annotations

import functools

import numpy as np
from scipy import sparse

from .task import Answer, Entrant, Task, imported

PACKAGES = ("pycut-pursuit",)
PEER = "pycut-pursuit"
CUTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 60)
INNER_TOLERANCES = (1e-3, 1e-5, 1e-9)


def enter(task: Task) -> list[Entrant]:
    """Return one entrant per tolerance."""
    cp_d1_ql1b = imported("pycut_pursuit.cp_d1_ql1b").cp_d1_ql1b

    # Each edge once, in the forward star of its lower vertex.
    n, edges = len(task.signal), np.sort(task.edges, axis=1)
    star = sparse.csr_matrix((task.weights, (edges[:, 0], edges[:, 1])), shape=(n, n))
    first_edge = star.indptr.astype(np.uint32)
    adjacent = star.indices.astype(np.uint32)

    def run(tolerance: float, cuts: int) -> Answer:
        component, values = cp_d1_ql1b(
            task.signal,
            1.0,
            first_edge,
            adjacent,
            edge_weights=star.data,
            cp_it_max=cuts,
            cp_dif_tol=0.0,
            pfdr_dif_tol=tolerance,
            verbose=0,
            max_num_threads=task.n_threads,
            balance_parallel_split=False,
        )[:2]
        return Answer(values.ravel()[component])

    names = [f"inner tolerance {tolerance:g}" for tolerance in INNER_TOLERANCES]
    return [
        Entrant(PEER, name, functools.partial(run, inner), CUTS, coarser, task.n_threads)
        for name, inner, coarser in zip(names, INNER_TOLERANCES, ["", *names[:-1]], strict=True)
    ]
