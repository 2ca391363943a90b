"""Neighbours among geometries: pairs of areas that touch.

The rules are those of spatial statistics, named after the moves of chess pieces. Queen: two areas
are neighbours if they share a point. Rook: they share a part of their boundary of positive length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtv._validate import Indices, as_choice, brief, first_index

RULES = ("queen", "rook")


def contiguous_pairs(geometries: Any, rule: str) -> tuple[Indices, int]:
    """Return the pairs (i, j), i < j, of neighbours among shapely geometries, and their number.

    Areas that overlap are neighbours under both rules.
    """
    shapely = _import_shapely()
    chosen = as_choice(rule, "rule", RULES)
    try:
        shapes = np.asarray(geometries, dtype=object)
    except ValueError:
        shapes = np.array(None)
    if shapes.ndim != 1:
        raise ValueError(f"geometries must be a sequence of geometries, got {brief(geometries)}")
    wrong = ~shapely.is_geometry(shapes)
    if wrong.any():
        value = shapes[first_index(wrong)]
        raise ValueError(f"geometries must hold shapely geometries, got {brief(value)}")
    tails, heads = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    upper = tails < heads
    tails, heads = tails[upper], heads[upper]
    if chosen == "rook":
        shared = shapely.intersection(shapes[tails], shapes[heads])
        borders = shapely.get_dimensions(shared) >= 1
        tails, heads = tails[borders], heads[borders]
    order = np.lexsort((heads, tails))
    return np.stack([tails[order], heads[order]], axis=1).astype(np.int32), len(shapes)


def _import_shapely() -> Any:
    try:
        import shapely
    except ImportError as error:
        message = 'shapely is not installed: pip install "graphtv[geo]"'
        raise ImportError(message) from error
    return shapely
