"""Facts about a request, for the strategy. Only this module looks at terms and penalties."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphtv import _core
from graphtv._validate import as_choice
from graphtv.graph.grid import row_major_shape
from graphtv.operators.data_step import has_few_rows
from graphtv.operators.misfit import Misfit
from graphtv.problem import Problem
from graphtv.solver.column_metric import column_metric
from graphtv.solver.group_descent import group_kernel
from graphtv.solver.options import PDHG
from graphtv.solver.trivial import good_constants
from graphtv.solver.tuning import TUNING
from graphtv.solver.tv_step import can_scale, has_steps
from graphtv.terms._arrays import from_core, rows_of
from graphtv.terms.location import LocationLoss
from graphtv.terms.traits import Box, as_box, as_quadratic
from graphtv.terms.weighted_loss import WeightedLoss

METHODS = ("auto", "pdhg", "descent", "exact")


@dataclass(frozen=True)
class Facts:
    """The properties of a problem and of a request that decisions depend on.

    Attributes
    ----------
    data, penalty : str
        The names of the data term and of the penalty in messages.
    n_vertices, n_edges, n_entries : int
        Sizes of the graph and of u.
    is_squared : bool
        Whether the data term is the squared loss.
    is_complete : bool
        Whether every vertex has data, for the squared loss.
    is_box, has_even_box : bool
        Whether the data term is a linear cost on a box, and whether the bounds are the same at all
        vertices.
    is_sloped, is_separable : bool
        Whether max-flow and the polish apply to the data term.
    has_kinks : bool
        Whether such a data term is not differentiable.
    is_vertexwise : bool
        Whether the data term is a sum over the vertices.
    is_curved : bool
        Whether the data term is curved, but not quadratic: Poisson and logistic loss.
    has_closed_prox : bool
        Whether the proximal map of the data term is a formula that costs next to nothing.
    is_tv, is_edgewise : bool
        Whether the penalty is total variation, and whether it is a sum over single edges.
    group_kernel : str
        The kernel of the descent over groups of edges or channels that applies, or "".
    is_grid : bool
        Whether the graph is a grid; known only if the penalty is curved.
    longest_side : int
        The most vertices along an axis of such a grid.
    stiffness : float
        Mean weight of the edges divided by the mean slope of the loss at the best constant. Known
        only if the penalty is curved, otherwise 0.
    condition : float
        ω/√(cδ) for the mean weights of edges and vertices. Known for `HuberTV` with squared loss.
    spread : float
        The largest ratio of two edge weights or two vertex weights. Known only for the squared loss
        with data everywhere and total variation, at low accuracy.
    has_one_weight : bool
        Whether all vertices have the same positive weight. Known only for trees.
    has_operator, has_steps : bool
        Whether the problem has an operator or a constraint, and whether proximal gradient steps
        apply to it.
    has_data_steps : bool
        Whether the proximal map of the misfit of such a problem can be computed, so that ADMM
        applies.
    has_uneven_columns : bool
        Whether such steps are slow because the columns of the operator differ much in size.
    method, preconditioner : str
        The requested method and preconditioner; ``custom`` for a partition given by the user.
    tolerance : float
        The relative gap to prove, 0 for the exact answer.
    start_gap : float
        The relative gap of the warm start; infinite without one.
    """

    data: str = "SquaredLoss"
    penalty: str = "TotalVariation()"
    n_vertices: int = 0
    n_edges: int = 0
    n_entries: int = 0
    is_squared: bool = False
    is_complete: bool = False
    is_box: bool = False
    has_even_box: bool = False
    is_sloped: bool = False
    has_kinks: bool = False
    is_separable: bool = False
    is_vertexwise: bool = True
    has_closed_prox: bool = True
    is_curved: bool = False
    is_tv: bool = True
    is_edgewise: bool = True
    group_kernel: str = ""
    is_grid: bool = False
    longest_side: int = 0
    stiffness: float = 0.0
    condition: float = 0.0
    spread: float = 1.0
    has_one_weight: bool = False
    has_operator: bool = False
    has_steps: bool = False
    has_data_steps: bool = False
    has_uneven_columns: bool = False
    method: str = "auto"
    preconditioner: str = "auto"
    tolerance: float = 1e-6
    start_gap: float = math.inf

    @property
    def is_tree(self) -> bool:
        """Whether a connected graph with this number of edges has no cycle."""
        return self.n_edges < self.n_vertices

    @classmethod
    def of(
        cls,
        problem: Problem,
        method: Any,
        preconditioner: Any,
        tolerance: float,
        start_gap: float = math.inf,
    ) -> Facts:
        """Collect the facts; raise ValueError for an unknown method."""
        request: dict[str, Any] = {
            "method": "pdhg" if isinstance(method, PDHG) else as_choice(method, "method", METHODS),
            "preconditioner": preconditioner if isinstance(preconditioner, str) else "custom",
            "tolerance": tolerance,
            "start_gap": start_gap,
        }
        size: dict[str, Any] = {
            "data": type(problem.data).__name__,
            "penalty": repr(problem.penalty),
            "n_vertices": problem.graph.n_vertices,
            "n_edges": problem.graph.n_edges,
            "n_entries": math.prod(problem.shape),
        }
        if problem.misfit is not None:
            steps = problem.misfit.is_smooth and has_steps(problem)
            uneven = steps and _needs_other_steps(problem, problem.misfit)
            return cls(
                **size,
                **request,
                has_operator=True,
                has_steps=steps,
                has_data_steps=steps and _has_data_steps(problem, problem.misfit),
                has_uneven_columns=uneven,
            )
        return cls(**size, **request, **_structure(problem, tolerance))


def _has_data_steps(problem: Problem, misfit: Misfit) -> bool:
    """Whether the proximal map of the misfit can be computed, and is worth it.

    On forests and with columns of different size, gradient steps are faster (regression).
    """
    if as_quadratic(problem.data) is None or problem.graph.n_edges < problem.graph.n_vertices:
        return False
    if can_scale(problem) and column_metric(misfit, problem.graph.n_edges, TUNING) is not None:
        return False
    return has_few_rows(misfit) or misfit.spectrum is not None


def _needs_other_steps(problem: Problem, misfit: Misfit) -> bool:
    """Whether columns differ too much for steps of one length, and steps may not differ."""
    if can_scale(problem) or not misfit.map.is_matrix:
        return False
    metric = column_metric(misfit, problem.graph.n_edges, TUNING)
    return metric is not None and float(metric.min()) < TUNING.very_uneven_columns


def _structure(problem: Problem, tolerance: float) -> dict[str, Any]:
    """Return what methods ask about the data term, the penalty and the graph."""
    graph, traits, delta, term = problem.graph, problem.traits, problem.delta, problem.term
    squares, box = as_quadratic(problem.data), as_box(problem.data)
    is_tree = graph.n_edges < graph.n_vertices
    is_curved = delta is not None and delta > 0.0
    is_sloped = isinstance(term, _core.SlopedTerm)
    shape = row_major_shape(graph) if is_curved else ()
    has_spread = delta == 0.0 and tolerance >= TUNING.exact_below and not is_tree
    return {
        "is_squared": squares is not None,
        "is_complete": squares is not None and squares.is_complete,
        "is_box": box is not None,
        "has_even_box": box is not None and _has_even_bounds(box),
        "is_sloped": is_sloped,
        "has_kinks": is_sloped and not isinstance(term, _core.SmoothTerm),
        "is_separable": isinstance(term, _core.SeparableTerm),
        "is_vertexwise": traits.is_separable,
        "has_closed_prox": traits.has_closed_prox,
        "is_tv": delta == 0.0,
        "is_edgewise": delta is not None,
        "is_curved": traits.is_curved_in_domain_only,
        "group_kernel": group_kernel(problem),
        "is_grid": len(shape) > 1,
        "longest_side": max(shape, default=0),
        "stiffness": _stiffness(problem) if is_curved else 0.0,
        "condition": _condition(problem) if is_curved else 0.0,
        "spread": _spread(problem, squares) if has_spread else 1.0,
        "has_one_weight": is_tree and _has_one_weight(squares, box),
    }


def _has_one_weight(squares: LocationLoss | None, box: Box | None) -> bool:
    return box is not None or (squares is not None and squares.common_weight is not None)


def _spread(problem: Problem, squares: LocationLoss | None) -> float:
    """Return the largest ratio of two edge weights or two vertex weights."""
    if squares is None or not squares.is_complete:
        return 1.0
    weights = [problem.graph.weights]
    if squares.common_weight is None:
        weights.append(squares.weights)
    with np.errstate(over="ignore"):
        return max(float(w.max() / w.min()) for w in weights)


def _stiffness(problem: Problem) -> float:
    """Return the weight of the edges divided by the slope of the loss; if large, u is flat."""
    u = good_constants(problem)
    if u is None or not isinstance(problem.data, WeightedLoss) or problem.graph.n_edges == 0:
        return 0.0
    slope = float(np.abs(problem.data.derivative(from_core(u, rows_of(problem.shape)))).mean())
    return float(problem.graph.weights.mean()) / slope if slope > 0.0 else math.inf


def _condition(problem: Problem) -> float:
    """Return the approximate root of the curvature of the penalty divided by that of the loss."""
    squares, delta, graph = as_quadratic(problem.data), problem.delta, problem.graph
    if squares is None or not delta or graph.n_edges == 0:
        return 0.0
    c = float(squares.weights.mean())
    return float(graph.weights.mean()) / math.sqrt(c * delta) if c * delta > 0.0 else math.inf


def _has_even_bounds(data: Box) -> bool:
    return all(
        bound.size == 0 or bool((bound == bound.flat[0]).all())
        for bound in (data.lower, data.upper)
    )
