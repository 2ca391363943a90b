"""The objective of a linear model with coefficients on a graph, for every λ.

    min_{w, b} Σ_i c_i g(y_i, x_iᵀw + b) + λ Σ_e ω_e |w_i - w_j| + μ ‖w‖₁

With the squared loss the best intercept follows from the centred data. With other losses it is an
isolated vertex of the graph, which no penalty touches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from graphtv._validate import Floats
from graphtv.applications.fused.degrees_of_freedom import fused_components
from graphtv.applications.fused.lambda_max import largest_ratio
from graphtv.applications.graph_input import scaled
from graphtv.applications.regression.design import Design
from graphtv.graph.components import connected_components
from graphtv.graph.graph import Graph
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.terms import LogisticLoss, SquaredLoss
from graphtv.terms.weighted_loss import WeightedLoss

__all__ = ["Fit", "LinearModel"]

CONSTANT_TOLERANCE = 1e-6
"""Tolerance of the fit with constants, from which the largest λ of a path is computed."""


class Fit(NamedTuple):
    """The solution for one λ.

    Attributes
    ----------
    coefficients : ndarray, shape (n_features,)
        w.
    intercept : float
        b.
    n_pieces : int
        The number of connected sets of equal coefficients.
    result : Result
        The solution of the problem with the centred matrix, with its certificate.
    """

    coefficients: Floats
    intercept: float
    n_pieces: int
    result: Result


class LinearModel:
    """A loss of a design matrix with a sparsity term; `solve` adds λ.

    Parameters
    ----------
    graph : Graph
        The graph of the features.
    design : Design
        The matrix.
    target : ndarray, shape (n_samples,)
        y; for ``logistic`` it is ±1.
    loss : {'squared', 'logistic'}
        The loss g.
    sparsity : float
        μ.
    fit_intercept : bool
        Whether there is an intercept.
    """

    def __init__(
        self,
        graph: Graph,
        design: Design,
        target: Floats,
        loss: str,
        sparsity: float,
        fit_intercept: bool,
    ) -> None:
        self.graph, self.design, self._sparsity = graph, design, sparsity
        weights = design.weights
        self._offset = 0.0
        self._has_column = fit_intercept and loss == "logistic"
        if loss == "squared":
            if fit_intercept:
                self._offset = float(weights @ target / weights.sum())
            self._loss: WeightedLoss = SquaredLoss(target - self._offset, weights)
        else:
            self._loss = LogisticLoss(target, weights)
        self._operator = design.operator(self._has_column)
        n = graph.n_vertices + self._has_column
        self._whole = Graph(n, graph.edges, graph.weights) if self._has_column else graph

    def problem(self, lam: float) -> Problem:
        """Return the problem at λ, in centred coordinates."""
        n = self.graph.n_vertices
        sparsity: Any = self._sparsity
        if self._has_column and self._sparsity > 0.0:
            sparsity = np.append(np.full(n, self._sparsity), 0.0)
        return Problem(
            scaled(self._whole, lam), self._loss, operator=self._operator, sparsity=sparsity
        )

    def solve(self, lam: float, **options: Any) -> Fit:
        """Return the certified fit at λ."""
        result = solve(self.problem(lam), **options)
        coefficients = np.array(result.u[: self.graph.n_vertices])
        centred = float(result.u[-1]) if self._has_column else self._offset
        pieces = fused_components(self._whole, result)[: self.graph.n_vertices]
        intercept = self.design.intercept(coefficients, centred)
        return Fit(coefficients, intercept, len(np.unique(pieces)), result)

    def solutions(self, lambdas: Floats, options: dict[str, Any]) -> Iterator[Fit]:
        """Yield the fits for decreasing λ, each started from the one before."""
        start: Result | None = None
        for lam in lambdas.tolist():
            fit = self.solve(lam, **options, warm_start=start)
            if fit.result.status == "interrupted":
                raise KeyboardInterrupt
            start = fit.result
            yield fit

    def largest_lambda(self, **options: Any) -> float:
        """Return a λ at which all coefficients of a connected component are equal.

        It is the smallest such λ without sparsity, and 0 if constants fit the data.
        """
        graph = self.graph
        n_components, component = connected_components(graph)
        samples = self._operator.shape[0]
        if graph.n_edges == 0:
            return 0.0
        slopes = self._slopes(np.zeros(self._whole.n_vertices))
        if n_components < samples:
            slopes = self._slopes(self._constants(n_components, component, options))
        means = np.bincount(component, slopes) / np.bincount(component)
        residual = means[component] - slopes
        size = float(np.abs(residual).max())
        if size <= np.finfo(float).eps * float(np.abs(slopes).max()):
            return 0.0
        return size * largest_ratio(graph, residual / size, component, options)

    def _slopes(self, x: Floats) -> Floats:
        """Return the derivative of the loss with respect to the coefficients."""
        q = self._loss.derivative(_apply(self._operator, x))
        return _adjoint(self._operator, q)[: self.graph.n_vertices]

    def _constants(self, count: int, component: Any, options: dict[str, Any]) -> Floats:
        """Return the best coefficients that are constant on every component."""
        extra = int(self._has_column)
        group = np.concatenate([component, np.full(extra, count)]).astype(np.int64)
        members = (np.where(group == k, 1.0, 0.0) for k in range(count + extra))
        columns = np.stack([_apply(self._operator, member) for member in members], axis=1)
        free = Graph(count + extra, np.empty((0, 2), dtype=np.int64))
        problem = Problem(free, self._loss, operator=columns)
        result = solve(problem, **{**options, "tol": CONSTANT_TOLERANCE})
        return np.asarray(result.u[group])


def _apply(operator: Any, x: Floats) -> Floats:
    return np.asarray(operator.matvec(x) if hasattr(operator, "matvec") else operator @ x)


def _adjoint(operator: Any, q: Floats) -> Floats:
    return np.asarray(operator.rmatvec(q) if hasattr(operator, "rmatvec") else operator.T @ q)
