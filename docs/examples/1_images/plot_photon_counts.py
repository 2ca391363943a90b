"""
Photon counts
=============

Counts have Poisson noise: bright regions are noisier than dark ones. The Poisson loss knows this.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import denoise_tv, gallery

_, truth = gallery.piecewise_constant_image((80, 80), rng=4)
rate = 1 + 20 * truth
counts = np.random.default_rng(0).poisson(rate)

images = {"counts": counts, "Poisson loss": denoise_tv(counts, 1.0, loss="poisson"), "rate": rate}
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for ax, (title, image) in zip(axes, images.items(), strict=True):
    ax.imshow(image, cmap="magma", vmin=0, vmax=25)
    ax.set_title(title)
    ax.set_axis_off()
