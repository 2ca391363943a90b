"""Minimum cuts with proof, by a maximum flow from scratch or from a denoised signal.

A minimum cut is a level set of the denoised signal (Hochbaum 2001; Chambolle & Darbon 2009), and
the dual point is a flow that bounds all cuts from below (see `cut_problem`). A maximum flow from
scratch is faster. The signal is computed if the options ask for the solver.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphtv import _core
from graphtv._validate import as_callable, as_count, as_real
from graphtv.applications.cuts.cut_problem import Capacities, CutProblem, Mask
from graphtv.applications.cuts.level_sets import LevelSets
from graphtv.applications.cuts.max_flow import Flow, completed, maximum_flow
from graphtv.applications.keywords import check_keywords
from graphtv.graph.graph import Graph, as_graph
from graphtv.graph.labels import Name
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.solver.interrupts import interrupting
from graphtv.terms import SquaredLoss

__all__ = ["Cut", "min_cut"]

START = 1e-3
"""Relative gap of the denoised signal at which augmenting paths take over."""

FLOW_OPTIONS = {"time_limit", "n_threads", "stop", "callback"}
"""Options that do not ask for the solver. A callback hears of it only if it runs."""

REAL_GAP = 1e-9
"""Largest relative gap of a certified cut for real capacities, where rounding leaves a gap."""


@dataclass(frozen=True, eq=False, repr=False)
class Cut:
    """A cut between source and sink with its certificate.

    Attributes
    ----------
    value : int or float
        The capacity of the cut, computed from the given capacities: an exact integer if all of them
        are integers, otherwise correctly rounded.
    source_side : ndarray of bool, shape (n,)
        The vertices on the source side.
    certified : bool
        Whether the cut is proven to be minimal. With integer capacities the proof has no rounding
        errors: the bound, computed from a flow in integer arithmetic, equals the value. With other
        capacities, no cut is smaller by more than 1e-9 of the value (or by `tol`, if it is larger).
    bound : int or float
        A lower bound of all cuts.

    Examples
    --------
    >>> cut = min_cut(Graph(3, [[0, 1], [1, 2]], [3, 1]), [9, 0, 0], [0, 0, 9])
    >>> cut
    Cut(value 1, minimum, certified; 2 of 3 with the source)
    >>> cut.value == cut.bound, cut.certified
    (True, True)
    """

    value: int | float
    source_side: Mask
    certified: bool
    bound: int | float
    _problem: CutProblem
    _pseudoflow: Capacities  # the proof
    _result: Result | None
    _options: dict[str, Any]

    @property
    def partition(self) -> tuple[set[Name], set[Name]]:
        """The names (or numbers) of the vertices on the source side and on the sink side."""
        whole = self._problem.network or self._problem.graph
        sides: tuple[set[Name], set[Name]] = (set(), set())
        names = whole.names or range(whole.n_vertices)
        for name, is_source in zip(names, self.source_side.tolist(), strict=True):
            sides[0 if is_source else 1].add(name)
        return sides

    @property
    def method(self) -> str:
        """How the cut was found: ``max-flow``, or the method of `solve` that came before it."""
        return "max-flow" if self._result is None else self._result.method

    @cached_property
    def result(self) -> Result:
        """The solution of the denoising problem. The source side is approximately ``result.u > 0``.

        It is computed on first access, unless the cut was computed from it.
        """
        return self._result or solve_levels(self._problem, self._options)

    @cached_property
    def flow(self) -> Flow:
        """A maximum flow of the same value, which proves that the cut is minimal.

        It is computed on first access. Only a certified cut has one.
        """
        if not self.certified:
            raise ValueError(
                "flow is available for certified cuts only, got a cut that is not certified"
            )
        return maximum_flow(self._problem, self.source_side, self._pseudoflow)

    def __repr__(self) -> str:
        proof = "minimum, certified" if self.certified else f"not below {self.bound} is proved"
        n = int(self.source_side.sum())
        return f"Cut(value {self.value}, {proof}; {n} of {len(self.source_side)} with the source)"


def min_cut(
    graph: Graph, source_capacities: Any, sink_capacities: Any, **solve_options: Any
) -> Cut:
    """Return a minimum cut of an undirected graph between two terminals, with a certificate.

    It minimises Σ_{i∉S} s_i + Σ_{i∈S} t_i + Σ ω_ij [exactly one of i, j in S] over all sets S of
    vertices, the source sides.

    Parameters
    ----------
    graph : Graph
        The graph; its weights ω are the capacities of its edges, in both directions.
    source_capacities, sink_capacities : float or array_like, shape (n,)
        Capacities s from the source to each vertex, and t from each vertex to the sink. Infinity
        ties a vertex to that terminal. A Series or a dictionary is matched with the names of the
        graph, and a string names a vertex attribute.
    **solve_options
        Options of `graphtv.solve`. If any option other than `time_limit`, `stop`, `callback` and
        `n_threads` is given, the solver computes the start. Its default `tol` is 1e-3, because
        augmenting paths are faster from there on.

    Returns
    -------
    Cut
        The value, the source side, whether it is certified, and the flow that proves it.

    See Also
    --------
    cut_path : the minimum cuts for all shifts of the terminal capacities.
    FlowNetwork.min_cut : the same for directed networks.

    Notes
    -----
    Capacities are whole if all of them are integers or floats without a fraction. In this case the
    flow, the value and the bound are computed in integers. Augmenting paths find the flow, starting
    from zero. If the paths are long, push-relabel completes the flow. Every cut is certified unless
    `time_limit`, `max_iterations` or Ctrl-C ended the run early. With real capacities there is one
    more exception: the value may be so small compared with the capacities that it is below their
    rounding errors.

    Examples
    --------
    >>> cut = min_cut(Graph(3, [[0, 1], [1, 2]], [3, 1]), [9, 0, 0], [0, 0, 9])
    >>> cut.value, cut.source_side.tolist(), cut.certified
    (1, [True, True, False], True)
    >>> cut.flow.edges.tolist()
    [1, 1]
    """
    check_keywords(min_cut, solve_options)
    problem = CutProblem.of_graph(as_graph(graph), source_capacities, sink_capacities)
    return cut_of(problem, solve_options)


def cut_of(problem: CutProblem, options: dict[str, Any]) -> Cut:
    """Return a minimum cut of a problem, by flows alone unless the options ask for the solver."""
    if options.keys() <= FLOW_OPTIONS:
        return _by_flow(problem, options)
    result = solve_levels(problem, options)
    levels = LevelSets(problem, result.u)
    side = levels.side(levels.best(0.0))
    return certified_cut(problem, side, result, options, time_left(result, options))


def _by_flow(problem: CutProblem, options: dict[str, Any]) -> Cut:
    """Return a minimum cut by a maximum flow."""
    limit, n_threads = options.get("time_limit"), options.get("n_threads")
    seconds = math.inf if limit is None else as_real(limit, "time_limit", minimum=0.0)
    if n_threads is not None:
        as_count(n_threads, "n_threads", minimum=1)
    as_callable(options.get("stop"), "stop")
    watch = _core.Watch(seconds, options.get("stop"))
    with interrupting(watch):
        found = completed(problem, None, watch)
    return _proved(problem, problem.side(found.side), found.edges, None, options)


def solve_levels(problem: CutProblem, options: dict[str, Any]) -> Result:
    """Solve the denoising problem whose level sets are the minimum cuts, by default roughly."""
    return solve(Problem(problem.graph, SquaredLoss(problem.signal())), **{"tol": START, **options})


def time_left(result: Result, options: dict[str, Any]) -> float:
    """Return how many seconds a time limit leaves after the solver."""
    limit = options.get("time_limit")
    if limit is None:
        return math.inf
    return max(float(limit) - result.setup_time - result.solve_time, 0.0)


def is_finished(result: Result) -> bool:
    """Whether the solver did not end early, so that flows may continue from its answer."""
    return result.status in ("optimal", "stalled")


def certified_cut(
    problem: CutProblem, side: Mask, result: Result, options: dict[str, Any], seconds: float
) -> Cut:
    """Return a cut at least as good as the given one, with its certificate."""
    flow = problem.flow(result.p)
    if is_finished(result):
        watch = _core.Watch(seconds)
        with interrupting(watch):
            found = completed(problem, flow, watch)
        flow, other = found.edges, problem.side(found.side)
        if problem.value(other) < problem.value(side):
            side = other
    return _proved(problem, side, flow, result, options)


def _proved(
    problem: CutProblem,
    side: Mask,
    flow: Capacities,
    result: Result | None,
    options: dict[str, Any],
) -> Cut:
    """Return a cut with the certificate that a flow gives."""
    value, bound = problem.value(side), max(problem.bound(flow), problem.constant)
    share = 0 if problem.is_whole else max(options.get("tol", 0.0), REAL_GAP)
    is_certified = value - bound <= share * value
    return Cut(value, side, is_certified, bound, problem, flow, result, options)
