"""
Stairs or slopes
================

Total variation turns a slope into stairs. Its Huber relaxation keeps small slopes, and the jump.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import HuberTV, denoise_tv

rng = np.random.default_rng(0)
truth = np.concatenate([np.linspace(0, 1, 150), np.linspace(2, 1.5, 150)])
noisy = truth + 0.1 * rng.standard_normal(len(truth))

figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained", sharey=True)
stairs = denoise_tv(noisy, 0.5, tol=0)
slopes = denoise_tv(noisy, 0.5, penalty=HuberTV(0.01))
for ax, u, title in ((axes[0], stairs, "TotalVariation()"), (axes[1], slopes, "HuberTV(0.01)")):
    ax.plot(noisy, ".", color="lightgray")
    ax.plot(truth, "k--", linewidth=1)
    ax.plot(u)
    ax.set_title(f"{title}: error {np.abs(u - truth).mean():.3f}")
