"""Which method, which preconditioner, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphtv import _core
from graphtv.preconditioner import Preconditioner, as_preconditioner
from graphtv.problem import Problem
from graphtv.terms import LinearBox, SquaredLoss, TotalVariation

METHODS = ("auto", "pdhg", "descent", "exact")

EXACT_BELOW = 2e-4
"""Tolerance below which flows are the cheaper way to the end: where descent hands over to them."""


@dataclass(frozen=True)
class Plan:
    """What is going to be done."""

    method: str
    preconditioner: Preconditioner | None
    reason: str


def choose(problem: Problem, method: str, preconditioner: Any, tolerance: float) -> Plan:
    """Return the plan for a request; raise where the mathematics does not allow it."""
    asked = method
    if method == "auto":
        method, reason = _choose_method(problem, preconditioner, tolerance)
    else:
        reason = "asked for"
        obstacle = {"descent": _no_descent, "exact": _no_exact}.get(method, lambda _: None)(problem)
        if obstacle:
            raise ValueError(f"method must not be {method!r}: {obstacle}")
    needs_forests = method in ("descent", "exact")
    if needs_forests and preconditioner in ("none", "diagonal"):
        raise ValueError(
            f"preconditioner must be made of forests for method {asked!r}, got {preconditioner!r}"
        )
    if method == "exact" and preconditioner == "auto":
        return Plan(method, None, reason)  # whether forests are needed shows on the way
    made = as_preconditioner(preconditioner, problem.graph)
    return Plan(method, made, reason)


def _choose_method(problem: Problem, preconditioner: Any, tolerance: float) -> tuple[str, str]:
    by_edges = isinstance(preconditioner, str) and preconditioner in ("none", "diagonal")
    if by_edges:
        return "pdhg", f"preconditioner {preconditioner} is for PDHG alone"
    no_exact, no_descent = _no_exact(problem), _no_descent(problem)
    if no_exact is None and (tolerance < EXACT_BELOW or no_descent):
        return "exact", "flows are the cheapest way to high accuracy"
    if no_descent is None:
        return "descent", "the data term is quadratic"
    return "pdhg", no_descent


def _no_descent(problem: Problem) -> str | None:
    """Return why block descent cannot solve the problem, or None."""
    data = problem.data
    if not isinstance(data, SquaredLoss):
        return f"block descent needs a SquaredLoss, got {type(data).__name__}"
    if not (data.weights > 0).all():
        return "block descent needs positive weights, and some vertices have no data"
    return None


def _no_exact(problem: Problem) -> str | None:
    """Return why flows cannot solve the problem, or None."""
    data = problem.data
    if not isinstance(problem.penalty, TotalVariation):
        return f"flows need TotalVariation, got {problem.penalty!r}"
    if isinstance(data, LinearBox):
        if data.lower.size and (
            (data.lower != data.lower.flat[0]).any() or (data.upper != data.upper.flat[0]).any()
        ):
            return "flows need the same bounds at all vertices"
        return None
    if not isinstance(problem.term, _core.SmoothTerm):
        return f"flows need a smooth separable data term, got {type(data).__name__}"
    return None
