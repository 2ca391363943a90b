"""Adapters: the value and the proximal map, and the libraries' own solvers with them."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphtv import Graph, Problem, SquaredLoss, grid_graph, solve

SHAPE = (6, 5)
GRAPH = grid_graph(SHAPE, 0.3)
IMAGE = np.random.default_rng(0).normal(size=SHAPE)
KNOWN = np.random.default_rng(1).random(SHAPE) < 0.7
"""The pixels that are observed: an inverse problem with a known solution."""


def denoised(factor=1.0):
    graph = Graph(30, GRAPH.edges, factor * GRAPH.weights)
    return solve(Problem(graph, SquaredLoss(IMAGE.ravel())), tol=0).u.reshape(SHAPE)


def value():
    return float(np.sum(GRAPH.weights * np.abs(IMAGE.ravel()[GRAPH.edges] @ [1.0, -1.0])))


def minimum_of_inpainting():
    data = SquaredLoss(IMAGE.ravel(), weights=KNOWN.ravel().astype(float))
    return solve(Problem(GRAPH, data), tol=0).primal


def objective(x):
    misfit = 0.5 * np.sum(np.where(KNOWN, x - IMAGE, 0.0) ** 2)
    return misfit + float(np.sum(GRAPH.weights * np.abs(x.ravel()[GRAPH.edges] @ [1.0, -1.0])))


def test_pyproximal():
    pyproximal = pytest.importorskip("pyproximal")
    pylops = pytest.importorskip("pylops")
    from graphtv.adapters.pyproximal import GraphTV

    regulariser = GraphTV(GRAPH)
    assert_allclose(regulariser(IMAGE.ravel()), value())
    assert_allclose(regulariser.prox(IMAGE.ravel(), 2.0), denoised(2.0).ravel(), atol=1e-12)
    restriction = pylops.Diagonal(KNOWN.ravel().astype(float))
    misfit = pyproximal.L2(Op=restriction, b=restriction @ IMAGE.ravel())
    x = pyproximal.optimization.primal.ProximalGradient(
        misfit, regulariser, x0=np.zeros(30), tau=1.0, niter=200, acceleration="fista"
    )
    assert_allclose(objective(x.reshape(SHAPE)), minimum_of_inpainting(), rtol=1e-6)
    with pytest.raises(ValueError, match="sigma must be above 0"):
        GraphTV(GRAPH, 0.0)


@pytest.mark.filterwarnings("ignore")
def test_deepinv():
    torch = pytest.importorskip("torch")
    deepinv = _library("deepinv")
    from graphtv.adapters.deepinv import GraphTV

    prior = GraphTV(GRAPH)
    image = torch.tensor(IMAGE)[None, None]
    assert_allclose(prior(image), [value()])
    assert_allclose(prior.prox(image, gamma=2.0)[0, 0], denoised(2.0), atol=1e-12)
    physics = deepinv.physics.Inpainting((1, *SHAPE), mask=torch.tensor(KNOWN)[None].double())
    solver = deepinv.optim.optim_builder(
        iteration="FISTA",
        prior=prior,
        data_fidelity=deepinv.optim.L2(),
        params_algo={"stepsize": 1.0, "lambda": 1.0, "a": 3},
        max_iter=300,
        early_stop=False,
    )
    x = solver(physics(image), physics)[0, 0].detach().numpy()
    assert_allclose(objective(x), minimum_of_inpainting(), rtol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_scico():
    pytest.importorskip("jax")
    scico = _library("scico")
    from scico import functional, linop, loss, optimize

    from graphtv.adapters.scico import GraphTV

    assert issubclass(GraphTV, functional.Functional)
    total_variation = GraphTV(GRAPH)
    image = scico.numpy.array(IMAGE.astype(np.float32))
    assert_allclose(total_variation(image), value(), rtol=1e-5)
    assert_allclose(total_variation.prox(image, 2.0), denoised(2.0), atol=1e-5)
    mask = linop.Diagonal(scico.numpy.array(KNOWN.astype(np.float32)))
    misfit = loss.SquaredL2Loss(y=mask(image), A=mask)
    solver = optimize.AcceleratedPGM(
        f=misfit, g=total_variation, L0=1.0, x0=scico.numpy.zeros(SHAPE), maxiter=200
    )
    x = np.asarray(solver.solve(), dtype=np.float64)
    assert_allclose(objective(x), minimum_of_inpainting(), rtol=1e-4)


def _library(name):
    """Import a library whose import may warn; skip where it does not work."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, exc_type=ImportError)
