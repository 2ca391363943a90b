"""Four kinds of total variation side by side, on a disc and on a photograph.

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
KINDS = {
    "anisotropic": ({}, 1.0),
    "eight neighbours (Crofton)": ({"connectivity": 2}, 1.0),
    "isotropic": ({"isotropic": True}, 4 / math.pi),
    "isotropic, coupled": ({"isotropic": True, "coupled": True}, 4 / math.pi * math.sqrt(3)),
}


def disc(size: int) -> np.ndarray:
    """Return an image of a coloured disc."""
    x = np.linspace(-1, 1, size)
    inside = x[:, None] ** 2 + x**2 < 0.5
    return np.where(inside[..., None], [0.9, 0.6, 0.2], [0.2, 0.3, 0.5])


def main(output: Path, step: int = 1) -> None:
    """Save the picture to `output`, using every `step`-th pixel."""
    rng = np.random.default_rng(0)
    photograph = data.astronaut()[CROP][::step, ::step] / 255
    rows = [(disc(160 // step), 3.0), (photograph, 0.12)]
    figure = Figure(figsize=(15, 6.4), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.subplots(2, 5)
    for row, (truth, weight) in zip(axes, rows, strict=True):
        noisy = truth + NOISE * rng.standard_normal(truth.shape)
        pictures = {"noisy": noisy}
        for name, (options, factor) in KINDS.items():
            pictures[name] = denoise_tv(
                noisy, factor * weight, channel_axis=-1, tol=1e-4, **options
            )
        for axis, (name, picture) in zip(row, pictures.items(), strict=True):
            axis.imshow(np.clip(picture, 0, 1), interpolation="nearest")
            axis.set_title(name)
            axis.axis("off")
    figure.set_dpi(80)
    canvas.draw()
    # Noise compresses badly; a small palette keeps the file small.
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    picture.quantize(64).save(output, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "which_tv.png"))
