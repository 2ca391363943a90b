"""Minimum cuts by total variation, with proof.

A minimum cut is a level set of the denoised signal (Hochbaum 2001; Chambolle & Darbon 2009), and
the dual point is a flow that bounds all cuts from below: see `cut_problem`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from graphtv import _core
from graphtv.applications.cuts.cut_problem import Capacities, CutProblem, Mask
from graphtv.applications.cuts.level_sets import LevelSets
from graphtv.applications.cuts.max_flow import Flow, maximum_flow, tighten
from graphtv.applications.keywords import check_keywords
from graphtv.graph.graph import Graph, as_graph
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.solver.loop import _interrupting
from graphtv.terms import SquaredLoss

__all__ = ["Cut", "min_cut"]

START = 1e-3
"""Relative gap of the denoised signal from which augmenting paths finish a cut the soonest."""

REAL_GAP = 1e-9
"""Of real capacities, the part of a cut's value that rounding may leave unproved."""


@dataclass(frozen=True, eq=False, repr=False)
class Cut:
    """A cut between source and sink, and what is proved about it.

    Attributes
    ----------
    value : int or float
        The capacity of the cut, from the capacities as they were given: an exact integer if all of
        them are whole, otherwise correctly rounded.
    source_side : ndarray of bool, shape (n,)
        The vertices on the source's side.
    certified : bool
        Whether no cut is smaller. With whole capacities this is proved without rounding: the bound,
        computed from a flow in integer arithmetic, equals the value. With others, no cut is smaller
        by more than 1e-9 of the value (or by `tol`, where that was larger).
    result : Result
        The solution of the denoising problem that led to it: the cut is where ``result.u > 0``, or
        near to that if the solution is a rough one.
    bound : int or float
        What no cut is below.
    """

    value: int | float
    source_side: Mask
    certified: bool
    result: Result
    bound: int | float
    _problem: CutProblem = field(repr=False)
    _pseudoflow: Capacities = field(repr=False)  # the proof

    @cached_property
    def flow(self) -> Flow:
        """A maximum flow, of the same value: a proof that anybody can check.

        It is computed when first asked for. Only a certified cut has one.
        """
        if not self.certified:
            raise ValueError("flow is known of certified cuts only, got a cut that is not")
        return maximum_flow(self._problem, self.source_side, self._pseudoflow)

    def __repr__(self) -> str:
        proof = "minimum, certified" if self.certified else f"not below {self.bound} is proved"
        n = int(self.source_side.sum())
        return f"Cut(value {self.value}, {proof}; {n} of {len(self.source_side)} with the source)"


def min_cut(
    graph: Graph, source_capacities: Any, sink_capacities: Any, **solve_options: Any
) -> Cut:
    """Return a minimum cut of an undirected graph between two terminals, with proof.

    It minimises Σ_{i∉S} s_i + Σ_{i∈S} t_i + Σ ω_ij [exactly one of i, j in S] over all sets S of
    vertices, the source sides.

    Parameters
    ----------
    graph : Graph
        The graph; its weights ω are the capacities of its edges, in both directions.
    source_capacities, sink_capacities : float or array_like, shape (n,)
        Capacities s from the source to each vertex, and t from each vertex to the sink. Infinity
        ties a vertex to that terminal.
    **solve_options
        Options of `graphtv.solve`. `tol` is 1e-3 unless given: from there on augmenting paths are
        faster.

    Returns
    -------
    Cut
        The value, the source side, whether it is certified, and the `Result` behind it.

    See Also
    --------
    cut_path : the minimum cuts for all shifts of the terminal capacities.
    FlowNetwork.min_cut : the same for directed networks.

    Notes
    -----
    Capacities are whole if all of them are integers or floats without a fraction; then everything
    after the solver is integer arithmetic. The solver's dual point is a flow, which augmenting
    paths complete if it does not prove the cut yet. Only a run that `time_limit`,
    `max_iterations` or Ctrl-C ended early leaves ``certified=False``; with real capacities also one
    whose value is so small beside the capacities that rounding hides it.

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
    """Return a minimum cut of a problem."""
    result = solve_levels(problem, {"tol": START, **options})
    levels = LevelSets(problem, result.u)
    side = levels.side(levels.best(0.0))
    seconds = time_left(result, options)
    return certified_cut(problem, side, result, options.get("tol", 0.0), seconds)


def solve_levels(problem: CutProblem, options: dict[str, Any]) -> Result:
    """Solve the denoising problem whose level sets are the minimum cuts."""
    return solve(Problem(problem.graph, SquaredLoss(problem.signal())), **options)


def time_left(result: Result, options: dict[str, Any]) -> float:
    """Return how many seconds a time limit leaves after the solver."""
    limit = options.get("time_limit")
    if limit is None:
        return math.inf
    return max(float(limit) - result.setup_time - result.solve_time, 0.0)


def is_finished(result: Result) -> bool:
    """Whether the solver was not ended early, so that flows may go on from its answer."""
    return result.status in ("optimal", "stalled")


def certified_cut(
    problem: CutProblem, side: Mask, result: Result, tolerance: float, seconds: float
) -> Cut:
    """Return a cut that is as good as the given one or better, with what is proved about it."""
    p = result.p
    value = problem.value(side)
    fraction = problem.fraction() if problem.is_whole else 0
    bound = max(problem.bound(problem.flow(p, fraction), fraction), problem.constant)
    flow = problem.flow(p)
    share = 0 if problem.is_whole else max(tolerance, REAL_GAP)
    if value - bound > share * value and is_finished(result):
        watch = _core.Watch(seconds)
        with _interrupting(watch):
            side, flow = tighten(problem, side, flow, watch)
        value, bound = problem.value(side), max(bound, problem.bound(flow))
    return Cut(value, side, value - bound <= share * value, result, bound, problem, flow)
