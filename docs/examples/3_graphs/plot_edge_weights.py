"""
Weights that know the edges
===========================

Weights may differ from edge to edge. Here they are small where a guide image has an edge, so the
result jumps there.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import Problem, SquaredLoss, gallery, grid_graph, solve

_, guide = gallery.piecewise_constant_image((64, 64), rng=8)
noisy = guide + 0.4 * np.random.default_rng(0).standard_normal(guide.shape)
down, along = (np.exp(-np.abs(np.diff(guide, axis=axis)) / 0.05) for axis in (0, 1))

images = {"guide": guide, "noisy": noisy}
for title, weights in (("equal weights", 0.5), ("guided weights", [0.5 * down, 0.5 * along])):
    images[title] = solve(Problem(grid_graph(noisy.shape, weights), SquaredLoss(noisy))).u
figure, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
for ax, (title, image) in zip(axes, images.items(), strict=True):
    ax.imshow(image, cmap="gray", vmin=0, vmax=1)
    ax.set_title(title)
    ax.set_axis_off()
