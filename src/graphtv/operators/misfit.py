"""The misfit h(Au): a loss on the image of u under a linear map."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from graphtv._elementary import ROUNDOFF
from graphtv._validate import Floats, Indices
from graphtv.graph.components import connected_components
from graphtv.graph.graph import Graph
from graphtv.graph.grid import row_major_shape
from graphtv.operators.linear_map import LinearMap
from graphtv.operators.spectrum import Spectrum, spectrum_of
from graphtv.terms._arrays import from_core, to_core
from graphtv.terms.traits import as_location
from graphtv.terms.weighted_loss import WeightedLoss

MOST_COMPONENTS = 64
"""Most components of the graph to whose indicators A is applied, if A is not a matrix."""

MOST_COLUMNS = 2000
"""The same for a matrix."""

ROUNDINGS = 8.0 * ROUNDOFF
"""Relative error of a derivative of a loss."""

ZERO = 1e-13
"""Images of components smaller than this, relative to what they could be, are zero."""


class Misfit:
    """A loss h, a linear map A, and the images of the components of a graph.

    Attributes
    ----------
    loss : WeightedLoss
        The loss h, with one row per row of A.
    map : LinearMap
        The map A.
    shape : tuple of int
        Shape of u, (n,) or (n, C).
    """

    def __init__(self, graph: Graph, data: Any, operator: Any) -> None:
        if not isinstance(data, WeightedLoss):
            raise ValueError(
                "data must be SquaredLoss, AbsoluteLoss, QuantileLoss, HuberLoss, LogisticLoss or"
                f" PoissonLoss for a problem with an operator, bounds or sparsity, got {data!r}"
            )
        self.loss, self._graph = data, graph
        self.map = operator if isinstance(operator, LinearMap) else LinearMap(operator)
        rows, columns = self.map.shape
        if columns != graph.n_vertices:
            raise ValueError(
                f"operator must have {graph.n_vertices} columns, one per vertex of graph,"
                f" got shape {self.map.shape}"
            )
        if data.shape[0] != rows or len(data.shape) > 2:
            raise ValueError(f"data must have {rows} rows as operator has, got shape {data.shape}")
        self.shape = (columns, *data.shape[1:])

    @property
    def n_channels(self) -> int:
        """Number of channels of u and of the data."""
        return math.prod(self.shape[1:])

    @property
    def size(self) -> int:
        """Number of entries of Au and of q."""
        return math.prod(self.loss.shape)

    @property
    def is_smooth(self) -> bool:
        """Whether the gradient of h is Lipschitz continuous."""
        return self.loss.curvature is not None

    def gradient(self, x: Floats) -> Floats:
        """Return h'(x); arrays are the core's flat arrays."""
        return to_core(self.loss.derivative(from_core(x, self.loss.shape)))

    def curvatures(self, x: Floats) -> Floats:
        """Return h''(x) by entry."""
        return to_core(self.loss.second_derivative(from_core(x, self.loss.shape)))

    def value(self, x: Floats) -> float:
        """Return h(x)."""
        return self.loss.value(from_core(x, self.loss.shape))

    @property
    def best_rows(self) -> Floats:
        """The image that minimises h, 0 where the loss has no minimiser."""
        loss = as_location(self.loss)
        return np.zeros(self.size) if loss is None else to_core(loss.signal)

    @cached_property
    def row_curvatures(self) -> Floats:
        """Bounds of h'' by row, for a smooth loss."""
        curvature, weights = self.loss.curvature, self.loss.weights
        assert curvature is not None
        largest = float(weights.max(initial=0.0))
        share = curvature / largest if largest > 0.0 else 0.0
        rows = np.broadcast_to(weights, self.loss.shape)
        return np.ascontiguousarray(rows.T).reshape(-1) * share

    @cached_property
    def spectrum(self) -> Spectrum | None:
        """The spectrum of AᵀCA if the vertices are a grid, with the weights of the first channel.

        None if it cannot be estimated.
        """
        shape, rows = row_major_shape(self._graph), self.map.shape[0]
        if not shape or rows == 0:
            return None
        weights = self.row_curvatures[:rows]
        return spectrum_of(lambda x: self.map.adjoint(weights * self.map.apply(x)), shape)

    # Rounding errors

    def effect(self, x: Floats, error: Floats, q: Floats) -> tuple[float, float]:
        """Return bounds on the changes of h and of h - ⟨q, ·⟩ if x changes by at most an error."""
        with np.errstate(invalid="ignore", over="ignore"):
            slopes = [self.gradient(x + side * error) for side in (-2.0, 2.0)]
            size = np.maximum(*(np.abs(slope) for slope in slopes))
            distance = np.maximum(*(np.abs(slope - q) for slope in slopes)) + ROUNDINGS * size
            return 2.0 * float(size @ error), 2.0 * float(distance @ error)

    def value_error(self, u: Floats) -> float:
        """Return a bound on the error of h(Au) that the rounding of Au causes."""
        x = self.map.apply(u)
        return self.effect(x, self.map.apply_error(u), x)[0]

    # Constants on the components of the graph

    @cached_property
    def components(self) -> tuple[int, Indices]:
        """Number of components, and the component of each vertex."""
        return connected_components(self._graph)

    @cached_property
    def columns(self) -> Floats | None:
        """A times the indicators of the components, shape (N, k); None if there are too many.

        Columns that are zero up to rounding are zero, since equations with them have no solution.
        """
        count, component = self.components
        if count > (MOST_COLUMNS if self.map.is_matrix else MOST_COMPONENTS):
            return None
        images = self._images(count, component)
        sizes = np.sqrt(np.bincount(component, minlength=count))
        is_zero = np.linalg.norm(images, axis=0) <= ZERO * self.map.norm_bound() * sizes
        return np.where(is_zero, 0.0, images)

    def _images(self, count: int, component: Indices) -> Floats:
        if not self.map.is_matrix:
            images = [self.map.apply((component == k).astype(np.float64)) for k in range(count)]
            return np.stack(images, axis=1)
        entries = np.ones(len(component)), (np.arange(len(component)), component)
        indicators = scipy.sparse.csr_array(entries, shape=(len(component), count))
        self.map.calls += count
        product = self.map._forward @ indicators
        return np.asarray(product.toarray() if scipy.sparse.issparse(product) else product)

    @cached_property
    def column_errors(self) -> Floats:
        """Bounds on the rounding errors of `columns`."""
        count, component = self.components
        errors = [self.map.apply_error((component == k).astype(np.float64)) for k in range(count)]
        return np.stack(errors, axis=1)

    def is_blind(self, k: int) -> bool:
        """Whether A is known to map the indicator of component k to exactly 0."""
        return self.map.is_matrix and self.map.has_zero_sums(self.components[1] == k)

    def spread(self, constants: Floats) -> Floats:
        """Return u with these constants, shape (C, k), on the components."""
        return np.asarray(constants[:, self.components[1]]).reshape(-1)

    def shifted(self, constants: Floats) -> Floats:
        """Return A times u with these constants."""
        assert self.columns is not None
        return np.asarray(constants @ self.columns.T).reshape(-1)
