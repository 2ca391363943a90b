"""
Clusters that fuse
==================

`convex_clustering_path` moves points towards each other until they fuse. The dendrogram shows at
which λ. The number of clusters that persists longest is chosen.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import convex_clustering_path, plot

rng = np.random.default_rng(0)
centres = [(0, 0), (2.5, 0.5), (1.2, 2.2), (4.5, 2)]
spreads = [0.5, 0.3, 0.2, 0.4]
points = np.concatenate(
    [rng.normal(centre, spread, (20, 2)) for centre, spread in zip(centres, spreads, strict=True)]
)
path = convex_clustering_path(points, n_lambdas=25, tol=1e-4)
best = path.best()

figure, axes = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
for before, after in zip(points, best.u, strict=True):
    axes[0].plot(*np.stack([before, after]).T, color="lightgray", linewidth=0.6, zorder=0)
colours = np.array(plot.COLOURS)[best.labels % len(plot.COLOURS)]
axes[0].scatter(*points.T, c=colours, s=12)
axes[0].scatter(*best.centroids.T, c="black", marker="x")
axes[0].set_title(f"{best.n_clusters} clusters and the points where they fuse")
axes[0].set_aspect("equal")
axes[0].set_axis_off()
plot.draw_dendrogram(path, axes[1])
