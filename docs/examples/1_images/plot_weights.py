"""
The weight decides how much detail remains
==========================================

A larger weight removes more noise, and then detail. ``"auto"`` chooses it from the noise.
"""

import matplotlib.pyplot as plt

from graphtv import denoise_tv, gallery, suggest_weight

noisy, truth = gallery.piecewise_constant_image((96, 96), rng=3, noise=0.15)
chosen = suggest_weight(noisy)

figure, axes = plt.subplots(1, 5, figsize=(12, 2.8), layout="constrained")
axes[0].imshow(noisy, cmap="gray", vmin=0, vmax=1)
axes[0].set_title("noisy")
for ax, weight in zip(axes[1:], (0.03, chosen, 0.6, 3.0), strict=True):
    ax.imshow(denoise_tv(noisy, weight), cmap="gray", vmin=0, vmax=1)
    ax.set_title(f"weight {weight:.2f}" + (" (auto)" if weight == chosen else ""))
for ax in axes:
    ax.set_axis_off()
