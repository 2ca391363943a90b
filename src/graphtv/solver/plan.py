"""Which method, which preconditioner, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from graphtv import _core
from graphtv._validate import as_choice
from graphtv.decomposition.preconditioner import Preconditioner, as_preconditioner
from graphtv.problem import Problem
from graphtv.solver.options import PDHG
from graphtv.terms import LinearBox, SquaredLoss

METHODS = ("auto", "pdhg", "descent", "exact")

EXACT_BELOW = 2e-4
"""Tolerance below which flows are the cheaper way to the end."""


@dataclass(frozen=True)
class Plan:
    """What is going to be done.

    Without a preconditioner, descent begins over edges, and finds forests when it needs them.
    """

    method: str
    start: str  # descent or pdhg: the method, or what comes before the flows; or nothing: no time
    preconditioner: Preconditioner | None
    reason: str
    pdhg: PDHG

    def without_forests(self) -> Plan:
        """Return the plan with no more of its preconditioner than the name and the reason."""
        made = self.preconditioner
        return self if made is None else replace(self, preconditioner=made.without_forests())


def choose(
    problem: Problem, method: Any, preconditioner: Any, tolerance: float, watch: _core.Watch
) -> Plan:
    """Return the plan for a request; raise where the mathematics does not allow it."""
    pdhg = method if isinstance(method, PDHG) else PDHG()
    method = asked = "pdhg" if isinstance(method, PDHG) else as_choice(method, "method", METHODS)
    if method == "auto":
        method, reason = _choose_method(problem, preconditioner, tolerance)
    else:
        reason = "asked for"
        obstacle = {"descent": no_descent, "exact": no_exact}.get(method, lambda _: None)(problem)
        if obstacle:
            raise ValueError(f"method must not be {method!r}: {obstacle}")
    if method != "pdhg" and _is_of_edges(preconditioner):
        raise ValueError(
            f"preconditioner must be made of forests for method {asked!r}, got {preconditioner!r}"
        )
    is_quadratic = isinstance(problem.data, SquaredLoss | LinearBox)
    start = "descent" if method != "pdhg" and is_quadratic else "pdhg"
    if start == "descent" and _begins_with_edges(problem, asked, preconditioner):
        return Plan(method, start, None, reason, pdhg)
    if start == "pdhg" and _is_auto(preconditioner) and problem.delta != 0.0:
        # Both sides are curved then: steps over edges converge as fast, and cost far less than
        # Huber's penalty on forests.
        preconditioner = "diagonal" if problem.traits.is_separable else "none"
    if problem.delta is None and not _is_of_edges(preconditioner):
        raise ValueError(
            "preconditioner must be 'none' or 'diagonal' for a penalty that is no sum over edges,"
            f" got {preconditioner!r}"
        )
    if not problem.traits.is_separable and preconditioner == "diagonal":
        raise ValueError("preconditioner must not be 'diagonal': data is not separable")
    try:
        with watch:
            made = as_preconditioner(preconditioner, problem.graph, alpha=pdhg.alpha, watch=watch)
    except _core.Expired:
        return Plan(method, "nothing", None, reason, pdhg)
    return Plan(method, start, made, reason, pdhg)


def _begins_with_edges(problem: Problem, asked: str, preconditioner: Any) -> bool:
    """Whether to try without forests first; a tree is one already."""
    return (
        _is_auto(preconditioner)
        and asked != "descent"
        and problem.graph.n_edges >= problem.graph.n_vertices
        and problem.delta == 0.0
    )


def _is_of_edges(preconditioner: Any) -> bool:
    return isinstance(preconditioner, str) and preconditioner in ("none", "diagonal")


def _is_auto(preconditioner: Any) -> bool:
    return isinstance(preconditioner, str) and preconditioner == "auto"


def _choose_method(problem: Problem, preconditioner: Any, tolerance: float) -> tuple[str, str]:
    if _is_of_edges(preconditioner):
        return "pdhg", f"preconditioner {preconditioner} is for PDHG alone"
    not_exact, not_descent = no_exact(problem), no_descent(problem)
    if not_exact is None and (tolerance < EXACT_BELOW or not_descent):
        return "exact", "flows are the cheapest way to high accuracy"
    is_tree = problem.graph.n_edges < problem.graph.n_vertices
    if problem.delta and _is_auto(preconditioner) and not is_tree:
        return "pdhg", "the penalty is curved"
    if not_descent is None:
        return "descent", "the data term is quadratic"
    return "pdhg", not_descent


def no_descent(problem: Problem) -> str | None:
    """Return why block descent cannot solve the problem, or None."""
    data = problem.data
    if problem.delta is None:
        return f"block descent needs TotalVariation or HuberTV, got {problem.penalty!r}"
    if not isinstance(data, SquaredLoss):
        return f"block descent needs a SquaredLoss, got {type(data).__name__}"
    if not data._is_complete:
        return "block descent needs positive weights, and some vertices have no data"
    return None


def no_exact(problem: Problem) -> str | None:
    """Return why flows cannot solve the problem, or None."""
    data = problem.data
    if problem.delta != 0.0:
        return f"flows need TotalVariation, got {problem.penalty!r}"
    if isinstance(data, LinearBox):
        for bound in (data.lower, data.upper):
            if bound.size and (bound != bound.flat[0]).any():
                return "flows need the same bounds at all vertices"
        return None
    if not isinstance(problem.term, _core.SmoothTerm):
        return f"flows need a smooth separable data term, got {type(data).__name__}"
    return None
