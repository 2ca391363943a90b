"""The metric of proximal gradient steps, which makes up for columns of different size.

Steps of one length 1/L suit the largest column of A, and the coefficient of a column that is 1000
times smaller would need 10⁶ times as many of them. So each entry of u has its own step, 1/(L d_j),
where d_j is the curvature of h(Au) along that entry. This is the scaling of the columns to the same
length, which is within a factor n of the best (van der Sluis, "Condition numbers and equilibration
of matrices", 1969). Only the steps change, and not the problem.
"""

from __future__ import annotations

import numpy as np

from graphtv._validate import Floats
from graphtv.operators.misfit import Misfit
from graphtv.solver.tuning import Tuning

SMALLEST = 1e-12
"""Smallest entry of a metric relative to the largest, on forests."""

SMALLEST_ON_CYCLES = 1e-4
"""The same on other graphs, where the proximal map takes more iterations if entries differ more."""


def column_metric(misfit: Misfit, n_edges: int, tuning: Tuning) -> Floats | None:
    """Return d with one number per entry of u; None if columns are alike or not known.

    The number of edges tells whether the graph is a forest.
    """
    rows = misfit.row_curvatures.reshape(misfit.n_channels, -1)
    with np.errstate(over="ignore"):
        parts = [misfit.map.column_squares(row) for row in rows]
    known = [part for part in parts if part is not None]
    if not known:
        return None
    d = np.concatenate(known)
    there = d > 0.0
    largest = float(d.max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return None
    # A column of zeros permits any step. A usual one keeps the proximal map easy to compute.
    d = np.where(there, d, np.median(d[there])) / largest
    is_forest = n_edges == misfit.shape[0] - misfit.components[0]
    d = np.maximum(d, SMALLEST if is_forest else SMALLEST_ON_CYCLES)
    return d if float(d.min()) < tuning.uneven_columns else None
