"""Time and accuracy of derivatives through total variation denoising, in PyTorch.

A loss of the denoised image is differentiated with respect to the image and the weight, by

- graphtv: the exact solution, and an average over its pieces;
- FGP (Beck & Teboulle 2009) in PyTorch, differentiated through its iterations by autograd;
- deepinv's proximal map of isotropic total variation, differentiated the same way, if deepinv is
  installed. It is compared with graphtv's isotropic total variation to several tolerances, which is
  differentiated by a reduced linear system;
- cvxpylayers, which differentiates the optimality conditions of a cone program, if it is installed.

Seconds are processor time on one thread, the best of three, forward and backward pass together, and
methods take turns. Errors are those of the gradient, in the Euclidean norm relative to the exact
gradient. This is the gradient of graphtv, to a relative gap of 1e-10 for isotropic total variation
(tests compare it with differences of solutions). Ratios refer to the first row. Compare rows of
equal errors.

    python benchmarks/layers.py [--size 128] [--iterations 100 300 1000] [--cone-size 16]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from graphtv import IsotropicTV, gallery, grid_graph
from graphtv.torch import TVDenoise, tv_denoise

WEIGHT, NOISE = 0.2, 0.2
Denoise = Callable[[Any, Any], Any]


def by_graphtv() -> Denoise:
    layer = TVDenoise(2)
    return lambda image, weight: layer(image, weight.expand(image.shape))


def by_isotropic(tol: float) -> Denoise:
    graphs: dict[Any, Any] = {}

    def denoise(image: Any, weight: Any) -> Any:
        shape = tuple(image.shape[-2:])
        graph = graphs.setdefault(shape, grid_graph(shape))
        u = tv_denoise(image.flatten(-2), graph, weight, penalty=IsotropicTV(), tol=tol)
        return u.reshape(image.shape)

    return denoise


def by_fgp(n_iterations: int) -> Denoise:
    def denoise(image: Any, weight: Any) -> Any:
        def primal(p: Any, q: Any) -> Any:
            down = torch.diff(torch.nn.functional.pad(p, (0, 0, 1, 1)), dim=-2)
            right = torch.diff(torch.nn.functional.pad(q, (1, 1)), dim=-1)
            return image + weight * (down + right)

        p, q = torch.zeros_like(image[..., 1:, :]), torch.zeros_like(image[..., :, 1:])
        points = (p, q)
        t = 1.0
        for _ in range(n_iterations):
            u = primal(*points)
            step = 1.0 / (8.0 * weight)
            new_p = (points[0] + step * torch.diff(u, dim=-2)).clamp(-1.0, 1.0)
            new_q = (points[1] + step * torch.diff(u, dim=-1)).clamp(-1.0, 1.0)
            after = 0.5 * (1.0 + (1.0 + 4.0 * t * t) ** 0.5)
            speed = (t - 1.0) / after
            points = (new_p + speed * (new_p - p), new_q + speed * (new_q - q))
            p, q, t = new_p, new_q, after
        return primal(p, q)

    return denoise


def by_deepinv(n_iterations: int) -> Denoise:
    from deepinv.models import TVDenoiser

    def denoise(image: Any, weight: Any) -> Any:
        return TVDenoiser(n_it_max=n_iterations, crit=0.0)(image, ths=weight)

    return denoise


def by_cone_program(size: int) -> Denoise:
    import cvxpy as cp
    from cvxpylayers.torch import CvxpyLayer

    u, f, weight = cp.Variable((size, size)), cp.Parameter((size, size)), cp.Parameter(nonneg=True)
    variation = cp.sum(cp.abs(cp.diff(u, axis=0))) + cp.sum(cp.abs(cp.diff(u, axis=1)))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(u - f) + weight * variation))
    layer = CvxpyLayer(problem, parameters=[f, weight], variables=[u])
    return lambda image, w: layer(image[0, 0], w)[0][None, None]


def gradient(denoise: Denoise, noisy: Any, truth: Any) -> Any:
    """Return the derivative of the squared error with respect to the image and the weight."""
    image = noisy.clone().requires_grad_()
    weight = torch.tensor(WEIGHT, dtype=noisy.dtype, requires_grad=True)
    (0.5 * (denoise(image, weight) - truth).square().sum()).backward()
    return torch.cat([image.grad.reshape(-1), weight.grad.reshape(1)])


def compare(methods: dict[str, tuple[Denoise, Any]], noisy: Any, truth: Any) -> None:
    """Print seconds, their ratio to the first method, and the error of each."""
    seconds = dict.fromkeys(methods, np.inf)
    found = {}
    for _ in range(3):
        for name, (denoise, _) in methods.items():
            start = time.process_time()
            found[name] = gradient(denoise, noisy, truth)
            seconds[name] = min(seconds[name], time.process_time() - start)
    first = next(iter(seconds.values()))
    for name, (_, reference) in methods.items():
        error = float((found[name] - reference).norm() / reference.norm())
        print(f"{name:28} {seconds[name]:9.4f} s  {seconds[name] / first:8.1f} ×  {error:9.1e}")


def example(size: int) -> tuple[Any, Any]:
    noisy, truth = gallery.piecewise_constant_image((size, size), rng=0, noise=NOISE)
    return tuple(torch.tensor(np.array(image))[None, None] for image in (noisy, truth))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--iterations", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--cone-size", type=int, default=16)
    parser.add_argument("--quick", action="store_true", help="a small image, few iterations")
    given = parser.parse_args()
    if given.quick:
        given.size, given.iterations, given.cone_size = 16, [10, 30], 6
    torch.set_num_threads(1)
    noisy, truth = example(given.size)
    exact = gradient(by_graphtv(), noisy, truth)
    methods = {"graphtv": (by_graphtv(), exact)}
    for n in given.iterations:
        methods[f"FGP, {n} iterations"] = (by_fgp(n), exact)
    print(f"{given.size}² pixels, forward and backward      seconds     ratio      error")
    compare(methods, noisy, truth)
    try:
        import deepinv  # noqa: F401
    except ImportError as error:
        print(f"without deepinv: {error}")
    else:
        print("isotropic")
        exact = gradient(by_isotropic(1e-10), noisy, truth)
        methods = {f"graphtv, tol={t:g}": (by_isotropic(t), exact) for t in (1e-4, 1e-6, 1e-8)}
        for n in given.iterations:
            methods[f"deepinv, {n} iterations"] = (by_deepinv(n), exact)
        compare(methods, noisy, truth)
    small = example(given.cone_size)
    try:
        layer = by_cone_program(given.cone_size)
    except ImportError as error:
        print(f"without cvxpylayers: {error}")
        return
    exact = gradient(by_graphtv(), *small)
    print(f"{given.cone_size}² pixels")
    compare({"graphtv": (by_graphtv(), exact), "cvxpylayers": (layer, exact)}, *small)


if __name__ == "__main__":
    main()
