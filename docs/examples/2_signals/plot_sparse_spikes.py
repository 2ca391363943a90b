"""
Sparse and piecewise constant
=============================

``sparsity`` adds a penalty on the size of the values: most of them become exactly 0.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import fused_lasso, gallery

rng = np.random.default_rng(2)
truth = np.zeros(300)
truth[60:90], truth[200:215] = 1.0, -1.5
noisy = truth + 0.4 * rng.standard_normal(300)
chain = gallery.path_graph(300)

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.plot(noisy, ".", color="lightgray")
for sparsity in (0.0, 0.2):
    u = fused_lasso(chain, noisy, lam=1.5, sparsity=sparsity, tol=0).u
    ax.plot(u, label=f"sparsity {sparsity}: {np.count_nonzero(u)} nonzero values")
ax.plot(truth, "k--", linewidth=1, label="truth")
ax.legend()
