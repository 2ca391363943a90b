"""
The minimum cuts of all thresholds
==================================

`cut_path` returns the cuts for every shift of the terminal capacities. The source sides are nested.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import cut_path, gallery, grid_graph

noisy, _ = gallery.piecewise_constant_image((48, 48), rng=6, noise=0.2)
evidence = np.rint(100 * noisy.clip(0, 1)).astype(int).ravel()
path = cut_path(grid_graph(noisy.shape, 12), evidence, np.zeros_like(evidence))

figure, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
axes[0].imshow(noisy, cmap="gray")
axes[0].set_title(f"{len(path.breakpoints)} breakpoints")
for ax, threshold in zip(axes[1:], (15, 30, 50), strict=True):
    ax.imshow(path.cut(threshold).source_side.reshape(noisy.shape), cmap="gray")
    ax.set_title(f"threshold {threshold}")
for ax in axes:
    ax.set_axis_off()
