"""
All values of λ, and the best one
=================================

`fused_lasso_path` solves for many λ with warm starts. As λ falls, pieces split. BIC chooses among
them.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import fused_lasso_path, gallery
from graphtv.plot import draw_criterion, draw_path

rng = np.random.default_rng(0)
signal = np.repeat([0.0, 2.0, 1.0, 3.0], 25) + 0.3 * rng.standard_normal(100)
path = fused_lasso_path(gallery.path_graph(100), signal, n_lambdas=40)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
draw_path(path, left)
draw_criterion(path, right)
