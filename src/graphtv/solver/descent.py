"""Accelerated descent for the squared loss with positive weights, over edges or over forests."""

from __future__ import annotations

import math

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.decomposition.partition import ForestPartition
from graphtv.graph.graph import Graph
from graphtv.graph.grid import n_grid_edges, row_major_shape
from graphtv.problem import Problem, width
from graphtv.solver.engine import FLOWS_GAP
from graphtv.terms import SquaredLoss
from graphtv.terms._arrays import to_core

LEAST_WEIGHT = 1e-3
"""Vertices without data count as this part of the heaviest one, where descent is only a start."""

SHORTEST_LINE = 12
"""Vertices along the last axis of a grid from which on vectors are worth their start."""

WHOLE = 0.9
"""A grid is taken for one as long as there is this part of its edges."""

PATTERN_GAP = 3e-4
"""Over forests, the pattern of p is seldom right before; over edges it is early."""

ChannelDescent = _core.BlockDescent | _core.EdgeDescent | _core.LatticeDescent

POLISH_PRICE = {_core.BlockDescent: 4, _core.EdgeDescent: 10, _core.LatticeDescent: 80}
"""Iterations that cost as much as a polish."""

FLOWS_PRICE = {_core.BlockDescent: 30, _core.EdgeDescent: 30, _core.LatticeDescent: 300}
"""Iterations that cost as little as flows may: as a rule these cost more."""

PATIENCE = {_core.BlockDescent: math.inf, _core.EdgeDescent: 300, _core.LatticeDescent: 250}
"""Forests do better than more further iterations than these."""

_ONES = np.empty(0)
"""How the core is told that all vertices weigh 1."""


class Descent:
    """Descent on every channel of a problem: over forests, or edge by edge without a partition."""

    phase = ""
    target = 0.0
    flows_gap = FLOWS_GAP
    preconditioner = None

    def __init__(
        self,
        problem: Problem,
        partition: ForestPartition | None,
        watch: _core.Watch,
        n_threads: int,
        start: Floats | None,
        *,
        rests: bool = True,
    ) -> None:
        self._problem, self._watch, self._n_threads = problem, watch, n_threads
        self._n, self._m = problem.graph.n_vertices, problem.graph.n_edges
        self._partition = partition if rests else None  # for those who never rest it is ballast
        self._n_forests = 0 if partition is None else partition.n_forests
        data = problem.data
        assert isinstance(data, SquaredLoss)
        # Whether the objectives of the descents are the problem's.
        self._knows_values = width(problem) == 0.0 and data._is_complete
        self._lattice = row_major_shape(problem.graph) if partition is None else ()
        self._channels, self._scales = _channels(problem, partition, self._lattice, watch)
        if start is None:
            self._start_from_coarse()
        else:
            self._start_from(start)
        self.is_cheap = partition is None
        # Whether chains are as much better as they are on grids, of which little may be missing.
        self.is_lattice = isinstance(
            self._channels[0], _core.LatticeDescent
        ) and self._m >= WHOLE * n_grid_edges(self._lattice)
        self.polish_price = POLISH_PRICE[type(self._channels[0])]
        self.flows_price = FLOWS_PRICE[type(self._channels[0])]
        self.patience = PATIENCE[type(self._channels[0])]
        self.pattern_gap = math.inf if partition is None else PATTERN_GAP
        self.is_final = False
        self.iterations = 0
        self.restarts = 0

    @property
    def sweeps(self) -> int:
        """Steps through a whole forest done."""
        return self.iterations * self._n_forests * self._problem.term.n_channels

    @property
    def step_size(self) -> float:
        """The momentum β of the first channel."""
        return self._channels[0].momentum if self._channels else 0.0

    def rest(self) -> None:
        """Give back all memory."""
        self._channels = []

    def resume(self, p: Floats) -> None:
        """Go on from p, without momentum."""
        self._channels, _ = _channels(self._problem, self._partition, self._lattice, self._watch)
        self._start_from(p)

    def _start_from(self, p: Floats) -> None:
        rows = p.reshape(len(self._channels), self._m)
        for descent, row in zip(self._channels, rows, strict=True):
            descent.start_from(row)

    def _start_from_coarse(self) -> None:
        for descent in self._channels:
            if isinstance(descent, _core.LatticeDescent):
                descent.start_from_coarse(self._watch, self._n_threads)

    def observe(self, relative_gap: float) -> None:
        """Go on in any case."""

    def advance(self, at_most: int) -> None:
        """Do one or a few iterations on every channel."""
        done = 0
        for channel in self._channels:
            done = channel.step(self._watch, self._n_threads, at_most)
            if not done:
                return
            self.restarts += channel.restarted
        self.iterations += done
        self.is_final = self._n_forests == 1 or self._m == 0  # a forest is solved in one step

    def evaluate(self) -> tuple[float, float]:
        """Return primal and dual objective of the current point, to rounding."""
        if self._knows_values and all(
            isinstance(channel, _core.LatticeDescent) for channel in self._channels
        ):
            primal = self._total("primal_value")
        else:
            primal = self._problem._primal(self.primal_point(), self._n_threads)
        if self._knows_values:
            return primal, self._total("dual_value")
        return primal, self._problem._dual(self.dual_point(), self._n_threads)

    def _total(self, value: str) -> float:
        """Return the sum of what the channels give for an objective."""
        values = (
            scale * getattr(channel, value)
            for scale, channel in zip(self._scales, self._channels, strict=True)
        )
        return math.fsum(values)

    def primal_point(self) -> Floats:
        """Return u."""
        u = np.empty((len(self._channels), self._n))
        for row, channel in zip(u, self._channels, strict=True):
            channel.u(row)
        return u.reshape(-1)

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""
        p = np.empty((len(self._channels), self._m))
        for row, channel in zip(p, self._channels, strict=True):
            channel.dual(row, self._n_threads)
        return p.reshape(-1)

    def rounded_dual_point(self) -> Rounded:
        """Return p in multiples of 1/32767."""
        p = np.empty((len(self._channels), self._m), dtype=np.int16)
        for row, channel in zip(p, self._channels, strict=True):
            channel.rounded_dual(row, self._n_threads)
        return p.reshape(-1)

    def conclude(self) -> None:
        """Give back the momentum, and where the chains of the last step jump."""
        for channel in self._channels:
            if isinstance(channel, _core.BlockDescent):
                channel.rest()


