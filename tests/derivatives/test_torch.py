"""`graphtv.torch`: the solution, its derivatives, and the layer for images."""

import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphtv import (
    AbsoluteLoss,
    CoupledTV,
    Graph,
    HuberLoss,
    HuberTV,
    IsotropicTV,
    Problem,
    SquaredLoss,
    denoise_tv,
    grid_graph,
    solution_vjp,
    solve,
)

torch = pytest.importorskip("torch")

from graphtv.torch import TVDenoise, TVDenoise2d, TVDenoise3d, tv_denoise  # noqa: E402

GRAPH = grid_graph((4, 5))


def example(*batch, seed=0, requires_grad=True):
    rng = np.random.default_rng(seed)
    arrays = (
        rng.normal(size=(*batch, 20)),
        rng.uniform(0.1, 0.4, GRAPH.n_edges),
        rng.uniform(0.5, 1.5, 20),
    )
    return [torch.tensor(array, requires_grad=requires_grad) for array in arrays]


def exact(signal, weights, vertex_weights=None):
    problem = Problem(Graph(20, GRAPH.edges, weights), SquaredLoss(signal, vertex_weights))
    return problem, solve(problem, tol=0)


def test_it_is_the_exact_solution():
    f, w, c = example(requires_grad=False)
    assert_allclose(tv_denoise(f, GRAPH, w), exact(f.numpy(), w.numpy())[1].u, rtol=1e-14)
    u = tv_denoise(f, GRAPH, w, vertex_weights=c)
    assert_allclose(u, exact(f.numpy(), w.numpy(), c.numpy())[1].u, rtol=1e-14)
    assert_allclose(tv_denoise(f, GRAPH), exact(f.numpy(), 1.0)[1].u, rtol=1e-14)


def solution(f, w, c=None):
    return tv_denoise(f, GRAPH, w, vertex_weights=c)


@pytest.mark.parametrize("batch", [(), (2,), (2, 2)])
def test_gradcheck(batch):
    f, w, c = example(*batch)
    assert torch.autograd.gradcheck(solution, (f, w))
    assert torch.autograd.gradcheck(solution, (f, w, c))
    assert torch.autograd.gradgradcheck(solution, (f, w, c))


def test_gradcheck_of_weights_per_signal():
    f, w, c = example(2, 3)
    per_signal = w.detach() * torch.linspace(0.5, 1.5, 2, dtype=w.dtype)[:, None, None]
    per_signal.requires_grad_()
    costs = c.detach().expand(2, 3, 20).clone().requires_grad_()
    assert torch.autograd.gradcheck(solution, (f, per_signal, costs))


def test_it_agrees_with_solution_vjp():
    f, w, c = example()
    g = torch.tensor(np.random.default_rng(9).normal(size=20))
    solution(f, w, c).backward(g)
    problem, result = exact(*(x.detach().numpy() for x in (f, w, c)))
    expected = solution_vjp(problem, result, g.numpy())
    assert_allclose(f.grad, expected.signal, atol=1e-13)
    assert_allclose(w.grad, expected.edge_weights, atol=1e-13)
    assert_allclose(c.grad, expected.vertex_weights, atol=1e-13)


def test_single_precision():
    f, w, _ = example(3)
    single = f.detach().float().requires_grad_()
    u = tv_denoise(single, GRAPH, w)
    assert u.dtype == torch.float32
    assert_allclose(u.detach(), solution(f, w).detach(), atol=1e-6)
    u.sum().backward()
    assert single.grad.dtype == torch.float32
    assert w.grad.dtype == torch.float64


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"signal must have shape \(\.\.\., 20\), got \(3,\)"):
        tv_denoise(torch.zeros(3), GRAPH)
    with pytest.raises(ValueError, match=r"weights must have shape \(\.\.\., 31\), got \(3,\)"):
        tv_denoise(torch.zeros(20), GRAPH, torch.zeros(3))
    with pytest.raises(ValueError, match="signal must be a tensor of floating-point numbers"):
        tv_denoise(torch.zeros(20, dtype=torch.int64), GRAPH)
    with pytest.raises(ValueError, match="weights must be finite and not negative"):
        tv_denoise(torch.zeros(20), GRAPH, -1.0)
    with pytest.raises(ValueError, match="weight must be one number above 0"):
        TVDenoise(2, weight=0.0)
    with pytest.raises(ValueError, match="n_dims must be at most 3"):
        TVDenoise(4)


