"""Convergence: small problems of ordinary scale are solved to the tolerance for all kinds of data.

Weights and signals span six orders of magnitude. Signals are noise, ties, steps, constants except
for some vertices, constants up to the last bit, and noise with one outlier. The only accepted
exception is rounding: if the minimum is almost zero, no certificate in floating point can resolve
it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from graphtv import (
    AbsoluteLoss,
    DataTerm,
    EntropicSimplex,
    Graph,
    HuberLoss,
    HuberTV,
    LinearBox,
    LogisticLoss,
    PoissonLoss,
    Problem,
    SquaredLoss,
    TotalVariation,
    gallery,
    grid_graph,
    solve,
)
from reliability.harness import Figures, Property
from reliability.problems import TERMS, both_labels
from reliability.verifier import EPSILON, confirm

GRAPHS = ("path", "tree", "tree", "star", "cycle", "grid", "random", "pieces")
SIGNALS = ("noise", "ties", "bits", "outlier", "offset", "constant", "steps")
MASKS = ("none", "weights", "mask", "spread")
WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"method": "pdhg"},
    {"method": "pdhg", "preconditioner": "diagonal"},
    {"method": "pdhg", "preconditioner": "nested"},
)


def make_graph(rng: Generator, strength: float) -> Graph:
    """Return a small graph with weights around `strength`."""
    kind = str(rng.choice(GRAPHS))
    n = int(rng.integers(2, 14) if rng.random() < 0.7 else rng.integers(14, 60))
    if kind == "grid":
        graph = grid_graph(tuple(int(k) for k in rng.integers(1, 7, rng.integers(1, 4))))
    elif kind == "path":
        graph = gallery.path_graph(n)
    elif kind == "star":
        graph = gallery.star_graph(n)
    elif kind == "tree":
        graph = gallery.random_tree(n, int(rng.integers(2**31)))
    elif kind == "cycle":
        graph = Graph(n, np.stack([np.arange(n), np.roll(np.arange(n), 1)], axis=1))
    else:
        m = max(1, n // 2) if kind == "pieces" else n * int(rng.integers(1, 4))
        graph = Graph(n, rng.integers(0, n, (m, 2)))
    m = graph.n_edges
    weights = {
        "same": np.ones(m),
        "plain": rng.uniform(0.01, 1, m),
        "ties": rng.integers(1, 4, m) / 2,
        "spread": 10.0 ** rng.uniform(-2, 2, m),
    }[str(rng.choice(["same", "plain", "ties", "spread"]))]
    return Graph(graph.n_vertices, graph.edges, strength * weights)


def make_signal(rng: Generator, n: int) -> Any:
    """Return a signal of ordinary scale."""
    kind = str(rng.choice(SIGNALS))
    f = rng.normal(size=n)
    if kind == "ties":
        return rng.integers(-2, 3, n).astype(float)
    if kind == "steps":
        return np.round(f) + 0.1 * rng.normal(size=n)
    if kind == "offset":
        return f + 100.0
    if kind == "outlier":
        f[0] = 1e4
    if kind == "constant":
        f[1:] = f[0] + 1.0
    if kind == "bits":
        few = max(1, n // 8)
        f = 1.0 + rng.integers(0, 2, n) * np.finfo(float).eps
        f[rng.permutation(n)[:few]] = rng.uniform(0.0, 2.0, few)
    return f


def make_weights(rng: Generator, f: Any) -> Any:
    """Return vertex weights, or None; vertices that differ from the others have data."""
    kind = str(rng.choice(MASKS))
    if kind == "none":
        return None
    if kind == "spread":
        return 10.0 ** rng.uniform(-2, 2, f.size)
    c = rng.uniform(0.1, 3, f.size)
    if kind == "mask":
        c *= rng.random(f.size) > 0.4
    return np.maximum(c, 0.1 * (abs(f - np.median(f)) > 1e-9))


def make_term(
    rng: Generator, graph: Graph, term: str, scale: float, strength: float
) -> tuple[DataTerm, float]:
    """Return a data term, and the unit of u."""
    n = graph.n_vertices
    f = make_signal(rng, n)
    c = make_weights(rng, f)
    if term == "squared":
        return SquaredLoss(scale * f, c), scale
    if term == "absolute":
        return AbsoluteLoss(scale * f, c), scale
    if term == "huber":
        return HuberLoss(scale * f, scale * 10.0 ** rng.uniform(-2, 1), c), scale
    if term == "poisson":
        return PoissonLoss(scale * abs(f), c), scale
    if term == "logistic":
        y = rng.choice([-1.0, 0.0, 1.0], size=n)
        both_labels(rng, graph, y)
        return LogisticLoss(y, float(rng.uniform(0.2, 2))), 1.0
    if term == "box":
        if rng.random() < 0.5:
            return LinearBox(strength * f), 1.0
        low = rng.normal(size=n)
        return LinearBox(strength * f, low, low + rng.choice([0.0, 0.5, 2.0], size=n)), 1.0
    cost = strength * np.stack([f, np.roll(f, 1), -f], axis=1)
    return EntropicSimplex(cost, strength * 10.0 ** rng.uniform(-3, 1)), 1.0


def make_problem(rng: Generator) -> tuple[Problem, str]:
    """Return a problem and its description."""
    term = str(rng.choice(TERMS))
    scale, strength = 10.0 ** rng.uniform(-3, 3), 10.0 ** rng.uniform(-2, 2)
    if term in ("squared", "huber"):
        strength *= scale
    graph = make_graph(rng, strength)
    data, unit = make_term(rng, graph, term, scale, strength)
    delta = strength * unit * 10.0 ** rng.uniform(-3, 1)
    penalty = TotalVariation() if rng.random() < 0.5 else HuberTV(delta)
    told = f"{data!r}, {penalty!r}, {graph!r}, scale {scale:.1e}, weights {strength:.1e}"
    return Problem(graph, data, penalty), told


def check(seed: int, number: int) -> Figures:
    """Solve a random problem, by `auto` or by PDHG."""
    rng = np.random.default_rng([seed, number, 3])
    problem, told = make_problem(rng)
    way = WAYS[number % len(WAYS)]
    result = solve(problem, n_threads=1, **way)
    true = confirm(problem, result)
    figures: Figures = {"problems": 1, "most iterations": result.iterations}
    if result.status == "optimal":
        return figures
    is_rounding = result.gap <= 64 * EPSILON * true.size
    assert is_rounding, f"{result.status} at {result.relative_gap:.3g}: {told}, {way}"
    return figures | {"at rounding": 1}


PROPERTY = Property("convergence", "Convergence", check, cases=6000, quick=400)
