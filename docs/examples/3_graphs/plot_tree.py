"""
A signal on a tree
==================

On a tree, `tv_forest` returns the exact minimiser without iterations.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import gallery, tv_forest
from graphtv.plot import draw_signal

tree = gallery.random_tree(120, rng=4, weights=0.5)
rng = np.random.default_rng(0)
truth = np.zeros(120)
for parent, child in tree.edges:  # parents come first; the branch of vertex 2 has the value 1
    truth[child] = 1.0 if child == 2 else truth[parent]
noisy = truth + 0.4 * rng.standard_normal(120)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, signal, title in (
    (axes[0], noisy, "noisy"),
    (axes[1], tv_forest(tree, noisy), "tv_forest"),
):
    draw_signal(tree, signal, ax=ax, limits=(-0.5, 1.5))
    ax.set_title(title)