# Other losses and penalties ----------------------------------------------------------------------

PENALTIES = [HuberTV(0.1), CoupledTV(), IsotropicTV(), IsotropicTV(coupled=True, delta=0.05)]
CHECK = {"eps": 1e-5, "atol": 2e-3, "rtol": 1e-3, "nondet_tol": 0.0}


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("batch", [(), (2,), (2, 2)])
def test_gradcheck_of_penalties(penalty, batch):
    f, w, c = example(*batch)

    def solution(f, w, c):
        return tv_denoise(f, GRAPH, w, vertex_weights=c, penalty=penalty, tol=1e-14)

    assert solution(f, w, c).shape == f.shape
    assert torch.autograd.gradcheck(solution, (f, w, c), **CHECK)


LOSSES = ["huber", "poisson", "logistic", partial(HuberLoss, delta=0.3)]


@pytest.mark.parametrize("loss", LOSSES, ids=["huber", "poisson", "logistic", "huber 0.3"])
def test_gradcheck_of_losses(loss):
    f, w, c = example(2)
    data = f.detach().abs() + 1.0 if loss == "poisson" else f.detach()
    data = data.sign() if loss == "logistic" else data.requires_grad_()

    def solution(f, w, c):
        return tv_denoise(f, GRAPH, w, vertex_weights=c, loss=loss)

    assert torch.autograd.gradcheck(solution, (data, w, c), **CHECK)


def test_a_coupled_solution_is_that_of_solve():
    f, w, _ = example(2, 3, requires_grad=False)
    penalty = CoupledTV()
    u = tv_denoise(f, GRAPH, w, penalty=penalty)
    for k in range(2):
        problem = Problem(Graph(20, GRAPH.edges, w.numpy()), SquaredLoss(f[k].numpy().T), penalty)
        assert_allclose(u[k], solve(problem, tol=1e-12).u.T, atol=1e-5)
    per_signal = torch.stack([w, 2.0 * w])
    assert_allclose(tv_denoise(f, GRAPH, per_signal, penalty=penalty)[0], u[0], atol=1e-5)


