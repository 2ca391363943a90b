"""Segment a photograph into table, cup, coffee and spoon from a few scribbles.

    python docs/gallery/segmentation.py segmentation.png

The photograph is scikit-image's `coffee` (CC0, by Rachel Michetti). Needs scikit-image and
matplotlib.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from graphtv import segment_image
from graphtv.paper.photographs import coffee

CLASSES = ("table", "red china", "white china", "coffee", "spoon")
COLOURS = ("#2f6fb0", "#e0559b", "#f2f2e6", "#f5c518", "#3fb68b")


def main(output: Path, step: int = 2) -> None:
    """Save the picture; only every `step`-th row and column is used."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch
    from PIL import Image
    from skimage.segmentation import mark_boundaries

    photograph = coffee(step)  # a few strokes per class, see graphtv/paper/photographs.py
    image, scribbles = photograph.image, photograph.scribbles
    labels, result = segment_image(image, scribbles, return_result=True)
    others = {
        name: segment_image(
            image,
            scribbles,
            return_result=True,
            preconditioner=name,
            max_iterations=300,
        )[1]
        for name in ("none", "diagonal")
    }

    figure, axes = plt.subplots(2, 2, figsize=(9, 6.6), layout="constrained")
    colours = ListedColormap(COLOURS)
    drawn = image.copy()
    for shift in np.ndindex(3, 3):  # strokes three pixels wide
        marked = np.roll(scribbles, np.array(shift) - 1, axis=(0, 1))
        drawn[marked > 0] = (np.array(colours(marked[marked > 0] - 1))[:, :3] * 255).astype(
            np.uint8
        )
    axes[0, 0].imshow(drawn)
    axes[0, 0].set_title("photograph and scribbles")
    axes[0, 1].imshow(mark_boundaries(colours(labels - 1)[..., :3], labels, color=(0, 0, 0)))
    axes[0, 1].set_title(f"regions, within {result.relative_gap:.1e} of the least energy")
    handles = [
        Patch(color=colour, label=name) for colour, name in zip(COLOURS, CLASSES, strict=True)
    ]
    axes[0, 1].legend(handles=handles, loc="lower right", fontsize="x-small")
    axes[1, 0].imshow(mark_boundaries(image, labels, color=(1, 1, 1), mode="thick"))
    axes[1, 0].set_title("borders")
    for axis in (axes[0, 0], axes[0, 1], axes[1, 0]):
        axis.axis("off")
    curves = {f"{result.preconditioner} (auto)": result, **others}
    for name, run in curves.items():
        history = run.history
        axes[1, 1].loglog(history["iteration"], history["relative_gap"], ".-", label=name)
    axes[1, 1].axhline(result.tolerance, color="grey", linewidth=0.8)
    axes[1, 1].set(xlabel="iterations", title="relative gap by preconditioner")
    axes[1, 1].legend(frameon=False)
    figure.savefig(output, dpi=80)
    plt.close(figure)
    Image.open(output).convert("RGB").quantize(128).save(output, optimize=True)  # a small file


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "segmentation.png"))
