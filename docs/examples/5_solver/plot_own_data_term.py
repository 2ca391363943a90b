"""
Your own data term
==================

Any convex data term works if you write its value, its conjugate and its proximal map. This one is
the pinball loss, whose minimisers are quantiles.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import Problem, grid_graph, solve


class PinballLoss:
    """Σ max(q (f - u), (q - 1)(f - u)) for u within the range of f."""

    def __init__(self, signal, quantile):
        self.f, self.q = signal, quantile
        self.low, self.high = signal.min(), signal.max()

    def value(self, u):
        r = self.f - u
        return np.maximum(self.q * r, (self.q - 1) * r).sum()

    def conjugate(self, s):
        at_low = s * self.low - self.q * (self.f - self.low)
        at_high = s * self.high - (1 - self.q) * (self.high - self.f)
        return np.max([s * self.f, at_low, at_high], axis=0).sum()

    def prox(self, v, step):
        below = np.minimum(v + step * self.q, self.f)
        above = np.maximum(v - step * (1 - self.q), self.f)
        return np.where(v < self.f, below, np.where(v > self.f, above, v)).clip(self.low, self.high)


rng = np.random.default_rng(0)
series = np.repeat([0.0, 5.0, 2.0], 150) + rng.exponential(1.0, 450)

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.plot(series, ".", color="lightgray")
for quantile in (0.1, 0.5, 0.9):
    problem = Problem(grid_graph((450,), 3.0), PinballLoss(series, quantile))
    ax.plot(solve(problem, tol=1e-4).u, label=f"quantile {quantile}")
ax.legend()
