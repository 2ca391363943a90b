"""The problem: a graph, a data term and a penalty, and the values of its two objectives.

    min_u G(u) + F(Ku)  =  max_p -G*(-Kᵀp) - F*(p),    K = diag(ω)∇

Every u gives an upper bound of the minimum, and every p a lower bound. The gap between the bounds
is a certificate of their accuracy.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded, as_floats
from graphtv.graph.graph import Graph, as_graph
from graphtv.normal_form import NormalForm, normal_form
from graphtv.terms import DataTerm, Penalty, TotalVariation
from graphtv.terms._arrays import rows_of, to_core
from graphtv.terms.base import Traits, traits_of
from graphtv.terms.custom import core_term_of, on_grid
from graphtv.terms.penalty import core_penalty_of

__all__ = ["Problem", "relative_gap"]

_TOTAL_VARIATION = TotalVariation()


Slope = tuple[Floats, Floats]
"""-Kᵀp, and bounds on the rounding errors of its entries."""


class Proof(NamedTuple):
    """Both objectives at (u, p), their gap, and bounds on the rounding errors.

    The exact objectives differ from these by at most `rounding`. The exact gap is at most gap +
    gap_rounding. It is a sum of local terms and not the difference of the objectives.
    """

    primal: float
    dual: float
    gap: float
    rounding: float
    gap_rounding: float

    @property
    def relative_gap(self) -> float:
        """The computed gap divided by max(|primal|, |dual|); 0 if the gap is 0."""
        return _quotient(self.gap, max(abs(self.primal), abs(self.dual)))

    @property
    def proved_gap(self) -> float:
        """An upper bound of the exact relative gap."""
        largest = max(abs(self.primal), abs(self.dual))
        if self.rounding == 0.0 or largest == 0.0:
            return _quotient(self.gap + self.gap_rounding, largest)
        return _quotient(self.gap + self.gap_rounding, max(largest - self.rounding, 0.0))


class Problem:
    """Minimise G(u) + F(Ku) on a graph.

    Parameters
    ----------
    graph : Graph
        The graph, with n vertices and m edges.
    data : DataTerm
        The data term G, such as `SquaredLoss`, or a custom object (see `DataTerm`). Its signal
        has one row per vertex. On a `grid_graph` it may have the grid's shape instead, with an axis
        of channels at its end if there are any; then u has that shape too.
    penalty : Penalty, optional
        The penalty F: `TotalVariation`, `HuberTV`, or a custom object (see `Penalty`).

    Examples
    --------
    >>> from graphtv import SquaredLoss, grid_graph
    >>> problem = Problem(grid_graph((4,)), SquaredLoss([0.0, 0.0, 3.0, 3.0]))
    >>> problem.primal([0.5, 0.5, 2.5, 2.5]), problem.dual([-0.5, -1.0, -0.5])
    (2.5, 2.5)
    >>> Problem(grid_graph((2, 3)), SquaredLoss([[0.0, 0.0, 3.0], [0.0, 0.0, 3.0]])).shape
    (2, 3)
    """

    def __init__(self, graph: Graph, data: DataTerm, penalty: Penalty = _TOTAL_VARIATION) -> None:
        self._graph = as_graph(graph)
        if not _has_methods(data, "value", "conjugate", "prox"):
            raise ValueError(
                f"data must be a data term with value, conjugate and prox, got {data!r}"
            )
        if not _has_methods(penalty, "value", "conjugate", "prox_conjugate"):
            raise ValueError(
                "penalty must be a penalty such as TotalVariation() or HuberTV(delta), with value,"
                f" conjugate and prox_conjugate, got {penalty!r}"
            )
        self._given, self._penalty = data, penalty
        self._data, self._shape = on_grid(data, self._graph)
        self._core_penalty = core_penalty_of(penalty, self._graph, self.dual_shape)
        self._delta = self._core_penalty.delta
        self._term = core_term_of(self._data, graph, self._core_penalty)

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    @property
    def data(self) -> DataTerm:
        """The data term G, with one row per vertex."""
        return self._data

    @property
    def penalty(self) -> Penalty:
        """The penalty F."""
        return self._penalty

    @property
    def traits(self) -> Traits:
        """What methods ask about the data term."""
        return traits_of(self._data)

    @property
    def term(self) -> _core.DataTerm:
        """The core's data term; its arrays hold channel after channel."""
        return self._term

    @property
    def core_penalty(self) -> _core.Penalty:
        """The core's penalty; its arrays hold channel after channel."""
        return self._core_penalty

    @property
    def delta(self) -> float | None:
        """Width δ if the penalty is a sum of Huber functions over edges; 0 for total variation.

        None for other penalties: then only PDHG over edges applies.
        """
        return self._delta

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of u: (n,) or (n, C), or that of the data if its first axes are a grid's."""
        return self._shape

    @property
    def dual_shape(self) -> tuple[int, ...]:
        """Shape of p, (m,) or (m, C)."""
        return (self._graph.n_edges, *rows_of(self._shape)[1:])

    def primal(self, u: Any) -> float:
        """Return G(u) + F(Ku)."""
        given = to_core(self._check(u, "u", self.shape))
        if not self._form.is_exact(given):
            return self._primal(given)
        return self._form.objective(self._normal._primal(self._form.point(given)))

    def dual(self, p: Any) -> float:
        """Return -G*(-Kᵀp) - F*(p); -∞ if some |p_e| > 1."""
        given = to_core(self._check(p, "p", self.dual_shape))
        return self._form.objective(self._normal._dual(given))

    def gap(self, u: Any, p: Any) -> float:
        """Return primal(u) - dual(p), which is at least 0 and bounds the suboptimality of u.

        It is computed as a sum of nonnegative terms, one per vertex and edge. So it is accurate
        even if the two objectives agree in all digits.
        """
        is_normal, proof = self._proof(u, p)
        return self._form.objective(proof.gap) if is_normal else proof.gap

    def relative_gap(self, u: Any, p: Any) -> float:
        """Return the gap divided by max(|primal|, |dual|); 0 if both are 0."""
        return self._proof(u, p)[1].relative_gap

    def _proof(self, u: Any, p: Any) -> tuple[bool, Proof]:
        """Return whether the normal form can certify a pair, and the proof."""
        point = to_core(self._check(u, "u", self.shape))
        dual = to_core(self._check(p, "p", self.dual_shape))
        if not self._form.is_exact(point):
            return False, self._prove(point, dual)
        return True, self._normal._prove(self._form.point(point), dual)

    @cached_property
    def _form(self) -> NormalForm:
        """The normal form, in which solvers work."""
        return normal_form(self._graph, self._data, self._penalty)

    @cached_property
    def _normal(self) -> Problem:
        """The problem in normal form, usually this problem itself."""
        form = self._form
        if form.data is self._data:
            return self
        normal = Problem(form.graph, form.data, form.penalty)
        normal._shape = self._shape
        return normal

    def _slope(self, p: Floats | Rounded, n_threads: int = 1) -> Slope:
        """Return -Kᵀp and bounds on its errors; p is the core's flat array and may be rounded."""
        graph, size = self._graph, math.prod(self._shape)
        s, errors = np.empty((2, size))
        _core.slope(graph.n_vertices, graph.edges, graph.weights, p, s, errors, n_threads)
        return s, errors

    def _prove(
        self, u: Floats, p: Floats | Rounded, n_threads: int = 1, slope: Slope | None = None
    ) -> Proof:
        """Return the proof of the core's flat arrays; p may be rounded, and its slope given."""
        slope = slope or self._slope(p, n_threads)
        graph, penalty = self._graph, self._core_penalty
        return Proof(
            *_core.certify(self._term, graph.edges, graph.weights, penalty, u, p, *slope, n_threads)
        )

    def _primal(self, u: Floats, n_threads: int = 1) -> float:
        """Return the primal objective at the core's flat array."""
        graph = self._graph
        return self._term.value(u, n_threads) + self._core_penalty.value(
            graph.n_vertices, graph.edges, graph.weights, u, n_threads
        )

    def _dual(self, p: Floats | Rounded, n_threads: int = 1) -> float:
        """Return the dual objective at the core's flat array, which may be rounded."""
        graph = self._graph
        penalty = self._core_penalty.conjugate(p, n_threads)
        if penalty == np.inf:
            return -np.inf
        s = np.empty(math.prod(self._shape))
        _core.adjoint(graph.n_vertices, graph.edges, graph.weights, p, -1.0, s, n_threads)
        return 0.0 - self._term.conjugate(s, n_threads) - penalty

    def _check(self, values: Any, name: str, shape: tuple[int, ...]) -> Floats:
        array = as_floats(values, name)
        if array.shape not in (shape, rows_of(shape)):
            raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
        return array.reshape(rows_of(shape))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._graph, self._given, self._penalty)

    def __repr__(self) -> str:
        return f"Problem({self._graph!r}, {self._given!r}, {self._penalty!r})"


def _has_methods(value: object, *names: str) -> bool:
    """Whether an object, not a class, has these methods; a protocol would take far longer."""
    return not isinstance(value, type) and all(hasattr(value, name) for name in names)


def _quotient(gap: float, largest: float) -> float:
    """Return gap / largest; 0 if the gap is 0, infinite if the quotient is undefined."""
    if gap == 0.0:
        return 0.0
    return gap / largest if 0.0 < largest < np.inf and gap < np.inf else np.inf


def width(problem: Problem) -> float:
    """Return δ of a penalty that is a sum of Huber functions over edges; forests need one."""
    if problem.delta is None:
        raise ValueError(
            "penalty must be TotalVariation() or HuberTV(delta) for forests,"
            f" got {problem.penalty!r}"
        )
    return problem.delta


def relative_gap(primal: float, dual: float) -> float:
    """Return (primal - dual) / max(|primal|, |dual|), at least 0; 0 when both values are 0.

    It is infinite if one of the values is infinite.
    """
    if not np.isfinite(primal) or not np.isfinite(dual):
        return np.inf
    largest = max(abs(primal), abs(dual))
    return max(primal - dual, 0.0) / largest if largest > 0 else 0.0
