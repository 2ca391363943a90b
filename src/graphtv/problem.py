"""The problem: a graph, a data term and a penalty, and the values of its two objectives.

    min_u G(u) + F(Ku)  =  max_p -G*(-Kᵀp) - F*(p),    K = diag(ω)∇

Every u gives an upper bound of the minimum, and every p a lower bound. The gap between the bounds
is a certificate of their accuracy. With an operator A, bounds of u or sparsity, the problem is

    min_u h(Au) + R(u) + F(Ku)  =  max_{p, q} -h*(q) - R*(-Aᵀq - Kᵀp) - F*(p),

with h for the data and R for bounds and sparsity. The folder `objective` computes these
values and proves them.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from graphtv import _core
from graphtv._validate import Floats, Indices, as_floats, is_partitioned
from graphtv.graph.graph import Graph, as_graph
from graphtv.graph.labelled import (
    Labelling,
    Places,
    aligned,
    array_of,
    in_order,
    in_own_order,
    is_labelled,
)
from graphtv.normal_form import NormalForm, normal_form
from graphtv.objective.composite_objective import CompositeObjective
from graphtv.objective.graph_objective import GraphObjective
from graphtv.objective.proof import Proof
from graphtv.operators.constraint import Constraint
from graphtv.operators.misfit import Misfit
from graphtv.terms import DataTerm, Penalty, TotalVariation
from graphtv.terms._arrays import GridShape, rows_of, to_core
from graphtv.terms.custom import core_term_of, on_grid
from graphtv.terms.penalty import core_penalty_of
from graphtv.terms.traits import Traits, traits_of

__all__ = ["Problem"]

_TOTAL_VARIATION = TotalVariation()


class Problem:
    """Minimise G(u) + F(Ku) on a graph.

    Parameters
    ----------
    graph : Graph or PartitionedGraph
        The graph, with n vertices and m edges. On a graph in parts, the data term is a
        `SquaredLoss`, and the penalty `TotalVariation` or `HuberTV`.
    data : DataTerm
        The data term G, such as `SquaredLoss`, or a custom object (see `DataTerm`). Its signal
        has one row per vertex. On a `grid_graph` it may have the grid's shape instead, with an axis
        of channels at its end if there are any; then u has that shape too.
    penalty : Penalty, optional
        The penalty F: `TotalVariation`, `HuberTV`, or a custom object (see `Penalty`).
    operator : matrix or linear operator, shape (N, n), optional
        The operator A of a problem h(Au) + F(Ku): a dense or sparse matrix, or an object with
        `shape`, `matvec` and `rmatvec`, such as `scipy.sparse.linalg.LinearOperator` or an operator
        of PyLops. The data are then a loss h with N rows: `SquaredLoss`, `AbsoluteLoss`,
        `QuantileLoss`, `HuberLoss`, `LogisticLoss` or `PoissonLoss`. With C channels of data, A is
        applied to every channel of u.
    lower, upper : float or array_like, optional
        Bounds of u: one number, one per vertex or one per entry.
    sparsity : float or array_like, optional
        The factor μ ≥ 0 of an additional term Σ μ |u_i|: one number, or one per vertex with the
        same number on every connected component.

    Examples
    --------
    >>> from graphtv import SquaredLoss, grid_graph
    >>> problem = Problem(grid_graph((4,)), SquaredLoss([0.0, 0.0, 3.0, 3.0]))
    >>> problem.primal([0.5, 0.5, 2.5, 2.5]), problem.dual([-0.5, -1.0, -0.5])
    (2.5, 2.5)
    >>> Problem(grid_graph((2, 3)), SquaredLoss([[0.0, 0.0, 3.0], [0.0, 0.0, 3.0]])).shape
    (2, 3)
    """

    def __new__(
        cls,
        graph: Any = None,
        data: Any = None,
        penalty: Any = _TOTAL_VARIATION,
        operator: Any = None,
        **further: Any,
    ) -> Any:
        """Return a new problem; on a graph in parts, one that `solve` solves part by part."""
        if not is_partitioned(graph):
            return super().__new__(cls)
        if operator is not None or further:
            names = ", ".join(["operator"] if operator is not None else further)
            raise ValueError(f"{names} must not be given on a graph in parts, got {graph!r}")
        return graph.problem(data, penalty)

    def __init__(
        self,
        graph: Graph,
        data: DataTerm,
        penalty: Penalty = _TOTAL_VARIATION,
        operator: Any = None,
        *,
        lower: Any = None,
        upper: Any = None,
        sparsity: Any = 0.0,
    ) -> None:
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
        self._given, self._penalty, self._operator = data, penalty, operator
        self._misfit: Misfit | None = None
        has_sparsity = not (isinstance(sparsity, int | float) and sparsity == 0.0)
        self._labelling = None if operator is not None else getattr(data, "labelling", None)
        self._places: Places | None = None
        if operator is None and lower is None and upper is None and not has_sparsity:
            self._data, self._shape, self._places = on_grid(data, self._graph)
        else:
            self._compose(data, operator, lower, upper, sparsity)
        self._core_penalty = core_penalty_of(penalty, self._graph, self.dual_shape)
        self._delta = self._core_penalty.delta
        self._objective = self._made_objective()

    def _compose(self, data: Any, operator: Any, lower: Any, upper: Any, sparsity: Any) -> None:
        """Set up a problem with an operator or a constraint."""
        n, shape = self._graph.n_vertices, None
        if operator is None:
            data, shape, self._places = on_grid(data, self._graph)
            operator = scipy.sparse.eye_array(n, format="csr")
        self._misfit = Misfit(self._graph, data, operator)
        self._data, self._shape = data, self._misfit.shape if shape is None else shape
        low, high = (_as_rows(bound, self._shape) for bound in (lower, upper))
        self._constraint = Constraint(self._misfit.shape, low, high, sparsity)
        if np.ndim(sparsity):
            _check_components(np.asarray(sparsity), self._misfit.components[1])

    def _made_objective(self) -> GraphObjective | CompositeObjective:
        graph, penalty = self._graph, self._core_penalty
        if self._misfit is not None:
            return CompositeObjective(graph, self._misfit, self._constraint, penalty)
        term = core_term_of(self._data, graph, penalty)
        return GraphObjective(graph, term, penalty, math.prod(self._shape))

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
    def labelling(self) -> Labelling | None:
        """The labels of the data, None if it has none."""
        return self._labelling

    @property
    def traits(self) -> Traits:
        """What methods ask about the data term."""
        return traits_of(self._data)

    @property
    def term(self) -> _core.DataTerm:
        """The core's data term; its arrays hold channel after channel.

        For a problem with an operator, it is the constraint R on the range of a solution.
        """
        return self._objective.term

    @property
    def operator(self) -> Any:
        """The operator A as given, or None."""
        return self._operator

    @property
    def misfit(self) -> Misfit | None:
        """The misfit h(Au) of a problem with an operator or a constraint, otherwise None."""
        return self._misfit

    @property
    def constraint(self) -> Constraint:
        """The constraint R of such a problem."""
        return self._constraint

    @property
    def objective(self) -> GraphObjective | CompositeObjective:
        """The primal and the dual objective on the core's flat arrays."""
        return self._objective

    @property
    def composite(self) -> CompositeObjective:
        """The objectives of a problem with an operator or a constraint."""
        assert isinstance(self._objective, CompositeObjective)
        return self._objective

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

    @property
    def dual_size(self) -> int:
        """Number of entries of the flat dual point: those of p, and of q if there is one."""
        size = math.prod(self.dual_shape)
        return size if self._misfit is None else size + self._misfit.size

    def primal(self, u: Any) -> float:
        """Return G(u) + F(Ku), or h(Au) + R(u) + F(Ku)."""
        given = to_core(self.point(u))
        if not self._form.is_exact(given):
            return self.objective.primal(given)
        return self._form.objective(self._normal.objective.primal(self._form.point(given)))

    def dual(self, p: Any, q: Any = None) -> float:
        """Return -G*(-Kᵀp) - F*(p); -∞ if some |p_e| > 1.

        With an operator it is -h*(q) - R*(-Aᵀq - Kᵀp) - F*(p), where R* is the supremum over an
        interval that contains a solution.
        """
        return self._form.objective(self._normal.objective.dual(self._dual_point(p, q)))

    def gap(self, u: Any, p: Any, q: Any = None) -> float:
        """Return primal(u) - dual(p, q), which is at least 0 and bounds the suboptimality of u.

        It is computed as a sum of nonnegative terms, one per vertex and edge. So it is accurate
        even if the two objectives agree in all digits.
        """
        is_normal, proof = self._proof(u, p, q)
        return self._form.objective(proof.gap) if is_normal else proof.gap

    def relative_gap(self, u: Any, p: Any, q: Any = None) -> float:
        """Return the gap divided by max(|primal|, |dual|); 0 if both are 0."""
        return self._proof(u, p, q)[1].relative_gap

    def _dual_point(self, p: Any, q: Any) -> Floats:
        """Return the flat dual point; q is needed if there is an operator."""
        flat = to_core(self._check(p, "p", self.dual_shape))
        if self._misfit is None:
            if q is not None:
                raise ValueError("q must be None for a problem without an operator")
            return flat
        if q is None:
            raise ValueError("q must be given for a problem with an operator or a constraint")
        rows = as_floats(q, "q")
        if rows.shape != self._misfit.loss.shape:
            raise ValueError(f"q must have shape {self._misfit.loss.shape}, got {rows.shape}")
        return np.concatenate([flat, to_core(rows)])

    def _proof(self, u: Any, p: Any, q: Any = None) -> tuple[bool, Proof]:
        """Return whether the normal form can certify a pair, and the proof."""
        point = to_core(self.point(u))
        dual = self._dual_point(p, q)
        if not self._form.is_exact(point):
            return False, self.objective.prove(point, dual)
        return True, self._normal.objective.prove(self._form.point(point), dual)

    @cached_property
    def _form(self) -> NormalForm:
        """The normal form, in which solvers work."""
        if self._misfit is not None:
            return NormalForm(self._graph, self._data, self._penalty)
        return normal_form(self._graph, self._data, self._penalty)

    @cached_property
    def _normal(self) -> Problem:
        """The problem in normal form, usually this problem itself."""
        form = self._form
        if form.data is self._data:
            return self
        return self._like(form.graph, form.data, form.penalty)

    def _like(self, graph: Graph, data: DataTerm, penalty: Penalty | None = None) -> Problem:
        """Return a problem for another representation of the same u, with the same labels."""
        other = Problem(graph, data, self._penalty if penalty is None else penalty)
        other._shape = self._shape
        other._labelling, other._places = self._labelling, self._places
        return other

    def labelled(self, u: Floats) -> Any:
        """Return u, which has the shape of the problem, with the labels of the data if any."""
        if self._labelling is None:
            return u
        return self._labelling.restored(in_own_order(u, self._places))

    def point(self, u: Any, name: str = "u") -> Floats:
        """Return u, which may have labels, as an array with one row per vertex."""
        return self._check(self._in_order(u, name), name, self.shape)

    def _in_order(self, u: Any, name: str) -> Any:
        if not is_labelled(u):
            return u
        if self._labelling is None:
            is_on_grid = isinstance(self._shape, GridShape)
            return array_of(u, name) if is_on_grid else in_order(u, name, self._graph)
        array = aligned(u, name, self._labelling, "data")
        return array if self._places is None else array[self._places]

    def _check(self, values: Any, name: str, shape: tuple[int, ...]) -> Floats:
        array = as_floats(values, name)
        if array.shape not in (shape, rows_of(shape)):
            raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
        return array.reshape(rows_of(shape))

    def __reduce__(self) -> tuple[Any, ...]:
        if self._misfit is None:
            return type(self), (self._graph, self._given, self._penalty)
        given = self._constraint.given
        return _remade, (self._graph, self._given, self._penalty, self._operator, given)

    def __repr__(self) -> str:
        parts = [repr(self._graph), repr(self._given), repr(self._penalty)]
        if self._misfit is not None:
            if self._operator is not None:
                parts.append(f"operator of shape {self._misfit.map.shape}")
            parts += [part for part in [self._constraint.describe()] if part]
        return f"Problem({', '.join(parts)})"


