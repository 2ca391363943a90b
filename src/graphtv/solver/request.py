"""The validated arguments of `solve`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from graphtv._memory import DOUBLES_PER_EDGE, DOUBLES_PER_VERTEX, check_memory
from graphtv._validate import Floats, as_callable, as_count, as_flag, as_real, brief
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver.loop import Callback
from graphtv.solver.options import PDHG
from graphtv.terms._arrays import to_core


@dataclass(frozen=True)
class Request:
    """The validated arguments of `graphtv.solve`."""

    problem: Problem
    preconditioner: Any
    method: str | PDHG
    tolerance: float  # 0 requests the exact solution
    max_iterations: int
    seconds: float  # infinite without a time limit
    points: tuple[Floats, Floats] | None  # u and p to start from, in the units of the solver
    callback: Callback | None
    stop: Callable[[], Any] | None
    verbose: bool
    threads: int  # 0 for all processors

    @classmethod
    def checked(
        cls,
        problem: Any,
        preconditioner: Any,
        method: Any,
        tol: Any,
        max_iterations: Any,
        time_limit: Any,
        warm_start: Any,
        callback: Any,
        stop: Any,
        verbose: Any,
        n_threads: Any,
    ) -> Self:
        """Check the arguments. The plan checks the method and the preconditioner."""
        if not isinstance(problem, Problem):
            raise ValueError(f"problem must be a Problem, got {problem!r}")
        check_memory(
            8 * DOUBLES_PER_VERTEX * math.prod(problem.shape)
            + 8 * DOUBLES_PER_EDGE * math.prod(problem.dual_shape),
            "solve",
        )
        return cls(
            problem,
            preconditioner,
            method,
            as_real(tol, "tol", minimum=0.0),
            as_count(max_iterations, "max_iterations"),
            math.inf if time_limit is None else as_real(time_limit, "time_limit", minimum=0.0),
            None if warm_start is None else _as_points(warm_start, problem),
            as_callable(callback, "callback"),
            as_callable(stop, "stop"),
            as_flag(verbose, "verbose"),
            0 if n_threads is None else as_count(n_threads, "n_threads", minimum=1),
        )

    def from_result(
        self, result: Result, tolerance: float, max_iterations: int, seconds: float
    ) -> Self:
        """Return the request to continue from a result to another tolerance."""
        return replace(
            self,
            tolerance=tolerance,
            max_iterations=max_iterations,
            seconds=max(seconds, 0.0),
            points=_as_points(result, self.problem),
        )


def _as_points(warm_start: Any, problem: Problem) -> tuple[Floats, Floats]:
    """Return the points to start from."""
    if isinstance(warm_start, Result):
        u, p, q = warm_start.u, warm_start.p, warm_start.residual_dual
    elif isinstance(warm_start, tuple) and len(warm_start) == 2:
        (u, p), q = warm_start, None
    elif isinstance(warm_start, tuple) and len(warm_start) == 3 and problem.misfit is not None:
        u, p, q = warm_start
    else:
        raise ValueError(f"warm_start must be a Result or a pair (u, p), got {brief(warm_start)}")
    try:
        # Copies, since the arrays may become part of the result.
        u = problem._form.point(to_core(problem.point(u))).copy()
        if problem.misfit is not None:
            return _as_composite_points(u, p, q, problem)
        p = to_core(problem._check(p, "p", problem.dual_shape)).copy()
    except ValueError as error:
        raise ValueError(f"warm_start does not fit the problem: {error}") from None
    problem.core_penalty.project(p)
    return u, p


def _as_composite_points(u: Floats, p: Any, q: Any, problem: Problem) -> tuple[Floats, Floats]:
    """Return u within its bounds, and the dual point; q may be of other data, or unknown."""
    misfit = problem.misfit
    assert misfit is not None
    edges = to_core(problem._check(p, "p", problem.dual_shape)).copy()
    problem.core_penalty.project(edges)
    if q is None or np.shape(q) != misfit.loss.shape:
        q = np.zeros(misfit.loss.shape)
    rows = problem._dual_point(p, q)[edges.size :]
    return problem.constraint.project(u), np.concatenate([edges, rows])
