"""
Dead pixels need the absolute loss
==================================

Salt-and-pepper noise replaces pixels by 0 or 1. The squared loss smears these outliers. The
absolute loss ignores them.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import denoise_tv, gallery

_, truth = gallery.piecewise_constant_image((80, 80), rng=7)
rng = np.random.default_rng(0)
dead = rng.random(truth.shape) < 0.2
noisy = np.where(dead, rng.integers(0, 2, truth.shape), truth)

images = {
    "20 % dead pixels": noisy,
    "squared loss": denoise_tv(noisy, 0.5, tol=1e-4),
    "absolute loss": denoise_tv(noisy, 0.8, loss="absolute", tol=1e-3),
}
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for ax, (title, image) in zip(axes, images.items(), strict=True):
    ax.imshow(image, cmap="gray", vmin=0, vmax=1)
    ax.set_title(f"{title}: error {np.abs(image - truth).mean():.3f}")
    ax.set_axis_off()
