"""Accelerated block descent over forests, for the squared loss with positive weights."""

from __future__ import annotations

import numpy as np

from graphtv import _core
from graphtv._validate import Floats
from graphtv.decomposition import ForestPartition
from graphtv.problem import Problem
from graphtv.terms import SquaredLoss
from graphtv.terms._arrays import to_core

_ONES = np.empty(0)
"""How the core is told that all vertices weigh 1."""


class Descent:
    """Block descent on every channel of a problem."""

    phase = ""

    def __init__(
        self,
        problem: Problem,
        partition: ForestPartition,
        watch: _core.Watch,
        n_threads: int,
        start: Floats | None,
    ) -> None:
        data = problem.data
        assert isinstance(data, SquaredLoss)
        self._problem, self._watch, self._n_threads = problem, watch, n_threads
        self._n, self._m = problem.graph.n_vertices, problem.graph.n_edges
        self._delta = problem.penalty.delta
        signals = to_core(data.signal).reshape(-1, self._n)
        weights = to_core(data.weights).reshape(-1, self._n)
        self._channels: list[_core.BlockDescent] = []
        self._scales: list[float] = []
        forests: _core.Forests | None = None
        for channel, (signal, c) in enumerate(zip(signals, weights, strict=True)):
            if forests is None or not np.array_equal(c, weights[channel - 1]):
                forests, vertex_weights, scale = _forests(problem, partition, c)
            self._channels.append(_core.BlockDescent(forests, signal, vertex_weights))
            self._scales.append(scale)
        if start is not None:
            for descent, p in zip(self._channels, start.reshape(-1, self._m), strict=True):
                descent.start_from(p)
        self._n_forests = partition.n_forests
        self.iterations = 0
        self.restarts = 0

    @property
    def sweeps(self) -> int:
        """Steps through a whole forest done."""
        return self.iterations * self._n_forests * len(self._channels)

    @property
    def step_size(self) -> float:
        """The momentum β of the first channel."""
        return self._channels[0].momentum

    @property
    def is_final(self) -> bool:
        """Whether another iteration would change nothing: one forest is solved in one step."""
        return self.iterations > 0 and self._n_forests <= 1

    def advance(self) -> None:
        """Do one iteration on every channel."""
        for channel in self._channels:
            if not channel.step(self._watch, self._n_threads):
                return
            self.restarts += channel.restarted
        self.iterations += 1

    def evaluate(self) -> tuple[float, float]:
        """Return primal and dual objective of the current point, to rounding."""
        primal = self._problem._primal(self.primal_point(), self._n_threads)
        if self._delta > 0.0:
            return primal, self._problem._dual(self.dual_point(), self._n_threads)
        values = (
            scale * channel.dual_value
            for scale, channel in zip(self._scales, self._channels, strict=True)
        )
        return primal, sum(values)

    def primal_point(self) -> Floats:
        """Return u."""
        u = np.empty((len(self._channels), self._n))
        for row, channel in zip(u, self._channels, strict=True):
            channel.u(row)
        return u.reshape(-1)

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""
        p = np.zeros((len(self._channels), self._m))
        for row, channel in zip(p, self._channels, strict=True):
            channel.dual(row)
        return p.reshape(-1)


def _forests(
    problem: Problem, partition: ForestPartition, c: Floats
) -> tuple[_core.Forests, Floats, float]:
    """Return the forests for vertex weights c, these weights, and the scale of the objective.

    With one weight c for all vertices the objective is c times that of the weights ω/c and δ/c,
    which the faster solvers of plain chains take.
    """
    graph, delta = problem.graph, problem.penalty.delta
    scale = float(c[0]) if c.size and (c == c[0]).all() else 0.0
    vertex_weights = c if scale == 0.0 else _ONES
    scale = scale or 1.0
    weights = graph.weights if scale == 1.0 else graph.weights / scale
    forests = _core.Forests(
        graph.n_vertices,
        graph.edges,
        weights,
        partition.labels,
        partition.n_forests,
        delta / scale,
        vertex_weights,
    )
    return forests, vertex_weights, scale
