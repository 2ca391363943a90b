"""Denoise and inpaint a photograph, with a weight chosen from the noise.

    python docs/gallery/denoising.py [picture.png]

Needs scikit-image (for its photographs) and matplotlib.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from skimage import data

from graphtv import denoise_tv, estimate_noise, suggest_weight

NOISE = 0.12
CROP = np.s_[60:316, 130:386]


def psnr(image: np.ndarray, truth: np.ndarray) -> float:
    """Return the peak signal-to-noise ratio for images in [0, 1], in decibels."""
    return float(-10 * np.log10(np.mean((image - truth) ** 2)))


def main(output: Path, step: int = 1) -> None:
    """Save the picture to `output`, using every `step`-th pixel."""
    truth = data.camera()[CROP][::step, ::step] / 255
    rng = np.random.default_rng(0)
    noisy = truth + NOISE * rng.standard_normal(truth.shape)
    holes = np.where(rng.random(truth.shape) < 0.4, np.nan, noisy)

    weight = suggest_weight(noisy)
    denoised, result = denoise_tv(noisy, weight, return_result=True)
    eight = denoise_tv(noisy, weight, connectivity=2)
    filled = denoise_tv(holes, weight)
    inset = (slice(70 // step, 150 // step), slice(50 // step, 130 // step))
    error = rf"$\|u-u^*\|\leq${result.error_bound:.0e}"
    pictures = {
        f"noisy: {psnr(noisy, truth):.1f} dB": noisy,
        f"denoised: {psnr(denoised, truth):.1f} dB, {error}": denoised,
        f"eight neighbours: {psnr(eight, truth):.1f} dB": eight,
        f"40 % unknown, filled in: {psnr(filled, truth):.1f} dB": (holes, filled),
    }

    figure = Figure(figsize=(10.4, 5.5), layout="constrained")
    grid = figure.subplots(2, 4, height_ratios=[1, 1])
    grey = matplotlib.colormaps["gray"].with_extremes(bad="#b33b2e")
    style = {"cmap": grey, "vmin": 0, "vmax": 1, "interpolation": "nearest"}
    for column, (title, shown) in zip(grid.T, pictures.items(), strict=True):
        top, bottom = shown if isinstance(shown, tuple) else (shown, shown[inset])
        column[0].imshow(top, **style)
        column[1].imshow(bottom, **style)
        column[0].set_title(title, fontsize=8.5)
    for axes in grid.flat:
        axes.set_axis_off()
    figure.suptitle(
        f"noise {NOISE}, estimated {estimate_noise(noisy):.3f}; suggested weight {weight:.3f}",
        fontsize=10,
    )
    canvas = FigureCanvasAgg(figure)
    figure.set_dpi(100)
    canvas.draw()
    # Noise compresses badly; a small palette keeps the file small.
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    picture.quantize(48).save(output, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "denoising.png"))
