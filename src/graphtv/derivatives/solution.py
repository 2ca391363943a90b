r"""Derivatives of the exact solution with respect to the data and the weights.

A solution is constant on its pieces: connected sets of vertices with equal values. Small changes of
the data keep the pieces and the signs of the jumps between them. So the value m of a piece A solves

    Σ_{i∈A} G_i'(m) + Σ_{e=(i,j), i∈A, j∉A} ω_e sign(u_i - u_j) = 0,

and the implicit function theorem gives its derivative. For the squared loss the solution is an
average over the piece, and so is the derivative (S. Vaiter, C. Deledalle, J. Fadili, G. Peyré,
C. Dossal, "The degrees of freedom of partly smooth regularizers", 2017; for the fused lasso
R. J. Tibshirani and J. Taylor, "The solution path of the generalized lasso", 2011).

With g the derivative of a scalar with respect to u, let v_i = Σ_A g / Σ_A G'' on the piece A of i.
Then the derivative of the scalar is -v_i ∂G_i'/∂θ with respect to a parameter θ of G_i, and
-sign(u_i - u_j) (v_i - v_j) with respect to ω_e. It is 0 for edges within a piece.

At a tie, where an arbitrarily small change splits a piece, the derivative is not unique. This
module never splits a piece. It uses the element of the generalised Jacobian in which all neighbours
of equal value move together. This is a limit of derivatives at points without ties: if p is
slightly reduced within the pieces, the pieces are the same, with |p| < 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats, Indices, moderate
from graphtv.applications.fused.degrees_of_freedom import fused_components
from graphtv.derivatives.reduced import reduced_adjoint
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.terms.weighted_loss import WeightedLoss

__all__ = ["SolutionGradient", "solution_vjp"]


class SolutionGradient(NamedTuple):
    """The derivative of a scalar with respect to the data and the weights of a problem.

    Attributes
    ----------
    signal : ndarray
        With respect to the data f, of the shape of u. It is 0 for the labels of `LogisticLoss`,
        and where there is no data.
    vertex_weights : ndarray
        With respect to the weights c of the data, one per entry of u; 0 where there is no data. If
        several entries share a weight, sum over these entries.
    edge_weights : ndarray, shape (m,)
        With respect to the weights ω of the graph.

    Examples
    --------
    >>> from graphtv import Graph, Problem, SquaredLoss, solve
    >>> problem = Problem(Graph(2, [[0, 1]], 0.5), SquaredLoss([0.0, 4.0]))
    >>> signal, vertex_weights, edge_weights = solution_vjp(problem, solve(problem, tol=0), [1, 0])
    >>> signal, vertex_weights, edge_weights
    (array([1., 0.]), array([-0.5,  0. ]), array([1.]))
    """

    signal: Floats
    vertex_weights: Floats
    edge_weights: Floats


def solution_vjp(problem: Problem, result: Result, cotangent: Any) -> SolutionGradient:
    """Return the derivative of a function of the solution with respect to data and weights.

    This is the product of a vector and the Jacobian of the solution (vector-Jacobian product). If
    ``loss(u)`` is a function of the solution, and `cotangent` is its derivative with respect to u,
    the result is its derivative with respect to the signal, the vertex weights and the edge
    weights. For `TotalVariation` the cost is O(n + m) per channel. For other penalties a sparse
    linear system is solved, with one unknown per piece.

    Parameters
    ----------
    problem : Problem
        With a smooth loss: `SquaredLoss`, `HuberLoss`, `LogisticLoss` or `PoissonLoss`. The
        penalty is `TotalVariation`, `HuberTV`, `CoupledTV` or `IsotropicTV`.
    result : Result
        The solution of the problem, from ``solve(problem, tol=0)``. With a larger `tol`, pieces
        that the certificate cannot tell apart count as one.
    cotangent : array_like of the shape of u
        The derivative of a scalar with respect to u.

    Returns
    -------
    SolutionGradient
        A named tuple: signal, vertex_weights, edge_weights. The first two have the labels of the
        data, if it has any.

    Notes
    -----
    Where a small change would split a piece, the solution has no unique derivative. The result is
    then the element of the generalised Jacobian that keeps the pieces as they are. The derivative
    is 0 for a piece without data, whose value need not be unique. It is also 0 for a piece on which
    the loss is linear, such as the linear part of the Huber loss. With `HuberTV`, an edge whose
    difference is exactly δ counts as linear.

    Examples
    --------
    >>> from graphtv import Graph, Problem, SquaredLoss, solve
    >>> problem = Problem(Graph(3, [[0, 1], [1, 2]], 0.5), SquaredLoss([1.0, 0.0, 5.0]))
    >>> result = solve(problem, tol=0)
    >>> result.u
    array([0.75, 0.75, 4.5 ])
    >>> gradient = solution_vjp(problem, result, [1.0, 0.0, 0.0])
    >>> gradient.signal, gradient.edge_weights
    (array([0.5, 0.5, 0. ]), array([0. , 0.5]))
    """
    u = _check(problem, result)
    g = moderate(problem.point(cotangent, "cotangent"), "cotangent")
    gradient = solution_gradient(problem, u, pieces_of(problem, replace(result, u=u)), g)
    shape = problem.shape
    return SolutionGradient(
        problem.labelled(gradient.signal.reshape(shape)),
        problem.labelled(gradient.vertex_weights.reshape(shape)),
        gradient.edge_weights,
    )


def pieces_of(problem: Problem, result: Result) -> NDArray[np.int32] | None:
    """Return the pieces of a solution, of shape (n, C); None if the penalty has curvature."""
    if problem.delta != 0.0:
        return None
    return fused_components(problem.graph, result).reshape(problem.graph.n_vertices, -1)


def solution_gradient(
    problem: Problem, u: Floats, pieces: NDArray[np.int32] | None, cotangent: Floats
) -> SolutionGradient:
    """Return the derivative for arrays with one row per vertex; `pieces` as from `pieces_of`."""
    loss, graph = as_smooth_loss(problem), problem.graph
    columns = (graph.n_vertices, -1)
    at, g = u.reshape(columns), cotangent.reshape(columns)
    curvature = loss.second_derivative(u).reshape(columns)
    if pieces is not None:
        v = adjoint_state(pieces, g, curvature)
        of_edges = edge_gradient(graph.edges, pieces, at, v).sum(axis=1)
    else:
        penalty: Any = problem.penalty
        groups = penalty.entry_groups(graph, problem.dual_shape)
        v, of_edges = reduced_adjoint(graph, at, g, curvature, groups, penalty.delta)
    v = v.reshape(loss.shape)
    slope = loss.derivative(u) / np.where(loss.weights > 0.0, loss.weights, 1.0)
    return SolutionGradient(-loss.mixed_derivative(u) * v, -slope * v, of_edges)


def adjoint_state(pieces: NDArray[np.integer[Any]], cotangent: Floats, curvature: Floats) -> Floats:
    """Return v: the sum of the cotangent over each piece divided by the sum of the curvature.

    All arrays have shape (n, C), with the pieces 0, 1, … in each column.
    """
    n, n_channels = pieces.shape
    bins = (pieces + n * np.arange(n_channels, dtype=np.int64)).ravel()
    pull, stiffness = (np.bincount(bins, values.ravel()) for values in (cotangent, curvature))
    with np.errstate(over="ignore"):  # if the cotangent is huge
        v = np.divide(pull, stiffness, out=np.zeros_like(pull), where=stiffness > 0.0)
    return np.asarray(v[bins].reshape(n, n_channels))


def edge_gradient(edges: Indices, pieces: NDArray[np.integer[Any]], u: Floats, v: Floats) -> Floats:
    """Return -sign(u_i - u_j) (v_i - v_j) for edges between pieces, by edge and channel."""
    tails, heads = edges.T
    jumps = np.where(pieces[tails] == pieces[heads], 0.0, np.sign(u[heads] - u[tails]))
    return np.asarray(jumps * (v[tails] - v[heads]))


def as_smooth_loss(problem: Problem) -> WeightedLoss:
    """Return the loss of a problem if its solution has a derivative."""
    if not hasattr(problem.penalty, "entry_groups"):
        raise ValueError(
            "problem must have a penalty of graphtv, such as TotalVariation() or HuberTV(delta),"
            f" got {problem.penalty!r}"
        )
    loss = problem.data
    if not isinstance(loss, WeightedLoss) or not loss.traits.is_smooth:
        raise ValueError(f"problem must have a smooth loss, got {loss!r}")
    return loss


def _check(problem: Any, result: Any) -> Floats:
    """Return the solution as an array with one row per vertex, if it has a derivative."""
    if not isinstance(problem, Problem):
        raise ValueError(f"problem must be a graphtv.Problem, got {problem!r}")
    as_smooth_loss(problem)
    if not isinstance(result, Result):
        raise ValueError(f"result must be a Result of the problem, got {result!r}")
    return problem.point(result.u, "result.u")
