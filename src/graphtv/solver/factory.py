"""From a plan to the engine that carries it out."""

from __future__ import annotations

from graphtv import _core
from graphtv.problem import Problem
from graphtv.solver.certificate import Certificate
from graphtv.solver.descent import Descent
from graphtv.solver.engine import FLOWS_GAP, Engine, Start
from graphtv.solver.exact import Exact
from graphtv.solver.forest import Forest, is_solved_outright
from graphtv.solver.idle import Idle
from graphtv.solver.pdhg import Pdhg
from graphtv.solver.plan import Plan
from graphtv.solver.relay import Relay
from graphtv.solver.threshold import Threshold, squared_problem
from graphtv.terms import LinearBox


def make_engine(
    problem: Problem,
    plan: Plan,
    tolerance: float,
    watch: _core.Watch,
    n_threads: int,
    warm: Certificate | None,
) -> Engine:
    """Return the engine of a plan, at its start; an idle one when the watch expires before."""
    try:
        with watch:
            return _make(problem, plan, tolerance, watch, n_threads, warm)
    except _core.Expired:
        return Idle(problem)


def _make(
    problem: Problem,
    plan: Plan,
    tolerance: float,
    watch: _core.Watch,
    n_threads: int,
    warm: Certificate | None,
) -> Engine:
    if plan.start == "nothing":
        return Idle(problem)
    if plan.method == "exact" and isinstance(problem.data, LinearBox):
        inner = squared_problem(problem)
        return Threshold(problem, _make(inner, plan, tolerance, watch, n_threads, warm))
    engine: Start
    preconditioner = plan.preconditioner
    partition = None if preconditioner is None else preconditioner.partition
    if plan.start == "descent" and is_solved_outright(problem, partition):
        return Forest(problem, n_threads)
    goal = FLOWS_GAP if plan.method == "exact" else tolerance
    p = None if warm is None else warm.p
    if plan.start == "pdhg":
        assert preconditioner is not None
        start = None if warm is None else (warm.u, warm.p)
        engine = Pdhg(problem, preconditioner, watch, n_threads, start, plan.pdhg)
    elif preconditioner is None:
        engine = Relay(problem, goal, watch, n_threads, p)
    else:
        rests = plan.method == "exact"
        engine = Descent(problem, partition, watch, n_threads, p, rests=rests)
    if plan.method == "exact":
        return Exact(problem, engine, tolerance, watch, n_threads)
    return engine
