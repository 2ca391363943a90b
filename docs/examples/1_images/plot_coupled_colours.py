"""
Colours that jump together
==========================

`CoupledTV` takes the norm over the channels of an edge, so that red, green and blue jump at the
same places. Independent channels jump each for itself, which shows as coloured fringes.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import CoupledTV, Problem, SquaredLoss, TotalVariation, grid_graph, solve

rng = np.random.default_rng(0)
y, x = np.mgrid[:64, :64]
truth = np.where(((x - 32) ** 2 + (y - 32) ** 2 < 400)[..., None], (0.9, 0.6, 0.1), (0.1, 0.3, 0.6))
noisy = truth + 0.25 * rng.standard_normal(truth.shape)

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
axes[0].imshow(noisy.clip(0, 1))
axes[0].set_title("noisy")
for ax, (penalty, weight) in zip(
    axes[1:], ((TotalVariation(), 0.4), (CoupledTV(), 0.6)), strict=True
):
    problem = Problem(grid_graph((64, 64), weight), SquaredLoss(noisy), penalty)
    u = solve(problem, tol=1e-4).u
    ax.imshow(u.clip(0, 1))
    ax.set_title(f"{type(penalty).__name__}: error {np.abs(u - truth).mean():.3f}")
for ax in axes:
    ax.set_axis_off()
