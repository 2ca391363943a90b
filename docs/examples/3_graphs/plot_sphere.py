"""
A signal on a sphere
====================

`knn_graph` joins each point to its nearest neighbours, in any number of dimensions.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import ConvexHull

from graphtv import fused_lasso, knn_graph
from graphtv.plot import draw_signal

rng = np.random.default_rng(0)
points = rng.standard_normal((1500, 3))
points /= np.linalg.norm(points, axis=1, keepdims=True)
noisy = (points[:, 2] > 0.3) + (points[:, 0] > 0.5) + 0.5 * rng.standard_normal(1500)
graph = knn_graph(points, n_neighbors=6)
faces = ConvexHull(points).simplices
result = fused_lasso(graph, noisy, lam=0.3)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, signal, title in ((axes[0], noisy, "noisy"), (axes[1], result.u, "fused_lasso")):
    draw_signal(graph, signal, points, ax, triangles=faces, limits=(-0.5, 2.5), view=(20, -30))
    ax.set_title(title)
