"""Metamorphic: a known change of the problem changes the solution in a known way.

Both results have a verified interval for the minimum. So the two intervals, one of them
transformed, must overlap. If the loss is strongly convex, the distance of the two points must be
within their error bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtv import EntropicSimplex, Graph, LinearBox, Problem, Result, SquaredLoss, solve
from graphtv.terms import LogisticLoss, PoissonLoss
from reliability.harness import Figures, Property
from reliability.problems import make_problem
from reliability.verifier import confirm

CHANGES = ("relabel", "flip", "split", "scale", "objective", "shift", "union", "classes", "negate")


def with_arrays(data: Any, change: Any) -> Any:
    """Return the same term with `change` applied to every array over vertices."""
    if isinstance(data, EntropicSimplex):
        return EntropicSimplex(change(data.cost), data.epsilon)
    if isinstance(data, LinearBox):
        return LinearBox(change(data.cost), change(data.lower), change(data.upper))
    if isinstance(data, LogisticLoss):
        return LogisticLoss(change(data.labels), change(data.weights))
    if isinstance(data, PoissonLoss):
        return PoissonLoss(change(data.counts), change(data.weights))
    more = [getattr(data, name) for name in ("delta", "tau") if hasattr(data, name)]
    return type(data)(change(data.signal), *more, weights=change(data.weights))


def answer(problem: Problem) -> Result:
    """Solve and verify."""
    result = solve(problem, tol=1e-9, max_iterations=3000, time_limit=5, n_threads=1)
    confirm(problem, result)
    return result


def agree(one: Result, two: Result, size: float, u: Any, told: str, factor: float = 1.0) -> None:
    """Assert that the intervals overlap, and that the points are within the proved distance."""
    slack = 1e-12 * (abs(one.primal) + abs(one.dual) + size)
    assert factor * two.dual <= one.primal + slack, f"{told}: {two.dual} above {one.primal}"
    assert one.dual <= factor * two.primal + slack, f"{told}: {one.dual} above {two.primal}"
    if one.error_bound is not None and two.error_bound is not None and u is not None:
        far = float(np.linalg.norm(one.u - u))
        bound = one.error_bound + two.error_bound + 1e-9 * float(np.linalg.norm(one.u))
        assert far <= bound, f"{told}: points {far:.3g} apart, bound {bound:.3g}"


def check(seed: int, number: int) -> Figures:
    """Apply one change to one random problem."""
    rng = np.random.default_rng([seed, number, 2])
    kind = CHANGES[number % len(CHANGES)]
    while True:
        with np.errstate(all="ignore"):
            problem, told = make_problem(rng, largest=6.0)
        if kind == "classes" and len(problem.shape) == 1:
            continue
        if kind in ("scale", "objective", "shift", "negate") and not isinstance(
            problem.data, SquaredLoss
        ):
            continue
        break
    told = f"{kind}: {told}"
    graph, data, penalty = problem.graph, problem.data, problem.penalty
    n, edges, weights = graph.n_vertices, graph.edges, graph.weights
    one = answer(problem)
    size = float(abs(one.primal) + weights.sum() * abs(one.u).max(initial=0.0))
    if kind == "relabel":
        order = rng.permutation(n)
        back = np.argsort(order)
        moved = Graph(n, order[edges], weights) if len(edges) else graph
        two = answer(Problem(moved, with_arrays(data, lambda x: x[back]), penalty))
        agree(one, two, size, two.u[order], told)
    elif kind == "flip":
        two = answer(Problem(Graph(n, edges[:, ::-1], weights), data, penalty))
        agree(one, two, size, two.u, told)
    elif kind == "split":
        share = rng.uniform(0.1, 0.9)
        parts = np.concatenate([share * weights, (1 - share) * weights])
        two = answer(Problem(Graph(n, np.concatenate([edges, edges]), parts), data, penalty))
        agree(one, two, size, two.u, told)
    elif kind == "union":
        both = Graph(2 * n, np.concatenate([edges, edges + n]), np.tile(weights, 2))
        two = answer(Problem(both, with_arrays(data, lambda x: np.concatenate([x, x])), penalty))
        agree(one, two, size, two.u[:n], told, 0.5)
    elif kind == "classes":
        order = rng.permutation(problem.shape[1])
        two = answer(Problem(graph, with_arrays(data, lambda x: x[:, order]), penalty))
        agree(one, two, size, two.u[:, np.argsort(order)], told)
    else:
        assert isinstance(data, SquaredLoss)
        f, c = data.signal, data.weights
        if kind == "shift":
            by = float(rng.normal()) * (1.0 + float(abs(f).max()))
            two = answer(Problem(graph, SquaredLoss(f + by, c), penalty))
            if (c > 0).all():
                size += float((c * (f + by) ** 2).sum() + weights.sum() * abs(f + by).max())
                agree(one, two, size, two.u - by, told)
        elif kind == "negate":
            two = answer(Problem(graph, SquaredLoss(-f, c), penalty))
            agree(one, two, size, -two.u, told)
        elif kind == "objective":
            beta = 2.0 ** float(rng.integers(-40, 40))
            if not penalty.delta:
                two = answer(Problem(Graph(n, edges, beta * weights), SquaredLoss(f, beta * c)))
                agree(one, two, size, None, told, 1 / beta)
        elif not penalty.delta:
            alpha = 2.0 ** float(rng.integers(-40, 40))
            two = answer(Problem(Graph(n, edges, alpha * weights), SquaredLoss(alpha * f, c)))
            agree(one, two, size, None, told, alpha**-2)
    return {kind: 1}


PROPERTY = Property("metamorphic", "Metamorphic", check, cases=3000, quick=90)
