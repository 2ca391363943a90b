"""The normal form of a problem: centred data of moderate size, for which rounding is harmless.

For losses of u - f, a common offset of the data adds the same offset to the solution, but every sum
loses its last digits. Numbers of size 1e-200 are representable, but their squares are not.
Therefore solvers work on v with

    u = centre + 2ᵃ v,    objective = 2ᵇ × objective of v,

The data of v are exact. Division by a power of two is exact. The centre is one of the data, so f -
centre is exact if all data of a channel have the same sign and max |f| ≤ 2 min |f| (Sterbenz's
lemma). This holds for large offsets, and small ones are not subtracted. The dual variable p is the
same.

Exponents are multiples of 64. A problem of ordinary size is its own normal form, and nothing is
copied. In all other normal forms, numbers lie between 2⁻³² and 2³². Solvers compare only numbers of
the same unit and take no root of an odd power of the unit. So other powers of two change no bit
either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphtv._validate import Floats, Indices
from graphtv.graph.components import connected_components
from graphtv.graph.graph import Graph
from graphtv.terms import DataTerm, Penalty
from graphtv.terms._units import (
    NO_UNITS,
    RADIX,
    InexactError,
    Units,
    exactly_scaled,
    largest,
    scaled,
)
from graphtv.terms.core_term import CoreTerm
from graphtv.terms.traits import as_location

OFFSET = 16.0
"""An offset is subtracted if it is at least this many times the range of the data."""

FAR = 256.0
"""Components have their own centres if data exceed all differences of neighbours so much."""

CHUNK = 1 << 18
"""Number of edges processed at a time."""


@dataclass(frozen=True, eq=False)
class NormalForm:
    """A graph, data and a penalty in normal form, and the conversion between u and v.

    Attributes
    ----------
    graph, data, penalty
        The problem for v.
    centre : ndarray or None
        The centre of every channel, shape (C, 1), or of every entry, shape (C, n); None means 0.
    units : Units
        The exponents a and b.
    order : ndarray or None
        The vertex of u for each vertex of v, if a solver has numbered them in another way.
    """

    graph: Graph
    data: DataTerm
    penalty: Penalty
    centre: Floats | None = None
    units: Units = NO_UNITS
    order: Indices | None = None

    def point(self, u: Floats) -> Floats:
        """Return v for u, both as the core's flat arrays."""
        centred = u if self.centre is None else (self._rows(u) - self.centre).reshape(-1)
        v: Floats = scaled(centred, -self.units.point)
        return v

    def restore(self, v: Floats) -> Floats:
        """Return u for v, rounded."""
        u: Floats = scaled(v if self.order is None else put_back(v, self.order), self.units.point)
        return u if self.centre is None else (self._rows(u) + self.centre).reshape(-1)

    def is_exact(self, u: Floats) -> bool:
        """Whether v is exact for this u, so that a proof for v also holds for u."""
        if self.centre is None:
            return True
        given = self._rows(u)
        v = given - self.centre
        back = given - v  # Knuth's TwoSum of u and -centre
        return bool(((back == self.centre) & (v + back == given)).all())

    def _rows(self, flat: Floats) -> Floats:
        """Return one row per channel."""
        assert self.centre is not None
        return flat.reshape(len(self.centre), -1)

    def objective(self, value: float) -> float:
        """Return the objective at u, given that at v. It may overflow or underflow."""
        return scaled_number(value, self.units.objective)

    def record(self, record: Any) -> Any:
        """Return a record of the history in the units of u."""
        if self.units.objective == 0:
            return record
        return record._replace(
            primal=self.objective(record.primal), dual=self.objective(record.dual)
        )

    def length(self, value: float) -> float:
        """Return the distance between two points u, given that between the points v."""
        return scaled_number(value, self.units.point)


def put_back(values: Floats, order: Indices) -> Floats:
    """Return values that are in another order, channel after channel, in the original order."""
    rows = values.reshape(-1, len(order))
    found = np.empty(rows.shape)
    found[:, order] = rows
    return found.reshape(-1)


