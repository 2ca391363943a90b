"""The exact answer: a start by descent, then maximum flows that begin where it ended."""

from __future__ import annotations

import numpy as np

from graphtv import _core
from graphtv._validate import Floats
from graphtv.problem import Problem, relative_gap
from graphtv.solver.engine import Engine

HANDOVER_GAP = 5e-4
"""Relative gap at which the start hands over to the flows; they do not mind a factor of four."""

LONGEST_START = 400
"""Iterations after which the start hands over in any case."""


class Exact:
    """A method that starts, and flows that finish."""

    def __init__(self, problem: Problem, start: Engine, watch: _core.Watch, n_threads: int) -> None:
        self._problem, self._start = problem, start
        self._watch, self._n_threads = watch, n_threads
        self._point: tuple[Floats, Floats] | None = None  # once the flows have run
        self._next_look = 4
        self._hands_over = False
        self.iterations = 0
        self.is_final = False
        self.phase = ""

    @property
    def sweeps(self) -> int:
        """Steps through a whole forest done."""
        return self._start.sweeps

    @property
    def step_size(self) -> float:
        """The step of the start."""
        return self._start.step_size

    @property
    def restarts(self) -> int:
        """Restarts of the start."""
        return self._start.restarts

    def advance(self) -> None:
        """Do one iteration of the start, or all of the flows."""
        if self._hands_over:
            self._flow()
        else:
            self._start.advance()
            self._hands_over = self._start_is_good_enough()
        self.iterations += 1

    def evaluate(self) -> tuple[float, float]:
        """Return primal and dual objective of the current point, to rounding."""
        if self._point is None:
            return self._start.evaluate()
        u, p = self._point
        threads = self._n_threads
        return self._problem._primal(u, threads), self._problem._dual(p, threads)

    def primal_point(self) -> Floats:
        """Return u."""
        return self._start.primal_point() if self._point is None else self._point[0]

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""
        return self._start.dual_point() if self._point is None else self._point[1]

    def _start_is_good_enough(self) -> bool:
        done = self._start.iterations
        if self._start.is_final or done >= LONGEST_START:
            return True
        if done < self._next_look:
            return False
        self._next_look = done + max(2, done // 4)
        return relative_gap(*self._start.evaluate()) <= HANDOVER_GAP

    def _flow(self) -> None:
        """Run the flows on every channel."""
        graph, term = self._problem.graph, self._problem.term
        assert isinstance(term, _core.SmoothTerm)
        u, p = self.primal_point(), self.dual_point()
        x = p.reshape(-1, graph.n_edges) * graph.weights
        finish = _core.ExactFinish(graph.n_vertices, graph.edges, graph.weights)
        self.is_final = True
        for channel, row in enumerate(u.reshape(-1, graph.n_vertices)):
            end = finish.solve(term, channel, x[channel], row, self._watch, self._n_threads)
            self.is_final = self.is_final and end != "expired"
        with np.errstate(invalid="ignore"):
            p = np.clip(x / graph.weights, -1.0, 1.0).reshape(-1)
        self._point = u, p
        self.phase = "flows"
