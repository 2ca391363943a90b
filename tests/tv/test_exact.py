"""Exact total variation against a rational and a generic solver, and optimality conditions."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphtv import Graph, _core, gallery, grid_graph, tv_chain, tv_forest
from reference.certificate import certificate
from reference.tv import tv_quadratic, tv_tree


@dataclass(frozen=True)
class Instance:
    n_vertices: int
    edges: np.ndarray
    weights: np.ndarray
    signal: np.ndarray

    @property
    def graph(self):
        return Graph(self.n_vertices, self.edges, self.weights)

    @property
    def scale(self):
        return np.max(np.abs(self.signal), initial=0.0)


@st.composite
def forests(draw, max_vertices=24):
    """Edges of a forest, vertices shuffled: paths, stars, caterpillars, brooms and random trees."""
    n = draw(st.integers(1, max_vertices))
    reach = draw(st.sampled_from([1, 2, 3, max_vertices]))  # the largest distance to a parent
    parents = [draw(st.integers(max(0, i - reach), i - 1)) for i in range(1, n)]
    if draw(st.booleans()) and n > 4:  # a star at the end: a broom
        parents[n // 2 :] = [n // 2] * (n - 1 - n // 2)
    keep = [draw(st.integers(0, 9)) > 0 for _ in parents]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    edges = np.array([(i + 1, j) for i, j in enumerate(parents) if keep[i]], dtype=int)
    edges = rng.permutation(n)[edges.reshape(-1, 2)]
    return n, rng.permutation(edges)


def numbers(kind):
    return {
        "ties": st.integers(-3, 3).map(float),
        "constant": st.just(1.5),
        "reals": st.floats(-10, 10, allow_subnormal=False),
        "offset": st.floats(0, 1).map(lambda x: 1e6 + x),
    }[kind]


def positive(kind):
    return {
        "ties": st.integers(1, 3).map(float),
        "reals": st.floats(-3, 2).map(lambda x: 10.0**x),
        "extreme": st.sampled_from([1e300, 1e-300, 0.5, 2.0]),
    }[kind]


@st.composite
def instances(draw, max_vertices=24, exponents=(0, 0, 500, -500)):
    n, edges = draw(forests(max_vertices))
    signal_kind = draw(st.sampled_from(["ties", "constant", "reals", "offset"]))
    weight_kind = draw(st.sampled_from(["ties", "reals", "extreme"]))
    signal = np.array([draw(numbers(signal_kind)) for _ in range(n)])
    weights = np.array([draw(positive(weight_kind)) for _ in edges])
    # Powers of two keep ties; weights that are already extreme are not scaled.
    scale = 2.0 ** draw(st.sampled_from(exponents))
    return Instance(
        n, edges, weights if weight_kind == "extreme" else weights * scale, signal * scale
    )


def rational(instance, huber=0.0):
    u = tv_tree(
        instance.n_vertices,
        instance.edges,
        instance.weights,
        instance.signal,
        huber=huber,
        exact=True,
    )
    return u.astype(float)


def assert_optimal(graph, signal, u, p, tolerance=1e-12):
    """Sufficient conditions: |p| ≤ 1, p = sign(Ku) where Ku ≠ 0, Kᵀp = f - u, up to rounding."""
    tail, head = graph.edges.T
    jump = u[tail] - u[head]
    assert np.abs(p).max(initial=0.0) <= 1
    real = np.abs(jump) > 1e-14 * (np.abs(u[tail]) + np.abs(u[head]))
    np.testing.assert_array_equal(p[real], np.sign(jump[real]))
    flow = graph.weights * p
    divergence = np.bincount(tail, flow, graph.n_vertices) - np.bincount(
        head, flow, graph.n_vertices
    )
    bound = tolerance * (np.abs(signal) + np.ptp(signal) + np.max(np.abs(flow), initial=0.0))
    bound += 1e-323 * np.max(graph.weights, initial=0.0)  # p itself may underflow
    assert np.all(np.abs(divergence - (signal - u)) <= bound)


@given(instances())
def test_forest_equals_rational_twin(instance):
    u, p = tv_forest(instance.graph, instance.signal, return_dual=True)
    np.testing.assert_allclose(u, rational(instance), rtol=0, atol=1e-13 * instance.scale)
    assert_optimal(instance.graph, instance.signal, u, p)


@given(instances(max_vertices=10))
def test_forest_is_certified(instance):
    u, p = tv_forest(instance.graph, instance.signal, return_dual=True)
    assume(np.all(instance.weights < 1e200))  # beyond this, p may underflow
    found = certificate(instance.graph.gradient(), instance.signal, u, p, exact=True)
    size = instance.n_vertices * Fraction(instance.scale) ** 2
    assert 0 <= found.gap <= size / 10**12


@given(instances(exponents=(0, 0, 400, -400)), st.sampled_from([1e-6, 1e-2, 1.0, 30.0]))
def test_huber_equals_rational_twin(instance, huber):
    delta = huber * max(instance.scale**2, 2.0**-1000)  # δ has the unit of ω u
    u, p = tv_forest(instance.graph, instance.signal, return_dual=True, huber=delta)
    np.testing.assert_allclose(
        u, rational(instance, delta), rtol=0, atol=1e-10 * max(instance.scale, 2.0**-1000)
    )
    assert np.abs(p).max(initial=0.0) <= 1


@given(instances(max_vertices=12), st.sampled_from([0.0, 0.1, 2.0]))
def test_agrees_with_generic_bounded_least_squares(instance, huber):
    weights = np.clip(instance.weights, 1e-3, 1e3)
    signal = instance.signal / max(instance.scale, 1e-300)
    graph = Graph(instance.n_vertices, instance.edges, weights)
    expected, _ = tv_quadratic(graph.gradient(), signal, huber=huber)
    np.testing.assert_allclose(tv_forest(graph, signal, huber=huber), expected, atol=1e-8)


@given(instances())
def test_symmetries(instance):
    f, graph = instance.signal, instance.graph
    u = tv_forest(graph, f)
    close = {"rtol": 0, "atol": 1e-13 * instance.scale}
    np.testing.assert_allclose(tv_forest(graph, -f), -u, **close)
    np.testing.assert_allclose(tv_forest(graph, f + instance.scale), u + instance.scale, **close)
    flipped = Graph(graph.n_vertices, graph.edges[:, ::-1], graph.weights)
    np.testing.assert_allclose(tv_forest(flipped, f), u, **close)
    order = np.random.default_rng(0).permutation(graph.n_vertices)
    relabelled = Graph(graph.n_vertices, order[graph.edges], graph.weights)
    moved = np.empty_like(f)
    moved[order] = f
    np.testing.assert_allclose(tv_forest(relabelled, moved)[order], u, **close)


chain_weights = st.one_of(
    st.sampled_from([0.0, 1e-300, 1e300, 0.5]), st.floats(-3, 2).map(lambda x: 10.0**x)
)


@given(st.data())
def test_chain_equals_rational_twin(data):
    n = data.draw(st.integers(1, 40))
    kind = data.draw(st.sampled_from(["ties", "constant", "reals", "offset"]))
    f = np.array([data.draw(numbers(kind)) for _ in range(n)])
    if data.draw(st.booleans()):  # smooth: the other half of the algorithm
        f = np.cumsum(f)
    w = np.array([data.draw(chain_weights) for _ in range(n - 1)])
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    for huber in (0.0, 0.5):
        expected = tv_tree(n, edges, w, f, huber=huber, exact=True).astype(float)
        tolerance = (1e-13 if huber == 0 else 1e-10) * np.abs(f).max()
        np.testing.assert_allclose(tv_chain(f, w, huber=huber), expected, rtol=0, atol=tolerance)


def test_huber_chain_with_a_first_step_of_rounding():
    # The first Newton step moves u by 5e-301. The slope along it is the same at both ends.
    f, w = np.array([1.0, -2.0, 3.0, -3.0]), np.array([1e-300, 1e300, 1.0])
    np.testing.assert_allclose(tv_chain(f, w, huber=0.5), [1.0, 0.0, 0.0, -2.0], atol=1e-15)


def test_hulls_that_meet_in_several_blocks():
    # At the closed end, rounding may leave more than one block in either hull.
    f = (1e-3 * np.arange(200 * 512)).reshape(200, 512)
    for weight in (0.01, 0.1, 1.0):
        u = tv_chain(f, weight)
        inner = np.sqrt(2 * weight * 1e-3)  # the ends of a ramp are flat up to here
        assert np.all(np.abs(u - f) <= 1.5 * inner)


SIGNALS = {
    "noise": lambda n, rng: rng.standard_normal(n),
    "steps": lambda n, rng: (
        np.repeat(rng.standard_normal(n // 50 + 1), 50)[:n] + 0.3 * rng.standard_normal(n)
    ),
    "smooth": lambda n, rng: 3 * np.sin(np.arange(n) * 2e-3),
    "ramp": lambda n, rng: np.arange(n) * 1e-3,
    "walk": lambda n, rng: 0.1 * np.cumsum(rng.standard_normal(n)),
    "integers": lambda n, rng: rng.integers(0, 3, n).astype(float),
    "mixed": lambda n, rng: np.where(
        np.arange(n) % 10000 < 5000, np.sin(np.arange(n) * 1e-3), rng.standard_normal(n)
    ),
}


@pytest.mark.parametrize("weight", [0.01, 1.0, 100.0, "random"])
@pytest.mark.parametrize("kind", SIGNALS)
def test_long_chain_is_optimal(kind, weight):
    n = 100_000
    rng = np.random.default_rng(0)
    f = SIGNALS[kind](n, rng)
    w = 10.0 ** rng.uniform(-3, 3, n - 1) if weight == "random" else np.full(n - 1, weight)
    path = Graph(n, np.column_stack([np.arange(n - 1), np.arange(1, n)]), w)
    u, p = tv_forest(path, f, return_dual=True)
    assert_optimal(path, f, u, p)
    np.testing.assert_array_equal(tv_chain(f, w), u)


def spanning_tree(graph, seed):
    """A breadth-first spanning tree with random weights."""
    from scipy.sparse.csgraph import breadth_first_order

    order, parent = breadth_first_order(graph.to_sparse(), 0, directed=False)
    v = order[1:]
    weights = np.random.default_rng(seed).uniform(0.1, 2.0, len(v))
    return Graph(graph.n_vertices, np.column_stack([v, parent[v]]), weights)


@pytest.mark.slow
@pytest.mark.parametrize(
    "tree",
    [
        lambda: spanning_tree(grid_graph((1000, 1000)), 0),
        lambda: gallery.random_tree(1_000_000, rng=1),
        lambda: gallery.star_graph(300_000),
        lambda: gallery.caterpillar_graph(150_000, 1),
        lambda: gallery.broom_graph(150_000, 150_000),
        lambda: gallery.path_graph(1_000_000),
    ],
    ids=["grid", "random", "star", "caterpillar", "broom", "path"],
)
def test_large_tree_is_optimal(tree):
    graph = tree()
    f = np.random.default_rng(2).standard_normal(graph.n_vertices)
    u, p = tv_forest(graph, f, return_dual=True)
    assert_optimal(graph, f, u, p)


def test_long_heavy_spine_is_optimal():
    # Messages along the spine keep almost every knot, and each vertex adds those of a leaf.
    n = 100_000
    spine = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    legs = np.column_stack([np.arange(n), np.arange(n, 2 * n)])
    rng = np.random.default_rng(0)
    weights = np.concatenate([np.full(n - 1, 1e7), rng.random(n)])
    graph = Graph(2 * n, np.concatenate([spine, legs]), weights)
    f = np.concatenate([np.zeros(n), 1000 * rng.standard_normal(n)])
    u, p = tv_forest(graph, f, return_dual=True)
    assert_optimal(graph, f, u, p)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signal", "weight"), [("smooth", 30.0), ("walk", 30.0), ("ramp", 1e4), ("noise", 1.0)]
)
def test_huber_on_a_long_chain_is_certified(signal, weight):
    n = 20_000  # Newton alone would move the borders of the zones edge by edge
    f = SIGNALS[signal](n, np.random.default_rng(0))
    path = Graph(n, np.column_stack([np.arange(n - 1), np.arange(1, n)]), weight)
    for huber in (1e-4, 1e-2, 1.0):
        u, p = tv_forest(path, f, return_dual=True, huber=huber)
        found = certificate(path.gradient(), f, u, p, huber=huber)
        assert abs(found.gap) <= 1e-12 * found.primal


def test_batches_of_chains_are_rows():
    rng = np.random.default_rng(0)
    f = rng.standard_normal((3, 4, 50))
    shared, own = rng.random(49), rng.random((3, 4, 49))
    for huber in (0.0, 0.3):
        for weights in (0.7, shared, own):
            u = tv_chain(f, weights, huber=huber)
            assert u.shape == f.shape
            for row in np.ndindex(3, 4):
                w = weights[row] if np.ndim(weights) == 3 else weights
                np.testing.assert_allclose(u[row], tv_chain(f[row], w, huber=huber), atol=1e-13)


def test_columns_are_independent():
    graph = gallery.random_tree(50, rng=0)
    f = np.random.default_rng(0).standard_normal((50, 3))
    u, p = tv_forest(graph, f, return_dual=True)
    assert u.shape == (50, 3)
    assert p.shape == (49, 3)
    for c in range(3):
        np.testing.assert_array_equal(u[:, c], tv_forest(graph, f[:, c]))


@pytest.mark.parametrize("shape", [(0,), (1,), (0, 5), (5, 0), (4, 1)])
def test_empty_and_single(shape):
    f = np.ones(shape)
    np.testing.assert_array_equal(tv_chain(f, 1.0), f)
    np.testing.assert_array_equal(tv_chain(f, 1.0, huber=1.0), f)


def test_graphs_without_edges():
    for n in (0, 1, 3):
        u, p = tv_forest(Graph(n, []), np.arange(float(n)), return_dual=True)
        np.testing.assert_array_equal(u, np.arange(float(n)))
        assert p.shape == (0,)


def test_largest_numbers():
    f = np.array([1e308, -1e308, 1e308, 1e308])
    np.testing.assert_allclose(tv_chain(f, 1.7e308), np.full(4, 5e307), rtol=1e-12)
    np.testing.assert_allclose(
        tv_forest(gallery.star_graph(4), np.array([1e308, -1e308, 1e308, 0.0])),
        [1e308, -1e308, 1e308, 1.0],
        rtol=1e-12,
    )


@given(st.integers(0, 2**32 - 1), st.integers(2, 200), st.floats(-3, 1))
def test_warm_chains_equal_cold_ones(seed, n, change):
    rng = np.random.default_rng(seed)
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)]).astype(np.int32)
    edges = edges[rng.random(n - 1) < 0.98]
    weights = rng.random(len(edges)) * 10.0 ** rng.uniform(-2, 1)
    forest = _core.ForestTV(n, edges, weights, 0.0, np.empty(0))
    f = np.cumsum(rng.standard_normal(n))
    for _ in range(6):
        f = f + 10.0**change * rng.standard_normal(n)
        warm, cold = np.empty(n), np.empty(n)
        forest.solve(f, warm, warm=True, n_threads=1)
        _core.ForestTV(n, edges, weights, 0.0, np.empty(0)).solve(f, cold, warm=False, n_threads=1)
        np.testing.assert_allclose(warm, cold, rtol=0, atol=1e-11 * np.abs(f).max())


@given(st.integers(0, 2**32), st.integers(0, 40), st.booleans(), st.sampled_from([1.0, 1e300]))
def test_plain_arrays_give_the_same_bits_as_lists(seed, n, is_weighted, scale):
    rng = np.random.default_rng(seed)
    f = scale * rng.normal(size=n).cumsum()
    weights = scale * rng.random(max(n - 1, 0)) if is_weighted else scale
    listed = weights.tolist() if is_weighted else weights
    np.testing.assert_array_equal(tv_chain(f, weights), tv_chain(f.tolist(), listed))


@pytest.mark.parametrize("weights", [-1.0, np.nan, np.inf, np.array([1.0, -1.0]), np.ones(3)])
def test_plain_arrays_are_validated(weights):
    with pytest.raises(ValueError, match="weights"):
        tv_chain(np.array([0.0, 1.0, 3.0]), weights)
    with pytest.raises(ValueError, match="signal"):
        tv_chain(np.array([0.0, np.inf, 3.0]), 1.0)
    with pytest.raises(ValueError, match="n_threads"):
        tv_chain(np.array([0.0, 1.0, 3.0]), 1.0, n_threads=0)