def normal_form(graph: Graph, data: DataTerm, penalty: Penalty) -> NormalForm:
    """Return the normal form of a problem, which may be the problem itself."""
    plain = NormalForm(graph, data, penalty)
    rescale = getattr(penalty, "in_units", None)
    if rescale is None or not isinstance(data, CoreTerm):
        return plain
    centre = centre_of(graph, data)
    units = data.units(graph, centre, RADIX)
    if centre is None and units == NO_UNITS:
        return plain
    try:
        scaled_data, scaled_penalty = data.in_units(units, centre), rescale(units)
        return NormalForm(_rescaled(graph, units), scaled_data, scaled_penalty, centre, units)
    except InexactError:
        return plain


def scaled_number(value: float, exponent: int) -> float:
    """Return value × 2^exponent, or infinity if that is too large."""
    return value if exponent == 0 else float(scaled(np.float64(value), exponent))


def centre_of(graph: Graph, data: DataTerm) -> Floats | None:
    """Return the centres of a loss of u - f, per channel, or per vertex if components differ."""
    loss = as_location(data)
    if loss is None or loss.signal.size == 0:
        return None
    columns = loss.signal.reshape(loss.shape[0], -1)
    known = None if loss.is_complete else loss.observed.reshape(columns.shape)
    ends = np.array([_range(columns, known, c) for c in range(columns.shape[1])])
    centre = nearest_data(ends[:, 0], ends[:, 1])
    if not centre.all() and _is_far_from_itself(graph, columns, known):
        centre = _centres_of_components(graph, columns, known)
    if not centre.any():
        return None
    return centre.reshape(len(centre), 1) if centre.ndim == 1 else centre.T


def _range(columns: Floats, known: Any, channel: int) -> tuple[Any, Any]:
    """Return the smallest and the largest datum of a channel, or 0 without data."""
    column = columns[:, channel]
    column = column if known is None else column[known[:, channel]]
    return (column.min(), column.max()) if column.size else (0.0, 0.0)


def nearest_data(low: Floats, high: Floats) -> Floats:
    """Return the data nearest to 0 where all others are close to it, so differences are exact.

    The data of each group lie between `low` and `high`. The answer is 0 for groups without data,
    with equal data, or with data that are not close.
    """
    nearest = np.where(low > 0.0, low, np.where(high < 0.0, high, 0.0))
    with np.errstate(over="ignore"):
        width = high - low
    is_far = (nearest != 0.0) & (width > 0.0) & (width <= np.abs(nearest) / OFFSET)
    return np.where(is_far, nearest, 0.0)


def _is_far_from_itself(graph: Graph, columns: Floats, known: Any) -> bool:
    """Whether all neighbours are much closer to each other than to 0.

    Otherwise the objective has the size of the data, and components need no centres.
    """
    greatest = largest(columns if known is None else columns[known])
    first = 0
    while first < graph.n_edges:  # the first few edges usually decide
        last = 100 if first == 0 else first + CHUNK
        tail, head = graph.edges[first:last].T
        first = last
        with np.errstate(over="ignore"):
            differences = np.abs(columns[tail] - columns[head])
        if known is not None:
            differences = differences[known[tail] & known[head]]
        if differences.max(initial=0.0) >= greatest / FAR:
            return False
    return greatest > 0.0


def _centres_of_components(graph: Graph, columns: Floats, known: Any) -> Floats:
    """Return the centre of every entry, from the data of its component and channel."""
    n_components, component = connected_components(graph)
    centres = np.zeros(columns.shape)
    for channel in range(columns.shape[1]):
        column, label = columns[:, channel], component
        if known is not None:
            column, label = column[known[:, channel]], component[known[:, channel]]
        low, high = np.full(n_components, np.inf), np.full(n_components, -np.inf)
        np.minimum.at(low, label, column)
        np.maximum.at(high, label, column)
        centres[:, channel] = nearest_data(low, high)[component]
    return centres


def _rescaled(graph: Graph, units: Units) -> Graph:
    """Return the graph with its weights in units of the objective per unit of u."""
    a, b = units
    if a == b:
        return graph
    weights = exactly_scaled(graph.weights, a - b)
    return Graph._from_simple(graph.n_vertices, graph.edges, weights, graph._grid)
