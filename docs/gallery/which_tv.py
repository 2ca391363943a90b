"""Kinds of total variation side by side, on a disc, a ball and a photograph.

    python docs/gallery/which_tv.py [picture.png]

Needs scikit-image (for its photograph) and matplotlib.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from skimage import data

from graphtv import denoise_tv

NOISE = 0.15
CROP = np.s_[20:180, 150:310]

# On average over directions, an edge costs 4/π times as much with anisotropic total variation.
# Equal channels cost √3 times as much if they are not coupled.
COLOURS = {
    "anisotropic": ({}, 1.0),
    "8 neighbours (Crofton)": ({"connectivity": 8}, 1.0),
    "16 neighbours (Crofton)": ({"connectivity": 16}, 1.0),
    "isotropic": ({"isotropic": True}, 4 / math.pi),
    "isotropic, coupled": ({"isotropic": True, "coupled": True}, 4 / math.pi * math.sqrt(3)),
}
# In volumes the factor is 3/2.
VOLUMES = {
    "anisotropic, 6 neighbours": ({}, 1.0),
    "18 neighbours (Crofton)": ({"connectivity": 18}, 1.0),
    "26 neighbours (Crofton)": ({"connectivity": 26}, 1.0),
    "isotropic": ({"isotropic": True}, 1.5),
}


def disc(size: int) -> np.ndarray:
    """Return an image of a coloured disc."""
    x = np.linspace(-1, 1, size)
    inside = x[:, None] ** 2 + x**2 < 0.5
    return np.where(inside[..., None], [0.9, 0.6, 0.2], [0.2, 0.3, 0.5])


def cone(size: int) -> np.ndarray:
    """Return a volume that decreases with the distance from its centre."""
    x = np.linspace(-1, 1, size)
    return np.maximum(1 - np.sqrt(x[:, None, None] ** 2 + x[:, None] ** 2 + x**2), 0)


def main(output: Path, step: int = 1) -> None:
    """Save the picture to `output`, using every `step`-th pixel."""
    rng = np.random.default_rng(0)
    photograph = data.astronaut()[CROP][::step, ::step] / 255
    figure = Figure(figsize=(15, 8), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.subplots(3, 6)
    for row, truth, weight in ((0, disc(160 // step), 3.0), (2, photograph, 0.12)):
        noisy = truth + NOISE * rng.standard_normal(truth.shape)
        pictures = {"noisy": noisy}
        for name, (options, factor) in COLOURS.items():
            pictures[name] = denoise_tv(
                noisy, factor * weight, channel_axis=-1, tol=1e-4, **options
            )
        for axis, (name, picture) in zip(axes[row], pictures.items(), strict=True):
            axis.imshow(np.clip(picture, 0, 1), interpolation="nearest")
            axis.set_title(name)
    size = 48 // step
    volume = cone(size)
    pictures = {"a volume, in the middle": volume}
    for name, (options, factor) in VOLUMES.items():
        pictures[name] = denoise_tv(volume, factor * 0.8 / step, tol=1e-4, **options)
    for axis, (name, picture) in zip(axes[1], pictures.items(), strict=False):
        middle = picture[size // 2]
        axis.imshow(middle, cmap="gray", interpolation="nearest")
        axis.contour(middle, levels=[0.97 * middle.max()], colors="tab:orange")
        axis.set_title(name)
    for axis in axes.flat:
        axis.axis("off")
    figure.set_dpi(80)
    canvas.draw()
    # Noise compresses badly; a small palette keeps the file small.
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    picture.quantize(64).save(output, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "which_tv.png"))
