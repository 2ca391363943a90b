"""
What a certificate is
=====================

The primal objective falls, the dual objective rises, and the minimum lies between them. A run ends
when the two have met up to the tolerance.
"""

import matplotlib.pyplot as plt

from graphtv import Problem, SquaredLoss, gallery, grid_graph, solve

noisy, _ = gallery.piecewise_constant_image((64, 64), rng=1, noise=0.2)
problem = Problem(grid_graph(noisy.shape, 0.3), SquaredLoss(noisy))
result = solve(problem, method="pdhg", preconditioner="chains", tol=1e-5)
history = result.history

figure, ax = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
ax.plot(history["iteration"], history["primal"], label="primal objective of u")
ax.plot(history["iteration"], history["dual"], label="dual objective of p")
ax.axhline(result.dual, color="gray", linewidth=0.7)
ax.set(xlabel="iteration", xscale="symlog", ylim=(0.8 * result.dual, 1.2 * result.dual))
ax.legend()
