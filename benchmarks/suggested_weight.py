"""The cost and the loss in quality of ``weight="auto"`` on photographs.

For every photograph and noise level, this measures the processor time of `denoise_tv` with the
suggested weight given and with ``"auto"`` (best of three), and the loss of the suggested weight in
dB. The loss is relative to the best weight, found by a polynomial through the errors of eight
weights. ``whole`` searches on the whole image.

    python benchmarks/suggested_weight.py
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from skimage import data

from graphtv import denoise_tv, suggest_weight
from graphtv.applications.imaging import mosaic

Array = np.ndarray

LEVELS = (0.0, 0.02, 0.1, 0.3)


def photographs() -> Iterator[tuple[str, Array]]:
    for name in ("camera", "coins", "moon", "brick", "gravel"):
        yield name, getattr(data, name)() / 255.0
    yield "astronaut, red", data.astronaut()[..., 0] / 255.0
    yield "astronaut, blue", data.astronaut()[..., 2] / 255.0


def seconds(call: Callable[[], object]) -> float:
    """Return the least processor time of three calls."""
    times = []
    for _ in range(3):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def error_curve(noisy: Array, truth: Array, sigma: float) -> Callable[[float], float]:
    """Return the error in dB above the best, as a function of the weight."""
    exponents = np.arange(-2, 1.51, 0.5)
    errors = [
        10 * np.log10(np.mean((denoise_tv(noisy, sigma * 2**x, tol=1e-3) - truth) ** 2))
        for x in exponents
    ]
    fit = np.poly1d(np.polyfit(exponents, errors, 4))
    best = float(fit(np.linspace(-2, 1.5, 300)).min())
    return lambda weight: float(fit(np.log2(weight / sigma))) - best


def whole(noisy: Array) -> float:
    """Return the weight of lowest risk on the whole image."""
    usual, mosaic.PART_PIXELS = mosaic.PART_PIXELS, noisy.size
    try:
        return suggest_weight(noisy)
    finally:
        mosaic.PART_PIXELS = usual


def main() -> None:
    rng = np.random.default_rng(0)
    ratios, losses, losses_of_whole = [], [], []
    print("photograph       σ      weight    given     auto   auto/given   lost   whole image")
    for name, truth in photographs():
        for sigma in LEVELS:
            noisy = truth + sigma * rng.normal(size=truth.shape)
            weight = suggest_weight(noisy)
            given = seconds(lambda: denoise_tv(noisy, weight or 1e-9, n_threads=1))  # noqa: B023
            auto = seconds(lambda: denoise_tv(noisy, "auto", n_threads=1))  # noqa: B023
            ratios.append(auto / given)
            line = (
                f"{name:16} {sigma:4g} {weight:9.4g} {given:6.3f} s {auto:6.3f} s {ratios[-1]:8.1f}"
            )
            if sigma:
                lost = error_curve(noisy, truth, sigma)
                losses.append(lost(weight))
                losses_of_whole.append(lost(whole(noisy)))
                line += f"   {losses[-1]:9.2f} dB {losses_of_whole[-1]:6.2f} dB"
            print(line, flush=True)
    print(f"auto/given: median {np.median(ratios):.1f}, at most {max(ratios):.1f}")
    for label, values in (("parts", losses), ("whole", losses_of_whole)):
        print(f"lost, {label}: mean {np.mean(values):.3f} dB, at most {max(values):.2f} dB")


if __name__ == "__main__":
    main()
