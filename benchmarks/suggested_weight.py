"""The cost and the loss in quality of ``weight="auto"`` on photographs.

For every photograph and noise level, this measures the processor time of `denoise_tv` with the
suggested weight given and with ``"auto"`` (best of three), to 1e-6 and to 1e-3, and the loss of the
suggested weight in dB. Some photographs are in colour or have 8 bits, and there is a volume. The
loss is relative to the best weight, found by a polynomial through the errors of eight
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
TOLERANCES = (1e-6, 1e-3)

GREY = ("camera", "coins", "moon", "brick", "gravel", "page", "text", "clock", "cell")
COLOUR = ("astronaut", "coffee", "cat")


def photographs() -> Iterator[tuple[str, Array]]:
    for name in GREY:
        image = np.asarray(getattr(data, name)())
        yield name, (image if image.ndim == 2 else image[..., 0]) / 255.0


def others() -> Iterator[tuple[str, Array, int | None]]:
    """Return images with noise, whose loss in quality is not measured."""
    rng = np.random.default_rng(1)
    for name, image in photographs():
        noisy = image + 0.1 * rng.normal(size=image.shape)
        yield f"{name}, 8 bits", np.clip(255 * noisy, 0, 255).round().astype(np.uint8), None
    for name in COLOUR:
        image = getattr(data, name)() / 255.0
        yield f"{name}, colour", image, 2
        yield f"{name}, noisy", image + 0.1 * rng.normal(size=image.shape), 2
    steps = [np.arange(n) // k for n, k in ((40, 10), (60, 13), (60, 17))]
    volume = sum(np.meshgrid(*steps, indexing="ij")) / 4.0
    for sigma in (0.1, 0.3):
        yield f"volume, {sigma:g}", volume + sigma * rng.normal(size=volume.shape), None


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


def cost(image: Array, channel_axis: int | None = None) -> list[float]:
    """Return the time with "auto" over that with the weight given, for each tolerance."""
    ratios = []
    for tol in TOLERANCES:
        options = {"channel_axis": channel_axis, "tol": tol, "n_threads": 1}
        weight = suggest_weight(image, channel_axis=channel_axis, tol=tol) or 1e-9
        given = seconds(lambda: denoise_tv(image, weight, **options))  # noqa: B023
        auto = seconds(lambda: denoise_tv(image, "auto", **options))  # noqa: B023
        ratios.append(auto / given)
    return ratios


def main() -> None:
    rng = np.random.default_rng(0)
    ratios, losses, losses_of_loose, losses_of_whole = [], [], [], []
    print("photograph             σ   auto/given: to 1e-6   1e-3   lost   to 1e-3   whole image")
    for name, truth in photographs():
        for sigma in LEVELS:
            noisy = truth + sigma * rng.normal(size=truth.shape)
            ratios.append(cost(noisy))
            line = f"{name:19} {sigma:4g} {ratios[-1][0]:20.1f} {ratios[-1][1]:6.1f}"
            if sigma:
                lost = error_curve(noisy, truth, sigma)
                losses.append(lost(suggest_weight(noisy)))
                losses_of_loose.append(lost(suggest_weight(noisy, tol=1e-3)))
                losses_of_whole.append(lost(whole(noisy)))
                line += (
                    f" {losses[-1]:6.2f} {losses_of_loose[-1]:9.2f} {losses_of_whole[-1]:9.2f} dB"
                )
            print(line, flush=True)
    for name, image, channel_axis in others():
        ratios.append(cost(image, channel_axis))
        print(f"{name:24} {ratios[-1][0]:20.1f} {ratios[-1][1]:6.1f}", flush=True)
    for tol, values in zip(TOLERANCES, np.transpose(ratios), strict=True):
        print(f"auto/given to {tol:g}: median {np.median(values):.1f}, at most {max(values):.1f}")
    for label, values in (
        ("parts", losses),
        ("parts to 1e-3", losses_of_loose),
        ("whole", losses_of_whole),
    ):
        print(f"lost, {label}: mean {np.mean(values):.3f} dB, at most {max(values):.2f} dB")


if __name__ == "__main__":
    main()
