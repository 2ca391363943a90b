"""No false certificate, exactly: every result is confirmed in rational arithmetic.

Problems are small, of every data term and penalty, with offsets up to 1e12 and scales from 1e-300
to 1e300. A result with status `stalled` whose exact gap is small enough is not a failure, but it is
counted.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator

from graphtv import (
    AbsoluteLoss,
    CoupledTV,
    EntropicSimplex,
    Graph,
    HuberLoss,
    HuberTV,
    IsotropicTV,
    LinearBox,
    LogisticLoss,
    PoissonLoss,
    Problem,
    QuantileLoss,
    SquaredLoss,
    TotalVariation,
    grid_graph,
    solve,
)
from reliability.exact import EXACT_GAP, confirm
from reliability.harness import Figures, Property
from reliability.problems import TERMS, both_labels, make_graph

OFFSETS = (0.0, 0.0, 1.0, 1e4, 1e6, -1e9, 1e11, 1e12)
EXPONENTS = (0.0, 0.0, 0.0, -165.0, 165.0, -300.0, 300.0)
TOLERANCES = (1e-3, 1e-6, 1e-6, 1e-9, 0.0)


def make_exact_problem(rng: Generator) -> tuple[Problem, str]:
    """Return a small problem and its description."""
    term = str(rng.choice(TERMS))
    kind = str(rng.choice(["path", "tree", "cycle", "dense", "random", "pieces", "grid"]))
    spread = str(rng.choice(["plain", "ties", "same", "spread"], p=[0.4, 0.3, 0.2, 0.1]))
    scale = 10.0 ** float(rng.choice(EXPONENTS)) * rng.uniform(0.5, 2.0)
    weight = 10.0 ** float(rng.choice(EXPONENTS))  # of the vertices
    if abs(np.log10(scale) + np.log10(weight)) > 300:
        weight = 1.0
    sides = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    is_whole = kind == "grid" and rng.random() < 0.5
    graph = grid_graph(sides) if is_whole else _small(make_graph(rng, kind, spread, 1.0))
    strength = {"squared": scale * weight, "huber": scale * weight, "logistic": weight}
    edge_scale = strength.get(term, weight) * 10.0 ** rng.uniform(-2, 1)
    shape: tuple[int, ...] = (graph.n_vertices,)
    if rng.random() < 0.2 or term == "simplex":
        shape = (graph.n_vertices, int(rng.integers(2, 4)))
    offset = float(rng.choice(OFFSETS))
    f = _signal(rng, shape, offset, scale)
    c: Any = weight
    if rng.random() < 0.4:
        c = weight * rng.uniform(0.1, 3, shape) * (rng.random(shape) > rng.choice([0.0, 0.4]))
    data: Any
    if term == "squared":
        data = SquaredLoss(f, c)
    elif term == "absolute":
        data = AbsoluteLoss(f, c) if rng.random() < 0.5 else QuantileLoss(f, rng.random(), c)
    elif term == "huber":
        data = HuberLoss(f, scale * 10.0 ** rng.uniform(-2, 1), c)
    elif term == "poisson":
        data = PoissonLoss(abs(f), c)
    elif term == "logistic":
        labels = rng.choice([-1.0, 0.0, 1.0], size=shape)
        both_labels(rng, graph, labels)
        data = LogisticLoss(labels, weight)
    elif term == "box":
        low = 0.0 if rng.random() < 0.5 else f
        data = LinearBox(weight * rng.normal(size=shape), low, low + scale)
    else:
        data = EntropicSimplex(weight * rng.normal(size=shape), weight * 10 ** rng.uniform(-2, 1))
    weights = edge_scale * graph.weights
    graph = (
        grid_graph(sides, edge_scale) if is_whole else Graph(graph.n_vertices, graph.edges, weights)
    )
    unit = edge_scale if term in ("logistic", "simplex") else edge_scale * scale
    is_huber = rng.random() < 0.35 and 0.0 < unit < np.inf
    width = max(unit * 10 ** rng.uniform(-2, 1), 5e-324) if is_huber else 0.0
    penalty: Any = HuberTV(width) if is_huber else TotalVariation()
    if is_whole and rng.random() < 0.7:
        penalty = IsotropicTV(bool(rng.random() < 0.5), width)
    elif len(shape) > 1 and rng.random() < 0.4:
        penalty = CoupledTV(width)
    told = f"{term} on {kind} ({spread}), offset {offset:g}, scale {scale:.0e}, weight {weight:.0e}"
    problem = Problem(graph, data, penalty)
    return problem, f"{told}, {problem.penalty!r}, shape {shape}"


def _small(graph: Graph) -> Graph:
    """Return at most 16 vertices of a graph."""
    n = min(graph.n_vertices, 16)
    kept = (graph.edges < n).all(axis=1)
    return Graph(n, graph.edges[kept], graph.weights[kept])


def _signal(rng: Generator, shape: tuple[int, ...], offset: float, scale: float) -> Any:
    kind = rng.choice(["noise", "ties", "steps", "tenths"])
    if kind == "ties":
        f = rng.integers(-2, 3, shape).astype(float)
    elif kind == "tenths":
        f = rng.integers(-5, 6, shape) / 10
    elif kind == "steps":
        f = np.round(rng.normal(size=shape)) + 0.1 * rng.normal(size=shape)
    else:
        f = rng.normal(size=shape)
    if offset and rng.random() < 0.2:  # of some entries, channels or components alone
        return scale * (f + offset * (rng.random(shape[-1:]) < 0.5))
    return scale * (f + offset)


def check(seed: int, number: int) -> Figures:
    """Solve a random problem and confirm the result."""
    rng = np.random.default_rng([seed, number])
    with np.errstate(all="ignore"):
        try:
            problem, told = make_exact_problem(rng)
        except ValueError as error:
            if not any(word in str(error) for word in ("finite", "labels", "minimiser")):
                raise
            return {"refused": 1}
    tol = float(rng.choice(TOLERANCES))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = solve(problem, tol=tol, max_iterations=3000, time_limit=3, n_threads=1)
            true = confirm(problem, result)
        except Exception as error:
            raise AssertionError(f"{told}, tol {tol:g}: {error!r}") from error
    figures: Figures = {"problems": 1, result.status: 1}
    if result.status == "stalled" and 2 * true.gap <= (Fraction(tol) or EXACT_GAP) * true.scale:
        figures["stalled although exact"] = 1
    return figures


PROPERTY = Property("exact", "No false certificate, exactly", check, cases=6_000, quick=150)
