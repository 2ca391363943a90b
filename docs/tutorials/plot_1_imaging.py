"""
Imaging: count coins in a noisy photograph
==========================================

The task: find the coins in a photograph, count them, and measure their diameters. We add strong
noise to make it difficult. You need the extra ``plot`` and scikit-image.
"""

# %%
# The data
# --------
# scikit-image has the photograph. Its values are divided by 255, so that black is 0 and white is 1.

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage
from skimage.data import coins

from graphtv import denoise_tv, estimate_noise, grid_graph, min_cut

photograph = coins()[:, 8:-8] / 255
rng = np.random.default_rng(0)
noisy = photograph + 0.15 * rng.standard_normal(photograph.shape)
print("pixels:", noisy.shape, " noise:", round(estimate_noise(noisy), 3))

# %%
# Remove the noise
# ----------------
# ``"auto"`` chooses the weight from the noise. The certificate says how close the result is to the
# minimum: no image has an objective that is lower by more than this fraction.

smooth, result = denoise_tv(noisy, "auto", return_result=True)
print("relative gap:", f"{result.relative_gap:.0e}", " method:", result.method)

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, image, title in ((axes[0], noisy, "noisy"), (axes[1], smooth, "denoised")):
    ax.imshow(image, cmap="gray", vmin=0, vmax=1)
    ax.set_title(title)
    ax.set_axis_off()

# %%
# The light is uneven: the background is darker at the bottom right. A median over a large window
# estimates it. Coins are brighter than this background.

background = ndimage.zoom(ndimage.median_filter(smooth[::6, ::6], size=25), 6, order=1)
background = background[: smooth.shape[0], : smooth.shape[1]]
padding = [(0, n - m) for n, m in zip(smooth.shape, background.shape, strict=True)]
contrast = smooth - np.pad(background, padding, mode="edge")

# %%
# Separate coins and background
# -----------------------------
# A minimum cut finds the best pair of regions: bright pixels are tied to the source, dark ones to
# the sink, and each pixel side between the regions costs 20. Capacities are integers, so the cut is
# proved without rounding errors.

evidence = np.rint(200 * (contrast - 0.1)).astype(int).ravel()
cut = min_cut(grid_graph(smooth.shape, 20), np.maximum(evidence, 0), np.maximum(-evidence, 0))
is_coin = ndimage.binary_fill_holes(cut.source_side.reshape(smooth.shape))
print(cut)

# %%
# Count and measure
# -----------------
# Regions that touch the border or are tiny are no whole coins.

regions, n_regions = ndimage.label(is_coin)
areas = ndimage.sum_labels(is_coin, regions, np.arange(1, n_regions + 1))
found = 1 + np.flatnonzero(areas > 500)
diameters = 2 * np.sqrt(areas[found - 1] / np.pi)
print(f"{len(found)} coins, diameters from {diameters.min():.0f} to {diameters.max():.0f} pixels")

# %%
# The figure
# ----------

figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
axes[0].imshow(photograph, cmap="gray")
axes[0].contour(np.isin(regions, found), levels=[0.5], colors="tab:orange")
axes[0].set_title(f"{len(found)} coins")
axes[0].set_axis_off()
axes[1].hist(diameters, bins=12)
axes[1].set(xlabel="diameter in pixels", ylabel="number of coins")

# %%
# Next: :doc:`/applications/denoising` and :doc:`/applications/minimum-cuts` explain the functions.
