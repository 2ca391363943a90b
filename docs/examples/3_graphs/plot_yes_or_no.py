"""
Probabilities from yes and no
=============================

Each point has one answer, yes or no. The logistic loss turns answers into regions of equal
probability.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import fused_lasso, knn_graph

rng = np.random.default_rng(0)
points = rng.random((1200, 2))
probability = np.where(np.hypot(*(points - 0.5).T) < 0.3, 0.8, 0.2)
answers = rng.random(1200) < probability
graph = knn_graph(points, n_neighbors=6)
result = fused_lasso(graph, np.where(answers, 1.0, -1.0), lam=0.5, loss="logistic")

figure, axes = plt.subplots(1, 2, figsize=(8.5, 4), layout="constrained")
axes[0].scatter(*points.T, c=answers, cmap="coolwarm", s=8)
axes[0].set_title("answers")
colours = axes[1].scatter(*points.T, c=1 / (1 + np.exp(-result.u)), cmap="coolwarm", s=8)
axes[1].set_title("probability of yes")
figure.colorbar(colours, ax=axes[1])
for ax in axes:
    ax.set_aspect("equal")
    ax.set_axis_off()
