"""Random problems of every kind: graphs, weights, terms, scales, ties, zeros and masks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

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
    QuantileLoss,
    SquaredLoss,
    TotalVariation,
    gallery,
    grid_graph,
)

GRAPHS = (
    "grid",
    "path",
    "star",
    "tree",
    "random",
    "dense",
    "pieces",
    "edgeless",
    "vertex",
    "cycle",
)
TERMS = ("squared", "absolute", "huber", "logistic", "poisson", "box", "simplex")
LARGEST_EXPONENT = 150


def make_graph(rng: Generator, kind: str, weights: str, scale: float) -> Graph:
    """Return a graph with some tens of vertices, sometimes some hundreds."""
    edges: NDArray[Any]
    n = int(rng.integers(2, 40)) if rng.random() < 0.95 else int(rng.integers(100, 600))
    if kind == "grid":
        shape = tuple(int(k) for k in rng.integers(1, 8, rng.integers(1, 4)))
        edges, n = grid_graph(shape).edges, int(np.prod(shape))
    elif kind == "path":
        edges = gallery.path_graph(n).edges
    elif kind == "star":
        edges = gallery.star_graph(n).edges
    elif kind == "tree":
        edges = gallery.random_tree(n, int(rng.integers(2**31))).edges
    elif kind == "cycle":
        edges = np.stack([np.arange(n), np.roll(np.arange(n), 1)], axis=1)
    elif kind == "dense":
        n = min(n, 12)
        edges = np.array(np.triu_indices(n, 1)).T
    elif kind == "pieces":
        edges = rng.integers(0, n, (n // 2, 2))
    elif kind == "random":
        edges = rng.integers(0, n, (int(rng.integers(1, 4)) * n, 2))
    else:
        n = 1 if kind == "vertex" else n
        edges = np.empty((0, 2), dtype=np.int64)
    m = len(edges)
    if weights == "ties":
        values = rng.integers(0, 4, m) / 2
    elif weights == "spread":
        values = 10.0 ** rng.uniform(-6, 6, m)
    elif weights == "same":
        values = np.full(m, rng.uniform(0.01, 3))
    else:
        values = rng.uniform(0.01, 1, m)
    return Graph(n, edges, values * scale)


def both_labels(rng: Generator, graph: Graph, y: Any) -> None:
    """Give every component of at least two vertices labels of both kinds, and the others none."""
    from scipy.sparse.csgraph import connected_components

    n_pieces, piece = connected_components(graph.to_sparse(), directed=False)
    for k in range(n_pieces):
        members = rng.permutation(np.flatnonzero(piece == k))
        y[members[0]], y[members[-1]] = 1.0, -1.0
        if len(members) == 1:
            y[members] = 0.0


def make_problem(rng: Generator, largest: float = LARGEST_EXPONENT) -> tuple[Problem, str]:
    """Return a problem and its description; scales are 10^±largest if the term has one."""
    kind, term = str(rng.choice(GRAPHS)), str(rng.choice(TERMS))
    spread = str(rng.choice(["plain", "ties", "spread", "same"]))
    is_extreme = rng.random() < 0.5
    exponent = rng.uniform(-largest, largest) if is_extreme else rng.uniform(-3, 3)
    scale = 10.0**exponent  # of the signal
    weight_scale = 1.0
    if term in ("squared", "huber") or (term in ("box", "simplex") and is_extreme):
        weight_scale = scale
    elif term in ("absolute", "poisson", "logistic"):
        weight_scale = 1.0
    weight_scale *= 10.0 ** rng.uniform(-4, 3)
    if is_extreme and rng.random() < 0.15:  # no data agrees with any other
        weight_scale = 10.0 ** rng.uniform(-largest, largest)
    graph = make_graph(rng, kind, spread, weight_scale)
    n = graph.n_vertices
    shape = (n,) if rng.random() < 0.8 else (n, int(rng.integers(1, 4)))
    data = make_term(rng, term, graph, shape, scale, weight_scale)
    penalty = TotalVariation() if rng.random() < 0.8 else HuberTV(scale * 10 ** rng.uniform(-3, 1))
    scales = f"scale 1e{exponent:.0f}, ω 1e{np.log10(weight_scale):.0f}"
    told = f"{term} on {kind} ({spread} weights), {scales}"
    return Problem(graph, data, penalty), f"{told}, {penalty!r}, shape {shape}"


def make_term(
    rng: Generator, term: str, graph: Graph, shape: tuple[int, ...], scale: float, strength: float
) -> DataTerm:
    """Return a data term of this scale; `strength` is the scale of the edge weights."""
    kind = rng.choice(["noise", "ties", "zero", "offset", "constant", "steps"])
    if kind == "ties":
        f = rng.integers(-2, 3, shape).astype(float)
    elif kind == "zero":
        f = np.zeros(shape)
    elif kind == "constant":
        f = np.full(shape, rng.normal())
    else:
        f = rng.normal(size=shape)
        f += 1e4 if kind == "offset" else 0.0
        f = np.round(f) + 0.1 * rng.normal(size=shape) if kind == "steps" else f
    c: Any = None
    masks = rng.choice(
        ["none", "weights", "mask", "spread", "nothing"], p=[0.3, 0.25, 0.3, 0.1, 0.05]
    )
    if masks == "weights":
        c = rng.uniform(0.1, 3, shape)
    elif masks == "mask":
        c = rng.uniform(0.1, 3, shape) * (rng.random(shape) > 0.4)
    elif masks == "spread":
        c = 10.0 ** rng.uniform(-5, 5, shape)
    elif masks == "nothing":
        c = np.zeros(shape)
    if term == "squared":
        return SquaredLoss(scale * f, c)
    if term == "absolute":
        if rng.random() < 0.5:
            return QuantileLoss(scale * f, rng.uniform(0.01, 0.99), c)
        return AbsoluteLoss(scale * f, c)
    if term == "huber":
        return HuberLoss(scale * f, scale * 10.0 ** rng.uniform(-2, 1), c)
    if term == "logistic":
        y = rng.choice([-1.0, 0.0, 1.0], size=shape)
        both_labels(rng, graph, y)
        return LogisticLoss(y, rng.uniform(0.2, 2) if c is None or masks != "weights" else c)
    if term == "poisson":
        return PoissonLoss(scale * abs(f), c)
    if term == "box":
        if rng.random() < 0.5:
            return LinearBox(strength * f)
        low = rng.normal(size=shape)
        return LinearBox(strength * f, low, low + rng.choice([0.0, 0.5, 2.0], size=shape))
    f = f if f.ndim == 2 else np.stack([f, np.roll(f, 1), -f], axis=1)
    return EntropicSimplex(strength * f, strength * 10.0 ** rng.uniform(-3, 1))
