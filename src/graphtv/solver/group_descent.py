"""Accelerated descent over groups: isotropic and coupled total variation with the squared loss."""

from __future__ import annotations

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.graph.grid import row_major_shape
from graphtv.problem import Problem
from graphtv.solver.descent import ChannelDescent, Descent
from graphtv.terms._arrays import to_core
from graphtv.terms.traits import as_quadratic

SHORTEST_LINE = 4
"""Length of the last axis from which the kernel of grids pays."""

LARGEST_SINGLE = 30.0
"""Weight over the range of the data up to which rounding in single precision does not show."""

AXES = (2, 3)
"""How many axes a grid may have for it."""


def group_kernel(problem: Problem) -> str:
    """Return the kernel for a problem, ``stars`` on grids or ``coupled``; "" if there is none."""
    penalty, data, graph = problem.core_penalty, as_quadratic(problem.data), problem.graph
    if not isinstance(penalty, _core.GroupNorms) or penalty.width > 0.0 or data is None:
        return ""
    if not data.is_complete or graph.n_edges == 0:
        return ""
    lattice = row_major_shape(graph)
    is_lattice = len(lattice) in AXES and lattice[-1] >= SHORTEST_LINE
    if is_lattice and data.common_weight is not None and _has_even_groups(problem):
        return "stars"
    return "coupled" if penalty.largest_group == 1 and _channel_free(data.weights) else ""


def _has_even_groups(problem: Problem) -> bool:
    """Whether the edges of every group have the same weight."""
    penalty, weights = problem.core_penalty, problem.graph.weights
    assert isinstance(penalty, _core.GroupNorms)
    if penalty.largest_group == 1 or weights.min() == weights.max():
        return True
    pixel = problem.graph.edges.min(axis=1)
    of_pixel = np.zeros(problem.graph.n_vertices)
    of_pixel[pixel] = weights
    return bool((of_pixel[pixel] == weights).all())


def _has_even_weights(c: Floats) -> bool:
    """Whether vertex weights differ so little that single precision is enough."""
    return c.size == 0 or bool(c.max() <= LARGEST_SINGLE * c.min())


def _channel_free(weights: Floats) -> bool:
    """Whether vertices weigh the same in all channels."""
    return weights.ndim == 1 or bool((weights == weights[:, :1]).all())


class GroupDescent(Descent):
    """Descent over stars of a grid, or over edges with coupled channels."""

    sweeps = 0

    def __init__(
        self,
        problem: Problem,
        kernel: str,
        is_single: bool,
        watch: _core.Watch,
        n_threads: int,
        start: Floats | None,
    ) -> None:
        self._is_lattice, self._is_single = kernel == "stars", is_single
        super().__init__(problem, kernel, watch, n_threads, start)

    def _primal_value(self) -> float:
        """Return the primal objective, which these descents know."""
        return self._total("primal_value")

    def dual_point(self) -> Floats:
        """Return p, every group in its ball."""
        p = super().dual_point()
        self._problem.core_penalty.project(p, self._n_threads)
        return p

    def rounded_dual_point(self) -> Rounded:
        """Return p in multiples of 1/32767."""
        p = self.dual_point()
        found = np.empty(p.shape, dtype=np.int16)
        self._problem.core_penalty.round(p, found, self._n_threads)
        return found

    def _make_channels(self) -> tuple[list[ChannelDescent], list[float]]:
        """Return one descent for all channels, or one per channel if they are not coupled."""
        problem, graph, penalty = self._problem, self._problem.graph, self._problem.core_penalty
        data = as_quadratic(problem.data)
        assert data is not None
        assert isinstance(penalty, _core.GroupNorms)
        signal, scale = to_core(data.signal), data.common_weight or 1.0
        # With one weight c for all vertices the objective is c times that of the weights ω/c.
        weights = graph.weights if scale == 1.0 else graph.weights / scale
        is_single = self._is_single and weights.max() <= LARGEST_SINGLE * np.ptp(signal)
        if not self._is_lattice:
            c = data.weights.reshape(graph.n_vertices, -1)[:, 0]
            c = np.ascontiguousarray(c if data.common_weight is None else c[:0])
            arrays = (graph.n_vertices, graph.edges, weights, signal, c, self._watch)
            has_single = is_single and _has_even_weights(c)
            coupled = _core.SingleCoupledDescent if has_single else _core.CoupledDescent
            return [coupled(*arrays)], [scale]
        kind = _core.SingleStarDescent if is_single else _core.StarDescent
        shape = np.array(row_major_shape(graph), dtype=np.int32)
        has_stars = penalty.largest_group > 1
        n_parts = 1 if penalty.couples else problem.term.n_channels
        descents = [
            kind(shape, graph.n_vertices, graph.edges, weights, part, has_stars, self._watch)
            for part in signal.reshape(n_parts, -1)
        ]
        return descents, [scale] * n_parts
