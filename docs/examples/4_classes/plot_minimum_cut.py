"""
A minimum cut of an image
=========================

Bright pixels are tied to the source, dark ones to the sink, and neighbours to each other. The
minimum cut separates object and background. It is certified in integers.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import gallery, grid_graph, min_cut

noisy, _ = gallery.piecewise_constant_image((80, 80), rng=6, noise=0.3, n_regions=3)
evidence = np.rint(100 * (noisy - 0.4)).astype(int).ravel()
cut = min_cut(grid_graph(noisy.shape, 60), np.maximum(evidence, 0), np.maximum(-evidence, 0))

figure, axes = plt.subplots(1, 2, figsize=(7, 3.6), layout="constrained")
axes[0].imshow(noisy, cmap="gray")
axes[0].set_title("noisy")
axes[1].imshow(cut.source_side.reshape(noisy.shape), cmap="gray")
axes[1].set_title(f"value {cut.value}, certified: {cut.certified}")
for ax in axes:
    ax.set_axis_off()
