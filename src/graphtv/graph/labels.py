"""Names of vertices, and attributes of vertices and edges."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from graphtv._validate import Indices, brief

Name = Hashable
Attributes = Mapping[Any, tuple[Any, ...]]
"""The values of each attribute by its name; None for missing values."""


@dataclass(frozen=True)
class Labels:
    """Names of the vertices, and attributes of vertices and edges.

    Attributes
    ----------
    names : tuple or None
        The distinct names of the vertices, in order. None if the vertices have no names.
    vertices, edges : dict
        Attributes, with one value per vertex or per edge.
    """

    names: tuple[Name, ...] | None = None
    vertices: Attributes = field(default_factory=dict)
    edges: Attributes = field(default_factory=dict)

    @cached_property
    def numbers(self) -> dict[Name, int]:
        """The number of the vertex of each name."""
        return {name: k for k, name in enumerate(self.names or ())}

    def with_edges_at(self, places: Indices) -> Labels:
        """Return the same labels with the attributes of some edges only."""
        kept = {key: tuple(values[k] for k in places) for key, values in self.edges.items()}
        return Labels(self.names, self.vertices, kept)


def as_names(names: Iterable[Name] | None, n_vertices: int) -> tuple[Name, ...] | None:
    """Return `names` as a tuple of distinct names, one per vertex."""
    if names is None:
        return None
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise ValueError(f"names must be a sequence of names, got {brief(names)}")
    # Arrays and indices of pandas become Python's own numbers and strings.
    given = tuple(names.tolist() if hasattr(names, "tolist") else names)
    if len(given) != n_vertices:
        raise ValueError(f"names must have one entry per vertex, {n_vertices}, got {len(given)}")
    check_distinct(given, "names")
    return given


def check_distinct(names: Iterable[Any], argument: str) -> None:
    """Raise if a name occurs twice or cannot be a key of a dictionary."""
    seen = set()
    for name in names:
        try:
            is_new = name not in seen
        except TypeError:
            raise ValueError(f"{argument} must be hashable, got {brief(name)}") from None
        if not is_new:
            raise ValueError(f"{argument} must be distinct, got {brief(name)} twice")
        seen.add(name)


def first_places(given: Indices, kept: Indices, n_vertices: int) -> Indices:
    """Return the row of `given` where each edge of `kept` occurs first, in either orientation."""
    keys, wanted = (_keys(edges, n_vertices) for edges in (given, kept))
    distinct, places = np.unique(keys, return_index=True)
    return np.asarray(places[np.searchsorted(distinct, wanted)])


def _keys(edges: Indices, n_vertices: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    low, high = np.sort(edges, axis=1).astype(np.int64).T
    return np.asarray(low * n_vertices + high)
