"""The normal form of a problem: centred data of moderate size, where rounding does no harm.

For losses of u - f, a common offset of the data only adds to the solution; yet it costs every sum
its last digits. And numbers of 1e-200 are fine, but their squares are not. So solvers work on v,

    u = centre + 2ᵃ v,    objective = 2ᵇ × objective of v,

where the data of v are exact: dividing by powers of two is, and so is f - centre, where all data of
a channel have one sign and max |f| ≤ 2 min |f| (Sterbenz), since the centre is one of them. That
holds for large offsets, which are those that matter. The dual variable p is the same.

Exponents are multiples of 64. Problems of ordinary size are their own normal form and nothing is
copied; others have numbers between 2⁻³² and 2³² in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graphtv._validate import Floats
from graphtv.graph.components import connected_components
from graphtv.graph.graph import Graph
from graphtv.terms import (
    AbsoluteLoss,
    DataTerm,
    EntropicSimplex,
    HuberLoss,
    HuberTV,
    LinearBox,
    LogisticLoss,
    Penalty,
    PoissonLoss,
    SquaredLoss,
    TotalVariation,
)

RADIX = 64
"""Exponents of units are multiples of this."""

LARGEST_EXPONENT = 960
"""The exponents of units are at most this, so that units are numbers."""

OFFSET = 16.0
"""An offset of so many times the range of the data is worth being taken away."""

FAR = 256.0
"""An offset of so many times the largest difference of neighbours is worth being taken away."""

CHUNK = 1 << 18
"""Edges to deal with in one go."""

Scalable = (
    SquaredLoss
    | AbsoluteLoss
    | HuberLoss
    | LogisticLoss
    | PoissonLoss
    | LinearBox
    | EntropicSimplex
)


class Units(NamedTuple):
    """Exponents of two: the unit of u, and that of the objective."""

    point: int
    objective: int


NO_UNITS = Units(0, 0)


@dataclass(frozen=True, eq=False)
class NormalForm:
    """A graph, data and a penalty in normal form, and the way back.

    Attributes
    ----------
    graph, data, penalty
        The problem for v.
    centre : ndarray or None
        The centre of every channel, shape (C, 1), or entry, shape (C, n); None where it is 0.
    units : Units
        The exponents a and b.
    """

    graph: Graph
    data: DataTerm
    penalty: Penalty
    centre: Floats | None = None
    units: Units = NO_UNITS

    def point(self, u: Floats) -> Floats:
        """Return v of u, both as the core's flat arrays."""
        centred = u if self.centre is None else (self._rows(u) - self.centre).reshape(-1)
        v: Floats = _scaled(centred, -self.units.point)
        return v

    def restore(self, v: Floats) -> Floats:
        """Return u of v, rounded."""
        u: Floats = _scaled(v, self.units.point)
        return u if self.centre is None else (self._rows(u) + self.centre).reshape(-1)

    def is_exact(self, u: Floats) -> bool:
        """Whether v of u is exact, so that what is known of v is known of u."""
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
        """Return the objective at u from that at v; it may overflow, or underflow."""
        return scaled_number(value, self.units.objective)

    def record(self, record: Any) -> Any:
        """Return a line of the history in the units of u."""
        if self.units.objective == 0:
            return record
        return record._replace(
            primal=self.objective(record.primal), dual=self.objective(record.dual)
        )

    def length(self, value: float) -> float:
        """Return a distance between points u from that between points v."""
        return scaled_number(value, self.units.point)


def normal_form(graph: Graph, data: DataTerm, penalty: Penalty) -> NormalForm:
    """Return the normal form of a problem, which may be the problem itself."""
    plain = NormalForm(graph, data, penalty)
    if not (isinstance(data, Scalable) and isinstance(penalty, TotalVariation | HuberTV)):
        return plain
    centre = centre_of(graph, data)
    units = _units(graph, data, centre)
    if centre is None and units == NO_UNITS:
        return plain
    try:
        return _transformed(graph, data, penalty, centre, units)
    except _InexactError:
        return plain


def scaled_number(value: float, exponent: int) -> float:
    """Return value × 2^exponent, infinite if that is too large."""
    return value if exponent == 0 else float(_scaled(np.float64(value), exponent))


class _InexactError(Exception):
    """Some number is too small or too large in the units of the others."""


def centre_of(graph: Graph, data: DataTerm) -> Floats | None:
    """Return the centres of a loss of u - f, per channel, or per vertex if components differ."""
    if not isinstance(data, SquaredLoss | AbsoluteLoss | HuberLoss) or data.signal.size == 0:
        return None
    columns = data.signal.reshape(data.shape[0], -1)
    known = None if data.is_complete else (data.weights > 0.0).reshape(columns.shape)
    centre = np.array([_centre(*_range(columns, known, c)) for c in range(columns.shape[1])])
    if not centre.all() and _is_far_from_itself(graph, columns, known):
        centre = _centres_of_components(graph, columns, known)
    if not centre.any():
        return None
    return centre.reshape(len(centre), 1) if centre.ndim == 1 else centre.T


def _range(columns: Floats, known: Any, channel: int) -> tuple[Any, Any]:
    """Return the least and the greatest datum of a channel; 0 if there is none."""
    column = columns[:, channel]
    column = column if known is None else column[known[:, channel]]
    return (column.min(), column.max()) if column.size else (0.0, 0.0)


