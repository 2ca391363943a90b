"""Small random problems of every kind, and all methods for each."""

import numpy as np

from graphtv import (
    AbsoluteLoss,
    EntropicSimplex,
    ForestPartition,
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


class OwnSquaredLoss:
    """½ Σ (u - f)² as a custom term."""

    strong_convexity = 1.0

    def __init__(self, signal):
        self.signal = np.asarray(signal, dtype=float)
        if self.signal.ndim == 2:
            self.n_channels = self.signal.shape[1]

    def value(self, u):
        return 0.5 * np.sum((u - self.signal) ** 2)

    def conjugate(self, s):
        return np.sum(s * self.signal + 0.5 * s**2)

    def prox(self, v, step):
        assert np.all(np.asarray(step) > 0)
        return (v + step * self.signal) / (1 + step)


class QuarticLoss:
    """¼ Σ (u - f)⁴ as a custom term: the example in the documentation of `DataTerm`."""

    def __init__(self, signal):
        self.signal = np.asarray(signal, dtype=float)
        if self.signal.ndim == 2:
            self.n_channels = self.signal.shape[1]

    def value(self, u):
        return np.sum((u - self.signal) ** 4) / 4

    def conjugate(self, s):
        return np.sum(s * self.signal + 0.75 * np.abs(s) ** (4 / 3))

    def prox(self, v, step):
        q = (v - self.signal) / (2 * step)
        r = np.sqrt(q**2 + 1 / (27 * step**3))
        return self.signal + np.cbrt(q + r) + np.cbrt(q - r)


def labels(graph, rng, channels):
    """Random labels, with both kinds on every component that has two vertices, none on others."""
    shape = (graph.n_vertices, *channels)
    y = rng.choice([-1.0, 0.0, 1.0], size=shape)
    seen = np.arange(graph.n_vertices)
    for _ in range(graph.n_vertices):  # the least vertex of every component
        np.minimum.at(seen, graph.edges[:, 0], seen[graph.edges[:, 1]])
        np.minimum.at(seen, graph.edges[:, 1], seen[graph.edges[:, 0]])
    for root in np.unique(seen):
        members = np.flatnonzero(seen == root)
        y[members[0]], y[members[-1]] = 1.0, -1.0
        if len(members) == 1:
            y[members] = 0.0
    return y


def masked_weights(rng, shape):
    """Weights, a third of which are 0."""
    return rng.uniform(0.2, 3.0, shape) * (rng.random(shape) > 1 / 3)


MAKERS = {
    "squared": lambda g, rng, shape: SquaredLoss(rng.normal(size=shape)),
    "weighted": lambda g, rng, shape: SquaredLoss(
        rng.normal(size=shape), rng.uniform(0.1, 4, shape)
    ),
    "masked": lambda g, rng, shape: SquaredLoss(rng.normal(size=shape), masked_weights(rng, shape)),
    "absolute": lambda g, rng, shape: AbsoluteLoss(
        rng.normal(size=shape), masked_weights(rng, shape)
    ),
    "quantile": lambda g, rng, shape: QuantileLoss(
        rng.normal(size=shape), 0.8, masked_weights(rng, shape)
    ),
    "huber": lambda g, rng, shape: HuberLoss(
        rng.normal(size=shape), 0.5, masked_weights(rng, shape)
    ),
    "logistic": lambda g, rng, shape: LogisticLoss(
        labels(g, rng, shape[1:]), rng.uniform(0.5, 2.0, shape)
    ),
    "poisson": lambda g, rng, shape: PoissonLoss(
        rng.poisson(3.0, shape), rng.uniform(0.5, 2.0, shape)
    ),
    "box": lambda g, rng, shape: LinearBox(rng.normal(size=shape)),
    "boxes": lambda g, rng, shape: LinearBox(
        rng.normal(size=shape), -rng.random(shape), rng.random(shape)
    ),
    "simplex": lambda g, rng, shape: EntropicSimplex(
        rng.normal(size=shape if len(shape) == 2 else (*shape, 3)), 0.5
    ),
    "quartic": lambda g, rng, shape: QuarticLoss(rng.normal(size=shape)),
}
TERMS = tuple(MAKERS)
PENALTIES = {"tv": TotalVariation(), "hubertv": HuberTV(0.2)}
GRAPHS = ("grid", "path", "tree", "random", "dense", "pieces", "edgeless", "vertex")
FORESTS = ("linear", "nested", "matroid")


def make_graph(kind, seed=0):
    """A graph with at most 20 vertices and random weights."""
    rng = np.random.default_rng([seed, GRAPHS.index(kind)])

    def weights(m):
        return rng.uniform(0.05, 0.8, m)

    if kind == "grid":
        return grid_graph((4, 5), [weights(15).reshape(3, 5), weights(16).reshape(4, 4)])
    if kind == "path":
        return gallery.path_graph(12, weights(11))
    if kind == "tree":
        return gallery.random_tree(14, seed, weights(13))
    if kind == "random":
        return gallery.erdos_renyi_graph(14, 28, seed, weights(28))
    if kind == "dense":
        return Graph(7, np.array(np.triu_indices(7, 1)).T, weights(21))
    if kind == "pieces":  # a triangle, an edge, a path and isolated vertices, shuffled
        edges = np.array([(0, 1), (1, 2), (2, 0), (3, 4), (5, 6), (6, 7), (7, 8)])
        return Graph(12, rng.permutation(12)[edges], weights(7))
    return Graph(5 if kind == "edgeless" else 1, np.empty((0, 2), dtype=int))


def make_problem(term, graph="random", penalty="tv", channels=(), seed=0):
    """A problem; `graph` is a kind or a graph, `channels` is () or (C,)."""
    if isinstance(graph, str):
        graph = make_graph(graph, seed)
    rng = np.random.default_rng([seed, TERMS.index(term)])
    data = MAKERS[term](graph, rng, (graph.n_vertices, *channels))
    return Problem(graph, data, PENALTIES[penalty])


def ways(term, graph, penalty):
    """Every method and preconditioner that is applicable to a kind of problem."""
    forests = (*FORESTS, *(["chains"] if graph == "grid" else []))
    found = [("pdhg", name) for name in ("none", "diagonal", *forests)]
    if term in ("squared", "weighted"):
        found += [("descent", name) for name in forests]
    if penalty == "tv" and term in (
        "squared",
        "weighted",
        "masked",
        "huber",
        "logistic",
        "poisson",
        "box",
    ):
        found.append(("exact", "auto"))
    return [*found, ("auto", "auto")]


def one_forest_per_edge(graph):
    """A valid partition that no method of the library would generate."""
    return ForestPartition.from_labels(graph, np.arange(graph.n_edges))


def noisy_image(side=40, seed=0, weight=0.2):
    """Squares of a few grey values under noise."""
    rng = np.random.default_rng(seed)
    image = np.kron(rng.integers(0, 3, (4, 4)), np.ones((side // 4, side // 4)))
    signal = image + 0.5 * rng.normal(size=image.shape)
    return Problem(grid_graph((side, side), weight), SquaredLoss(signal.ravel()))


def scattered(n_vertices=3000, seed=0):
    """Noise on a random graph, which every method needs some time to solve."""
    graph = gallery.erdos_renyi_graph(n_vertices, 3 * n_vertices, seed, 0.3)
    return Problem(graph, SquaredLoss(np.random.default_rng(seed).normal(size=n_vertices)))


def noise(side, weight=1.5, penalty=PENALTIES["tv"]):
    """Noise on a grid, with weights for which every method takes long."""
    signal = np.random.default_rng(0).normal(size=side * side)
    return Problem(grid_graph((side, side), weight), SquaredLoss(signal), penalty)
