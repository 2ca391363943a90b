"""Accelerated descent for the squared loss with positive weights, over edges or over forests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.decomposition.partition import ForestPartition
from graphtv.problem import Problem, width
from graphtv.solver.channels import scaled_channels
from graphtv.terms.traits import as_quadratic

ChannelDescent = Any
"""A `BlockDescent`, `EdgeDescent`, `LatticeDescent` or `StencilDescent` of the core."""


class Descent:
    """Base class of descent over edges and over forests: one descent of the core per channel."""

    method = "descent"
    is_exhausted = False
    settled = None
    _is_done_in_one = False  # whether one iteration gives the solution

    def __init__(
        self,
        problem: Problem,
        kernel: str,
        watch: _core.Watch,
        n_threads: int,
        start: Floats | None,
    ) -> None:
        self._problem, self._watch, self._n_threads = problem, watch, n_threads
        self._m = problem.graph.n_edges
        data = as_quadratic(problem.data)
        assert data is not None
        # Whether the objectives of the descents are those of the problem.
        self._knows_values = problem.delta in (0.0, None) and data.is_complete
        self._channels, self._scales = self._make_channels()
        if start is not None:
            self._start_from(start)
        self.kernel = kernel
        self.is_final = False
        self.iterations = 0
        self.restarts = 0

    @property
    def step_size(self) -> float:
        """The momentum β of the first channel."""
        return self._channels[0].momentum if self._channels else 0.0

    def rest(self) -> None:
        """Free all memory."""
        self._channels = []

    def resume(self, p: Floats) -> None:
        """Continue from p without momentum."""
        self._channels, _ = self._make_channels()
        self._start_from(p)

    def _make_channels(self) -> tuple[list[ChannelDescent], list[float]]:
        """Return a descent per channel, and the scales of their objectives."""
        raise NotImplementedError

    def _start_from(self, p: Floats) -> None:
        rows = p.reshape(len(self._channels), -1)
        for descent, row in zip(self._channels, rows, strict=True):
            descent.start_from(row)

    def advance(self, at_most: int) -> None:
        """Do one or a few iterations on every channel."""
        done = 0
        for channel in self._channels:
            done = channel.step(self._watch, self._n_threads, at_most)
            if not done:
                return
            self.restarts += channel.restarted
        self.iterations += done
        self.is_final = self._is_done_in_one

    def evaluate(self) -> tuple[float, float]:
        """Return the primal and the dual objective of the current point, up to rounding."""
        if self._knows_values:
            return self._primal_value(), self._total("dual_value")
        problem, threads = self._problem, self._n_threads
        primal = problem.objective.primal(self.primal_point(), threads)
        return primal, problem.objective.dual(self.dual_point(), threads)

    def _primal_value(self) -> float:
        """Return the primal objective, for descents that know only the dual one."""
        return self._problem.objective.primal(self.primal_point(), self._n_threads)

    def _total(self, value: str) -> float:
        """Return the sum of an objective over the channels."""
        values = (
            scale * getattr(channel, value)
            for scale, channel in zip(self._scales, self._channels, strict=True)
        )
        return math.fsum(values)

    def primal_point(self) -> Floats:
        """Return u."""
        u = np.empty(math.prod(self._problem.shape))
        for row, channel in zip(u.reshape(len(self._channels), -1), self._channels, strict=True):
            channel.u(row)
        return u

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""
        p = np.empty(math.prod(self._problem.dual_shape))
        for row, channel in zip(p.reshape(len(self._channels), -1), self._channels, strict=True):
            channel.dual(row, self._n_threads)
        return p

    def rounded_dual_point(self) -> Rounded:
        """Return p in multiples of 1/32767."""
        p = np.empty((len(self._channels), self._m), dtype=np.int16)
        for row, channel in zip(p, self._channels, strict=True):
            channel.rounded_dual(row, self._n_threads)
        return p.reshape(-1)

    def conclude(self) -> None:
        """No-op: there is nothing to free."""


class EdgeDescent(Descent):
    """Descent edge by edge, which needs no decomposition."""

    sweeps = 0

    def __init__(
        self,
        problem: Problem,
        kernel: str,
        lattice: tuple[int, ...],
        watch: _core.Watch,
        n_threads: int,
        start: Floats | None,
    ) -> None:
        self._is_stencil = kernel == "stencil"
        self._lattice = lattice if kernel not in ("edges", "stencil") else ()
        super().__init__(problem, kernel, watch, n_threads, start)
        self._is_done_in_one = self._m == 0
        if start is None and self._lattice:
            for channel in self._channels:
                channel.start_from_coarse(watch, n_threads)

    def _primal_value(self) -> float:
        """Return the primal objective. The fast descents know it as well."""
        is_fast = self._lattice or self._is_stencil
        return self._total("primal_value") if is_fast else super()._primal_value()

    def _make_channels(self) -> tuple[list[ChannelDescent], list[float]]:
        """Return a descent per channel. On grids and stencils it is a fast one."""
        graph, made, scales = self._problem.graph, list[ChannelDescent](), []
        for channel in scaled_channels(self._problem):
            arrays = (graph.edges, channel.edge_weights, channel.signal, channel.vertex_weights)
            if self._lattice:
                made.append(_core.LatticeDescent(np.array(self._lattice, dtype=np.int32), *arrays))
            elif self._is_stencil:
                made.append(_core.StencilDescent(graph.n_vertices, *arrays))
            else:
                made.append(_core.EdgeDescent(graph.n_vertices, *arrays))
            scales.append(channel.scale)
        return made, scales


class ForestDescent(Descent):
    """Descent forest by forest. A descent that is never paused does not keep the partition."""

    def __init__(
        self,
        problem: Problem,
        partition: ForestPartition,
        watch: _core.Watch,
        n_threads: int,
        start: Floats | None,
        *,
        rests: bool = True,
    ) -> None:
        self._partition: ForestPartition | None = partition
        self._n_forests = partition.n_forests
        super().__init__(problem, "forests", watch, n_threads, start)
        self._is_done_in_one = self._n_forests == 1 or self._m == 0
        if not rests:
            self._partition = None

    @property
    def sweeps(self) -> int:
        """Number of solves of a whole forest so far."""
        return self.iterations * self._n_forests * self._problem.term.n_channels

    def conclude(self) -> None:
        """Free the momentum and the jumps of the last solution."""
        for channel in self._channels:
            channel.rest()

    def _make_channels(self) -> tuple[list[ChannelDescent], list[float]]:
        """Return a descent per channel; channels with the same weights share the forests."""
        graph, partition = self._problem.graph, self._partition
        assert partition is not None
        made, scales = list[ChannelDescent](), []
        forests: _core.Forests | None = None
        for channel in scaled_channels(self._problem):
            if forests is None or not channel.is_like_last:
                forests = _core.Forests(
                    graph.n_vertices,
                    graph.edges,
                    channel.edge_weights,
                    partition.labels,
                    partition.n_forests,
                    width(self._problem) / channel.scale,
                    channel.vertex_weights,
                    self._watch,
                )
            made.append(_core.BlockDescent(forests, channel.signal, channel.vertex_weights))
            scales.append(channel.scale)
        return made, scales
