"""
Learn from few labels
=====================

Three moons with one label in 20. `TVClassifier` spreads the labels over the graph of nearest
neighbours.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import TVClassifier, gallery

points, classes = gallery.three_moons(200, dimension=3, rng=1)
known = np.where(np.arange(600) % 20 == 0, classes, -1)
found = TVClassifier().fit(points, known).transduction_

figure, axes = plt.subplots(1, 2, figsize=(10, 3), layout="constrained")
axes[0].scatter(*points[:, :2].T, c="lightgray", s=8)
axes[0].scatter(*points[known >= 0, :2].T, c=known[known >= 0], s=30, cmap="viridis")
axes[0].set_title("30 labels")
axes[1].scatter(*points[:, :2].T, c=found, s=8, cmap="viridis")
axes[1].set_title(f"{(found == classes).mean():.1%} right")
for ax in axes:
    ax.set_aspect("equal")
    ax.set_axis_off()
