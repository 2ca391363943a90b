"""Denoising photographs: the loss of the suggested weight and the overhead of `denoise_tv`.

The first table has a row for every image and noise level σ. Its columns are the estimate of σ
divided by σ; the weight with the lowest error divided by σ, and its PSNR; and the loss of PSNR by
`suggest_weight` with the estimated σ and with the true one, by its rule "noise", and by the
discrepancy principle ‖u - f‖² = nσ². The last columns show eight neighbours and scikit-image's
isotropic `denoise_tv_chambolle` at their own best weights, relative to that of four neighbours. The
second table shows processor times relative to that of `solve` alone.

    python benchmarks/denoising.py [--quick]
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from skimage import data
from skimage.restoration import denoise_tv_chambolle

from graphtv import (
    Problem,
    SquaredLoss,
    denoise_tv,
    estimate_noise,
    grid_graph,
    solve,
    suggest_weight,
)

Array = np.ndarray


def images(quick: bool) -> dict[str, Array]:
    step = 8 if quick else 1
    return {
        "camera": data.camera()[::step, ::step] / 255,
        "astronaut": data.astronaut()[::step, ::step] / 255,
        "coins": data.coins()[::step, ::step] / 255,
        "phantom": data.shepp_logan_phantom()[::step, ::step],
        "moon": data.moon()[::step, ::step] / 255,
        "page": data.page()[::step, ::step] / 255,
    }


def psnr(image: Array, truth: Array) -> float:
    return -10 * math.log10(float(np.mean((image - truth) ** 2)))


def best_weight(denoise: Callable[[float], Array], truth: Array, sigma: float) -> float:
    def loss(x: float) -> float:
        return -psnr(denoise(math.exp(x)), truth)

    bounds = math.log(0.15 * sigma), math.log(2 * sigma)
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.03})
    return math.exp(found.x)


def discrepancy(denoise: Callable[[float], Array], noisy: Array, sigma: float) -> float:
    def excess(x: float) -> float:
        return float(np.mean((denoise(math.exp(x)) - noisy) ** 2)) - sigma**2

    return math.exp(brentq(excess, math.log(0.1 * sigma), math.log(4 * sigma), xtol=0.03))


def weights(quick: bool) -> None:
    print("| image | σ | σ̂/σ | best weight/σ | PSNR | lost, σ̂ | lost, σ | lost, 0.6 σ̂ |", end="")
    print(" lost, discrepancy | 8: weight, PSNR | Chambolle: weight, PSNR |")
    print("|---" * 11 + "|")
    for name, truth in images(quick).items():
        axis = -1 if truth.ndim == 3 else None
        for sigma in (0.1,) if quick else (0.02, 0.05, 0.1, 0.2):
            noisy = truth + sigma * np.random.default_rng(1).standard_normal(truth.shape)

            def ours(weight: float, noisy: Array = noisy, axis: int | None = axis) -> Array:
                return denoise_tv(noisy, weight, channel_axis=axis, tol=1e-4)

            def eight(weight: float, noisy: Array = noisy, axis: int | None = axis) -> Array:
                return denoise_tv(noisy, weight, channel_axis=axis, tol=1e-4, connectivity=2)

            def theirs(weight: float, noisy: Array = noisy, axis: int | None = axis) -> Array:
                return denoise_tv_chambolle(
                    noisy, weight, channel_axis=axis, eps=1e-5, max_num_iter=400
                )

            estimate = estimate_noise(noisy, channel_axis=axis)
            best = best_weight(ours, truth, sigma)
            top = psnr(ours(best), truth)
            lost = [
                top - psnr(ours(weight), truth)
                for weight in (
                    suggest_weight(noisy, channel_axis=axis),
                    suggest_weight(noisy, channel_axis=axis, sigma=sigma),
                    suggest_weight(noisy, channel_axis=axis, rule="noise"),
                    discrepancy(ours, noisy, sigma),
                )
            ]
            others = []
            for other in (eight, theirs):
                weight = best_weight(other, truth, sigma)
                others.append(f"{weight / best:.2f}, {psnr(other(weight), truth) - top:+.2f}")
            print(
                f"| {name} | {sigma} | {np.mean(estimate) / sigma:.2f} | {best / sigma:.2f}"
                f" | {top:.2f} | {' | '.join(f'{loss:.2f}' for loss in lost)}"
                f" | {' | '.join(others)} |",
                flush=True,
            )


def processor_time(run: Callable[[], object], repetitions: int) -> float:
    times = []
    for _ in range(repetitions):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def costs(quick: bool) -> None:
    camera = images(quick)["camera"]
    noisy = camera + 0.1 * np.random.default_rng(1).standard_normal(camera.shape)
    single = noisy.astype(np.float32)
    holes = np.where(np.random.default_rng(2).random(noisy.shape) < 0.1, np.nan, noisy)
    options = {"n_threads": 1}
    problem = Problem(grid_graph(noisy.shape, 0.06), SquaredLoss(noisy.ravel()))
    repetitions = 1 if quick else 5
    unit = processor_time(lambda: solve(problem, **options), repetitions)
    print("\n| processor time over that of `solve` | |\n|---|---|")
    for name, run in {
        "`denoise_tv`": lambda: denoise_tv(noisy, 0.06, **options),
        "float32": lambda: denoise_tv(single, 0.06, **options),
        "eight neighbours": lambda: denoise_tv(noisy, 0.06, connectivity=2, **options),
        "10 % of the pixels unknown": lambda: denoise_tv(holes, 0.06, **options),
        '`weight="auto"`': lambda: denoise_tv(noisy, "auto", **options),
        "`estimate_noise`": lambda: estimate_noise(noisy),
        "`denoise_tv_chambolle`, default stop": lambda: denoise_tv_chambolle(noisy, 0.06),
    }.items():
        print(f"| {name} | {processor_time(run, repetitions) / unit:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small images, one noise level")
    quick = parser.parse_args().quick
    weights(quick)
    costs(quick)


if __name__ == "__main__":
    main()
