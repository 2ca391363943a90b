"""
The suggested weight and the best weight
========================================

`suggest_weight` does not know the truth. Its weight is close to the one with the smallest error.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import denoise_tv, estimate_noise, gallery, suggest_weight

noisy, truth = gallery.piecewise_constant_image((96, 96), rng=5, noise=0.12)
weights = np.geomspace(0.02, 1.0, 15)
errors = [np.sqrt(np.mean((denoise_tv(noisy, weight) - truth) ** 2)) for weight in weights]

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.semilogx(weights, errors, marker="o")
ax.axvline(suggest_weight(noisy), color="tab:orange", label="suggested weight")
ax.axhline(estimate_noise(noisy), color="gray", linestyle="--", label="estimated noise")
ax.set(xlabel="weight", ylabel="root of the mean squared error")
ax.legend()
