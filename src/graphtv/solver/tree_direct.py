"""A graph without cycles is solved in one exact step."""

from __future__ import annotations

from graphtv import _core
from graphtv._validate import Floats, Rounded
from graphtv.problem import Problem, width
from graphtv.solver.stage import rounded
from graphtv.solver.trivial import Trivial
from graphtv.terms._arrays import to_core
from graphtv.terms.traits import as_quadratic
from graphtv.tv.exact import ForestSolver


class TreeDirect:
    """The exact solvers of chains and trees as a stage, for one weight at all vertices.

    Raises ValueError if the graph has a cycle.
    """

    method = "direct"
    kernel = "tree"
    step_size = 0.0
    restarts = 0
    settled = None
    is_exhausted = False

    def __init__(self, problem: Problem, n_threads: int) -> None:
        graph, data = problem.graph, as_quadratic(problem.data)
        assert data is not None
        # With the same weight c at all vertices, the solution is that for the weights ω/c and δ/c.
        c = data.common_weight or 1.0
        weights = graph.weights if c == 1.0 else graph.weights / c
        signals = to_core(data.signal).reshape(problem.term.n_channels, graph.n_vertices)
        self._problem, self._n_threads = problem, n_threads
        self._solver: ForestSolver | None = ForestSolver(
            graph, weights, signals, width(problem) / c
        )
        self._is_linear = self._solver.is_linear
        self._point: tuple[Floats, Floats] | None = None
        self.iterations = 0
        self.is_final = False

    @property
    def is_path(self) -> bool:
        """Whether the graph is a path. For the Huber penalty its solver is that of trees."""
        graph = self._problem.graph
        if graph.n_edges != graph.n_vertices - 1:
            return False
        return self._is_linear or _core.largest_degree(graph.n_vertices, graph.edges) <= 2

    @property
    def sweeps(self) -> int:
        """Number of solves of a whole forest so far."""
        return self.iterations * self._problem.term.n_channels

    def advance(self, at_most: int) -> None:
        """Solve the problem."""
        assert self._solver is not None
        u, p = self._solver.solve(self._n_threads, None, wants_dual=True)
        self._solver = None  # the certificate needs the memory
        self._point = u.reshape(-1), p.reshape(-1)
        self.iterations = 1
        self.is_final = True

    def evaluate(self) -> tuple[float, float]:
        """Return the primal and the dual objective."""
        problem, threads = self._problem, self._n_threads
        return (
            problem.objective.primal(self.primal_point(), threads),
            problem.objective.dual(self.dual_point(), threads),
        )

    def primal_point(self) -> Floats:
        """Return u."""
        return Trivial(self._problem).primal_point() if self._point is None else self._point[0]

    def dual_point(self) -> Floats:
        """Return p, |p| ≤ 1."""
        return Trivial(self._problem).dual_point() if self._point is None else self._point[1]

    def rounded_dual_point(self) -> Rounded:
        """Return p in multiples of 1/32767."""
        return rounded(self.dual_point(), self._n_threads)

    def conclude(self) -> None:
        """No-op: there is nothing to free."""
