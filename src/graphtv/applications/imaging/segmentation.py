"""Segmentation into several classes: the multiclass total variation of the paper's Section 5.2.

    min_u Σ_i ⟨ρ_i, u_i⟩ + ε Σ_ic u_ic log u_ic + Σ_(i,j) ω_ij |u_i - u_j|₁

over points u_i of the unit simplex, on any graph. With `coupled`, the norm of u_i - u_j is the
Euclidean one. `segment_image` is the same on the pixels of an image.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphtv._ties import largest_classes
from graphtv._validate import Floats, as_flag, as_observations
from graphtv.applications.keywords import check_keywords
from graphtv.graph.graph import Graph, as_graph
from graphtv.graph.labelled import array_of, in_order, labelling_of, with_labels
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.terms import CoupledTV, EntropicSimplex, TotalVariation

__all__ = ["Segmentation", "segment"]

Labels = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation(Result):
    """The result of `segment`: a `Result` whose `u` has a probability per vertex and class.

    Examples
    --------
    >>> from graphtv import grid_graph
    >>> result = segment(grid_graph((4,), 0.1), [[0, 1], [0, 1], [1, 0], [1, 0]], epsilon=0.5)
    >>> result.u.argmax(axis=1).tolist()
    [0, 0, 1, 1]
    """

    @property
    def labels(self) -> Labels:
        """The most probable class of each vertex; the first one if several are equal.

        It has the labels of the costs. The classes of a DataFrame are its columns, otherwise
        numbers.
        """
        labelling = labelling_of(self.u)
        if labelling is None:
            return largest_classes(self.u)
        return cast(Labels, labelling.chosen(largest_classes(array_of(self.u, "u"))))


def segment(
    graph: Graph,
    cost: Any,
    *,
    epsilon: float = 1.0,
    coupled: bool = False,
    **solve_options: Any,
) -> Segmentation:
    """Assign the vertices of a graph to classes, given the cost of each class at each vertex.

    Minimises Σ_i ⟨cost_i, u_i⟩ + ε Σ_ic u_ic log u_ic + Σ_(i,j) ω_ij |u_i - u_j|₁ over points u_i
    of the unit simplex. The solution prefers classes of low cost and short borders.

    Parameters
    ----------
    graph : Graph
        The graph with n vertices. Larger weights give fewer and smoother regions.
    cost : array_like of shape (n, C), pandas, xarray or dict
        The cost of each class at each vertex, usually a negative log-likelihood. Labels are matched
        with the names of the graph, as in `fused_lasso`, and the result has them. Adding a number
        to all costs of a vertex does not change the solution. NaN in all classes of a vertex means
        that nothing is known there.
    epsilon : float, optional
        The weight ε > 0 of the entropy. With ε = 1, negative log-likelihoods as costs and no edges,
        u is the posterior probability. Smaller values give harder assignments.
    coupled : bool, optional
        Penalise the Euclidean norm ω_ij ‖u_i - u_j‖ instead of the sum over classes (`CoupledTV`).
        A border between two classes then costs √2 ω_ij instead of 2 ω_ij.
    **solve_options
        Passed on to `graphtv.solve`: ``tol``, ``warm_start``, ``time_limit``, …

    Returns
    -------
    Segmentation
        A `Result` with `u` of shape (n, C) and `labels` of shape (n,), in 0…C-1.

    See Also
    --------
    segment_image : Images with scribbles.

    Examples
    --------
    >>> from graphtv import grid_graph, segment
    >>> cost = [[0.0, 4.0], [0.0, 4.0], [3.0, 0.0], [0.0, 4.0], [4.0, 0.0], [4.0, 0.0]]
    >>> segment(grid_graph((6,), 0.1), cost).labels
    array([0, 0, 1, 0, 1, 1])
    >>> segment(grid_graph((6,), 2.0), cost).labels
    array([0, 0, 0, 0, 1, 1])
    """
    check_keywords(segment, solve_options)
    term = EntropicSimplex(_known_costs(in_order(cost, "cost", as_graph(graph))), epsilon)
    if term.shape[0] != graph.n_vertices:
        raise ValueError(
            f"cost must have a row for each of the {graph.n_vertices} vertices of graph,"
            f" got shape {term.shape}"
        )
    penalty = CoupledTV() if as_flag(coupled, "coupled") else TotalVariation()
    result = solve(Problem(graph, term, penalty), **solve_options)
    parts = {field.name: getattr(result, field.name) for field in fields(result)}
    return Segmentation(**{**parts, "u": with_labels(result.u, cost, "cost", graph)})


def _known_costs(cost: Any) -> Floats:
    """Return costs with 0 in all classes of vertices where nothing is known."""
    costs, known = as_observations(cost, "cost")
    if known is None:
        return costs
    rows = known.reshape(len(known), -1)
    partly = rows.any(axis=1) & ~rows.all(axis=1)
    if partly.any():
        raise ValueError(
            "cost must be a number in all classes of a vertex or in none, got NaN in some of row"
            f" {int(np.argmax(partly))}"
        )
    return costs
