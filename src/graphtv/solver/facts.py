"""What the strategy knows of a request: the only place where it looks at terms and penalties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphtv import _core
from graphtv._validate import as_choice
from graphtv.problem import Problem
from graphtv.solver.options import PDHG
from graphtv.terms.base import Box, as_box, as_quadratic

METHODS = ("auto", "pdhg", "descent", "exact")


@dataclass(frozen=True)
class Facts:
    """A problem and what is asked for, reduced to what decisions depend on.

    Attributes
    ----------
    data, penalty : str
        What messages call the data term and the penalty.
    n_vertices, n_edges, n_entries : int
        Sizes of the graph and of u.
    is_squared : bool
        Whether the data term is the squared loss.
    is_complete : bool
        Whether every vertex has data, for the squared loss.
    is_box, has_even_box : bool
        Whether it is a linear cost on a box, with the same bounds at all vertices.
    is_smooth, is_separable : bool
        Whether max-flow and the polish can take the data term.
    is_vertexwise : bool
        Whether the data term is a sum over the vertices.
    is_tv, is_edgewise : bool
        Whether the penalty is total variation, and whether it is a sum over edges as this is.
    has_one_weight : bool
        Whether all vertices have the same positive weight; known only for trees.
    method, preconditioner : str
        What is asked for; ``custom`` for a partition of the user's own.
    tolerance : float
        The relative gap to prove, 0 for the exact answer.
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
    is_smooth: bool = False
    is_separable: bool = False
    is_vertexwise: bool = True
    is_tv: bool = True
    is_edgewise: bool = True
    has_one_weight: bool = False
    method: str = "auto"
    preconditioner: str = "auto"
    tolerance: float = 1e-6

    @property
    def is_tree(self) -> bool:
        """Whether there are too few edges for a cycle in a connected graph."""
        return self.n_edges < self.n_vertices

    @classmethod
    def of(cls, problem: Problem, method: Any, preconditioner: Any, tolerance: float) -> Facts:
        """Collect the facts; raise if there is no such method."""
        asked = "pdhg" if isinstance(method, PDHG) else as_choice(method, "method", METHODS)
        data, graph = problem.data, problem.graph
        squares, box = as_quadratic(data), as_box(data)
        is_tree = graph.n_edges < graph.n_vertices
        return cls(
            data=type(data).__name__,
            penalty=repr(problem.penalty),
            n_vertices=graph.n_vertices,
            n_edges=graph.n_edges,
            n_entries=problem.term.n_vertices * problem.term.n_channels,
            is_squared=squares is not None,
            is_complete=squares is not None and squares.is_complete,
            is_box=box is not None,
            has_even_box=box is not None and _has_even_bounds(box),
            is_smooth=isinstance(problem.term, _core.SmoothTerm),
            is_separable=isinstance(problem.term, _core.SeparableTerm),
            is_vertexwise=problem.traits.is_separable,
            is_tv=problem.delta == 0.0,
            is_edgewise=problem.delta is not None,
            has_one_weight=is_tree
            and (box is not None or (squares is not None and squares.common_weight is not None)),
            method=asked,
            preconditioner=preconditioner if isinstance(preconditioner, str) else "custom",
            tolerance=tolerance,
        )


def _has_even_bounds(data: Box) -> bool:
    return all(
        bound.size == 0 or bool((bound == bound.flat[0]).all())
        for bound in (data.lower, data.upper)
    )
