"""No false certificate of applications: every result is confirmed in rational arithmetic.

The cases are convex clustering, linear and logistic regression on a graph, and graphs in parts.
They are small, with ties, equal points, missing data, constant columns, offsets and scales.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.random import Generator

from graphtv import (
    CoupledTV,
    FusedLinearRegression,
    FusedLogisticRegression,
    Graph,
    HuberLoss,
    HuberTV,
    LogisticLoss,
    PartitionedGraph,
    PoissonLoss,
    Problem,
    SquaredLoss,
    TotalVariation,
    convex_clustering,
    solve,
)
from graphtv.applications.regression.design import Design
from graphtv.applications.regression.linear_model import LinearModel
from reliability.exact import confirm
from reliability.harness import Figures, Property
from reliability.problems import both_labels, make_graph

OFFSETS = (0.0, 0.0, 1.0, 1e4, 1e8)
EXPONENTS = (0, 0, 0, 20, -20, 80, -80)
TOLERANCES = (1e-3, 1e-6, 1e-6, 1e-9)
ITERATIONS = (20, 100, 400)
ROUNDING = 1e-12
"""Differences within a cluster, relative to the largest value."""


def _graph(rng: Generator, n: int, strength: float) -> Graph:
    """Return a connected or disconnected graph of n vertices."""
    kind = str(rng.choice(["path", "tree", "random", "dense", "pieces"]))
    spread = str(rng.choice(["same", "ties", "plain", "spread"], p=[0.3, 0.3, 0.3, 0.1]))
    given = make_graph(rng, kind, spread, 1.0)
    kept = (given.edges < n).all(axis=1)
    return Graph(n, given.edges[kept], strength * given.weights[kept])


def _values(rng: Generator, shape: tuple[int, ...]) -> Any:
    """Return numbers with few or many ties."""
    return np.round(rng.normal(size=shape), int(rng.integers(0, 4)))


def clustering(rng: Generator, tol: float, limit: int) -> tuple[Any, Problem, Any, str]:
    """Return a result of convex clustering, its problem, no matrix, and a description."""
    n, unit = int(rng.integers(1, 10)), 2.0 ** int(rng.choice(EXPONENTS))
    offset = float(rng.choice(OFFSETS))
    points = unit * (_values(rng, (n, int(rng.integers(1, 4)))) + offset)
    points[: n // 3] = points[0]
    graph = None if rng.random() < 0.4 else _graph(rng, n, 1.0)
    lam = unit * 10.0 ** rng.uniform(-2, 2)
    told = f"clustering {points.tolist()}, {graph!r}, lam {lam!r}"
    result = convex_clustering(points, graph, lam, tol=tol, max_iterations=limit, n_threads=1)
    used = result.graph
    for label in range(result.n_clusters):
        rows = result.u[result.labels == label]
        assert np.ptp(rows, axis=0).max() <= ROUNDING * np.abs(points).max(), "u in a cluster"
    scaled = Graph(n, used.edges, lam * used.weights)
    return result, Problem(scaled, SquaredLoss(points), CoupledTV()), None, told


def regression(rng: Generator, tol: float, limit: int) -> tuple[Any, Problem, Any, str]:
    """Return a result of an estimator, its problem, the matrix, and a description."""
    # Sums of 2, 4 or 8 integers give means without rounding, so that the matrix is known exactly.
    samples, n = int(rng.choice([2, 4, 8])), int(rng.integers(1, 8))
    X = rng.integers(-4, 5, (samples, n)).astype(float)
    X *= 2.0 ** rng.integers(-3, 4, n) if rng.random() < 0.3 else 1.0
    X[:, rng.random(n) < 0.1] = 1.0
    is_logistic, has_intercept = rng.random() < 0.5, bool(rng.random() < 0.7)
    offset = float(rng.choice(OFFSETS))
    y: Any = np.arange(samples) % 2 if is_logistic else np.round(4 * rng.normal(size=samples))
    if is_logistic:
        rng.shuffle(y)
    elif rng.random() < 0.5:
        y = X @ np.full(n, 0.5) + offset  # constants fit the data
    lam, mu = 10.0 ** rng.uniform(-3, 2), float(rng.choice([0.0, 0.0, 0.01, 1.0]))
    graph = _graph(rng, n, 1.0)
    options = {"max_iterations": limit, "n_threads": 1}
    kind = FusedLogisticRegression if is_logistic else FusedLinearRegression
    model = kind(
        graph, lam, sparsity=mu, fit_intercept=has_intercept, tol=tol, solve_options=options
    )
    # The range of a centred sparse matrix depends on the products so far, so it cannot be repeated.
    given = scipy.sparse.csr_array(X) if rng.random() < 0.4 and not has_intercept else X
    told = f"{model!r}, X {X.tolist()}, y {np.asarray(y).tolist()}"
    result = model.fit(given, y).results_[0]
    target = 2.0 * y - 1.0 if is_logistic else y
    design = Design(X, np.ones(samples), has_intercept)
    loss = "logistic" if is_logistic else "squared"
    dense = LinearModel(graph, design, target, loss, mu, has_intercept)
    matrix = design.operator(is_logistic and has_intercept)
    sparse = LinearModel(
        graph,
        Design(given, np.ones(samples), has_intercept),
        target,
        loss,
        mu,
        has_intercept,
    )
    return result, (dense if given is X else sparse).problem(lam), matrix, told


def parts(rng: Generator, tol: float, limit: int) -> tuple[Any, Problem, Any, str]:
    """Return a result on a graph in parts, its problem, no matrix, and a description."""
    dask = importlib.import_module("dask")
    n, term = int(rng.integers(2, 14)), str(rng.choice(["squared", "huber", "logistic", "poisson"]))
    graph = _graph(rng, n, 10.0 ** rng.uniform(-2, 1))
    offset = float(rng.choice(OFFSETS))
    f = _values(rng, (n,)) + offset
    c = rng.uniform(0.1, 3, n) * (rng.random(n) > rng.choice([0.0, 0.3]))
    c[0] = 1.0
    data: Any
    if term == "squared":
        data = SquaredLoss(f, c)
    elif term == "huber":
        data = HuberLoss(f, 10.0 ** rng.uniform(-2, 1), c)
    elif term == "poisson":
        data = PoissonLoss(abs(np.round(f)), c)
    else:
        labels = rng.choice([-1.0, 0.0, 1.0], size=n)
        labels[:2] = 1.0, -1.0
        both_labels(rng, graph, labels)
        data = LogisticLoss(labels)
    penalty = HuberTV(10.0 ** rng.uniform(-2, 1)) if rng.random() < 0.3 else TotalVariation()
    groups = rng.integers(0, int(rng.integers(1, 5)), n)
    told = f"{term}, {graph!r} in {groups.tolist()}, {penalty!r}, f {f.tolist()}, c {c.tolist()}"
    with dask.config.set(scheduler="sync"):
        problem = Problem(PartitionedGraph(graph, groups), data, penalty)
        result = solve(problem, tol=tol, max_iterations=max(limit // 20, 2))
    return result, Problem(graph, data, penalty), None, told


CASES: tuple[Callable[[Generator, float, int], tuple[Any, Problem, Any, str]], ...] = (
    clustering,
    regression,
    regression,
    parts,
)


def check(seed: int, number: int) -> Figures:
    """Solve a random problem of an application and confirm the result."""
    rng = np.random.default_rng([seed, number, 5])
    make = CASES[number % len(CASES)]
    tol, limit = float(rng.choice(TOLERANCES)), int(rng.choice(ITERATIONS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # it tells that the limit was reached
        try:
            result, problem, matrix, told = make(rng, tol, limit)
        except ValueError as error:
            if not any(
                words in str(error) for words in ("no minimiser", "must have a known entry")
            ):
                raise
            return {"refused": 1}
    try:
        confirm(problem, result, matrix)
    except Exception as error:
        raise AssertionError(f"{told}, tol {tol:g}, {result.status}: {error!r}") from error
    return {f"{make.__name__} {result.status}": 1}


PROPERTY = Property(
    "exact-applications", "No false certificate of applications", check, cases=6_000, quick=60
)
