"""`graphtv.jax`: the solution, its derivatives, and JAX's transformations of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphtv import (
    CoupledTV,
    Graph,
    HuberTV,
    IsotropicTV,
    Problem,
    SquaredLoss,
    grid_graph,
    solution_vjp,
    solve,
)

jax = pytest.importorskip("jax")

from jax.test_util import check_grads  # noqa: E402

from graphtv.jax import tv_denoise  # noqa: E402


@pytest.fixture(autouse=True)
def _double_precision():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


GRAPH = grid_graph((4, 5))


def example(*batch, seed=0):
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=(*batch, 20))
    return signal, rng.uniform(0.1, 0.4, GRAPH.n_edges), rng.uniform(0.5, 1.5, 20)


def exact(signal, weights, vertex_weights=None):
    problem = Problem(Graph(20, GRAPH.edges, weights), SquaredLoss(signal, vertex_weights))
    return problem, solve(problem, tol=0)


def test_it_is_the_exact_solution():
    signal, weights, c = example()
    _, result = exact(signal, weights, c)
    assert_allclose(tv_denoise(signal, GRAPH, weights, vertex_weights=c), result.u, rtol=1e-14)
    assert_allclose(tv_denoise(signal, GRAPH), exact(signal, 1.0)[1].u, rtol=1e-14)
    assert_allclose(tv_denoise(signal, GRAPH, 0.2), exact(signal, 0.2)[1].u, rtol=1e-14)


@pytest.mark.parametrize("modes", [["fwd"], ["rev"]])
def test_check_grads(modes):
    signal, weights, c = example(2)

    def solution(f, w, c):
        return tv_denoise(f, GRAPH, w, vertex_weights=c)

    check_grads(solution, (signal, weights, c), order=2, modes=modes, eps=1e-6, rtol=1e-4)
    per_signal = np.stack([weights, 2.0 * weights])
    check_grads(solution, (signal, per_signal, c), order=1, modes=modes, eps=1e-6, rtol=1e-4)


def test_it_agrees_with_solution_vjp():
    signal, weights, c = example()
    problem, result = exact(signal, weights, c)
    g = np.random.default_rng(9).normal(size=20)
    _, pull_back = jax.vjp(
        lambda *x: tv_denoise(x[0], GRAPH, x[1], vertex_weights=x[2]), signal, weights, c
    )
    expected = solution_vjp(problem, result, g)
    for found, wanted in zip(
        pull_back(jax.numpy.asarray(g)),
        (expected.signal, expected.edge_weights, expected.vertex_weights),
        strict=True,
    ):
        assert_allclose(found, wanted, atol=1e-13)


def test_jit_grad_and_vmap():
    signals, weights, _ = example(3)

    def loss(f, w):
        return (tv_denoise(f, GRAPH, w) ** 2).sum()

    each = [jax.grad(loss, (0, 1))(f, weights) for f in signals]
    together = jax.jit(jax.vmap(jax.grad(loss, (0, 1)), (0, None)))(signals, weights)
    for k in range(3):
        for one, some in zip(each[k], together, strict=True):
            assert_allclose(some[k], one, atol=1e-13)
    per_weight = jax.vmap(lambda lam: tv_denoise(signals[0], GRAPH, lam))(np.array([0.1, 0.3]))
    assert_allclose(per_weight[1], tv_denoise(signals[0], GRAPH, 0.3), rtol=1e-14)


def test_single_precision():
    signal, weights, _ = example()
    u = tv_denoise(signal.astype(np.float32), GRAPH, weights)
    assert u.dtype == np.float32
    assert_allclose(u, exact(signal, weights)[1].u, atol=1e-6)
    g = jax.grad(lambda f: tv_denoise(f, GRAPH, weights)[3])(signal.astype(np.float32))
    assert g.dtype == np.float32


def test_edges_of_weight_zero():
    """The solution falls apart, and the derivative is that towards positive weights."""
    f = np.array([0.0, 4.0])
    edge = Graph(2, [[0, 1]])
    assert_allclose(tv_denoise(f, edge, np.zeros(1)), f)
    slope = jax.grad(lambda w: tv_denoise(f, edge, w)[0])(np.zeros(1))
    assert_allclose(slope, [1.0])


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"signal must have shape \(\.\.\., 20\), got \(3,\)"):
        tv_denoise(np.zeros(3), GRAPH)
    with pytest.raises(ValueError, match=r"weights must have shape \(\.\.\., 31\), got \(3,\)"):
        tv_denoise(np.zeros(20), GRAPH, np.zeros(3))
    with pytest.raises(ValueError, match="graph must be a "):
        tv_denoise(np.zeros(20), "grid")


# Other losses and penalties ----------------------------------------------------------------------

PENALTIES = [HuberTV(0.1), CoupledTV(), IsotropicTV(), IsotropicTV(coupled=True, delta=0.05)]


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("batch", [(), (2,), (2, 2)])
def test_check_grads_of_penalties(penalty, batch):
    def solution(f, w, c):
        return tv_denoise(f, GRAPH, w, vertex_weights=c, penalty=penalty, tol=1e-14)

    arrays = example(*batch)
    assert solution(*arrays).shape == (*batch, 20)
    check_grads(jax.jit(solution), arrays, order=1, modes=["rev"], eps=1e-5, atol=2e-3, rtol=1e-3)


@pytest.mark.parametrize("loss", ["huber", "poisson", "logistic"])
def test_check_grads_of_losses(loss):
    f, w, c = example(2)
    data = {"huber": f, "poisson": np.abs(f) + 1.0, "logistic": np.sign(f)}[loss]

    def solution(f, w, c):
        return tv_denoise(f, GRAPH, w, vertex_weights=c, loss=loss)

    if loss == "logistic":
        check_grads(lambda w, c: solution(data, w, c), (w, c), order=1, modes=["rev"], eps=1e-6)
    else:
        check_grads(solution, (data, w, c), order=1, modes=["rev"], eps=1e-6, rtol=1e-3)


def test_vmap_of_a_penalty():
    f, w, _ = example(3)
    gradient = jax.grad(lambda f, w: tv_denoise(f, GRAPH, w, penalty=HuberTV(0.1))[0], (0, 1))
    weights = jax.numpy.array([0.5, 1.0, 2.0])[:, None] * w
    together = jax.vmap(gradient)(f, weights)
    for k in range(3):
        for both, one in zip(together, gradient(f[k], weights[k]), strict=True):
            assert_allclose(both[k], one, atol=1e-12)
    single = tv_denoise(f.astype(np.float32), GRAPH, w, penalty=HuberTV(0.1))
    assert single.dtype == np.float32
