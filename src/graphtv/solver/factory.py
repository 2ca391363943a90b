"""From a plan to the engine that carries it out."""

from __future__ import annotations

from graphtv import _core
from graphtv.preconditioner import Preconditioner, as_preconditioner
from graphtv.problem import Problem
from graphtv.solver.certificate import Certificate
from graphtv.solver.descent import Descent
from graphtv.solver.engine import Engine
from graphtv.solver.exact import Exact
from graphtv.solver.pdhg import Pdhg
from graphtv.solver.plan import Plan, no_descent
from graphtv.solver.threshold import Threshold, squared_problem
from graphtv.terms import LinearBox


def make_engine(
    problem: Problem, plan: Plan, watch: _core.Watch, n_threads: int, warm: Certificate | None
) -> Engine:
    """Return the engine of a plan, at its start."""
    if plan.method == "exact" and isinstance(problem.data, LinearBox):
        inner = squared_problem(problem)
        return Threshold(problem, make_engine(inner, plan, watch, n_threads, warm))
    preconditioner = plan.preconditioner or as_preconditioner("auto", problem.graph)
    wants_descent = plan.method == "descent" or (
        plan.method == "exact" and no_descent(problem) is None
    )
    if wants_descent:
        engine = _descent(problem, preconditioner, watch, n_threads, warm)
    else:
        start = None if warm is None else (warm.u, warm.p)
        engine = Pdhg(problem, preconditioner, watch, n_threads, start, plan.pdhg)
    return Exact(problem, engine, watch, n_threads) if plan.method == "exact" else engine


def _descent(
    problem: Problem,
    preconditioner: Preconditioner,
    watch: _core.Watch,
    n_threads: int,
    warm: Certificate | None,
) -> Engine:
    assert preconditioner.partition is not None
    start = None if warm is None else warm.p
    return Descent(problem, preconditioner.partition, watch, n_threads, start)