def _remade(graph: Graph, data: DataTerm, penalty: Penalty, operator: Any, given: Any) -> Problem:
    """Return an equal problem, after unpickling."""
    lower, upper, sparsity = given
    return Problem(graph, data, penalty, operator, lower=lower, upper=upper, sparsity=sparsity)


def _check_components(sparsity: Floats, component: Indices) -> None:
    """Raise unless sparsity is one number on every component."""
    first = np.unique(component, return_index=True)[1]
    wrong = sparsity != sparsity[first][component]
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            "sparsity must be the same at all vertices of a connected component, got"
            f" {sparsity[i]:g} at {i} and {sparsity[first][component][i]:g} at"
            f" {first[component[i]]}"
        )


def _as_rows(bound: Any, shape: tuple[int, ...]) -> Any:
    """Return a bound of the shape of a grid with one row per vertex."""
    given = np.asarray(bound) if bound is not None else None
    if given is not None and given.shape == shape and shape != rows_of(shape):
        return given.reshape(rows_of(shape))
    return bound


def _has_methods(value: object, *names: str) -> bool:
    """Whether an object, not a class, has these methods; a protocol would take far longer."""
    return not isinstance(value, type) and all(hasattr(value, name) for name in names)


def width(problem: Problem) -> float:
    """Return δ of a penalty that is a sum of Huber functions over edges; forests need one."""
    if problem.delta is None:
        raise ValueError(
            "penalty must be TotalVariation() or HuberTV(delta) for forests,"
            f" got {problem.penalty!r}"
        )
    return problem.delta
