"""No false certificate with an operator: every result is confirmed in rational arithmetic.

The problems have a matrix A, bounds of u or sparsity. The matrices are dense, sparse, with entries
of many magnitudes, rank-deficient, or with rows whose sum is exactly or nearly zero. A dual value
holds only if the range of u that it relies on contains a solution. So no other point that this
script finds may have a smaller objective than a lower bound that is proved: neither solutions of
least squares problems, nor the minimiser of a conic solver.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse
from numpy.random import Generator
from scipy.sparse.linalg import aslinearoperator

from graphtv import (
    AbsoluteLoss,
    CoupledTV,
    Graph,
    HuberLoss,
    HuberTV,
    IsotropicTV,
    LogisticLoss,
    PoissonLoss,
    Problem,
    QuantileLoss,
    Result,
    SquaredLoss,
    TotalVariation,
    grid_graph,
    solve,
)
from graphtv.terms._arrays import to_core
from reliability.exact import confirm, objectives
from reliability.harness import Figures, Property
from reliability.problems import make_graph

TERMS = ("squared", "squared", "absolute", "quantile", "huber", "logistic", "poisson")
MATRICES = ("dense", "sparse", "whole", "magnitudes", "deficient", "balanced", "almost", "none")
OFFSETS = (0.0, 0.0, 1.0, 1e4, 1e8)
EXPONENTS = (0, 0, 0, 20, -20, 80, -80)
TOLERANCES = (1e-3, 1e-6, 1e-6, 1e-9)
ITERATIONS = (50, 200, 400)
LARGEST_CONIC = 1e6
"""Sizes of numbers up to which the conic solver is asked."""


def make_matrix(rng: Generator, kind: str, rows: int, n: int) -> Any:
    """Return a dense matrix."""
    A = rng.normal(size=(rows, n))
    if kind == "sparse":
        A *= rng.random(A.shape) < 0.4
    elif kind == "whole":
        A = rng.integers(-1, 2, A.shape).astype(float)
    elif kind == "magnitudes":
        A *= 10.0 ** rng.uniform(-6, 6, (rows, 1)) * 10.0 ** rng.uniform(-3, 3, n)
    elif kind == "deficient":
        A = rng.integers(-2, 3, (rows, 1)) * rng.integers(-2, 3, n).astype(float)
    elif kind in ("balanced", "almost"):  # constants have no image, or next to none
        A = rng.integers(-8, 9, A.shape) / 8
        A[:, -1] -= A.sum(axis=1)
        A[:, 0] += 10.0 ** rng.uniform(-14, -6) * (kind == "almost")
    return A


def make_operator_problem(rng: Generator) -> tuple[Problem, Any, str]:
    """Return a small problem with an operator, its dense matrix, and its description."""
    term, kind = str(rng.choice(TERMS)), str(rng.choice(MATRICES))
    is_grid = rng.random() < 0.3
    sides = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    graph = grid_graph(sides)
    if not is_grid:
        given = make_graph(rng, str(rng.choice(["path", "tree", "random", "pieces"])), "same", 1.0)
        n = min(given.n_vertices, 7)
        kept = (given.edges < n).all(axis=1)
        graph = Graph(n, given.edges[kept], given.weights[kept])
    n = graph.n_vertices
    A = None if kind == "none" else make_matrix(rng, kind, int(rng.integers(1, 10)), n)
    rows = n if A is None else len(A)
    shape: tuple[int, ...] = (rows,) if rng.random() < 0.8 else (rows, 2)
    exponent = int(rng.choice(EXPONENTS))
    if term in ("logistic", "poisson"):
        exponent = 0
    offset, unit = float(rng.choice(OFFSETS)), 2.0**exponent
    f = unit * (np.round(rng.normal(size=shape), int(rng.integers(0, 4))) + offset)
    c = None if rng.random() < 0.6 else rng.uniform(0.1, 3, shape) * (rng.random(shape) > 0.2)
    strength = 10.0 ** rng.uniform(-3, 1) * (unit if term in ("squared", "huber") else 1.0)
    data = make_loss(rng, term, f, c, unit)
    if term == "poisson" and A is not None:
        A = abs(A) + 0.1  # otherwise a count may have no chance
    penalty: Any = TotalVariation()
    choice = rng.random()
    width = strength * unit * 10.0 ** rng.uniform(-2, 1) if rng.random() < 0.5 else 0.0
    if choice < 0.25:
        penalty = HuberTV(strength * unit)
    elif choice < 0.4 and len(shape) > 1:
        penalty = CoupledTV(width)
    elif choice < 0.6 and is_grid:
        penalty = IsotropicTV(bool(rng.random() < 0.5), width)
    limits = make_limits(rng, n, unit, strength, term)
    weights = strength * graph.weights
    graph = grid_graph(sides, strength) if is_grid else Graph(n, graph.edges, weights)
    form = str(rng.choice(["dense", "csr", "coo", "products"]))
    given = A
    if A is not None and form in ("csr", "coo"):
        given = scipy.sparse.csr_array(A) if form == "csr" else scipy.sparse.coo_array(A)
    elif A is not None and form == "products":
        given = aslinearoperator(A)
    told = f"{term}, {kind} ({form}), {graph!r}, {penalty!r}, {limits}, 2^{exponent}, +{offset:g}"
    return Problem(graph, data, penalty, given, **limits), A, told


def make_loss(rng: Generator, term: str, f: Any, c: Any, unit: float) -> Any:
    """Return a loss of the data."""
    if term == "squared":
        return SquaredLoss(f, c)
    if term == "absolute":
        return AbsoluteLoss(f, c)
    if term == "quantile":
        return QuantileLoss(f, rng.uniform(0.05, 0.95), c)
    if term == "huber":
        return HuberLoss(f, unit * 10.0 ** rng.uniform(-2, 1), c)
    if term == "logistic":
        return LogisticLoss(rng.choice([-1.0, 0.0, 1.0], size=f.shape, p=[0.45, 0.1, 0.45]), c)
    return PoissonLoss(abs(np.round(f)), c)


def make_limits(rng: Generator, n: int, unit: float, strength: float, term: str) -> dict[str, Any]:
    """Return bounds and sparsity; {} or at least one of them."""
    limits: dict[str, Any] = {}
    low = unit * float(rng.choice([-5.0, -1.0, 0.0, 2.0, 1e3]))
    if term == "poisson":
        limits["lower"] = abs(low) or unit / 8
    elif rng.random() < 0.3:
        limits["lower"] = low if rng.random() < 0.7 else low + unit * rng.random(n)
    if rng.random() < 0.3:
        least = max(np.max(limits.get("lower", -np.inf)), low)
        limits["upper"] = least + unit * float(rng.choice([0.0, 0.5, 4.0]))
    if rng.random() < 0.3 and all(np.ndim(x) == 0 for x in limits.values()):
        limits["sparsity"] = strength * float(rng.choice([0.01, 1.0, 30.0]))
    return limits or ({"sparsity": strength} if rng.random() < 0.3 else {"lower": low})


def other_points(problem: Problem, A: Any, rng: Generator) -> Iterator[Any]:
    """Yield points that may have a smaller objective."""
    misfit = problem.misfit
    assert misfit is not None
    n = problem.graph.n_vertices
    matrix = np.eye(n) if A is None else A
    data: Any = problem.data
    f = getattr(data, "signal", getattr(data, "counts", getattr(data, "labels", None)))
    columns = f.reshape(len(f), -1)
    _, component = misfit.components
    indicators = (component[:, None] == np.unique(component)[None]).astype(float)
    for basis in (np.eye(n), indicators):
        for rcond in (1e-15, 1e-9, 1e-3):
            found = basis @ np.linalg.lstsq(matrix @ basis, columns, rcond=rcond)[0]
            yield found
            yield found * rng.choice([0.5, 2.0, -1.0])
    yield np.zeros((n, columns.shape[1]))


def conic_point(problem: Problem, A: Any) -> Any:
    """Return the minimiser of a conic solver, or None."""
    cp: Any = importlib.import_module("cvxpy")
    data: Any = problem.data
    matrix = np.eye(problem.graph.n_vertices) if A is None else A
    sizes = [abs(matrix).max(initial=0.0), problem.graph.weights.max(initial=0.0)]
    if max(sizes) > LARGEST_CONIC or problem.penalty.delta or not isinstance(data, SquaredLoss):
        return None
    if not isinstance(problem.penalty, TotalVariation) or abs(data.signal).max() > LARGEST_CONIC:
        return None
    u = cp.Variable(problem.shape)
    G = cp.sum(cp.multiply(data.weights / 2, cp.square(matrix @ u - data.signal)))
    if problem.graph.n_edges:
        G += cp.norm1(problem.graph.gradient() @ u)
    constraint = problem.constraint
    mu = constraint.sparsity.reshape(-1)[0]
    limits = []
    for bound, sign in ((constraint.lower, 1.0), (constraint.upper, -1.0)):
        if bound.size == 1 and np.isfinite(bound[0]):
            limits.append(sign * u >= sign * bound[0])
    try:
        cp.Problem(cp.Minimize(G + mu * cp.norm1(u)), limits).solve(solver=cp.CLARABEL)
    except cp.error.SolverError:
        return None
    return u.value


def check_bound(problem: Problem, result: Result, A: Any, rng: Generator) -> int:
    """Raise if some point has an objective below the lower bound; return how many were tried."""
    bound = Fraction(result.dual) - Fraction(result.rounding)
    q, count = result.residual_dual, 0
    points = list(other_points(problem, A, rng))
    conic = conic_point(problem, A)
    if conic is not None:
        points.append(conic)
    flat = problem.constraint
    for point in points:
        columns = point.reshape(problem.graph.n_vertices, -1).T
        inside = flat.project(np.ascontiguousarray(columns).reshape(-1))
        u = inside.reshape(columns.shape).T.reshape(problem.shape)
        if not np.isfinite(u).all() or not np.isfinite(problem.primal(u)):
            continue
        count += 1
        primal = objectives(problem, u, result.p, q, A).primal
        assert primal >= bound, (
            f"{float(primal)!r} at {u.tolist()} is below the lower bound {result.dual!r}"
        )
    return count


def check(seed: int, number: int) -> Figures:
    """Solve a random problem and confirm the result."""
    rng = np.random.default_rng([seed, number, 4])
    with np.errstate(all="ignore"):
        problem, A, told = make_operator_problem(rng)
    tol, limit = float(rng.choice(TOLERANCES)), int(rng.choice(ITERATIONS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = solve(problem, tol=tol, max_iterations=limit, n_threads=1)
        except ValueError as error:
            if not any(word in str(error) for word in ("no minimiser", "same sign", "no solution")):
                raise AssertionError(f"{told}, tol {tol:g}: {error!r}") from error
            return {"refused": 1}
        try:
            assert np.isfinite(result.primal), f"infinite objective, {result.status}"
            confirm(problem, result, A)
        except Exception as error:
            raise AssertionError(f"{told}, tol {tol:g}, {result.status}: {error!r}") from error
    figures: Figures = {"problems": 1, result.status: 1}
    if problem.composite.range_of(to_core(result.u)).is_proved:
        try:
            figures["compared points"] = check_bound(problem, result, A, rng)
        except Exception as error:
            raise AssertionError(f"{told}, tol {tol:g}, {result.status}: {error!r}") from error
    else:
        figures["assumed range"] = 1
        assert result.assumptions, f"{told}: the range is not proved, and no assumption is named"
    return figures


PROPERTY = Property(
    "exact-operators", "No false certificate with an operator", check, cases=4_000, quick=60
)
