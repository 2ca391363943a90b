"""
Forests need fewer iterations
=============================

The same method with three preconditioners. The chains of the grid need the fewest iterations,
because their condition number does not grow with the image.
"""

import matplotlib.pyplot as plt

from graphtv import Problem, SquaredLoss, gallery, grid_graph, solve
from graphtv.plot import draw_convergence

noisy, _ = gallery.piecewise_constant_image((48, 48), rng=1, noise=0.2)
problem = Problem(grid_graph(noisy.shape, 1.0), SquaredLoss(noisy))
runs = {
    name: solve(problem, method="pdhg", preconditioner=name, tol=1e-5)
    for name in ("none", "diagonal", "chains")
}

figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
draw_convergence(runs, ax)
