"""
Steps in spite of outliers
==========================

Huber's loss is quadratic near the data and linear far away, so single outliers have little
influence.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import fused_lasso, gallery

rng = np.random.default_rng(1)
truth = np.repeat([0.0, 1.0, 0.3], 80)
noisy = truth + 0.1 * rng.standard_normal(len(truth))
noisy[rng.choice(len(truth), 20, replace=False)] += rng.choice([-4, 4], 20)
chain = gallery.path_graph(len(truth))

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.plot(noisy, ".", color="lightgray")
ax.plot(fused_lasso(chain, noisy, lam=1.5).u, label="squared loss")
ax.plot(fused_lasso(chain, noisy, lam=0.6, loss="huber", delta=0.2).u, label="Huber's loss")
ax.plot(truth, "k--", linewidth=1, label="truth")
ax.set_ylim(-1.5, 2.5)
ax.legend()
