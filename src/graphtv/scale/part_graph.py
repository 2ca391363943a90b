"""The edges of one part of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats, Indices


@dataclass(frozen=True, eq=False)
class PartGraph:
    """The edges of a part.

    Attributes
    ----------
    edges, weights : ndarray, shapes (m, 2) and (m,)
        The inner edges between vertices 0, …, n - 1 of the part.
    near, far, crossing : ndarray, shape (b,)
        The ends of the edges across its border, in this part and in the other one, and their
        weights.
    starts : ndarray, shape (k + 1,)
        Where the edges to each of its k neighbours begin. Both parts have their edges in the same
        order.
    signs : ndarray, shape (k,)
        1 if the edges to the neighbour lead out of the part, -1 if into it.
    """

    edges: Indices
    weights: Floats
    near: Indices
    far: Indices
    crossing: Floats
    starts: NDArray[np.int64]
    signs: NDArray[np.int64]
