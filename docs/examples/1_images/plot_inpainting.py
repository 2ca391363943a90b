"""
Fill in missing pixels
======================

NaN marks a pixel without data. `denoise_tv` fills it in from its surroundings.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import denoise_tv, gallery

noisy, truth = gallery.piecewise_constant_image((96, 96), rng=2, noise=0.08)
broken = noisy.copy()
broken[np.random.default_rng(0).random(broken.shape) < 0.6] = np.nan

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
images = {"60 % missing": broken, "filled in": denoise_tv(broken, 0.1), "truth": truth}
for ax, (title, image) in zip(axes, images.items(), strict=True):
    ax.imshow(image, cmap="gray", vmin=0, vmax=1)
    ax.set_title(title)
    ax.set_axis_off()
