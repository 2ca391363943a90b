"""Show the seams of overlap-and-trim, and the same chunks solved without seams.

    python docs/gallery/seams.py [picture.png]

Needs dask, scikit-image (for its photographs) and matplotlib.
"""

from __future__ import annotations

import sys
from pathlib import Path

import dask.array as da
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from skimage import data

from graphtv import denoise_tv

NOISE, WEIGHT = 0.15, 1.0
OVERLAP = 8
CROP = np.s_[40:360, 110:430]


def main(output: Path, step: int = 1) -> None:
    """Save the picture to `output`, using every `step`-th pixel."""
    truth = data.camera()[CROP][::step, ::step] / 255
    noisy = truth + NOISE * np.random.default_rng(0).standard_normal(truth.shape)
    length = len(noisy) // 4
    chunked = da.from_array(noisy, chunks=length)

    optimum = denoise_tv(noisy, WEIGHT, tol=0)
    tiles, result = denoise_tv(chunked, WEIGHT, tol=1e-7, return_result=True)
    trimmed = da.map_overlap(
        lambda block: denoise_tv(block, WEIGHT),
        chunked,
        depth=OVERLAP,
        boundary="none",
        dtype=float,
    )

    pictures = {
        f"noisy, in chunks of {length}²": noisy,
        f"overlap of {OVERLAP} pixels, trimmed": trimmed.compute(),
        f"graphtv, relative gap {result.relative_gap:.0e}": tiles.compute(),
    }
    figure = Figure(figsize=(10.4, 6.9), layout="constrained")
    grid = figure.subplots(2, 3)
    grey = {"cmap": "gray", "vmin": 0, "vmax": 1, "interpolation": "nearest"}
    for (title, picture), top, bottom in zip(pictures.items(), *grid, strict=True):
        top.imshow(picture, **grey)
        top.set_title(title, fontsize=10)
        if picture is noisy:
            bottom.imshow(optimum, **grey)
            bottom.set_title("the optimum of the whole image", fontsize=10)
            for border in range(length, len(noisy), length):
                for line in (top.axhline, top.axvline):
                    line(border - 0.5, color="#e8b23a", linewidth=0.8)
            continue
        error = picture - optimum
        shown = bottom.imshow(error, cmap="RdBu_r", vmin=-0.1, vmax=0.1, interpolation="nearest")
        bottom.set_title(f"off by up to {np.abs(error).max():.1g}", fontsize=10)
    figure.colorbar(
        shown, ax=grid, shrink=0.42, anchor=(0.0, 0.05), label="difference from the optimum"
    )
    for axes in grid.flat:
        axes.set_axis_off()
    canvas = FigureCanvasAgg(figure)
    figure.set_dpi(100)
    canvas.draw()
    # Noise compresses badly; a small palette keeps the file small.
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    picture.quantize(256).save(output, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "seams.png"))
