"""
Classes from costs
==================

`segment` takes a cost for each vertex and class, from any model. Without the edges each pixel takes
its cheapest class.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import grid_graph, segment

rng = np.random.default_rng(0)
y, x = np.mgrid[:64, :64]
truth = np.where(x + y < 50, 0, np.where((x - 45) ** 2 + (y - 40) ** 2 < 200, 1, 2))
cost = (np.arange(3) != truth[..., None]) + 1.2 * rng.standard_normal((64, 64, 3))
result = segment(grid_graph((64, 64), 1.0), cost.reshape(-1, 3), epsilon=0.5, tol=1e-3)

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
images = {
    "cheapest class": cost.argmin(axis=-1),
    "segment": result.u.argmax(axis=1).reshape(64, 64),
    "truth": truth,
}
for ax, (title, labels) in zip(axes, images.items(), strict=True):
    ax.imshow(labels, cmap="viridis")
    ax.set_title(f"{title}: {(labels == truth).mean():.0%} right")
    ax.set_axis_off()