def _centre(low: Any, high: Any) -> Any:
    """Return the datum next to 0 if the others are close to it, so that differences are exact."""
    nearest = low if low > 0.0 else high if high < 0.0 else 0.0
    is_far = nearest != 0.0 and 0.0 < high - low <= abs(nearest) / OFFSET
    return nearest if is_far else 0.0


def _is_far_from_itself(graph: Graph, columns: Floats, known: Any) -> bool:
    """Whether all neighbours are much closer to each other than to 0.

    If not, the objective is of the size of the data, and needs no centre of a component.
    """
    largest = _largest(columns if known is None else columns[known])
    first = 0
    while first < graph.n_edges:  # as a rule the first few tell
        last = 100 if first == 0 else first + CHUNK
        tail, head = graph.edges[first:last].T
        first = last
        with np.errstate(over="ignore"):
            differences = np.abs(columns[tail] - columns[head])
        if known is not None:
            differences = differences[known[tail] & known[head]]
        if differences.max(initial=0.0) >= largest / FAR:
            return False
    return largest > 0.0


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
        centre = np.array([_centre(*ends) for ends in zip(low, high, strict=True)])
        centres[:, channel] = np.where(np.isfinite(centre), centre, 0.0)[component]
    return centres


def _units(graph: Graph, data: Scalable, centre: Floats | None) -> Units:
    """Return the units in which data, and the weights of vertices, are of moderate size."""
    if isinstance(data, EntropicSimplex):
        return Units(0, _exponent(max(_largest(data.cost), data.epsilon)))
    if isinstance(data, LinearBox):
        point = _exponent(max(_largest(data._lower), _largest(data._upper)))
        return Units(point, point + _exponent(_largest(data.cost) or _largest(graph.weights)))
    weight = _exponent(_largest(data._given_weights))
    if isinstance(data, LogisticLoss):
        return Units(0, weight)
    values = _centred(data._data, centre)
    if not data.is_complete:
        values = values[data.weights > 0.0]
    point = _exponent(_largest(values))
    power = 1 if isinstance(data, AbsoluteLoss | PoissonLoss) else 2
    return Units(point, power * point + weight)


def _centred(values: Floats, centre: Floats | None) -> Floats:
    """Return data less their centres."""
    if centre is None:
        return values
    return (values.reshape(len(values), -1) - centre.T).reshape(values.shape)


def _largest(values: Floats) -> float:
    """Return the greatest absolute value."""
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def _exponent(largest: float) -> int:
    """Return the multiple of the radix next to the exponent of a number."""
    if not 0.0 < largest < np.inf:
        return 0
    nearest = RADIX * round(int(np.frexp(largest)[1]) / RADIX)
    return max(-LARGEST_EXPONENT, min(nearest, LARGEST_EXPONENT))


def _scaled(values: Any, exponent: int) -> Any:
    """Return values × 2^exponent; in two steps, since the power itself may be no number."""
    if exponent == 0:
        return values
    with np.errstate(over="ignore", under="ignore"):
        half = exponent // 2
        return np.ldexp(np.ldexp(values, half), exponent - half)


def _exactly_scaled(values: Any, exponent: int) -> Any:
    """Return values × 2^exponent, or raise if some are rounded."""
    if exponent == 0:
        return values
    with np.errstate(over="ignore", under="ignore"):
        found = np.ldexp(values, exponent)
        if not (np.isfinite(found).all() and (np.ldexp(found, -exponent) == values).all()):
            raise _InexactError
    return found


def _transformed(
    graph: Graph, data: Scalable, penalty: Penalty, centre: Floats | None, units: Units
) -> NormalForm:
    a, b = units
    weights = _exactly_scaled(graph.weights, a - b)
    scaled_graph = graph
    if a != b:
        scaled_graph = Graph._from_simple(graph.n_vertices, graph.edges, weights, graph._grid)
    if isinstance(penalty, HuberTV):
        penalty = HuberTV(float(_exactly_scaled(penalty.delta, -b)))
    return NormalForm(scaled_graph, _transformed_term(data, centre, units), penalty, centre, units)


def _transformed_term(data: Scalable, centre: Floats | None, units: Units) -> DataTerm:
    a, b = units
    if isinstance(data, EntropicSimplex):
        return EntropicSimplex(
            _exactly_scaled(data.cost, -b), float(_exactly_scaled(data.epsilon, -b))
        )
    if isinstance(data, LinearBox):
        lower, upper = (_exactly_scaled(end, -a) for end in (data._lower, data._upper))
        return LinearBox(_exactly_scaled(data.cost, a - b), lower, upper)
    if isinstance(data, LogisticLoss):
        return LogisticLoss(data.labels, _exactly_scaled(data._given_weights, -b))
    values = _centred(data._data, centre)
    if not data.is_complete:
        values = np.where(data.weights > 0.0, values, 0.0)
    values = _exactly_scaled(values, -a)
    if isinstance(data, AbsoluteLoss):
        return AbsoluteLoss(values, _exactly_scaled(data._given_weights, a - b))
    if isinstance(data, PoissonLoss):
        weights = _exactly_scaled(data._given_weights, a - b)
        return PoissonLoss._in_unit(values, weights, float(np.ldexp(1.0, a)))
    weights = _exactly_scaled(data._given_weights, 2 * a - b)
    if isinstance(data, HuberLoss):
        return HuberLoss(values, float(_exactly_scaled(data.delta, -a)), weights)
    return SquaredLoss(values, weights)