def test_edges_of_weight_0():
    f, w, _ = example(requires_grad=False)
    w[3] = 0.0
    w.requires_grad_()
    for penalty in PENALTIES:
        u = tv_denoise(f, GRAPH, w, penalty=penalty)
        u[0].backward()
    assert torch.isfinite(w.grad).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "absolute"}, "loss must be one of 'squared', 'huber', 'logistic', 'poisson'"),
        ({"loss": 3}, "loss must be a name or a callable, got 3"),
        ({"loss": AbsoluteLoss}, "problem must have a smooth loss, got AbsoluteLoss"),
        ({"penalty": "isotropic"}, r"penalty must be TotalVariation\(\), HuberTV\(delta\)"),
        ({"penalty": IsotropicTV(), "tol": -1}, "tol must be at least 0"),
        ({"penalty": IsotropicTV(), "weights": -1.0}, "weights must be finite and not negative"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        tv_denoise(torch.zeros(20), GRAPH, **options)


def test_layers_of_2_and_3_dimensions():
    images = torch.tensor(np.random.default_rng(0).normal(size=(2, 3, 5, 4)))
    for penalty, options in (
        (IsotropicTV(), {"isotropic": True}),
        (IsotropicTV(coupled=True), {"isotropic": True, "coupled": True}),
        (CoupledTV(), {"coupled": True}),
    ):
        layer = TVDenoise2d(weight=0.2, penalty=penalty).double()
        u = layer(images)
        expected = denoise_tv(images[1].numpy(), 0.2, channel_axis=0, tol=1e-12, **options)
        assert_allclose(u[1].detach(), expected, atol=1e-5)
        u.square().sum().backward()
        assert layer.log_weight.grad < 0.0
        assert str(penalty) in repr(layer)
    u = TVDenoise2d(0.2).double()(images)
    assert_allclose(u.detach(), TVDenoise(2, 0.2).double()(images).detach())
    volumes = torch.tensor(np.random.default_rng(0).normal(size=(2, 1, 3, 5, 4)))
    u = TVDenoise3d([0.1, 0.2, 0.2]).double()(volumes).detach()
    assert_allclose(u[1, 0], denoise_tv(volumes[1, 0].numpy(), [0.1, 0.2, 0.2], tol=0), atol=1e-6)
    assert TVDenoise2d(learnable=False)(images.float()).dtype == torch.float32
    with pytest.raises(ValueError, match="penalty must be TotalVariation"):
        TVDenoise2d(penalty="isotropic")


# The layer ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_the_layer_denoises(n_dims):
    shape = (6, 5, 4)[:n_dims]
    images = torch.tensor(np.random.default_rng(0).normal(size=(2, 3, *shape)))
    layer = TVDenoise(n_dims, weight=0.2).double()
    u = layer(images)
    assert u.shape == images.shape
    for k in range(2):
        expected = denoise_tv(images[k].numpy(), 0.2, channel_axis=0, tol=0)
        assert_allclose(u[k].detach(), expected, atol=1e-7)
    u.square().sum().backward()
    assert layer.log_weight.grad < 0.0  # more weight, a smaller norm


def test_weights_per_axis_pixel_and_edge():
    image = torch.tensor(np.random.default_rng(0).normal(size=(4, 5)))
    layer = TVDenoise(2, weight=[0.1, 0.4]).double()
    expected = layer(image).detach()
    sides = [torch.full((3, 5), 0.1).double(), torch.full((4, 4), 0.4).double()]
    weight = layer.weight.tolist()
    assert_allclose(expected, denoise_tv(image.numpy(), weight, tol=0), atol=1e-12)
    assert_allclose(layer(image, sides), expected, atol=1e-6)
    per_pixel = torch.rand(4, 5, generator=torch.Generator().manual_seed(0)).double()
    expected = denoise_tv(image.numpy(), per_pixel.numpy(), tol=0)
    assert_allclose(layer(image, per_pixel), expected, atol=1e-12)
    batch = torch.stack([image, -image])[:, None]
    assert_allclose(layer(batch, per_pixel.expand(2, 1, 4, 5))[1, 0], -expected, atol=1e-12)
    per_pixel.requires_grad_()
    assert torch.autograd.gradcheck(layer, (image.requires_grad_(), per_pixel))
    with pytest.raises(ValueError, match="weights must end with the axes"):
        layer(image, sides[::-1])
    with pytest.raises(ValueError, match="weights must end with the axes"):
        layer(image, torch.ones(3, 3))


def test_the_layer_is_a_module():
    layer = TVDenoise(2, weight=0.3)
    layer(torch.zeros(3, 3))
    assert [name for name, _ in layer.named_parameters()] == ["log_weight"]
    assert not list(TVDenoise(2, learnable=False).parameters())
    assert "n_dims=2" in repr(layer)
    again = pickle.loads(pickle.dumps(layer))
    assert_allclose(again(torch.eye(3)).detach(), layer(torch.eye(3)).detach())


def test_a_weight_is_learned():
    """Gradient descent finds the weight that denoises best."""
    rng = np.random.default_rng(0)
    truth = torch.tensor(np.repeat(np.repeat(rng.normal(size=(4, 4)), 6, 0), 6, 1))
    noisy = truth + 0.3 * torch.tensor(rng.normal(size=truth.shape))
    layer = TVDenoise(2, weight=0.02).double()
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.2)
    errors = []
    for _ in range(40):
        optimizer.zero_grad()
        error = torch.mean((layer(noisy) - truth) ** 2)
        error.backward()
        optimizer.step()
        errors.append(error.item())
    grid = [
        float(
            torch.mean(
                (
                    tv_denoise(noisy.reshape(1, -1), grid_graph(truth.shape), w).reshape(
                        truth.shape
                    )
                    - truth
                )
                ** 2
            )
        )
        for w in np.geomspace(0.05, 1.0, 30)
    ]
    assert errors[-1] < 0.3 * errors[0]
    assert errors[-1] < 1.02 * min(grid)