def _channels(
    problem: Problem,
    partition: ForestPartition | None,
    lattice: tuple[int, ...],
    watch: _core.Watch,
) -> tuple[list[ChannelDescent], list[float]]:
    """Return a descent per channel, and the scale of each one's objective.

    With one weight c for all vertices the objective is c times that of the weights ω/c and δ/c,
    which the faster solvers of plain chains take.
    """
    graph, data = problem.graph, problem.data
    assert isinstance(data, SquaredLoss)
    shape = (problem.term.n_channels, graph.n_vertices)
    signals = to_core(data.signal).reshape(shape)
    weights = data.weights.reshape(shape[::-1]).T  # no copy of what may be one number
    least = LEAST_WEIGHT * max(float(weights.max(initial=0.0)), np.finfo(float).tiny)
    made: list[ChannelDescent] = []
    scales: list[float] = []
    forests: _core.Forests | None = None
    is_complete = data._is_complete
    for channel, (signal, c) in enumerate(zip(signals, weights, strict=True)):
        is_even = c.size == 0 or c.strides == (0,) or bool((c == c[0]).all())
        scale = float(c[0]) if is_even and c.size and c[0] > 0.0 else 1.0
        vertex_weights = _ONES if is_even else np.where(c > 0.0, c, least)
        with np.errstate(over="ignore"):  # what overflows ends without a certificate
            edge_weights = graph.weights if scale == 1.0 else graph.weights / scale
        if not is_complete:
            signal = _filled(signal, c)
        if partition is None:
            made.append(_edge_descent(graph, lattice, edge_weights, signal, vertex_weights))
        else:
            if forests is None or not np.array_equal(c, weights[channel - 1]):
                forests = _core.Forests(
                    graph.n_vertices,
                    graph.edges,
                    edge_weights,
                    partition.labels,
                    partition.n_forests,
                    width(problem) / scale,
                    vertex_weights,
                    watch,
                )
            made.append(_core.BlockDescent(forests, signal, vertex_weights))
        scales.append(scale)
    return made, scales


def _edge_descent(
    graph: Graph,
    shape: tuple[int, ...],
    edge_weights: Floats,
    signal: Floats,
    vertex_weights: Floats,
) -> _core.EdgeDescent | _core.LatticeDescent:
    """Return the descent over edges, the fast one on grids whose lines are long enough."""
    arrays = (graph.edges, edge_weights, signal, vertex_weights)
    if len(shape) > 1 and shape[-1] >= SHORTEST_LINE:
        return _core.LatticeDescent(np.array(shape, dtype=np.int32), *arrays)
    return _core.EdgeDescent(graph.n_vertices, *arrays)


def _filled(signal: Floats, c: Floats) -> Floats:
    """Return the signal with its mean where there is no data: what stands there must not show."""
    there = c > 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(np.average(signal[there], weights=c[there])) if there.any() else 0.0
    return np.where(there, signal, mean)
