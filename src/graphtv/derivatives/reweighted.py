"""A graph with other edge weights, of which some may be 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv.graph.graph import Graph


def reweighted(graph: Graph, weights: NDArray[Any]) -> tuple[Graph, NDArray[np.bool_]]:
    """Return the graph with other weights, and which edges it keeps: those of positive weight."""
    omega = np.asarray(weights, dtype=np.float64)
    if not np.isfinite(omega).all() or (omega < 0.0).any():
        raise ValueError(
            "weights must be finite and not negative,"
            f" got values between {omega.min()} and {omega.max()}"
        )
    used = omega > 0.0
    edges = graph.edges if used.all() else graph.edges[used]
    return Graph._from_simple(graph.n_vertices, edges, omega[used], graph._grid), used
